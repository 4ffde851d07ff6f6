// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Branches of `cf` in kernels: a condition, a loop with two exits,
// and a switch.

func.func @condition(%a: memref<64xf32>, %b: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %zero = arith.constant 0.0 : f32
    %x = memref.load %a[%tx] : memref<64xf32>
    %p = arith.cmpf ogt, %x, %zero : f32
    cf.cond_br %p, ^square, ^end(%x : f32)
  ^square:
    %y = arith.mulf %x, %x : f32
    cf.br ^end(%y : f32)
  ^end(%r: f32):
    memref.store %r, %b[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}

// The first element after the thread's that is larger, or the last one.
func.func @loop(%a: memref<64xi32>, %b: memref<64xi32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %one = arith.constant 1 : index
    %last = arith.constant 63 : index
    %own = memref.load %a[%tx] : memref<64xi32>
    cf.br ^head(%tx : index)
  ^head(%i: index):
    %more = arith.cmpi ult, %i, %last : index
    cf.cond_br %more, ^body, ^none
  ^body:
    %next = arith.addi %i, %one : index
    %y = memref.load %a[%next] : memref<64xi32>
    %larger = arith.cmpi sgt, %y, %own : i32
    cf.cond_br %larger, ^found(%y : i32), ^head(%next : index)
  ^none:
    %z = arith.constant -1000 : i32
    cf.br ^found(%z : i32)
  ^found(%r: i32):
    memref.store %r, %b[%tx] : memref<64xi32>
    gpu.terminator
  }
  return
}

func.func @switch(%a: memref<64xi32>, %b: memref<64xi32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %three = arith.constant 3 : i32
    %x = memref.load %a[%tx] : memref<64xi32>
    %m = arith.andi %x, %three : i32
    cf.switch %m : i32, [default: ^other(%x : i32), 0: ^zero, 2: ^other(%m : i32), 3: ^three]
  ^zero:
    %w = arith.constant 77 : i32
    cf.br ^end(%w : i32)
  ^three:
    %v = arith.muli %x, %three : i32
    cf.br ^other(%v : i32)
  ^other(%o: i32):
    %p = arith.addi %o, %three : i32
    cf.br ^end(%p : i32)
  ^end(%r: i32):
    memref.store %r, %b[%tx] : memref<64xi32>
    gpu.terminator
  }
  return
}
