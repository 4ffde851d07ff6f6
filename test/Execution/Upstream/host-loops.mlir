// Host code with loops, branches, calls, views and the stack, around a kernel.

// RUN: gpu-runner %s --target=cpu -e main -entry-point-result=i32 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a -e main -entry-point-result=i32 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 -e main -entry-point-result=i32 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc -e main -entry-point-result=i32 | FileCheck %s
// RUN: %exits 2 gpu-runner %s --target=cpu -e main -entry-point-result=f32 2>&1 \
// RUN:   | FileCheck %s --check-prefix=TYPE

// CHECK:      rank = 1 offset = 1 sizes = [3] strides = [2] data =
// CHECK-NEXT: {{^}}[2,  6,  10]
// CHECK-NEXT: {{^}}36{{$}}
// TYPE: error: --entry-point-result does not match the results of 'main'

func.func private @printMemrefI32(memref<*xi32>)

func.func private @double(%m: memref<?xi32>, %i: index) {
  %v = memref.load %m[%i] : memref<?xi32>
  %d = arith.addi %v, %v : i32
  memref.store %d, %m[%i] : memref<?xi32>
  return
}

func.func @main() -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %zero = arith.constant 0 : i32
  %m = memref.alloc(%c6) : memref<?xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c6, %sy = %c1, %sz = %c1) {
    %v = arith.index_cast %tx : index to i32
    memref.store %v, %m[%tx] : memref<?xi32>
    gpu.terminator
  }
  scf.parallel (%i) = (%c0) to (%c6) step (%c1) {
    func.call @double(%m, %i) : (memref<?xi32>, index) -> ()
    scf.reduce
  }
  %odd = memref.subview %m[1] [3] [2] : memref<?xi32> to memref<3xi32, strided<[2], offset: 1>>
  %u = memref.cast %odd : memref<3xi32, strided<[2], offset: 1>> to memref<*xi32>
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  // A sum on the stack, in a loop of branches.
  %sum = memref.alloca() : memref<1xi32>
  %start = memref.cast %sum : memref<1xi32> to memref<?xi32>
  memref.store %zero, %start[%c0] : memref<?xi32>
  cf.br ^head(%c0 : index)
^head(%i: index):
  %more = arith.cmpi slt, %i, %c6 : index
  cf.cond_br %more, ^body, ^end
^body:
  %v = memref.load %m[%i] : memref<?xi32>
  %s = memref.load %start[%c0] : memref<?xi32>
  %is_big = arith.cmpi sgt, %v, %zero : i32
  %t = scf.if %is_big -> i32 {
    %x = arith.addi %s, %v : i32
    scf.yield %x : i32
  } else {
    scf.yield %s : i32
  }
  memref.store %t, %start[%c0] : memref<?xi32>
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next : index)
^end:
  %six = arith.constant 6 : i32
  %r = memref.load %start[%c0] : memref<?xi32>
  %all = arith.addi %r, %six : i32
  return %all : i32
}
