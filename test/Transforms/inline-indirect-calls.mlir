// RUN: gpu-opt %s --tessera-inline-indirect-calls --split-input-file --verify-diagnostics | FileCheck %s

func.func private @double(%x: f32) -> f32 {
  %0 = arith.addf %x, %x : f32
  return %0 : f32
}

// CHECK-NOT: @twice
func.func @twice(%f: (f32) -> f32, %x: f32) -> f32 {
  %0 = call_indirect %f(%x) : (f32) -> f32
  %1 = call_indirect %f(%0) : (f32) -> f32
  return %1 : f32
}

// CHECK-LABEL: func @main
// CHECK-SAME:      %[[X:[^:]+]]: f32
// CHECK-NEXT:    %[[A:.+]] = arith.addf %[[X]], %[[X]]
// CHECK-NEXT:    %[[B:.+]] = arith.addf %[[A]], %[[A]]
// CHECK-NEXT:    return %[[B]]
func.func @main(%x: f32) -> f32 {
  %f = constant @double : (f32) -> f32
  %0 = call @twice(%f, %x) : ((f32) -> f32, f32) -> f32
  return %0 : f32
}

// -----

func.func private @a() -> f32
func.func private @b() -> f32

func.func @chosen(%p: i1) -> f32 {
  %a = constant @a : () -> f32
  %b = constant @b : () -> f32
  %f = arith.select %p, %a, %b : () -> f32
  // expected-error @below {{'func.call_indirect' op must call a function that is known when the program is compiled}}
  %0 = call_indirect %f() : () -> f32
  return %0 : f32
}
