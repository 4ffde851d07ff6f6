// Other changes of a shape.

// RUN: gpu-runner %s --target=cpu --entry=reshape --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=reshape --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=reshape --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=reshape --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=negative_pad --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=negative_pad --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=negative_pad --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=negative_pad --verify | FileCheck %s

// CHECK: {{^}}verified

func.func @reshape(%a: tensor<12xf32>) -> tensor<3x4xf32> {
  %s = arith.constant dense<[3,4]> : tensor<2xindex>
  %r = tensor.reshape %a(%s) : (tensor<12xf32>, tensor<2xindex>) -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

func.func @negative_pad(%a: tensor<8x3xf32>) -> tensor<6x7xf32> {
  %c0 = arith.constant 2.0 : f32
  %r = tensor.pad %a low[-1, 1] high[-1, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c0 : f32
  } : tensor<8x3xf32> to tensor<6x7xf32>
  return %r : tensor<6x7xf32>
}
