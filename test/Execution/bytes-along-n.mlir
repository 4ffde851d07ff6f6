// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// CHECK: verified

// Operands of bytes with N along the rows of b: two columns at a time, with an
// epilogue that has their coordinates, and parts of K.
func.func @main(%a: tensor<40x96xi8>, %b: tensor<96x72xi8>, %bias: tensor<72xi32>) -> tensor<40x72xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<40x72xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<40x72xi32>) -> tensor<40x72xi32>
  %product = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 64], subgroup = [16, 32], k = 32, kFragment = 32, stages = 2, swizzle = true>}
      ins(%a, %b : tensor<40x96xi8>, tensor<96x72xi8>) outs(%init : tensor<40x72xi32>) -> tensor<40x72xi32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%product, %bias : tensor<40x72xi32>, tensor<72xi32>) outs(%empty : tensor<40x72xi32>) {
  ^bb0(%p: i32, %v: i32, %o: i32):
    %0 = arith.addi %p, %v : i32
    linalg.yield %0 : i32
  } -> tensor<40x72xi32>
  return %sum : tensor<40x72xi32>
}
