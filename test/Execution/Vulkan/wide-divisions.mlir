// Quotients and remainders of numbers that fit in 32 bits and of larger ones,
// signed and unsigned. Those that fit are divided in 32 bits, and the others in 64.
// REQUIRES: can-run-vulkan-lavapipe
// RUN: %software lavapipe gpu-runner %s --target=vulkan --verify --arg=int:1 --arg=int:2 | FileCheck %s
// CHECK: out 3: verified (max abs err 0, max rel err 0, checked 64, exact)
// CHECK: {{^}}verified

func.func @main(%a: tensor<64xi32>, %b: tensor<64xi32>) -> (tensor<64xi64>, tensor<64xi64>, tensor<64xi64>, tensor<64xi64>) {
  %e = tensor.empty() : tensor<64xi64>
  %r:4 = linalg.generic {
      indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
      iterator_types = ["parallel"]}
      ins(%a, %b : tensor<64xi32>, tensor<64xi32>) outs(%e, %e, %e, %e : tensor<64xi64>, tensor<64xi64>, tensor<64xi64>, tensor<64xi64>) {
  ^bb0(%x: i32, %y: i32, %0: i64, %1: i64, %2: i64, %3: i64):
    // x * (2^33 + 7) + 5 and |y| * 2^31 + 3: small ones, and ones beyond 32 bits.
    %wide = arith.constant 8589934599 : i64
    %half = arith.constant 2147483648 : i64
    %five = arith.constant 5 : i64
    %three = arith.constant 3 : i64
    %p = arith.extsi %x : i32 to i64
    %q = arith.extsi %y : i32 to i64
    %m = math.absi %q : i64
    %n = arith.muli %p, %wide : i64
    %num = arith.addi %n, %five : i64
    %d = arith.muli %m, %half : i64
    %den = arith.addi %d, %three : i64
    %v0 = arith.divsi %num, %den : i64
    %v1 = arith.remsi %num, %den : i64
    %v2 = arith.divui %num, %den : i64
    %v3 = arith.remui %num, %den : i64
    linalg.yield %v0, %v1, %v2, %v3 : i64, i64, i64, i64
  } -> (tensor<64xi64>, tensor<64xi64>, tensor<64xi64>, tensor<64xi64>)
  return %r#0, %r#1, %r#2, %r#3 : tensor<64xi64>, tensor<64xi64>, tensor<64xi64>, tensor<64xi64>
}
