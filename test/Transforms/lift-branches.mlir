// RUN: gpu-opt %s --tessera-lift-branches --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @condition
// CHECK-SAME:      %[[P:.+]]: i1, %[[X:.+]]: f32
// CHECK:         %[[R:.+]] = scf.if %[[P]] -> (f32) {
// CHECK:           %[[Y:.+]] = arith.mulf %[[X]], %[[X]]
// CHECK:           scf.yield %[[Y]]
// CHECK:         } else {
// CHECK:           scf.yield %[[X]]
// CHECK:         return %[[R]]
func.func @condition(%p: i1, %x: f32) -> f32 {
  cf.cond_br %p, ^square, ^end(%x : f32)
^square:
  %y = arith.mulf %x, %x : f32
  cf.br ^end(%y : f32)
^end(%r: f32):
  return %r : f32
}

// -----

// A switch becomes conditions.

// CHECK-LABEL: func @switch
// CHECK-NOT:     switch
// CHECK:         scf.if
// CHECK:         else
// CHECK:         scf.if
// CHECK-NOT:     switch
// CHECK:         return
func.func @switch(%i: i32) -> i32 {
  %a = arith.constant 1 : i32
  %b = arith.constant 2 : i32
  cf.switch %i : i32, [default: ^end(%i : i32), 0: ^first, 7: ^second]
^first:
  cf.br ^end(%a : i32)
^second:
  cf.br ^end(%b : i32)
^end(%r: i32):
  return %r : i32
}

// -----

// A kernel, and a loop.

// CHECK-LABEL: func @loop
// CHECK:         gpu.launch
// CHECK:           scf.while
// CHECK-NOT:     cf.br
// CHECK:         return
func.func @loop(%n: index, %m: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %one = arith.constant 1.0 : f32
    cf.br ^again(%tx : index)
  ^again(%i: index):
    memref.store %one, %m[%i] : memref<8xf32>
    %next = arith.addi %i, %c1 : index
    %more = arith.cmpi ult, %next, %n : index
    cf.cond_br %more, ^again(%next : index), ^end
  ^end:
    gpu.terminator
  }
  return
}

// -----

func.func @endless(%m: memref<8xf32>, %x: f32) {
  %c0 = arith.constant 0 : index
  cf.br ^again
^again:
  memref.store %x, %m[%c0] : memref<8xf32>
  // expected-error@+1 {{this loop has no exit, so that structured control flow cannot express it}}
  cf.br ^again
}
