// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx512" --convert-linalg-to-tessera | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --convert-linalg-to-tessera | FileCheck %s --check-prefix=LANES

// On a CPU, a producer of lhs is computed for each element and tile. For many
// columns, an op of its own computes it once, in vectors.

#k = affine_map<(m, k) -> (k)>
#mk = affine_map<(m, k) -> (m, k)>

// CHECK-LABEL: func @many
// CHECK:         %[[X:.+]] = linalg.generic
// CHECK:         tessera.contract ins(%[[X]], %{{.+}})
// CHECK-NOT:     lhs_producer
// CHECK:         return
// LANES-LABEL: func @many
// LANES-NOT:     linalg.generic
// LANES:         lhs_producer
func.func @many(%a: tensor<64x96xf32>, %s: tensor<96xf32>, %b: tensor<96x128xf32>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %e = tensor.empty() : tensor<64x96xf32>
  %x = linalg.generic {indexing_maps = [#mk, #k, #mk], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<64x96xf32>, tensor<96xf32>) outs(%e : tensor<64x96xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %p, %v : f32
    linalg.yield %q : f32
  } -> tensor<64x96xf32>
  %r = linalg.matmul ins(%x, %b : tensor<64x96xf32>, tensor<96x128xf32>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// CHECK-LABEL: func @few
// CHECK-NOT:     linalg.generic
// CHECK:         lhs_producer
func.func @few(%a: tensor<64x96xf32>, %s: tensor<96xf32>, %b: tensor<96x32xf32>, %c: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %e = tensor.empty() : tensor<64x96xf32>
  %x = linalg.generic {indexing_maps = [#mk, #k, #mk], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<64x96xf32>, tensor<96xf32>) outs(%e : tensor<64x96xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    %q = arith.addf %p, %v : f32
    linalg.yield %q : f32
  } -> tensor<64x96xf32>
  %r = linalg.matmul ins(%x, %b : tensor<64x96xf32>, tensor<96x32xf32>) outs(%c : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// A single operation costs no more than a kernel.

// CHECK-LABEL: func @single
// CHECK-NOT:     linalg.generic
// CHECK:         lhs_producer
func.func @single(%a: tensor<64x96xf32>, %s: tensor<96xf32>, %b: tensor<96x128xf32>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %e = tensor.empty() : tensor<64x96xf32>
  %x = linalg.generic {indexing_maps = [#mk, #k, #mk], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<64x96xf32>, tensor<96xf32>) outs(%e : tensor<64x96xf32>) {
  ^bb0(%u: f32, %v: f32, %o: f32):
    %p = arith.mulf %u, %v : f32
    linalg.yield %p : f32
  } -> tensor<64x96xf32>
  %r = linalg.matmul ins(%x, %b : tensor<64x96xf32>, tensor<96x128xf32>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// Bytes that become floats are read as bytes.

// CHECK-LABEL: func @bytes
// CHECK-NOT:     linalg.generic
// CHECK:         lhs_producer
func.func @bytes(%a: tensor<64x96xi8>, %b: tensor<96x128xf32>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %e = tensor.empty() : tensor<64x96xf32>
  %x = linalg.generic {indexing_maps = [#mk, #mk], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x96xi8>) outs(%e : tensor<64x96xf32>) {
  ^bb0(%u: i8, %o: f32):
    %p = arith.sitofp %u : i8 to f32
    %q = arith.addf %p, %p : f32
    linalg.yield %q : f32
  } -> tensor<64x96xf32>
  %r = linalg.matmul ins(%x, %b : tensor<64x96xf32>, tensor<96x128xf32>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}
