// Terms that the program rounds before the sum must be rounded: 257 and 259 are not bf16 numbers,
// and f32 sums of them would be exact.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// CHECK: {{^ *}}1028{{$}}
// CHECK: exact{{[,)]}}
// CHECK: {{^}}verified

func.func @main() -> tensor<1xf32> {
  %a = arith.constant dense<[[257.0, 257.0, 257.0, 259.0]]> : tensor<1x4xf16>
  %b = arith.constant dense<1.0> : tensor<4xf16>
  %zero = arith.constant dense<0.0> : tensor<1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%a, %b : tensor<1x4xf16>, tensor<4xf16>) outs(%zero : tensor<1xf32>) {
  ^bb0(%x: f16, %y: f16, %sum: f32):
    %0 = arith.mulf %x, %y : f16
    %1 = arith.extf %0 : f16 to f32
    %2 = arith.truncf %1 : f32 to bf16
    %3 = arith.extf %2 : bf16 to f32
    %4 = arith.addf %sum, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<1xf32>
  return %r : tensor<1xf32>
}
