// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=generic" --tessera-resolve-subgroups --split-input-file --verify-diagnostics | FileCheck %s

// A kernel whose lanes exchange values has subgroups of 32 threads on a chip with subgroups of one,
// and a kernel beside it does not.

// CHECK-LABEL: func @exchange
// CHECK:         gpu.launch {{.*}} threads(%[[X:[^,]+]],
// CHECK-COUNT-2:   gpu.shuffle xor
// CHECK-NOT:       gpu.subgroup_reduce
// CHECK-NOT:       gpu.lane_id
// CHECK:           %[[LANE:.+]] = arith.remui %[[X]], %c32{{.*}} : index
// CHECK:           memref.store %{{.+}}, %{{.+}}[%[[LANE]]]
// CHECK:         gpu.launch {{.*}} threads(%[[Y:[^,]+]],
// CHECK-NEXT:      %[[VALUE:.+]] = memref.load
// CHECK-NOT:       gpu.shuffle
// CHECK:           memref.store %[[VALUE]], %{{.+}}[%[[Y]]]
func.func @exchange(%m: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %x = memref.load %m[%tx] : memref<64xf32>
    %s = gpu.subgroup_reduce add %x cluster(size = 4) : (f32) -> (f32)
    %lane = gpu.lane_id
    memref.store %s, %m[%lane] : memref<64xf32>
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %x = memref.load %m[%tx] : memref<64xf32>
    %s = gpu.subgroup_reduce add %x : (f32) -> (f32)
    %id = gpu.subgroup_id : index
    memref.store %s, %m[%id] : memref<64xf32>
    gpu.terminator
  }
  return
}

// -----

func.func @beside_matrices(%m: memref<16x16xf16>, %l: memref<32xi32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %i = arith.index_cast %tx : index to i32
    // expected-note@+1 {{a matrix is used here}}
    %a = tessera.load %m[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, acc>
    tessera.store %a, %m[%c0, %c0] : !tessera.fragment<16x16xf16, acc>, memref<16x16xf16>
    // expected-error@+1 {{gpu.shuffle next to matrices of a subgroup is not supported on a chip with subgroups of one thread: emulate a chip (--target=cpu:emulate=CHIP)}}
    %r, %valid = gpu.shuffle xor %i, %one, %width : i32
    memref.store %r, %l[%tx] : memref<32xi32>
    gpu.terminator
  }
  return
}
