// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-bulk-copies,canonicalize,cse))" | FileCheck %s

// A dedicated subgroup loads the epilogue's input to the output's tile, and
// stores the output from there.

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  // Two mbarriers in addition to those of the slots: one arrival, and one for
  // each consumer subgroup. The subgroup only executes the loop over tiles.

  // CHECK-LABEL: gpu.func @tiles
  // CHECK-SAME:    workgroup(%[[W:.+]] : memref<128x256xf16, {{.+}}>, %{{.+}} : memref<8xi64, {{.+}}>, %{{.+}} : memref<3x128x64xf16,
  // CHECK-SAME:    known_block_size = array<i32: 384, 1, 1>
  // CHECK-SAME:    tessera.copies = "bulk copies by a dedicated subgroup; a second one loads the epilogue's input to workgroup memory, and stores the output from there"
  // CHECK-SAME:    {argument = 3 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64, symbol = @tiles_map_2}, {argument = 2 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64, symbol = @tiles_map_3}]
  // CHECK:         %[[MAPC:.+]] = llvm.mlir.addressof @tiles_map_3
  // CHECK:         %[[MAPR:.+]] = llvm.mlir.addressof @tiles_map_2
  // CHECK-COUNT-7: nvvm.mbarrier.init
  // CHECK:         nvvm.mbarrier.init %{{.+}}, %c8_i32
  // CHECK:         nvvm.setmaxregister decrease 32
  // CHECK:         %[[CARRIES:.+]] = arith.cmpi eq, %[[THREAD:.+]], %c288
  // CHECK-NEXT:    scf.if %[[CARRIES]] {
  // CHECK-NEXT:      %{{.+}} = scf.for %[[T:.+]] = %block_id_x to %c8 step %grid_dim_x iter_args(%[[PARITY:.+]] = %c0_i32) -> (i32) {
  // CHECK:             mbarrier.arrive.expect_tx{{.*}} %{{.+}}, %c65536_i32
  // CHECK:             %[[M:.+]] = arith.muli %[[T]], %c128
  // CHECK-COUNT-4:     nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[MAPR]]
  // CHECK:             mbarrier.try_wait{{.*}} %{{.+}}, %[[PARITY]] :
  // CHECK-COUNT-4:     nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAPC]]
  // CHECK-NEXT:        nvvm.cp.async.bulk.commit.group
  // CHECK-NEXT:        nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK-NEXT:        %[[NEXT:.+]] = arith.xori %[[PARITY]], %c1_i32
  // CHECK-NEXT:        scf.yield %[[NEXT]] : i32
  // CHECK:         } else {
  // CHECK-NEXT:      nvvm.setmaxregister increase 232
  // CHECK-NEXT:      %{{.+}}:3 = scf.for %{{.+}} = %block_id_x to %c8 step %grid_dim_x iter_args(%{{.+}} = %c0, %{{.+}} = %c0_i32, %[[PARITY:.+]] = %c0_i32)
  // CHECK:             %[[END:.+]]:3 = scf.for

  // It waits for the input, and signals its output: without a barrier.
  // CHECK-NOT:         barrier id
  // CHECK:             mbarrier.try_wait{{.*}} %{{.+}}, %[[PARITY]] :
  // CHECK-NEXT:        %[[R:.+]] = tessera.load %[[W]]
  // CHECK-NEXT:        %[[SUM:.+]] = tessera.map %[[END]]#0, %[[R]]
  // CHECK:             tessera.store %[[SUM]], %[[W]]
  // CHECK-NEXT:        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  // CHECK-NEXT:        nvvm.bar.warp.sync %c-1_i32
  // CHECK:             mbarrier.arrive.shared
  // CHECK-NOT:         barrier id
  // CHECK-NOT:         cp.async.bulk
  // CHECK:             %[[NEXT:.+]] = arith.xori %[[PARITY]], %c1_i32
  // CHECK-NEXT:        scf.yield %[[END]]#1, %[[END]]#2, %[[NEXT]]
  // CHECK-NOT:       wait_group
  // CHECK:           gpu.return
  gpu.func @tiles(%a: memref<1024x256xf16>, %b: memref<256x256xf16>, %c: memref<1024x256xf16>, %r: memref<1024x256xf16>)
      workgroup(%wo: memref<128x256xf16, #wg>, %wa: memref<128x64xf16, #wg>, %wb: memref<64x256xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64, tessera.stages = 3 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %first = gpu.block_id x
    %stride = gpu.grid_dim x
    %thread = gpu.thread_id x
    %group = arith.divui %thread, %c128 : index
    %sub = arith.muli %group, %c64 : index
    scf.for %tile = %first to %c8 step %stride {
      %m = arith.muli %tile, %c128 : index
      %init = tessera.fill %zero : !tessera.fragment<64x256xf32, acc>
      %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %init) -> !tessera.fragment<64x256xf32, acc> {
        %k = arith.muli %i, %c64 : index
        gpu.barrier
        tessera.copy %a[%m, %k], %wa[%c0, %c0] shape [128, 64] in_bounds alignment 16 swizzled : memref<1024x256xf16>, memref<128x64xf16, #wg>
        tessera.copy %b[%k, %c0], %wb[%c0, %c0] shape [64, 256] in_bounds alignment 16 swizzled : memref<256x256xf16>, memref<64x256xf16, #wg>
        gpu.barrier
        %fa = tessera.load %wa[%sub, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<64x64xf16, a>
        %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x256xf16, #wg> -> !tessera.fragment<64x256xf16, b>
        %next = tessera.mma %fa, %fb, %acc : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x256xf16, b> -> !tessera.fragment<64x256xf32, acc>
        scf.yield %next : !tessera.fragment<64x256xf32, acc>
      }
      gpu.barrier
      tessera.copy %r[%m, %c0], %wo[%c0, %c0] shape [128, 256] in_bounds swizzled : memref<1024x256xf16>, memref<128x256xf16, #wg>
      gpu.barrier
      %read = tessera.load %wo[%sub, %c0] in_bounds swizzled : memref<128x256xf16, #wg> -> !tessera.fragment<64x256xf16, acc>
      %half = tessera.map %sum, %read : !tessera.fragment<64x256xf32, acc>, !tessera.fragment<64x256xf16, acc> -> !tessera.fragment<64x256xf16, acc> {
      ^bb0(%x: f32, %w: f16):
        %y = arith.truncf %x : f32 to f16
        %z = arith.addf %y, %w : f16
        tessera.yield %z : f16
      }
      tessera.store %half, %wo[%sub, %c0] in_bounds swizzled : !tessera.fragment<64x256xf16, acc>, memref<128x256xf16, #wg>
      gpu.barrier
      tessera.copy %wo[%c0, %c0], %c[%m, %c0] shape [128, 256] in_bounds from_swizzled : memref<128x256xf16, #wg>, memref<1024x256xf16>
    }
    gpu.return
  }

  // With memory for two tiles, the next input is loaded before the output of the tile before is stored:
  // each slot has two mbarriers, and the loop carries the tile's number and the target of its store.

  // CHECK-LABEL: gpu.func @two_slots
  // CHECK-SAME:    workgroup(%[[BARRIERS:.+]] : memref<8xi64, {{.+}}>, %{{.+}} : memref<2x128x64xf16, {{.+}}>, %{{.+}} : memref<2x64x256xf16, {{.+}}>, %[[W:.+]] : memref<2x128x256xf16,
  // CHECK-COUNT-6: nvvm.mbarrier.init %{{.+}}, %c{{1|8}}_i32
  // CHECK-COUNT-2: nvvm.mbarrier.init %{{.+}}, %c8_i32
  // CHECK:         %[[CARRIES:.+]] = arith.cmpi eq, %{{.+}}, %c288
  // CHECK-NEXT:    scf.if %[[CARRIES]] {
  // CHECK-NEXT:      %[[ALL:.+]]:3 = scf.for %[[T:.+]] = %block_id_x to %c8 step %grid_dim_x iter_args(%[[N:.+]] = %c0_i32, %[[ANY:.+]] = %false, %[[LAST:.+]] = %c0) -> (i32, i1, index) {
  // CHECK-NEXT:        arith.andi %[[N]], %c1_i32
  // CHECK:             nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK:             mbarrier.arrive.expect_tx{{.*}} %{{.+}}, %c65536_i32
  // CHECK:             %[[M:.+]] = arith.muli %[[T]], %c128
  // CHECK-COUNT-4:     nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK:             scf.if %[[ANY]] {
  // CHECK-NEXT:          %[[D:.+]] = arith.subi %[[N]], %c1_i32
  // CHECK-NEXT:          %[[BEFORE:.+]] = arith.andi %[[D]], %c3_i32
  // CHECK:               %[[PARITY:.+]] = arith.shrui %[[BEFORE]], %c1_i32
  // CHECK:               mbarrier.try_wait{{.*}} %{{.+}}, %[[PARITY]] :
  // CHECK:               arith.index_cast %[[LAST]]
  // CHECK-COUNT-4:       nvvm.cp.async.bulk.tensor.global.shared.cta
  // CHECK:             }
  // CHECK-NEXT:        %[[D:.+]] = arith.addi %[[N]], %c1_i32
  // CHECK-NEXT:        %[[NEXT:.+]] = arith.andi %[[D]], %c3_i32
  // CHECK-NEXT:        scf.yield %[[NEXT]], %true, %[[M]]
  // CHECK:           scf.if %[[ALL]]#1 {
  // CHECK:             mbarrier.try_wait
  // CHECK-COUNT-4:     nvvm.cp.async.bulk.tensor.global.shared.cta
  // CHECK:           }
  // CHECK-NEXT:      nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK:         } else {
  // CHECK:           scf.for {{.*}} iter_args(%{{.+}} = %c0, %{{.+}} = %c0_i32, %[[N:.+]] = %c0_i32)
  // CHECK:             %[[BIT:.+]] = arith.andi %[[N]], %c1_i32
  // CHECK:             %[[SLOT:.+]] = arith.index_castui %[[BIT]]
  // CHECK:             %[[PARITY:.+]] = arith.shrui %[[N]], %c1_i32
  // CHECK:             mbarrier.try_wait{{.*}} %{{.+}}, %[[PARITY]] :
  // CHECK-NEXT:        tessera.load %[[W]][%[[SLOT]],
  // CHECK:             tessera.store %{{.+}}, %[[W]][%[[SLOT]],
  // CHECK:             mbarrier.arrive.shared
  // CHECK:           gpu.return
  gpu.func @two_slots(%a: memref<1024x256xf16>, %b: memref<256x256xf16>, %c: memref<1024x256xf16>, %r: memref<1024x256xf16>)
      workgroup(%wo: memref<128x256xf16, #wg>, %wa: memref<128x64xf16, #wg>, %wb: memref<64x256xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %first = gpu.block_id x
    %stride = gpu.grid_dim x
    %thread = gpu.thread_id x
    %group = arith.divui %thread, %c128 : index
    %sub = arith.muli %group, %c64 : index
    scf.for %tile = %first to %c8 step %stride {
      %m = arith.muli %tile, %c128 : index
      %init = tessera.fill %zero : !tessera.fragment<64x256xf32, acc>
      %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %init) -> !tessera.fragment<64x256xf32, acc> {
        %k = arith.muli %i, %c64 : index
        gpu.barrier
        tessera.copy %a[%m, %k], %wa[%c0, %c0] shape [128, 64] in_bounds alignment 16 swizzled : memref<1024x256xf16>, memref<128x64xf16, #wg>
        tessera.copy %b[%k, %c0], %wb[%c0, %c0] shape [64, 256] in_bounds alignment 16 swizzled : memref<256x256xf16>, memref<64x256xf16, #wg>
        gpu.barrier
        %fa = tessera.load %wa[%sub, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<64x64xf16, a>
        %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x256xf16, #wg> -> !tessera.fragment<64x256xf16, b>
        %next = tessera.mma %fa, %fb, %acc : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x256xf16, b> -> !tessera.fragment<64x256xf32, acc>
        scf.yield %next : !tessera.fragment<64x256xf32, acc>
      }
      gpu.barrier
      tessera.copy %r[%m, %c0], %wo[%c0, %c0] shape [128, 256] in_bounds swizzled : memref<1024x256xf16>, memref<128x256xf16, #wg>
      gpu.barrier
      %read = tessera.load %wo[%sub, %c0] in_bounds swizzled : memref<128x256xf16, #wg> -> !tessera.fragment<64x256xf16, acc>
      %half = tessera.map %sum, %read : !tessera.fragment<64x256xf32, acc>, !tessera.fragment<64x256xf16, acc> -> !tessera.fragment<64x256xf16, acc> {
      ^bb0(%x: f32, %w: f16):
        %y = arith.truncf %x : f32 to f16
        %z = arith.addf %y, %w : f16
        tessera.yield %z : f16
      }
      tessera.store %half, %wo[%sub, %c0] in_bounds swizzled : !tessera.fragment<64x256xf16, acc>, memref<128x256xf16, #wg>
      gpu.barrier
      tessera.copy %wo[%c0, %c0], %c[%m, %c0] shape [128, 256] in_bounds from_swizzled : memref<128x256xf16, #wg>, memref<1024x256xf16>
    }
    gpu.return
  }

  // One tile for each workgroup, and one warpgroup: two subgroups copy, at once.

  // CHECK-LABEL: gpu.func @one_tile
  // CHECK-SAME:    known_block_size = array<i32: 192, 1, 1>
  // CHECK-SAME:    tessera.producer_threads = 64 : i64
  // CHECK-NOT:     setmaxregister
  // CHECK:         %[[CARRIES:.+]] = arith.cmpi eq, %{{.+}}, %c160
  // CHECK-NEXT:    scf.if %[[CARRIES]] {
  // CHECK:           mbarrier.arrive.expect_tx
  // CHECK:           nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK:           mbarrier.try_wait{{.*}} %{{.+}}, %c0_i32 :
  // CHECK:           nvvm.cp.async.bulk.tensor.global.shared.cta
  // CHECK:         } else {
  // CHECK:           scf.for
  // CHECK:           mbarrier.try_wait{{.*}} %{{.+}}, %c0_i32 :
  // CHECK-NEXT:      tessera.load
  // CHECK:           tessera.store
  // CHECK:           nvvm.bar.warp.sync
  // CHECK-NOT:       cp.async.bulk
  // CHECK:         gpu.return
  gpu.func @one_tile(%a: memref<64x256xf16>, %b: memref<256x64xf16>, %c: memref<64x64xf16>, %r: memref<64x64xf16>)
      workgroup(%wo: memref<64x64xf16, #wg>, %wa: memref<64x64xf16, #wg>, %wb: memref<64x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %init = tessera.fill %zero : !tessera.fragment<64x64xf32, acc>
    %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %init) -> !tessera.fragment<64x64xf32, acc> {
      %k = arith.muli %i, %c64 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %wa[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<64x256xf16>, memref<64x64xf16, #wg>
      tessera.copy %b[%k, %c0], %wb[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<256x64xf16>, memref<64x64xf16, #wg>
      gpu.barrier
      %fa = tessera.load %wa[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, a>
      %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, b>
      %next = tessera.mma %fa, %fb, %acc : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
      scf.yield %next : !tessera.fragment<64x64xf32, acc>
    }
    tessera.copy %r[%c0, %c0], %wo[%c0, %c0] shape [64, 64] in_bounds swizzled : memref<64x64xf16>, memref<64x64xf16, #wg>
    gpu.barrier
    %read = tessera.load %wo[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, acc>
    %half = tessera.map %sum, %read : !tessera.fragment<64x64xf32, acc>, !tessera.fragment<64x64xf16, acc> -> !tessera.fragment<64x64xf16, acc> {
    ^bb0(%x: f32, %w: f16):
      %y = arith.truncf %x : f32 to f16
      %z = arith.addf %y, %w : f16
      tessera.yield %z : f16
    }
    tessera.store %half, %wo[%c0, %c0] in_bounds swizzled : !tessera.fragment<64x64xf16, acc>, memref<64x64xf16, #wg>
    gpu.barrier
    tessera.copy %wo[%c0, %c0], %c[%c0, %c0] shape [64, 64] in_bounds from_swizzled : memref<64x64xf16, #wg>, memref<64x64xf16>
    gpu.return
  }

  // If TMA cannot read the epilogue's input, the consumers load it, and the
  // output is stored as before.

  // CHECK-LABEL: gpu.func @unaligned
  // CHECK-SAME:    tessera.copies = "bulk copies by a dedicated subgroup; all threads load the epilogue's input to workgroup memory: rows of argument 3 of the kernel are not known to be aligned to 16 bytes; bulk copies store the output from workgroup memory"
  // CHECK-SAME:    tessera.producer_threads = 128 : i64
  // CHECK:         nvvm.setmaxregister decrease 24
  // CHECK:         nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK:         nvvm.barrier id = %c1_i32 number_of_threads = %c256_i32
  // CHECK-NEXT:    tessera.copy %{{.+}} shape [128, 256] in_bounds swizzled {tessera.copy_threads = 256 : i64}
  // CHECK:         nvvm.barrier id = %c1_i32 number_of_threads = %c256_i32
  // CHECK-NEXT:    tessera.load
  // CHECK:         tessera.store
  // CHECK:         nvvm.barrier id = %c1_i32 number_of_threads = %c256_i32
  // CHECK:         nvvm.cp.async.bulk.tensor.global.shared.cta
  gpu.func @unaligned(%a: memref<1024x256xf16>, %b: memref<256x256xf16>, %c: memref<1024x256xf16>, %r: memref<1024x257xf16>)
      workgroup(%wo: memref<128x256xf16, #wg>, %wa: memref<128x64xf16, #wg>, %wb: memref<64x256xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    %first = gpu.block_id x
    %stride = gpu.grid_dim x
    %thread = gpu.thread_id x
    %group = arith.divui %thread, %c128 : index
    %sub = arith.muli %group, %c64 : index
    scf.for %tile = %first to %c8 step %stride {
      %m = arith.muli %tile, %c128 : index
      %init = tessera.fill %zero : !tessera.fragment<64x256xf32, acc>
      %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %init) -> !tessera.fragment<64x256xf32, acc> {
        %k = arith.muli %i, %c64 : index
        gpu.barrier
        tessera.copy %a[%m, %k], %wa[%c0, %c0] shape [128, 64] in_bounds alignment 16 swizzled : memref<1024x256xf16>, memref<128x64xf16, #wg>
        tessera.copy %b[%k, %c0], %wb[%c0, %c0] shape [64, 256] in_bounds alignment 16 swizzled : memref<256x256xf16>, memref<64x256xf16, #wg>
        gpu.barrier
        %fa = tessera.load %wa[%sub, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !tessera.fragment<64x64xf16, a>
        %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x256xf16, #wg> -> !tessera.fragment<64x256xf16, b>
        %next = tessera.mma %fa, %fb, %acc : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x256xf16, b> -> !tessera.fragment<64x256xf32, acc>
        scf.yield %next : !tessera.fragment<64x256xf32, acc>
      }
      gpu.barrier
      tessera.copy %r[%m, %c0], %wo[%c0, %c0] shape [128, 256] in_bounds swizzled : memref<1024x257xf16>, memref<128x256xf16, #wg>
      gpu.barrier
      %read = tessera.load %wo[%sub, %c0] in_bounds swizzled : memref<128x256xf16, #wg> -> !tessera.fragment<64x256xf16, acc>
      %half = tessera.map %sum, %read : !tessera.fragment<64x256xf32, acc>, !tessera.fragment<64x256xf16, acc> -> !tessera.fragment<64x256xf16, acc> {
      ^bb0(%x: f32, %w: f16):
        %y = arith.truncf %x : f32 to f16
        %z = arith.addf %y, %w : f16
        tessera.yield %z : f16
      }
      tessera.store %half, %wo[%sub, %c0] in_bounds swizzled : !tessera.fragment<64x256xf16, acc>, memref<128x256xf16, #wg>
      gpu.barrier
      tessera.copy %wo[%c0, %c0], %c[%m, %c0] shape [128, 256] in_bounds from_swizzled : memref<128x256xf16, #wg>, memref<1024x256xf16>
    }
    gpu.return
  }
}
