// Kernels that exchange values between lanes have subgroups of 32 threads on the CPU. The workgroup
// of 40 threads has a subgroup of 8.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e clusters --verify | FileCheck %s --check-prefix=VERIFIED
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a -e clusters --verify \
// RUN:   | FileCheck %s --check-prefix=VERIFIED
// RUN: gpu-runner %s --target=cpu -e modes --verify | FileCheck %s --check-prefix=VERIFIED

// CHECK: {{^}}[1,  0,  3,  2,  5,  4,  7,  6,  9,  8,  11,  10,  13,  12,  15,  14,  17,  16,  19,  18,  21,  20,  23,  22,  25,  24,  27,  26,  29,  28,  31,  30,  33,  32,  35,  34,  37,  36,  39,  38]
// VERIFIED: {{^}}verified

func.func private @printMemrefI32(memref<*xi32>)

func.func @main() {
  %c1 = arith.constant 1 : index
  %c40 = arith.constant 40 : index
  %m = memref.alloc() : memref<40xi32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c40, %sy = %c1, %sz = %c1) {
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %i = arith.index_cast %tx : index to i32
    %r, %valid = gpu.shuffle xor %i, %one, %width : i32
    memref.store %r, %m[%tx] : memref<40xi32>
    gpu.terminator
  }
  %u = memref.cast %m : memref<40xi32> to memref<*xi32>
  call @printMemrefI32(%u) : (memref<*xi32>) -> ()
  return
}

// Clusters of lanes, beside a reduction of the subgroup and queries.
func.func @clusters(%a: memref<64xf32>, %sums: memref<64xf32>, %most: memref<64xf32>,
                    %ids: memref<64x4xindex>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %x = memref.load %a[%tx] : memref<64xf32>
    %s = gpu.subgroup_reduce add %x cluster(size = 8) : (f32) -> (f32)
    memref.store %s, %sums[%tx] : memref<64xf32>
    %m = gpu.subgroup_reduce maximumf %x cluster(size = 4, stride = 8) : (f32) -> (f32)
    %all = gpu.subgroup_reduce add %x : (f32) -> (f32)
    %y = arith.addf %m, %all : f32
    memref.store %y, %most[%tx] : memref<64xf32>
    %lane = gpu.lane_id
    %id = gpu.subgroup_id : index
    %size = gpu.subgroup_size : index
    %count = gpu.num_subgroups : index
    memref.store %lane, %ids[%tx, %c0] : memref<64x4xindex>
    memref.store %id, %ids[%tx, %c1] : memref<64x4xindex>
    memref.store %size, %ids[%tx, %c2] : memref<64x4xindex>
    memref.store %count, %ids[%tx, %c3] : memref<64x4xindex>
    gpu.terminator
  }
  return
}

// Each mode, in a loop and with widths below that of the subgroup.
func.func @modes(%a: memref<64xi32>, %r: memref<4x64xi32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c8, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c5 = arith.constant 5 : index
    %zero = arith.constant 0 : i32
    %three = arith.constant 3 : i32
    %width = arith.constant 32 : i32
    %narrow = arith.constant 16 : i32
    %row = arith.muli %ty, %c8 : index
    %i = arith.addi %row, %tx : index
    %x = memref.load %a[%i] : memref<64xi32>
    %up, %v0 = gpu.shuffle up %x, %three, %width : i32
    %a0 = arith.select %v0, %up, %zero : i32
    memref.store %a0, %r[%c0, %i] : memref<4x64xi32>
    %down, %v1 = gpu.shuffle down %x, %three, %narrow : i32
    %a1 = arith.select %v1, %down, %zero : i32
    memref.store %a1, %r[%c1, %i] : memref<4x64xi32>
    %idx, %v2 = gpu.shuffle idx %x, %three, %width : i32
    memref.store %idx, %r[%c2, %i] : memref<4x64xi32>
    %total = scf.for %k = %c0 to %c5 step %c1 iter_args(%sum = %x) -> (i32) {
      %n = arith.index_cast %k : index to i32
      %one = arith.constant 1 : i32
      %distance = arith.shli %one, %n : i32
      %other, %v3 = gpu.shuffle xor %sum, %distance, %width : i32
      %next = arith.addi %sum, %other : i32
      scf.yield %next : i32
    }
    memref.store %total, %r[%c3, %i] : memref<4x64xi32>
    gpu.terminator
  }
  return
}
