// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The maximum of a window is NaN if one of its numbers is, which one test
// detects: that of the sum of their absolute values. Two numbers have two
// tests.
//
// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=nvidia-hopper" --tessera-convert-kernels-to-spirv | FileCheck %s
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %S/Inputs/maxima.mlir --target=vulkan --arg=random --verify | FileCheck %s --check-prefix=VERIFIED %}
// VERIFIED: {{^}}verified

gpu.module @m {
  // CHECK-LABEL: spirv.func @three
  // CHECK:     %[[M0:.*]] = spirv.GL.FMax %[[X:.*]], %[[Y:.*]] : f32
  // CHECK:     %[[M1:.*]] = spirv.GL.FMax %[[M0]], %[[Z:.*]] : f32
  // CHECK:     %[[M2:.*]] = spirv.GL.FMax %[[M1]], %cst_f32 : f32
  // CHECK:     %[[AX:.*]] = spirv.GL.FAbs %[[X]]
  // CHECK:     %[[AY:.*]] = spirv.GL.FAbs %[[Y]]
  // CHECK:     %[[S0:.*]] = spirv.FAdd %[[AX]], %[[AY]]
  // CHECK:     %[[AZ:.*]] = spirv.GL.FAbs %[[Z]]
  // CHECK:     %[[S1:.*]] = spirv.FAdd %[[S0]], %[[AZ]]
  // CHECK:     %[[NAN:.*]] = spirv.IsNan %[[S1]]
  // CHECK:     spirv.Select %[[NAN]], %[[S1]], %[[M2]]
  // CHECK-NOT: spirv.IsNan
  gpu.func @three(%p: i64, %x: f32, %y: f32, %z: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %zero = arith.constant 0.0 : f32
    %0 = arith.maximumf %x, %y : f32
    %1 = arith.maximumf %0, %z : f32
    %2 = arith.maximumf %1, %zero : f32
    %address = spirv.ConvertUToPtr %p : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
    spirv.Store "PhysicalStorageBuffer" %address, %2 ["Aligned", 4] : f32
    gpu.return
  }

  // A maximum that something else uses is a number of the next one.
  // CHECK-LABEL: spirv.func @two
  // CHECK-COUNT-4: spirv.IsNan
  // CHECK-NOT:   spirv.GL.FAbs
  gpu.func @two(%p: i64, %x: f32, %y: f32, %z: f32) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %0 = arith.maximumf %x, %y : f32
    %1 = arith.maximumf %0, %z : f32
    %2 = arith.addf %0, %1 : f32
    %address = spirv.ConvertUToPtr %p : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
    spirv.Store "PhysicalStorageBuffer" %address, %2 ["Aligned", 4] : f32
    gpu.return
  }
}
