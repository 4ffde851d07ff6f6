// Parallel loops of a kernel become sequential loops of SPIR-V.
//
// RUN: gpu-runner --target=vulkan:lavapipe --emit=spirv-asm %s | FileCheck %s
// RUN: gpu-runner --target=opencl:pvc --emit=spirv-asm %s | FileCheck %s
// CHECK-COUNT-3: OpLoopMerge

func.func @main(%in: memref<8x16xi32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c8, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    scf.forall (%i, %j) = (0, 1) to (%c4, 4) step (1, 2) {
      %row = arith.muli %i, %c4 : index
      %k = arith.addi %row, %j : index
      %x = memref.load %in[%bx, %k] : memref<8x16xi32>
      %y = arith.addi %x, %x : i32
      memref.store %y, %in[%bx, %k] : memref<8x16xi32>
    }
    scf.parallel (%i) = (%c0) to (%c16) step (%one) {
      %x = memref.load %in[%bx, %i] : memref<8x16xi32>
      %y = arith.muli %x, %x : i32
      memref.store %y, %in[%bx, %i] : memref<8x16xi32>
    }
    gpu.terminator
  }
  return
}
