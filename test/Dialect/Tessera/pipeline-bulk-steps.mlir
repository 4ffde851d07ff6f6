// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-pipeline-copies --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,BULK
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-pipeline-copies --canonicalize --cse --split-input-file | FileCheck %s --check-prefixes=CHECK,ASYNC

// Steps whose tiles TMA can load are not changed: tessera-use-bulk-copies converts them.

#wg = #gpu.address_space<workgroup>
#schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [64, 32], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>

// CHECK-LABEL: func @step
// BULK:          gpu.launch {{.*}} workgroup(%[[W:.+]] : memref<64x32xf16, #gpu.address_space<workgroup>>)
// BULK:            scf.for %{{.+}} = %c0 to %c8 step %c1
// BULK-NEXT:         %[[K:.+]] = arith.muli
// BULK-NEXT:         gpu.barrier
// BULK-NEXT:         tessera.copy %{{.+}}[%c0, %[[K]]], %[[W]][%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled
// BULK-NEXT:         gpu.barrier
// BULK-NEXT:         tessera.load %[[W]][%c0, %c0]
// BULK-NOT:        tessera.wait
// ASYNC:         gpu.launch {{.*}} workgroup(%[[W:.+]] : memref<3x64x32xf16, #gpu.address_space<workgroup>>)
// ASYNC-COUNT-2:   tessera.async_copy %{{.+}} shape [64, 32] in_bounds alignment 16 swizzled
// ASYNC:           tessera.wait pending 1
// CHECK:         gpu.terminator
func.func @step(%a: memref<64x256xf16>, %c: memref<64x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1)
      workgroup(%w : memref<64x32xf16, #wg>) {
    scf.for %i = %c0 to %c8 step %c1 {
      %k = arith.muli %i, %c32 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<64x256xf16>, memref<64x32xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    }
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [64, 32], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>

// TMA does not support unaligned rows.

// CHECK-LABEL: func @unaligned
// CHECK:           tessera.async_copy
// CHECK:           tessera.wait pending 1
func.func @unaligned(%a: memref<64x255xf16>, %c: memref<64x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1)
      workgroup(%w : memref<64x32xf16, #wg>) {
    scf.for %i = %c0 to %c8 step %c1 {
      %k = arith.muli %i, %c32 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [64, 32] swizzled : memref<64x255xf16>, memref<64x32xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    }
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

// -----

#wg = #gpu.address_space<workgroup>
#schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, stages = 3, swizzle = true>

// Without groups the workgroup's buffers begin at multiples of less than a pattern.

// CHECK-LABEL: func @alone
// CHECK:           tessera.async_copy
// CHECK:           tessera.wait pending 1
func.func @alone(%a: memref<64x256xf16>, %c: memref<64x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c64, %by = %c1, %bz = %c1)
      workgroup(%w : memref<64x32xf16, #wg>) {
    scf.for %i = %c0 to %c8 step %c1 {
      %k = arith.muli %i, %c32 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<64x256xf16>, memref<64x32xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    }
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}
