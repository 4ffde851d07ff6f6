// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The number of a lane, in a program that assumes subgroups of at least 16 threads.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify | FileCheck %s
// CHECK: out 0 = argument 0: 16xindex, min 0, max 15
// CHECK: {{^}}verified

func.func @main(%a: memref<16xindex>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %lane = gpu.lane_id
    memref.store %lane, %a[%tx] : memref<16xindex>
    gpu.terminator
  }
  return
}
