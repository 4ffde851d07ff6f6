// RUN: gpu-opt %s --tessera-simplify-arithmetic | FileCheck %s

// Arithmetic becomes canonical.
// CHECK-LABEL: @constants
// CHECK: %[[C3:.+]] = arith.constant 3 : index
// CHECK: %[[R:.+]] = arith.addi %arg0, %[[C3]] : index
// CHECK: return %[[R]]
func.func @constants(%i: index) -> index {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %0 = arith.addi %i, %c1 : index
  %1 = arith.addi %0, %c2 : index
  return %1 : index
}

// Inside loops too, which stay as they are: the two values it carries are equal, and nothing looks.
// CHECK-LABEL: @loop
// CHECK: scf.for {{.*}} iter_args(%{{.+}} = %arg1, %{{.+}} = %arg1) -> (f32, f32)
// CHECK: vector.broadcast
// CHECK-NOT: vector.extract
func.func @loop(%n: index, %x: f32, %m: memref<4xf32>) -> (f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %x) -> (f32, f32) {
    %v = vector.broadcast %a : f32 to vector<4xf32>
    %e = vector.extract %v[1] : f32 from vector<4xf32>
    vector.store %v, %m[%c0] : memref<4xf32>, vector<4xf32>
    %0 = arith.addf %e, %x : f32
    %1 = arith.addf %b, %x : f32
    scf.yield %0, %1 : f32, f32
  }
  return %r#0, %r#1 : f32, f32
}
