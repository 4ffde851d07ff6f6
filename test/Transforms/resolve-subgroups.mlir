// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-attach-chip="target=cuda chip=sm_80" --tessera-resolve-subgroups --split-input-file | FileCheck %s --check-prefixes=CHECK,WARP
// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-attach-chip="target=cpu chip=generic" --tessera-resolve-subgroups --split-input-file | FileCheck %s --check-prefixes=CHECK,LANE

// The size is a constant, and the launch's block size folded from it. The
// subgroup's number follows from the thread's.
// CHECK-LABEL: func @launch
// CHECK-NOT:     gpu.subgroup_size
// WARP:          gpu.launch {{.*}} threads(%[[X:.+]], %{{.+}}, %{{.+}}) in (%{{.+}} = %c128,
// LANE:          gpu.launch {{.*}} threads(%[[X:.+]], %{{.+}}, %{{.+}}) in (%{{.+}} = %c4{{(_[0-9]+)?}},
// CHECK-NOT:       gpu.subgroup_id
// WARP:            %[[SIZE:.+]] = arith.constant 32 : index
// WARP:            %[[ID:.+]] = arith.divui %[[X]], %[[SIZE]]
// WARP:            arith.ceildivui
// WARP:            %[[L:.+]] = gpu.lane_id
// WARP:            "use"(%[[ID]], %{{.+}}, %[[L]])
// LANE-NOT:        gpu.lane_id
// LANE:            %[[ZERO:.+]] = arith.constant 0 : index
// LANE-NEXT:       "use"(%[[X]], %{{.+}}, %[[ZERO]])
func.func @launch() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c4 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
    %id = gpu.subgroup_id : index
    %count = gpu.num_subgroups : index
    %lane = gpu.lane_id
    "use"(%id, %count, %lane) : (index, index, index) -> ()
    gpu.terminator
  }
  return
}

// -----

// A block of several dimensions: x runs fastest.
// CHECK-LABEL: func @linear
// CHECK:         gpu.launch {{.*}} threads(%[[X:.+]], %[[Y:.+]], %[[Z:.+]]) in
// CHECK:           %[[ZY:.+]] = arith.muli %[[Z]], %{{.+}}
// CHECK-NEXT:      %[[YZ:.+]] = arith.addi %[[Y]], %[[ZY]]
// CHECK-NEXT:      %[[YX:.+]] = arith.muli %[[YZ]], %{{.+}}
// CHECK-NEXT:      %[[L:.+]] = arith.addi %[[X]], %[[YX]]
// WARP:            arith.divui %[[L]]
// LANE:            "use"(%[[L]])
func.func @linear() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c4, %sz = %c2) {
    %id = gpu.subgroup_id : index
    "use"(%id) : (index) -> ()
    gpu.terminator
  }
  return
}

// -----

// In a kernel, from its known block size or from gpu.block_dim.
// CHECK-LABEL: gpu.func @known
// CHECK-NOT:     gpu.block_dim
// CHECK:         %[[X:.+]] = gpu.thread_id x
// CHECK-NOT:     gpu.thread_id y
// WARP:          arith.divui %[[X]]
// CHECK-LABEL: gpu.func @unknown
// CHECK:         gpu.thread_id x
// CHECK:         gpu.block_dim x
// CHECK:         gpu.thread_id y
// CHECK:         gpu.block_dim y
// CHECK:         gpu.thread_id z
gpu.module @m {
  gpu.func @known() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %id = gpu.subgroup_id : index
    "use"(%id) : (index) -> ()
    gpu.return
  }
  gpu.func @unknown() kernel {
    %id = gpu.subgroup_id : index
    "use"(%id) : (index) -> ()
    gpu.return
  }
}
