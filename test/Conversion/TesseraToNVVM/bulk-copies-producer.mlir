// RUN: gpu-opt %s --pass-pipeline="builtin.module(gpu.module(tessera-use-bulk-copies{chip=sm_90a},canonicalize,cse))" | FileCheck %s

// A subgroup of its own issues the copies.

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  // CHECK-LABEL: gpu.func @pipeline
  // CHECK-SAME:    workgroup(%{{.+}} : memref<3x64x32xf16, {{.+}}>, %[[FULL:.+]] : memref<3xi64, {{.+}}>, %[[READ:.+]] : memref<3xi64, {{.+}}>)
  // CHECK-SAME:    known_block_size = array<i32: 288, 1, 1>
  // CHECK-SAME:    tessera.copies = "bulk copies by a subgroup of their own"
  // CHECK-SAME:    tessera.producer_threads = 32 : i64

  // One copy arrives for each step, and eight subgroups that have read it.
  // CHECK-COUNT-3:   nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK-COUNT-3:   nvvm.mbarrier.init %{{.+}}, %c8_i32
  // CHECK:         gpu.barrier

  // CHECK:         %[[ISPRODUCER:.+]] = arith.cmpi uge, %[[THREAD:.+]], %c256
  // CHECK:         %[[ISSUER:.+]] = arith.cmpi eq, %[[THREAD]], %c256
  // CHECK:         scf.if %[[ISPRODUCER]] {
  // CHECK-NEXT:      scf.if %[[ISSUER]] {
  // CHECK-COUNT-2:     nvvm.cp.async.bulk.tensor

  // For step i + 2, whose slot has been used (i + 2) / 3 times: the last of
  // these is read when the phase before that is over.
  // CHECK:             scf.for %[[I:.+]] = %c0 to %c6
  // CHECK:               %[[STEP:.+]] = arith.addi %[[I]], %c2
  // CHECK:               %[[USED:.+]] = arith.divui %[[STEP]], %c3
  // CHECK:               %[[TURN:.+]] = arith.addi %[[USED]], %c1
  // CHECK:               arith.remui %[[TURN]], %c2
  // CHECK:               mbarrier.try_wait.parity
  // CHECK:               arith.muli %[[STEP]], %c32
  // CHECK:               nvvm.cp.async.bulk.tensor

  // CHECK:         } else {
  // CHECK-NOT:       gpu.barrier
  // CHECK:           scf.for %{{.+}} = %c0 to %c6
  // CHECK:             mbarrier.try_wait.parity
  // CHECK-NOT:         gpu.barrier
  // CHECK:             vector.load
  // CHECK:             gpu.lane_id
  // CHECK:             llvm.inline_asm {{.*}}@p mbarrier.arrive.shared::cta.b64 _, [$0];
  // CHECK:           scf.for %{{.+}} = %c6 to %c8
  // CHECK:             mbarrier.try_wait.parity
  // CHECK:         }
  // CHECK:         gpu.return
  gpu.func @pipeline(%a: memref<512x512xf16>, %o: memref<8xf16>) workgroup(%w: memref<3x64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c6 = arith.constant 6 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %t0 = tessera.async_copy %a[%c0, %c0], %w[%c0, %c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<3x64x32xf16, #wg>
    %t1 = tessera.async_copy %a[%c0, %c32], %w[%c1, %c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<3x64x32xf16, #wg>
    scf.for %i = %c0 to %c6 step %c1 {
      %end = arith.addi %i, %c1 : index
      tessera.wait steps %i to %end in %w pending 1 : memref<3x64x32xf16, #wg>
      gpu.barrier
      %step = arith.addi %i, %c2 : index
      %slot = arith.remui %step, %c3 : index
      %k = arith.muli %step, %c32 : index
      %t = tessera.async_copy %a[%c0, %k], %w[%slot, %c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<3x64x32xf16, #wg>
      %now = arith.remui %i, %c3 : index
      %v = vector.load %w[%now, %c0, %c0] : memref<3x64x32xf16, #wg>, vector<8xf16>
      vector.store %v, %o[%c0] : memref<8xf16>, vector<8xf16>
    }
    tessera.wait steps %c6 to %c8 in %w : memref<3x64x32xf16, #wg>
    gpu.barrier
    gpu.return
  }

  // So where the memory is written besides: the barrier may be for that.
  // CHECK-LABEL: gpu.func @writes
  // CHECK-NOT:     producer_threads
  // CHECK:         nvvm.cp.async.bulk.tensor
  gpu.func @writes(%a: memref<512x512xf16>, %x: f16) workgroup(%w: memref<2x64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %t0 = tessera.async_copy %a[%c0, %c0], %w[%c0, %c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<2x64x32xf16, #wg>
    scf.for %i = %c0 to %c7 step %c1 {
      %end = arith.addi %i, %c1 : index
      tessera.wait steps %i to %end in %w : memref<2x64x32xf16, #wg>
      gpu.barrier
      %slot = arith.remui %end, %c2 : index
      %k = arith.muli %end, %c32 : index
      %t = tessera.async_copy %a[%c0, %k], %w[%slot, %c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<2x64x32xf16, #wg>
    }
    tessera.wait steps %c7 to %c8 in %w : memref<2x64x32xf16, #wg>
    gpu.barrier
    memref.store %x, %w[%c0, %c0, %c0] : memref<2x64x32xf16, #wg>
    gpu.return
  }

  // With another barrier all threads go on together.
  // CHECK-LABEL: gpu.func @barrier
  // CHECK-SAME:    known_block_size = array<i32: 256, 1, 1>
  // CHECK-NOT:     producer_threads
  // CHECK:         nvvm.cp.async.bulk.tensor
  gpu.func @barrier(%a: memref<512x512xf16>) workgroup(%w: memref<2x64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %t0 = tessera.async_copy %a[%c0, %c0], %w[%c0, %c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<2x64x32xf16, #wg>
    scf.for %i = %c0 to %c7 step %c1 {
      %end = arith.addi %i, %c1 : index
      tessera.wait steps %i to %end in %w : memref<2x64x32xf16, #wg>
      gpu.barrier
      %slot = arith.remui %end, %c2 : index
      %k = arith.muli %end, %c32 : index
      %t = tessera.async_copy %a[%c0, %k], %w[%slot, %c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<2x64x32xf16, #wg>
    }
    tessera.wait steps %c7 to %c8 in %w : memref<2x64x32xf16, #wg>
    gpu.barrier
    gpu.barrier
    gpu.return
  }
}

