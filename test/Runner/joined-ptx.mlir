// Kernels are translated to PTX one by one, and joined to one module: directives and the declaration
// of workgroup memory occur once.

// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx -o %t.ptx
// RUN: FileCheck %s < %t.ptx
// RUN: grep -c -E '^\.(version|target|address_size|extern) ' %t.ptx | FileCheck %s --check-prefix=ONCE
// CHECK: .version
// CHECK: .extern .shared .align 128 .b8 __dynamic_shmem__0[];
// CHECK: .visible .entry main_kernel(
// CHECK: .visible .entry main_kernel_1(
// ONCE: {{^}}4{{$}}

func.func @main(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>,
                %d: tensor<64x128xf16>, %e: tensor<64x128xf32>)
    -> (tensor<64x64xf32>, tensor<64x128xf32>) {
  %0 = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = linalg.matmul ins(%a, %d : tensor<64x64xf16>, tensor<64x128xf16>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %0, %1 : tensor<64x64xf32>, tensor<64x128xf32>
}
