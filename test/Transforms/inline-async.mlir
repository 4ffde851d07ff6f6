// RUN: gpu-opt %s --tessera-inline-async --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @values
// CHECK-SAME:    %[[A:.*]]: memref<4xf32>, %[[I:.*]]: index
func.func @values(%a: memref<4xf32>, %i: index) -> f32 {
  // CHECK-NEXT: %[[X:.*]] = memref.load %[[A]][%[[I]]]
  // CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[X]]
  // CHECK-NEXT: return %[[Y]] : f32
  %t0, %v = async.execute -> !async.value<f32> {
    %x = memref.load %a[%i] : memref<4xf32>
    async.yield %x : f32
  }
  %t1, %w = async.execute [%t0] (%v as %x : !async.value<f32>) -> !async.value<f32> {
    %y = arith.addf %x, %x : f32
    async.yield %y : f32
  }
  async.await %t1 : !async.token
  %y = async.await %w : !async.value<f32>
  return %y : f32
}

// CHECK-LABEL: func.func @group
// CHECK-NEXT:    return
func.func @group(%n: index) {
  %group = async.create_group %n : !async.group
  %t0 = async.execute {
    async.yield
  }
  %rank = async.add_to_group %t0, %group : !async.token
  async.await_all %group
  return
}

// -----

// Functions, and values that loops carry.

// CHECK:      func.func private @double(%[[X:.*]]: f32) -> f32
// CHECK-NEXT:   %[[Y:.*]] = arith.addf %[[X]], %[[X]]
// CHECK-NEXT:   return %[[Y]] : f32
async.func private @double(%v: !async.value<f32>) -> (!async.token, !async.value<f32>) {
  %x = async.await %v : !async.value<f32>
  %y = arith.addf %x, %x : f32
  return %y : f32
}

// CHECK-LABEL: func.func @loop
// CHECK:         scf.for {{.*}} iter_args(%[[C:.*]] = %{{.*}}) -> (f32)
// CHECK-NEXT:      %[[D:.*]] = func.call @double(%[[C]]) : (f32) -> f32
// CHECK-NEXT:      scf.yield %[[D]] : f32
func.func @loop(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t0, %v = async.execute -> !async.value<f32> {
    async.yield %x : f32
  }
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%t = %t0, %c = %v) -> (!async.token, !async.value<f32>) {
    %s, %w = async.call @double(%c) : (!async.value<f32>) -> (!async.token, !async.value<f32>)
    scf.yield %s, %w : !async.token, !async.value<f32>
  }
  %y = async.await %r#1 : !async.value<f32>
  return %y : f32
}

// -----

func.func @later(%n: index) {
  %group = async.create_group %n : !async.group
  // expected-error@+1 {{'async.await_all' op waits for a token that is added to the group later}}
  async.await_all %group
  %t0 = async.execute {
    async.yield
  }
  // expected-note@+1 {{it is added here}}
  %rank = async.add_to_group %t0, %group : !async.token
  return
}

// -----

func.func @observed(%t: !async.token) -> i1 {
  // expected-error@+1 {{'async.runtime.is_error' op is not supported: regions run in program order, without an asynchronous runtime}}
  %e = async.runtime.is_error %t : !async.token
  return %e : i1
}
