// RUN: gpu-opt %s --pass-pipeline="builtin.module(gpu.module(tessera-use-bulk-copies{chip=sm_90a},canonicalize,cse))" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(gpu.module(tessera-use-bulk-copies{chip=sm_80},canonicalize,cse))" | FileCheck %s --check-prefix=OLD

// Before sm_90 nothing changes.
// OLD-NOT: mbarrier
// OLD-NOT: tensor_maps

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  // With barriers besides the pipeline's the first thread issues the copies.
  // Two copies for each step: both arrive at their slot's barrier with their
  // bytes. Rows of 256 bytes are two panels, and one map does for both.

  // CHECK:       llvm.mlir.global external constant @pipeline_map_0() {{.*}} : !llvm.array<128 x i8>
  // CHECK-LABEL: gpu.func @pipeline
  // CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<4x512x512xf16>
  // CHECK-SAME:    workgroup(%{{.+}} : memref<2x64x32xf16, {{.+}}>, %{{.+}} : memref<2x32x128xf16, {{.+}}>, %[[BARS:.+]] : memref<2xi64, #gpu.address_space<workgroup>>)
  // CHECK-SAME:    tessera.copies = "bulk copies by the first thread:
  // CHECK-SAME:    tessera.tensor_maps = [
  // CHECK-SAME:      {argument = 0 : i64, box = array<i64: 1, 64, 32>, swizzle = 64 : i64, symbol = @pipeline_map_0},
  // CHECK-SAME:      {argument = 1 : i64, box = array<i64: 32, 64>, swizzle = 128 : i64, symbol = @pipeline_map_1}]

  // One thread sets the barriers up, before all go on.
  // CHECK:         %[[MAP:.+]] = llvm.mlir.addressof @pipeline_map_0
  // CHECK:         %[[THREAD:.+]] = arith.addi %thread_id_x, %{{.+}}
  // CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %[[THREAD]], %c0
  // CHECK:         scf.if %[[FIRST]] {
  // CHECK:           nvvm.mbarrier.init %{{.+}}, %c2_i32
  // CHECK:           nvvm.mbarrier.init %{{.+}}, %c2_i32
  // CHECK:           nvvm.fence.mbarrier.init
  // CHECK:         }
  // CHECK-NEXT:    gpu.barrier

  // 64 x 32 and 32 x 128 f16; innermost coordinates first.
  // CHECK:         scf.if %[[FIRST]] {
  // CHECK:           llvm.inline_asm {{.*}} "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;", "l,r,~{memory}" %[[BAR:.+]], %c4096_i32
  // CHECK:           nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[MAP]], %[[BAR]], box[%c96_i32, %c64_i32, %c3_i32]
  // CHECK:         }
  // CHECK:         scf.if %[[FIRST]] {
  // CHECK:           llvm.inline_asm {{.*}}expect_tx{{.*}} %{{.+}}, %c8192_i32
  // CHECK-COUNT-2:   nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK-NOT:       nvvm.cp.async.bulk.tensor
  // CHECK:         }

  // The parity of how often the slot was used before.
  // CHECK:         scf.for %[[I:.+]] = %c0 to %c7
  // CHECK:           %[[TURN:.+]] = arith.divui %[[I]], %c2
  // CHECK:           %[[PARITY:.+]] = arith.remui %[[TURN]], %c2
  // CHECK:           arith.index_cast %[[PARITY]] : index to i32
  // CHECK:           llvm.inline_asm {{.*}}mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;
  // CHECK-NEXT:      gpu.barrier
  // CHECK-COUNT-3:   nvvm.cp.async.bulk.tensor
  // CHECK:         }

  // The last of eight steps is the fourth in its slot.
  // CHECK:         llvm.inline_asm {{.*}}mbarrier.try_wait{{.*}}, %c1_i32 :
  // CHECK-NOT:     tessera.wait
  gpu.func @pipeline(%a: memref<4x512x512xf16>, %b: memref<512x512xf16>)
      workgroup(%wa: memref<2x64x32xf16, #wg>, %wb: memref<2x32x128xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c7 = arith.constant 7 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c96 = arith.constant 96 : index
    %ta = tessera.async_copy %a[%c3, %c64, %c96], %wa[%c0, %c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<4x512x512xf16>, memref<2x64x32xf16, #wg>
    %tb = tessera.async_copy %b[%c96, %c64], %wb[%c0, %c0, %c0] shape [32, 128] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<2x32x128xf16, #wg>
    scf.for %i = %c0 to %c7 step %c1 {
      %end = arith.addi %i, %c1 : index
      tessera.wait steps %i to %end in %wa, %wb : memref<2x64x32xf16, #wg>, memref<2x32x128xf16, #wg>
      gpu.barrier
      %slot = arith.remui %end, %c2 : index
      %k = arith.muli %end, %c32 : index
      %t0 = tessera.async_copy %a[%c3, %c64, %k], %wa[%slot, %c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<4x512x512xf16>, memref<2x64x32xf16, #wg>
      %t1 = tessera.async_copy %b[%k, %c64], %wb[%slot, %c0, %c0] shape [32, 128] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<2x32x128xf16, #wg>
    }
    tessera.wait steps %c7 to %c8 in %wa, %wb : memref<2x64x32xf16, #wg>, memref<2x32x128xf16, #wg>
    gpu.barrier
    gpu.barrier
    gpu.return
  }

  // What cannot be one stays as it is: rows that begin anywhere, tiles that are
  // not swizzled, kernels whose buffers begin at multiples of less.

  // CHECK-LABEL: gpu.func @unaligned
  // CHECK-SAME:    tessera.copies = "asynchronous copies by all threads: rows of argument 0 of the kernel are not known to begin at multiples of 16 bytes"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.async_copy
  // CHECK:         tessera.wait steps
  gpu.func @unaligned(%a: memref<512x511xf16>) workgroup(%w: memref<2x64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = tessera.async_copy %a[%c0, %c0], %w[%c0, %c0, %c0] shape [64, 32] in_bounds swizzled : memref<512x511xf16>, memref<2x64x32xf16, #wg>
    tessera.wait steps %c0 to %c1 in %w : memref<2x64x32xf16, #wg>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @padded
  // CHECK-SAME:    tessera.copies = "asynchronous copies by all threads: the tiles are not swizzled"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.async_copy
  // CHECK:         tessera.wait steps
  gpu.func @padded(%a: memref<512x512xf16>) workgroup(%w: memref<2x64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = tessera.async_copy %a[%c0, %c0], %w[%c0, %c0, %c0] shape [64, 32] in_bounds alignment 16 : memref<512x512xf16>, memref<2x64x32xf16, #wg>
    tessera.wait steps %c0 to %c1 in %w : memref<2x64x32xf16, #wg>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @alone
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.async_copy
  // CHECK:         tessera.wait steps
  gpu.func @alone(%a: memref<512x512xf16>) workgroup(%w: memref<2x64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = tessera.async_copy %a[%c0, %c0], %w[%c0, %c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<2x64x32xf16, #wg>
    tessera.wait steps %c0 to %c1 in %w : memref<2x64x32xf16, #wg>
    gpu.return
  }
}
