// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --convert-linalg-to-tessera --split-input-file | FileCheck %s

// A tensor that a fill has set.

// CHECK-LABEL: func @filled_tensor
// CHECK-SAME:    %[[X:.+]]: f16
// CHECK-DAG:     %[[E:.+]] = tensor.empty() : tensor<64x48xf16>
// CHECK-DAG:     %[[W:.+]] = arith.extf %[[X]] : f16 to f32
// CHECK-NOT:     linalg.fill
// CHECK:         tessera.contract {{.*}} init(%[[W]] : f32) outs(%[[E]] : tensor<64x48xf16>)
func.func @filled_tensor(%x: f16, %a: tensor<64x32xf16>, %b: tensor<32x48xf16>) -> tensor<64x48xf16> {
  %e = tensor.empty() : tensor<64x48xf16>
  %c = linalg.fill ins(%x : f16) outs(%e : tensor<64x48xf16>) -> tensor<64x48xf16>
  %r = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
      outs(%c : tensor<64x48xf16>) -> tensor<64x48xf16>
  return %r : tensor<64x48xf16>
}

// -----

// CHECK-LABEL: func @constant_tensor
// CHECK-DAG:     %[[ONE:.+]] = arith.constant 1 : i32
// CHECK-DAG:     %[[E:.+]] = tensor.empty() : tensor<64x48xi32>
// CHECK:         tessera.contract {{.*}} init(%[[ONE]] : i32) outs(%[[E]] : tensor<64x48xi32>)
func.func @constant_tensor(%a: tensor<64x32xi8>, %b: tensor<32x48xi8>) -> tensor<64x48xi32> {
  %c = arith.constant dense<1> : tensor<64x48xi32>
  %r = linalg.matmul ins(%a, %b : tensor<64x32xi8>, tensor<32x48xi8>)
      outs(%c : tensor<64x48xi32>) -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}

// -----

// A fill of the memref directly before.

// CHECK-LABEL: func @filled_memref
// CHECK-NOT:     linalg.fill
// CHECK:         tessera.contract {{.*}} init(%{{.*}} : f32) outs
func.func @filled_memref(%a: memref<64x32xf32>, %b: memref<32x48xf32>, %c: memref<64x48xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x48xf32>)
  %unrelated = arith.constant 1.0 : f32
  linalg.matmul ins(%a, %b : memref<64x32xf32>, memref<32x48xf32>) outs(%c : memref<64x48xf32>)
  return
}

// -----

// Something happens in between: the fill stays.

// CHECK-LABEL: func @other_access
// CHECK:         linalg.fill
// CHECK:         memref.copy
// CHECK:         tessera.contract ins(%{{.*}}, %{{.*}} : memref<64x32xf32>, memref<32x48xf32>) outs
func.func @other_access(%a: memref<64x32xf32>, %b: memref<32x48xf32>, %c: memref<64x48xf32>,
                        %d: memref<64x48xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<64x48xf32>)
  memref.copy %c, %d : memref<64x48xf32> to memref<64x48xf32>
  linalg.matmul ins(%a, %b : memref<64x32xf32>, memref<32x48xf32>) outs(%c : memref<64x48xf32>)
  return
}

// -----

// An operand lies in the filled memory.

// CHECK-LABEL: func @aliased
// CHECK:         linalg.fill
// CHECK:         tessera.contract ins(%{{.*}}, %{{.*}} : memref<48x48xf32>, memref<48x48xf32>) outs
func.func @aliased(%b: memref<48x48xf32>, %c: memref<48x48xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<48x48xf32>)
  linalg.matmul ins(%c, %b : memref<48x48xf32>, memref<48x48xf32>) outs(%c : memref<48x48xf32>)
  return
}

// -----

// A broadcast bias as initial value is added in the epilogue.

// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[N:.+]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-LABEL: func @bias
// CHECK-SAME:    %[[BIAS:.+]]: tensor<48xf32>
// CHECK:         tessera.contract {{.*}} init(%{{.*}} : f32) extras(%[[BIAS]] : tensor<48xf32>)
// CHECK-SAME:      #[[MN]], #[[N]]]
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32, %[[X:.+]]: f32):
// CHECK-NEXT:      %[[S:.+]] = arith.addf %[[ACC]], %[[X]] : f32
// CHECK-NEXT:      tessera.yield %[[S]]
func.func @bias(%bias: tensor<48xf32>, %a: tensor<64x32xf32>, %b: tensor<32x48xf32>) -> tensor<64x48xf32> {
  %e = tensor.empty() : tensor<64x48xf32>
  %c = linalg.broadcast ins(%bias : tensor<48xf32>) outs(%e : tensor<64x48xf32>) dimensions = [0]
  %r = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}
