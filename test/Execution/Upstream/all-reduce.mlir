// Reductions over workgroups of 24 threads in two dimensions, of each kind and
// by a body. The reference evaluates the ops as they are.
//
// RUN: gpu-runner --target=cpu --verify %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=sm_90a --verify %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=gfx942 --verify %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=pvc --verify %s | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%in: memref<2x24xi32>, %floats: memref<2x24xf32>,
                %out: memref<9x2x24xi32>, %floatsOut: memref<2x2x24xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c6 = arith.constant 6 : index
  %c7 = arith.constant 7 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c6, %sy = %c4, %sz = %c1) {
    %row = arith.muli %ty, %sx : index
    %i = arith.addi %row, %tx : index
    %x = memref.load %in[%bx, %i] : memref<2x24xi32>
    %y = memref.load %floats[%bx, %i] : memref<2x24xf32>
    %0 = gpu.all_reduce add %x {} : (i32) -> (i32)
    %1 = gpu.all_reduce and %x {} : (i32) -> (i32)
    %2 = gpu.all_reduce or %x {} : (i32) -> (i32)
    %3 = gpu.all_reduce xor %x uniform {} : (i32) -> (i32)
    %4 = gpu.all_reduce maxsi %x {} : (i32) -> (i32)
    %5 = gpu.all_reduce minsi %x {} : (i32) -> (i32)
    %6 = gpu.all_reduce maxui %x {} : (i32) -> (i32)
    %7 = gpu.all_reduce minui %x {} : (i32) -> (i32)
    %8 = gpu.all_reduce mul %x {} : (i32) -> (i32)
    memref.store %0, %out[%c0, %bx, %i] : memref<9x2x24xi32>
    memref.store %1, %out[%c1, %bx, %i] : memref<9x2x24xi32>
    memref.store %2, %out[%c2, %bx, %i] : memref<9x2x24xi32>
    memref.store %3, %out[%c3, %bx, %i] : memref<9x2x24xi32>
    memref.store %4, %out[%c4, %bx, %i] : memref<9x2x24xi32>
    memref.store %5, %out[%c5, %bx, %i] : memref<9x2x24xi32>
    memref.store %6, %out[%c6, %bx, %i] : memref<9x2x24xi32>
    memref.store %7, %out[%c7, %bx, %i] : memref<9x2x24xi32>
    memref.store %8, %out[%c8, %bx, %i] : memref<9x2x24xi32>
    %f = gpu.all_reduce add %y {} : (f32) -> (f32)
    %g = gpu.all_reduce %y {
    ^bb0(%left: f32, %right: f32):
      %max = arith.maximumf %left, %right : f32
      "gpu.yield"(%max) : (f32) -> ()
    } : (f32) -> (f32)
    memref.store %f, %floatsOut[%c0, %bx, %i] : memref<2x2x24xf32>
    memref.store %g, %floatsOut[%c1, %bx, %i] : memref<2x2x24xf32>
    gpu.terminator
  }
  return
}
