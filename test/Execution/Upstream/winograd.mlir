// A convolution by Winograd transforms.

// RUN: gpu-runner %s --target=cpu --entry=main --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=main --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=main --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=main --verify | FileCheck %s

// CHECK: {{^}}verified

func.func @main(%x: tensor<2x10x10x5xf32>, %f: tensor<4x3x3x5xf32>) -> tensor<2x8x8x4xf32> {
  %e0 = tensor.empty() : tensor<6x6x5x4xf32>
  %e1 = tensor.empty() : tensor<6x6x2x2x2x5xf32>
  %e2 = tensor.empty() : tensor<2x8x8x4xf32>
  %ft = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<4x3x3x5xf32>) outs(%e0 : tensor<6x6x5x4xf32>) -> tensor<6x6x5x4xf32>
  %it = linalg.winograd_input_transform fmr(F_4_3) ins(%x : tensor<2x10x10x5xf32>) outs(%e1 : tensor<6x6x2x2x2x5xf32>) -> tensor<6x6x2x2x2x5xf32>
  %a = tensor.collapse_shape %ft [[0, 1], [2], [3]] : tensor<6x6x5x4xf32> into tensor<36x5x4xf32>
  %b = tensor.collapse_shape %it [[0, 1], [2, 3, 4], [5]] : tensor<6x6x2x2x2x5xf32> into tensor<36x8x5xf32>
  %z = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<36x8x4xf32>
  %fl = linalg.fill ins(%z : f32) outs(%e3 : tensor<36x8x4xf32>) -> tensor<36x8x4xf32>
  %mm = linalg.batch_matmul ins(%b, %a : tensor<36x8x5xf32>, tensor<36x5x4xf32>) outs(%fl : tensor<36x8x4xf32>) -> tensor<36x8x4xf32>
  %mx = tensor.expand_shape %mm [[0, 1], [2, 3, 4], [5]] output_shape [6, 6, 2, 2, 2, 4] : tensor<36x8x4xf32> into tensor<6x6x2x2x2x4xf32>
  %fo = linalg.fill ins(%z : f32) outs(%e2 : tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xf32>
  %o = linalg.winograd_output_transform fmr(F_4_3) ins(%mx : tensor<6x6x2x2x2x4xf32>) outs(%fo : tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xf32>
  return %o : tensor<2x8x8x4xf32>
}
