// Reductions over subgroups and clusters of lanes, of signed and unsigned numbers.
// The reference evaluates the ops as they are.
//
// RUN: gpu-runner --target=cpu:emulate=sm_90a --verify %s --arg=iota:64 | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=gfx942 --verify %s --arg=iota:64 | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=pvc --verify %s --arg=iota:64 | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%in: memref<64xi32>, %out: memref<4x64xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %x = memref.load %in[%tx] : memref<64xi32>
    %a = gpu.subgroup_reduce add %x cluster(size = 4) : (i32) -> (i32)
    %b = gpu.subgroup_reduce maxsi %x cluster(size = 4, stride = 2) : (i32) -> (i32)
    %c = gpu.subgroup_reduce minui %x : (i32) -> (i32)
    %d = gpu.subgroup_reduce minsi %x cluster(size = 2, stride = 8) : (i32) -> (i32)
    memref.store %a, %out[%c0, %tx] : memref<4x64xi32>
    memref.store %b, %out[%c1, %tx] : memref<4x64xi32>
    memref.store %c, %out[%c2, %tx] : memref<4x64xi32>
    memref.store %d, %out[%c3, %tx] : memref<4x64xi32>
    gpu.terminator
  }
  return
}
