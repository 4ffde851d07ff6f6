// RUN: gpu-opt %s --tessera-fuse-elementwise | FileCheck %s

// CHECK-DAG: #[[IJ:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[J:.+]] = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func @broadcast_add_relu
// CHECK-SAME:    %[[X:.+]]: tensor<64x48xf32>, %[[B:.+]]: tensor<48xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[IJ]], #[[J]], #[[IJ]]]
// CHECK-SAME:      ins(%[[X]], %[[B]] : tensor<64x48xf32>, tensor<48xf32>)
// CHECK:           arith.addf
// CHECK:           arith.maximumf
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @broadcast_add_relu(%x: tensor<64x48xf32>, %bias: tensor<48xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %b = linalg.broadcast ins(%bias : tensor<48xf32>) outs(%e : tensor<64x48xf32>) dimensions = [0]
  %s = linalg.add ins(%x, %b : tensor<64x48xf32>, tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %r = linalg.max ins(%s, %zeros : tensor<64x48xf32>, tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// The matmul remains recognizable, and its operands are not fused into it.

// CHECK-LABEL: func @product
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK:         linalg.matmul
// CHECK:         linalg.generic
// CHECK:           arith.addf
func.func @product(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %ea = tensor.empty() : tensor<64x32xf32>
  %x = linalg.exp ins(%a : tensor<64x32xf32>) outs(%ea : tensor<64x32xf32>) -> tensor<64x32xf32>
  %p = linalg.matmul ins(%x, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %e = tensor.empty() : tensor<64x48xf32>
  %r = linalg.add ins(%p, %c : tensor<64x48xf32>, tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// CHECK-LABEL: func @softmax
// CHECK-NOT:     linalg.softmax
// CHECK:         math.exp
func.func @softmax(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
