// scf.forall and scf.parallel in a kernel, of which each thread runs all
// iterations.
//
// RUN: gpu-runner --target=cpu --verify %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=sm_90a --verify %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=gfx942 --verify %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=pvc --verify %s | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%in: memref<8x16xi32>, %out: memref<8xi32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c8, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %seed = arith.constant 5 : i32
    scf.forall (%i, %j) = (0, 1) to (%c4, 4) step (1, 2) {
      %row = arith.muli %i, %c4 : index
      %k = arith.addi %row, %j : index
      %x = memref.load %in[%bx, %k] : memref<8x16xi32>
      %y = arith.addi %x, %x : i32
      memref.store %y, %in[%bx, %k] : memref<8x16xi32>
    }
    %sum = scf.parallel (%i) = (%c0) to (%c16) step (%one) init (%seed) -> i32 {
      %x = memref.load %in[%bx, %i] : memref<8x16xi32>
      scf.reduce(%x : i32) {
      ^bb0(%a: i32, %b: i32):
        %q = arith.addi %a, %b : i32
        scf.reduce.return %q : i32
      }
    }
    memref.store %sum, %out[%bx] : memref<8xi32>
    gpu.terminator
  }
  return
}
