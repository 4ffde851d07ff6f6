// 01: a matmul, from tensors to a kernel.
//
// Nothing in this program refers to a GPU. The matmul of f16 matrices with sums
// in f32 becomes one kernel on the available device:
//
//     gpu-runner examples/01-matmul.mlir --verify
//
// Each stage can be printed. The contraction with its initial value, before
// tiling:
//
//     gpu-opt examples/01-matmul.mlir --tessera-attach-chip --convert-linalg-to-tessera
//
// The kernel of fragments for one chip, with the chosen schedule as its
// attribute `tessera.schedule`:
//
//     gpu-opt examples/01-matmul.mlir --tessera-attach-chip="target=cuda chip=sm_90a" \
//         --linalg-to-tessera-pipeline
//
// A schedule on the matmul replaces the compiler's choice:
//
//     linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 64],
//         subgroup = [32, 32], k = 32, kFragment = 16, stages = 2>} ins(...)
//
// RUN: gpu-runner %s --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// CHECK: {{^}}verified
//
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --convert-linalg-to-tessera | FileCheck %s --check-prefix=CONTRACT
// CONTRACT: tessera.contract ins({{.*}}) init({{.*}}) outs({{.*}}) maps [{{.*}}] accumulate f32
//
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --linalg-to-tessera-pipeline | FileCheck %s --check-prefix=KERNEL
// KERNEL: gpu.launch
// KERNEL: tessera.mma
// KERNEL: tessera.schedule = #tessera.schedule<

func.func @main(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %init = linalg.fill ins(%zero : f32)
      outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>)
      outs(%init : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %c : tensor<256x256xf32>
}
