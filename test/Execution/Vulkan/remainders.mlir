// Remainders of floating-point numbers are exact: they are computed by integer
// arithmetic, because OpFRem rounds after each of its steps.

// RUN: gpu-runner %s --target=vulkan:lavapipe --emit=spirv-asm | FileCheck %s --check-prefix=ASM
// ASM-NOT: OpFRem
// ASM: OpUMod
// ASM-NOT: OpFRem
// OpenCL's is exact.
// RUN: gpu-runner %s --target=opencl:pvc --emit=spirv-asm | FileCheck %s --check-prefix=OPENCL
// OPENCL: OpFRem

// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --verify | FileCheck %s --check-prefixes=CHECK,NUMBERS %}
// NUMBERS: out 0 =
// NUMBERS-NEXT: {{^}} 1 -1 -0 3 0 nan nan nan 0 1 1.4013e-45 2.8026e-45{{$}}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --verify --entry=halves | FileCheck %s %}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --verify --entry=doubles --arg=random:1 --arg=random:2 | FileCheck %s %}
// CHECK: out 0: verified (max abs err 0, max rel err 0,

#map = affine_map<(d0) -> (d0)>

func.func @main() -> tensor<12xf32> {
  // Large quotients, infinities, zeros, NaN, subnormal results.
  %x = arith.constant dense<[1.0e10, -7.0, -6.0, 3.0, 0.0, 0x7f800000, 1.0, 0x7fc00000, 16777215.0, 3.4e38, 0x00000003, 0x01000007]> : tensor<12xf32>
  %y = arith.constant dense<[3.0, 2.0, 2.0, 0x7f800000, -5.0, 2.0, 0.0, 1.0, 3.9999998, 7.0, 0x00000002, 0x0000000d]> : tensor<12xf32>
  %e = tensor.empty() : tensor<12xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<12xf32>, tensor<12xf32>) outs(%e : tensor<12xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.remf %a, %b : f32
    linalg.yield %1 : f32
  } -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

func.func @halves() -> tensor<6xf16> {
  %x = arith.constant dense<[65504.0, -3.0, 1.0, 0x0003, 0x7c00, -65504.0]> : tensor<6xf16>
  %y = arith.constant dense<[0.1, 2.0, 0x7c00, 0x0002, 2.0, 0x0007]> : tensor<6xf16>
  %e = tensor.empty() : tensor<6xf16>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<6xf16>, tensor<6xf16>) outs(%e : tensor<6xf16>) {
  ^bb0(%a: f16, %b: f16, %o: f16):
    %1 = arith.remf %a, %b : f16
    linalg.yield %1 : f16
  } -> tensor<6xf16>
  return %0 : tensor<6xf16>
}

func.func @doubles(%x: tensor<64xf64>, %y: tensor<64xf64>) -> tensor<64xf64> {
  %large = arith.constant 1.0e250 : f64
  %e = tensor.empty() : tensor<64xf64>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<64xf64>, tensor<64xf64>) outs(%e : tensor<64xf64>) {
  ^bb0(%a: f64, %b: f64, %o: f64):
    %1 = arith.mulf %a, %large : f64
    %2 = arith.remf %1, %b : f64
    linalg.yield %2 : f64
  } -> tensor<64xf64>
  return %0 : tensor<64xf64>
}
