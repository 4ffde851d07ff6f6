// A script tiles and vectorizes a matmul, bufferizes the program, frees its buffers by a registered pass,
// and applies patterns of several dialects.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// RUN: sed 's/buffer-deallocation-pipeline/no-such-pass/' %s > %t.mlir
// RUN: %exits 1 gpu-runner %t.mlir --target=cpu 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// CHECK: {{^}}( ( 14, 20 ), ( 30, 44 ), ( 46, 68 ), ( 62, 92 ) )
// UNKNOWN: error: unknown pass or pass pipeline: no-such-pass

func.func @main() {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]> : tensor<4x2xf32>
  %b = arith.constant dense<[[2.0, 4.0], [6.0, 8.0]]> : tensor<2x2xf32>
  %empty = tensor.empty() : tensor<4x2xf32>
  %zero = linalg.fill ins(%pad : f32) outs(%empty : tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<4x2xf32>) -> tensor<4x2xf32>
  %v = vector.transfer_read %0[%c0, %c0], %pad {in_bounds = [true, true]} : tensor<4x2xf32>, vector<4x2xf32>
  vector.print %v : vector<4x2xf32>
  return
}

module @script attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.consumed}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %module : (!transform.any_op) -> !transform.any_op
    %tiled, %loop = transform.structured.tile_using_for %matmul tile_sizes [2] : (!transform.any_op) -> (!transform.any_op, !transform.any_op)
    transform.structured.vectorize %tiled vector_sizes [2, 2, 2] : !transform.any_op
    %bufferized = transform.bufferization.one_shot_bufferize %module {bufferize_function_boundaries = true} : (!transform.any_op) -> !transform.any_op
    %all = transform.structured.match ops{["func.func"]} in %bufferized : (!transform.any_op) -> !transform.any_op
    %functions = transform.apply_registered_pass "buffer-deallocation-pipeline" to %all : (!transform.any_op) -> !transform.any_op
    transform.apply_patterns to %functions {
      transform.apply_patterns.vector.reduction_to_contract
      transform.apply_patterns.vector.lower_multi_reduction lowering_strategy = "innerparallel"
      transform.apply_patterns.vector.lower_masked_transfers
      transform.apply_patterns.tensor.fold_tensor_subset_ops
      transform.apply_patterns.canonicalization
    } : !transform.any_op
    transform.yield
  }
}
