// Parallel loops of a kernel become sequential loops of SPIR-V.
//
// RUN: gpu-runner --target=vulkan:lavapipe --emit=spirv-asm %s | FileCheck %s
// RUN: gpu-runner --target=opencl:pvc --emit=spirv-asm %s | FileCheck %s
// CHECK-COUNT-3: OpLoopMerge

// So do those with reductions.
// RUN: gpu-runner --target=vulkan:lavapipe --emit=spirv-asm -e reductions %s | FileCheck %s --check-prefix=REDUCTIONS
// RUN: gpu-runner --target=opencl:pvc --emit=spirv-asm -e reductions %s | FileCheck %s --check-prefix=REDUCTIONS
// REDUCTIONS-COUNT-2: OpLoopMerge
// RUN: gpu-runner --target=cpu:emulate=pvc -e reductions --verify %s | FileCheck %s --check-prefix=VERIFIED
// VERIFIED: {{^}}verified

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

func.func @reductions(%a: memref<4x8x3xf32>, %sums: memref<4xf32>, %most: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %zero = arith.constant 0.0 : f32
    %least = arith.constant -100 : i32
    %s, %m = scf.parallel (%i, %j) = (%c1, %c0) to (%c8, %c3) step (%c2, %c1)
        init (%zero, %least) -> (f32, i32) {
      %x = memref.load %a[%tx, %i, %j] : memref<4x8x3xf32>
      %n = arith.fptosi %x : f32 to i32
      scf.reduce(%x, %n : f32, i32) {
      ^bb0(%l: f32, %r: f32):
        %t = arith.addf %l, %r : f32
        scf.reduce.return %t : f32
      }, {
      ^bb0(%l: i32, %r: i32):
        %t = arith.maxsi %l, %r : i32
        scf.reduce.return %t : i32
      }
    }
    memref.store %s, %sums[%tx] : memref<4xf32>
    memref.store %m, %most[%tx] : memref<4xi32>
    gpu.terminator
  }
  return
}
