// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=nvidia-hopper" --convert-linalg-to-tessera | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=lavapipe-simt" --convert-linalg-to-tessera | FileCheck %s --check-prefix=LANES

// Only the device knows the lanes of a cooperative matrix. A producer would be
// computed after a pass through workgroup memory, and before another one, for
// each fragment: it stays an op.

#mk = affine_map<(m, k) -> (m, k)>

// CHECK-LABEL: func @relu
// CHECK:         %[[X:.+]] = linalg.generic
// CHECK:         tessera.contract ins(%[[X]], %{{.+}})
// CHECK-NOT:     lhs_producer
// CHECK:         return
// LANES-LABEL: func @relu
// LANES-NOT:     linalg.generic
// LANES:         lhs_producer
func.func @relu(%a: tensor<64x96xf16>, %b: tensor<96x128xf16>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64x96xf16>
  %x = linalg.generic {indexing_maps = [#mk, #mk], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x96xf16>) outs(%e : tensor<64x96xf16>) {
  ^bb0(%u: f16, %o: f16):
    %p = arith.maximumf %u, %zero : f16
    linalg.yield %p : f16
  } -> tensor<64x96xf16>
  %r = linalg.matmul ins(%x, %b : tensor<64x96xf16>, tensor<96x128xf16>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// One that widens its operand saves memory traffic.

// CHECK-LABEL: func @widens
// CHECK-NOT:     linalg.generic
// CHECK:         rhs_producer
func.func @widens(%a: tensor<64x96xf16>, %b: tensor<96x128xi8>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %e = tensor.empty() : tensor<96x128xf16>
  %x = linalg.generic {indexing_maps = [#mk, #mk], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<96x128xi8>) outs(%e : tensor<96x128xf16>) {
  ^bb0(%u: i8, %o: f16):
    %p = arith.sitofp %u : i8 to f16
    linalg.yield %p : f16
  } -> tensor<96x128xf16>
  %r = linalg.matmul ins(%a, %x : tensor<64x96xf16>, tensor<96x128xf16>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// CHECK: func @f32
// CHECK-NOT: linalg.generic
// CHECK: lhs_producer
func.func @f32(%a: tensor<64x96xf32>, %b: tensor<96x128xf32>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %x = linalg.generic {indexing_maps = [#mk, #mk], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x96xf32>) outs(%e : tensor<64x96xf32>) {
  ^bb0(%u: f32, %o: f32):
    %p = arith.maximumf %u, %zero : f32
    linalg.yield %p : f32
  } -> tensor<64x96xf32>
  %r = linalg.matmul ins(%x, %b : tensor<64x96xf32>, tensor<96x128xf32>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
