// RUN: gpu-opt %s --tessera-lower-warp-regions --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @store
// CHECK-SAME:      %[[LANE:[^:]+]]: index
// CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %[[LANE]], %{{.+}} : index
// CHECK-NEXT:    scf.if %[[FIRST]] {
// CHECK-NEXT:      vector.transfer_write
// CHECK-NEXT:    }
// CHECK-NOT:     warp_execute_on_lane_0
func.func @store(%lane: index, %v: vector<32xf32>, %m: memref<32xf32>) {
  %c0 = arith.constant 0 : index
  gpu.warp_execute_on_lane_0(%lane)[32] {
    vector.transfer_write %v, %m[%c0] : vector<32xf32>, memref<32xf32>
  }
  return
}

// -----

func.func @result(%lane: index) -> vector<1xf32> {
  // expected-error @below {{'gpu.warp_execute_on_lane_0' op with operands or results is not supported on any target: pass the values through memory}}
  %0 = gpu.warp_execute_on_lane_0(%lane)[32] -> (vector<1xf32>) {
    %1 = arith.constant dense<0.0> : vector<32xf32>
    gpu.yield %1 : vector<32xf32>
  }
  return %0 : vector<1xf32>
}
