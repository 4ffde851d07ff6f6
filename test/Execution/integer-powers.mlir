// Powers with integer exponents, of vectors and scalars, odd, even and large.

// RUN: gpu-runner %s --target=cpu | FileCheck %s --check-prefix=VALUES
// RUN: gpu-runner %s --target=cpu -e power --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a -e power --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_90a -e power --emit=ptx -o %t.ptx
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper -e power --emit=spirv -o %t.spv
// CHECK: {{^}}verified
// VALUES: {{^}}( -8, 0.25, 1, -0.125, 1, inf, -inf )
// VALUES-NEXT: {{^}}81
// An odd exponent that f32 does not have.
// VALUES-NEXT: {{^}}-1

func.func private @bases() -> (vector<7xf32>, f64, f32) {
  %v = arith.constant dense<[-2.0, 2.0, 5.0, -2.0, -1.0, 0.0, -0.0]> : vector<7xf32>
  %s = arith.constant -3.0 : f64
  %m = arith.constant -1.0 : f32
  return %v, %s, %m : vector<7xf32>, f64, f32
}

func.func @power(%x: tensor<16xf32>, %n: tensor<16xi64>) -> tensor<16xf32> {
  %0 = math.fpowi %x, %n : tensor<16xf32>, tensor<16xi64>
  return %0 : tensor<16xf32>
}

func.func @main() {
  %v, %s, %m = call @bases() : () -> (vector<7xf32>, f64, f32)
  %n = arith.constant dense<[3, -2, 0, -3, 4, -1, -1]> : vector<7xi64>
  %0 = math.fpowi %v, %n : vector<7xf32>, vector<7xi64>
  vector.print %0 : vector<7xf32>
  %four = arith.constant 4 : i32
  %1 = math.fpowi %s, %four : f64, i32
  vector.print %1 : f64
  %large = arith.constant 1000000001 : i64
  %2 = math.fpowi %m, %large : f32, i64
  vector.print %2 : f32
  return
}
