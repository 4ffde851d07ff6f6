// Slices of tensors at coordinates that are data.

// RUN: gpu-runner %s --target=cpu --entry=gather --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=gather --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=gather --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=gather --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=gather_elements --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=gather_elements --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=gather_elements --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=gather_elements --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=scatter --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=scatter --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=scatter --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=scatter --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=tosa_gather --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=tosa_gather --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=tosa_gather --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=tosa_gather --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=tosa_scatter --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=tosa_scatter --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=tosa_scatter --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=tosa_scatter --verify | FileCheck %s

// CHECK: {{^}}verified

func.func @gather(%src: tensor<6x8xf32>) -> tensor<2x3x8xf32> {
  %i = arith.constant dense<[[[0],[5],[2]],[[3],[3],[1]]]> : tensor<2x3x1xindex>
  %r = tensor.gather %src[%i] gather_dims([0]) : (tensor<6x8xf32>, tensor<2x3x1xindex>) -> tensor<2x3x8xf32>
  return %r : tensor<2x3x8xf32>
}

// Two coordinates, and dimensions of size 1 in their place.
func.func @gather_elements(%src: tensor<6x8x5xf32>) -> tensor<2x3x1x8x1xf32> {
  %i = arith.constant dense<[[[0,1],[5,4],[2,3]],[[3,3],[3,2],[1,0]]]> : tensor<2x3x2xi32>
  %r = tensor.gather %src[%i] gather_dims([0, 2]) unique : (tensor<6x8x5xf32>, tensor<2x3x2xi32>) -> tensor<2x3x1x8x1xf32>
  return %r : tensor<2x3x1x8x1xf32>
}

func.func @scatter(%src: tensor<3x1x8xf32>, %d: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %i = arith.constant dense<[[0],[5],[2]]> : tensor<3x1xindex>
  %r = tensor.scatter %src into %d[%i] scatter_dims([0]) unique : (tensor<3x1x8xf32>, tensor<6x8xf32>, tensor<3x1xindex>) -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

func.func @tosa_gather(%a: tensor<2x5x3xf32>) -> tensor<2x4x3xf32> {
  %i = "tosa.const"() {values = dense<[[0,4,2,2],[1,0,3,4]]> : tensor<2x4xi32>} : () -> tensor<2x4xi32>
  %r = tosa.gather %a, %i : (tensor<2x5x3xf32>, tensor<2x4xi32>) -> tensor<2x4x3xf32>
  return %r : tensor<2x4x3xf32>
}

func.func @tosa_scatter(%a: tensor<2x5x3xf32>, %s: tensor<2x4x3xf32>) -> tensor<2x5x3xf32> {
  %i = "tosa.const"() {values = dense<[[0,4,2,1],[1,0,3,4]]> : tensor<2x4xi32>} : () -> tensor<2x4xi32>
  %r = tosa.scatter %a, %i, %s : (tensor<2x5x3xf32>, tensor<2x4xi32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  return %r : tensor<2x5x3xf32>
}
