// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --convert-linalg-to-tessera --split-input-file | FileCheck %s

// A zero point of the activations alone: sums of the weights' columns.

// CHECK-DAG: #[[M:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func @activations
// CHECK-SAME:    %[[A:.+]]: tensor<32x64xi8>, %[[B:.+]]: tensor<64x48xi8>, %[[Z:.+]]: i32
// CHECK:         %[[SUM:.+]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[B]] : tensor<64x48xi8>)
// CHECK-NOT:     linalg.generic
// CHECK:         tessera.contract ins(%[[A]], %[[B]] : tensor<32x64xi8>, tensor<64x48xi8>)
// CHECK-SAME:      extras({{.*}}%[[SUM]] : {{.*}}tensor<48xi32>)
// CHECK-SAME:      accumulate i32 {
// CHECK:           %[[P:.+]] = arith.muli %[[Z]], %{{.*}} : i32
// CHECK:           arith.subi %{{.*}}, %[[P]] : i32
func.func @activations(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %z: i32, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %zero = arith.constant 0 : i32
  %r = linalg.quantized_matmul ins(%a, %b, %z, %zero : tensor<32x64xi8>, tensor<64x48xi8>, i32, i32)
      outs(%c : tensor<32x48xi32>) -> tensor<32x48xi32>
  return %r : tensor<32x48xi32>
}

// -----

// Both zero points: the count of terms as well. The window of a convolution is
// summed for each of its positions.

// CHECK-LABEL: func @image
// CHECK-SAME:    %[[X:.+]]: tensor<1x12x12x4xi8>, %[[W:.+]]: tensor<3x3x4x8xi8>
// CHECK-DAG:     %[[K:.+]] = arith.constant 36 : i32
// CHECK:         linalg.generic {{.*}} ins(%[[W]] : tensor<3x3x4x8xi8>)
// CHECK:         %[[WINDOW:.+]] = tensor.empty() : tensor<3x3xi32>
// CHECK:         linalg.generic {{.*}} ins(%[[X]], %[[WINDOW]] : tensor<1x12x12x4xi8>, tensor<3x3xi32>)
// CHECK:         tessera.contract ins(%[[X]], %[[W]] :
// CHECK:           arith.muli %{{.*}}, %[[K]] : i32
func.func @image(%x: tensor<1x12x12x4xi8>, %w: tensor<3x3x4x8xi8>, %za: i32, %zb: i32, %y: tensor<1x10x10x8xi32>) -> tensor<1x10x10x8xi32> {
  %r = linalg.conv_2d_nhwc_hwcf_q ins(%x, %w, %za, %zb : tensor<1x12x12x4xi8>, tensor<3x3x4x8xi8>, i32, i32)
      outs(%y : tensor<1x10x10x8xi32>) -> tensor<1x10x10x8xi32>
  return %r : tensor<1x10x10x8xi32>
}

// -----

// A row is read once by plain threads.

// CHECK-LABEL: func @row
// CHECK-NOT:     tessera.contract
// CHECK:         linalg.quantized_matmul
func.func @row(%a: tensor<1x64xi8>, %b: tensor<64x48xi8>, %za: i32, %zb: i32, %c: tensor<1x48xi32>) -> tensor<1x48xi32> {
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<1x64xi8>, tensor<64x48xi8>, i32, i32)
      outs(%c : tensor<1x48xi32>) -> tensor<1x48xi32>
  return %r : tensor<1x48xi32>
}
