// ptxas of CUDA 13.0 drops negations of operands of two consecutive maxima; they are written without neg.
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s
// RUN: gpu-runner %s --target=cpu --arg=random:1 --arg=random:2 --verify | FileCheck %s --check-prefix=EXEC
// EXEC: verified (max abs err 0, max rel err 0, checked 1024, exact)

// CHECK:     not.b32
// CHECK-NOT: neg.s32
// CHECK:     max.s32

func.func @main(%x: tensor<1024xi32>, %y: tensor<1024xi32>) -> tensor<1024xi32> {
  %zero = arith.constant 0 : i32
  %floor = arith.constant -1000 : i32
  %empty = tensor.empty() : tensor<1024xi32>
  %result = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%x, %y : tensor<1024xi32>, tensor<1024xi32>) outs(%empty : tensor<1024xi32>) {
  ^bb0(%a: i32, %b: i32, %old: i32):
    %negated = arith.subi %zero, %a : i32
    %larger = arith.maxsi %negated, %b : i32
    %bounded = arith.maxsi %larger, %floor : i32
    linalg.yield %bounded : i32
  } -> tensor<1024xi32>
  return %result : tensor<1024xi32>
}
