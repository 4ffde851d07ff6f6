// RUN: gpu-opt %s --tessera-call-math-library | FileCheck %s

// CHECK-DAG: func.func private @acoshf(f32) -> f32
// CHECK-DAG: func.func private @erf(f64) -> f64

// CHECK-LABEL: func.func @functions
// CHECK-SAME:    %[[X:.*]]: f32, %[[Y:.*]]: f64, %[[V:.*]]: vector<2xf32>
func.func @functions(%x: f32, %y: f64, %v: vector<2xf32>) -> (f32, f64, vector<2xf32>, f32, f64) {
  // CHECK-NEXT: call @acoshf(%[[X]])
  %0 = math.acosh %x : f32
  // CHECK-NEXT: call @erf(%[[Y]])
  %1 = math.erf %y : f64
  // CHECK-COUNT-2: call @atanf
  %2 = math.atan %v : vector<2xf32>
  // Those with a polynomial or an instruction are kept.
  // CHECK: math.erf %[[X]] : f32
  // CHECK-NEXT: math.exp %[[Y]] : f64
  %3 = math.erf %x : f32
  %4 = math.exp %y : f64
  return %0, %1, %2, %3, %4 : f32, f64, vector<2xf32>, f32, f64
}
