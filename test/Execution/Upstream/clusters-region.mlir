// A launch in clusters with its body, whose arguments are ids and sizes of clusters too.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: %exits 1 gpu-runner %s --target=cpu -e uneven --verify 2>&1 | FileCheck %s --check-prefix=UNEVEN

// CHECK: {{^}}verified
// UNEVEN: error: {{.*}}the grid must be a multiple of the cluster size

func.func @main(%m: memref<6x4x2xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  gpu.launch clusters(%cx, %cy, %cz) in (%nx = %c2, %ny = %c4, %nz = %c1)
             blocks(%bx, %by, %bz) in (%gx = %c6, %gy = %c4, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %ten = arith.constant 10 : index
    %tens = arith.muli %ny, %ten : index
    %both = arith.addi %tens, %cx : index
    %in = gpu.cluster_block_id y
    memref.store %both, %m[%bx, %by, %c0] : memref<6x4x2xindex>
    memref.store %in, %m[%bx, %by, %c1] : memref<6x4x2xindex>
    gpu.terminator
  }
  return
}

func.func @uneven(%m: memref<6xindex>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  gpu.launch clusters(%cx, %cy, %cz) in (%nx = %c4, %ny = %c1, %nz = %c1)
             blocks(%bx, %by, %bz) in (%gx = %c6, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %cx, %m[%bx] : memref<6xindex>
    gpu.terminator
  }
  return
}
