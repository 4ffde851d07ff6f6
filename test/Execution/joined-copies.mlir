// Two copies, of five and of three workgroups, give the same result as one kernel.
// RUN: gpu-opt %s --tessera-join-copies -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: gpu-runner %s --target=cpu --out=0=%t.0.npy
// RUN: gpu-runner %t.mlir --target=cpu --out=0=%t.1.npy
// RUN: cmp %t.0.npy %t.1.npy

// CHECK:      tessera.packing = "copies lhs; copies rhs"
// CHECK-NOT:  tessera.packing

func.func @main(%a: memref<160xf32>, %b: memref<96xf32>, %c: memref<96xf32>) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %p = memref.alloc() : memref<160xf32>
  %q = memref.alloc() : memref<96xf32>
  gpu.launch blocks(%x, %y, %z) in (%gx = %c5, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c32, %by = %c1, %bz = %c1) {
    %i = arith.muli %x, %bx : index
    %j = arith.addi %i, %tx : index
    %v = memref.load %a[%j] : memref<160xf32>
    memref.store %v, %p[%j] : memref<160xf32>
    gpu.terminator
  } {tessera.packing = "copies lhs"}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c3, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c32, %by = %c1, %bz = %c1) {
    %i = arith.muli %x, %bx : index
    %j = arith.addi %i, %tx : index
    // The first workgroup has the last elements: the size of the grid is this kernel's own.
    %last = arith.subi %gx, %c1 : index
    %from = arith.subi %last, %x : index
    %k = arith.muli %from, %bx : index
    %l = arith.addi %k, %tx : index
    %v = memref.load %b[%l] : memref<96xf32>
    memref.store %v, %q[%j] : memref<96xf32>
    gpu.terminator
  } {tessera.packing = "copies rhs"}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c3, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c32, %by = %c1, %bz = %c1) {
    %i = arith.muli %x, %bx : index
    %j = arith.addi %i, %tx : index
    %k = arith.addi %j, %c64 : index
    %v = memref.load %p[%k] : memref<160xf32>
    %w = memref.load %q[%j] : memref<96xf32>
    %two = arith.constant 2.0 : f32
    %d = arith.mulf %w, %two : f32
    %s = arith.subf %v, %d : f32
    memref.store %s, %c[%j] : memref<96xf32>
    gpu.terminator
  }
  memref.dealloc %p : memref<160xf32>
  memref.dealloc %q : memref<96xf32>
  return
}
