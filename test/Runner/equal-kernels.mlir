// Two layers of the same sizes are compiled once. The reports name both lines, and each launch is
// verified with its own operands.

// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s --check-prefix=PTX
// PTX:     .entry main_kernel(
// PTX-NOT: .entry

// RUN: gpu-runner %s --target=cpu --cache=off --explain --verify | FileCheck %s
// CHECK:     matmul {{.*}} in kernel main_kernel ({{.*}}equal-kernels.mlir:[[#@LINE+11]]:8)
// CHECK:     matmul {{.*}} in kernel main_kernel ({{.*}}equal-kernels.mlir:[[#@LINE+11]]:8)
// CHECK:     kernel main_kernel: #tessera.schedule
// CHECK:     launched 2 times
// CHECK-NOT: {{^}}kernel main
// CHECK:     kernels: 2 of 2 verified, 8192 elements
// CHECK:     out 0: verified
// CHECK:     out 1: verified

func.func @main(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>)
    -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.matmul ins(%b, %a : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}
