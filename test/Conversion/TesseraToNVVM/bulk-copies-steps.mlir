// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-bulk-copies))" --split-input-file | FileCheck %s

#wg = #gpu.address_space<workgroup>

// Three steps: a tile of the whole kernel, one loaded before and in the loop, one in and after it.
// Each has a ring of one slot, or of two for the tiles of the loop. The barrier after a step is the
// one before the next. `%at` is computed after a barrier: the producer recomputes it where it is
// needed.

gpu.module @module {
  // CHECK-LABEL: gpu.func @steps
  // CHECK-SAME:    workgroup(%[[BARRIERS:.+]] : memref<10xi64, #{{.+}}>, %[[Q:.+]] : memref<1x64x64xf16, {{.+}}>, %[[K:.+]] : memref<2x64x64xf16, {{.+}}>, %[[V:.+]] : memref<2x64x64xf16,
  // CHECK-SAME:    tessera.copies = "bulk copies by a dedicated subgroup"
  // CHECK-COUNT-10: nvvm.mbarrier.init
  // CHECK:         scf.if
  // CHECK:           scf.if
  // CHECK:             nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK:             nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK:             %[[RINGS:.+]]:4 = scf.for %{{.+}} = %c0 to %{{.+}} step %c1 iter_args(%{{.+}} = %{{.+}}, %{{.+}} = %{{.+}}, %{{.+}} = %c0{{.*}}, %{{.+}} = %c0_i32{{.*}}) -> (index, i32, index, i32) {
  // CHECK-COUNT-2:       nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK:               scf.yield
  // CHECK-NEXT:        }
  // CHECK:             arith.muli
  // CHECK:             nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK-NOT:         nvvm.cp.async.bulk.tensor

  // The consumers wait for the tiles that they read next.

  // CHECK:         } else {
  // CHECK:           mbarrier.try_wait
  // CHECK:           tessera.load %[[Q]][%c0{{.*}}, %c0, %c0]
  // CHECK:           mbarrier.try_wait
  // CHECK:           tessera.load %[[K]][%c0{{.*}}, %c0, %c0]
  // CHECK:           mbarrier.arrive
  // CHECK:           scf.for
  // CHECK:             mbarrier.try_wait
  // CHECK:             tessera.load %[[K]][%{{.+}}, %c0, %c0]
  // CHECK:             mbarrier.try_wait
  // CHECK:             tessera.load %[[V]][%{{.+}}, %c0, %c0]
  // CHECK:             mbarrier.arrive
  // CHECK:             mbarrier.arrive
  // CHECK:             scf.yield
  // CHECK:           mbarrier.try_wait
  // CHECK:           tessera.load %[[V]][%{{.+}}, %c0, %c0]
  // CHECK:           mbarrier.arrive
  gpu.func @steps(%q: memref<512x64xf16>, %k: memref<512x64xf16>, %v: memref<512x64xf16>, %o: memref<512x64xf16>)
      workgroup(%tq: memref<64x64xf16, #wg>, %tk: memref<64x64xf16, #wg>, %tv: memref<64x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %x = gpu.block_id x
    %steps = gpu.grid_dim x
    gpu.barrier
    tessera.copy %q[%c0, %c0], %tq[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<512x64xf16>, memref<64x64xf16, #wg>
    gpu.barrier
    %at = arith.muli %x, %c64 : index
    tessera.copy %k[%c0, %c0], %tk[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<512x64xf16>, memref<64x64xf16, #wg>
    gpu.barrier
    %f = tessera.load %tq[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, acc>
    %g = tessera.load %tk[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, acc>
    tessera.store %f, %o[%c0, %c0] in_bounds : !tessera.fragment<64x64xf16, acc>, memref<512x64xf16>
    tessera.store %g, %o[%c64, %c0] in_bounds : !tessera.fragment<64x64xf16, acc>, memref<512x64xf16>
    scf.for %i = %c0 to %steps step %c1 {
      %row = arith.addi %at, %i : index
      gpu.barrier
      tessera.copy %k[%row, %c0], %tk[%c0, %c0] shape [64, 64] alignment 16 swizzled : memref<512x64xf16>, memref<64x64xf16, #wg>
      tessera.copy %v[%row, %c0], %tv[%c0, %c0] shape [64, 64] alignment 16 swizzled : memref<512x64xf16>, memref<64x64xf16, #wg>
      gpu.barrier
      %h = tessera.load %tk[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, acc>
      %l = tessera.load %tv[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, acc>
      tessera.store %h, %o[%c64, %c0] in_bounds : !tessera.fragment<64x64xf16, acc>, memref<512x64xf16>
      tessera.store %l, %o[%c64, %c0] in_bounds : !tessera.fragment<64x64xf16, acc>, memref<512x64xf16>
    }
    gpu.barrier
    tessera.copy %v[%at, %c0], %tv[%c0, %c0] shape [64, 64] alignment 16 swizzled : memref<512x64xf16>, memref<64x64xf16, #wg>
    gpu.barrier
    %m = tessera.load %tv[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, acc>
    tessera.store %m, %o[%c0, %c0] in_bounds : !tessera.fragment<64x64xf16, acc>, memref<512x64xf16>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

// The tile is loaded before the loop, and then in the previous iteration: not by a single step.

gpu.module @module {
  // CHECK-LABEL: gpu.func @either
  // CHECK-SAME:    tessera.copies = "copies by all threads: copies and loads do not form a staged loop"
  gpu.func @either(%k: memref<512x64xf16>, %o: memref<512x64xf16>)
      workgroup(%tk: memref<64x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %steps = gpu.grid_dim x
    gpu.barrier
    tessera.copy %k[%c0, %c0], %tk[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<512x64xf16>, memref<64x64xf16, #wg>
    gpu.barrier
    scf.for %i = %c0 to %steps step %c1 {
      %h = tessera.load %tk[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, acc>
      tessera.store %h, %o[%c0, %c0] in_bounds : !tessera.fragment<64x64xf16, acc>, memref<512x64xf16>
      gpu.barrier
      tessera.copy %k[%i, %c0], %tk[%c0, %c0] shape [64, 64] alignment 16 swizzled : memref<512x64xf16>, memref<64x64xf16, #wg>
      gpu.barrier
    }
    gpu.return
  }
}
