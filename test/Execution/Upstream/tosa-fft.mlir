// Fourier transforms, whose lowering computes with the index dialect.

// RUN: gpu-runner %s --target=cpu --entry=rfft2d --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=rfft2d --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=rfft2d --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=rfft2d --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=fft2d --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=fft2d --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=fft2d --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=fft2d --verify | FileCheck %s

// CHECK: {{^}}verified

func.func @rfft2d(%a: tensor<2x8x8xf32>) -> (tensor<2x8x5xf32>, tensor<2x8x5xf32>) {
  %r, %i = tosa.rfft2d %a : (tensor<2x8x8xf32>) -> (tensor<2x8x5xf32>, tensor<2x8x5xf32>)
  return %r, %i : tensor<2x8x5xf32>, tensor<2x8x5xf32>
}

func.func @fft2d(%a: tensor<2x8x8xf32>, %b: tensor<2x8x8xf32>) -> (tensor<2x8x8xf32>, tensor<2x8x8xf32>) {
  %r, %i = tosa.fft2d %a, %b {inverse = false} : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> (tensor<2x8x8xf32>, tensor<2x8x8xf32>)
  return %r, %i : tensor<2x8x8xf32>, tensor<2x8x8xf32>
}
