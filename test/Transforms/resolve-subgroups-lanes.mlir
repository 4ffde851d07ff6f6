// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-attach-chip="target=cpu chip=generic" --tessera-resolve-subgroups | FileCheck %s

// A program that does not ask for the size of a subgroup assumes one; on a chip with subgroups of one
// thread, that is 32.

// CHECK-LABEL: func @lanes
// CHECK:         gpu.launch {{.*}} threads(%[[X:.+]], %{{.+}}, %{{.+}}) in
// CHECK:           %[[SIZE:.+]] = arith.constant 32 : index
// CHECK-NEXT:      %[[LANE:.+]] = arith.remui %[[X]], %[[SIZE]]
// CHECK:           "use"(%[[LANE]])
func.func @lanes() {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %lane = gpu.lane_id
    "use"(%lane) : (index) -> ()
    gpu.terminator
  }
  return
}

// A kernel without a lane's number keeps subgroups of one thread.
// CHECK-LABEL: func @subgroups
// CHECK:         gpu.launch {{.*}} threads(%[[X:.+]], %{{.+}}, %{{.+}}) in
// CHECK:           "use"(%[[X]])
func.func @subgroups() {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %id = gpu.subgroup_id : index
    "use"(%id) : (index) -> ()
    gpu.terminator
  }
  return
}
