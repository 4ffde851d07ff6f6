// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-bulk-copies,canonicalize,cse))" | FileCheck %s

// A producer that runs ahead through a loop of tiles, and outputs that go through workgroup memory.

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  // Both loops carry the position in the ring of slots, on both sides. With two
  // consumer warpgroups, the producer is a third, whose registers they receive.

  // CHECK-LABEL: gpu.func @tiles
  // CHECK-SAME:    workgroup(%[[WO:.+]] : memref<128x256xf16, {{.+}}>, %{{.+}} : memref<6xi64, {{.+}}>, %[[WA:.+]] : memref<2x128x64xf16, {{.+}}>, %[[WB:.+]] : memref<2x64x256xf16, {{[^>]+}}>>) kernel
  // CHECK-SAME:    known_block_size = array<i32: 384, 1, 1>
  // CHECK-SAME:    nvvm.minctasm = 1 : i32
  // CHECK-SAME:    tessera.copies = "bulk copies by a dedicated subgroup; a second one stores the output from workgroup memory"
  // CHECK-SAME:    tessera.producer_threads = 128 : i64
  // CHECK-SAME:    {argument = 2 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64, symbol = @tiles_map_2}]
  // CHECK:         %[[MAPC:.+]] = llvm.mlir.addressof @tiles_map_2
  // CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %[[THREAD:.+]], %c0
  // CHECK:         %[[ISSUES:.+]] = arith.cmpi eq, %[[THREAD]], %c256
  // CHECK-NEXT:    scf.if %[[ISSUES]] {
  // CHECK-COUNT-3:   nvvm.prefetch tensormap, %
  // CHECK-NEXT:    }
  // CHECK-NEXT:    scf.if %[[FIRST]] {
  // CHECK-COUNT-2:   nvvm.mbarrier.init %{{.+}}, %c8_i32
  // CHECK:         gpu.barrier
  // CHECK:         %[[PRODUCES:.+]] = arith.cmpi uge, %[[THREAD]], %c256
  // CHECK-NEXT:    scf.if %[[PRODUCES]] {
  // CHECK-NEXT:      nvvm.setmaxregister decrease 32
  // CHECK-NEXT:      scf.if %[[ISSUES]] {
  // CHECK-NEXT:        scf.for %[[T:.+]] = %block_id_x to %c8 step %grid_dim_x iter_args(%[[TS:.+]] = %c0, %[[TP:.+]] = %c0_i32) -> (index, i32) {
  // CHECK-NEXT:          %[[END:.+]]:2 = scf.for %{{.+}} = %c0 to %c4 step %c1 iter_args(%{{.+}} = %[[TS]], %{{.+}} = %[[TP]]) -> (index, i32) {
  // CHECK:                 mbarrier.try_wait
  // CHECK:                 expect_tx
  // CHECK:                 arith.muli %[[T]], %c128
  // CHECK:                 nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK-COUNT-4:         nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK-NOT:             nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK:                 scf.yield
  // CHECK-NEXT:          }
  // CHECK-NEXT:          scf.yield %[[END]]#0, %[[END]]#1
  // CHECK-NEXT:        }
  // CHECK-NEXT:      }

  // The carrier signals that the memory is free, waits for the output there,
  // and stores it.
  // CHECK-NEXT:      %[[CARRIES:.+]] = arith.cmpi eq, %[[THREAD]], %c288
  // CHECK-NEXT:      scf.if %[[CARRIES]] {
  // CHECK-NEXT:        scf.for %[[T:.+]] = %block_id_x to %c8 step %grid_dim_x iter_args(%[[MADE:.+]] = %c0_i32) -> (i32) {
  // CHECK:               mbarrier.arrive.shared
  // CHECK:               mbarrier.try_wait{{.*}} %{{.+}}, %[[MADE]] :
  // CHECK:               nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAPC]], %{{.+}}, box[%c0_i32, %[[ROW:.+]]] :
  // CHECK:               nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAPC]], %{{.+}}, box[%c64_i32, %[[ROW]]] :
  // CHECK:               nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAPC]], %{{.+}}, box[%c128_i32, %[[ROW]]] :
  // CHECK:               nvvm.cp.async.bulk.tensor.global.shared.cta %[[MAPC]], %{{.+}}, box[%c192_i32, %[[ROW]]] :
  // CHECK-NEXT:          nvvm.cp.async.bulk.commit.group
  // CHECK-NEXT:          nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK-NEXT:          %[[NEXT:.+]] = arith.xori %[[MADE]], %c1_i32
  // CHECK-NEXT:          scf.yield %[[NEXT]]
  // CHECK-NEXT:        }
  // CHECK-NEXT:      }
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      nvvm.setmaxregister increase 232
  // CHECK-NEXT:      scf.for %[[T:.+]] = %block_id_x to %c8 step %grid_dim_x iter_args(%[[TS:.+]] = %c0, %[[TP:.+]] = %c0_i32, %[[FREE:.+]] = %c0_i32) -> (index, i32, i32) {
  // CHECK:             %[[END:.+]]:3 = scf.for %{{.+}} = %c0 to %c4 step %c1 iter_args(%[[ACC:.+]] = %{{.+}}, %[[SLOT:.+]] = %[[TS]], %[[PARITY:.+]] = %[[TP]])
  // CHECK-NOT:           barrier id
  // CHECK:               mbarrier.try_wait{{.*}} %{{.+}}, %[[PARITY]] :
  // CHECK:               tessera.load %[[WA]][%[[SLOT]], %{{.+}}, %c0]
  // CHECK:               tessera.load %[[WB]][%[[SLOT]], %c0, %c0]

  // The matmul reads the slot, and the release of the slot follows it.
  // CHECK-NEXT:          %[[NEXT:.+]] = tessera.mma %{{.+}}, %{{.+}}, %[[ACC]]
  // CHECK:               mbarrier.arrive.shared
  // CHECK:               scf.yield %[[NEXT]], %{{.+}}, %{{.+}} :
  // CHECK-NEXT:        }

  // No warpgroup waits for the other: only for the memory, and the carrier for
  // each subgroup.
  // CHECK-NOT:         barrier id
  // CHECK:             %[[HALF:.+]] = tessera.map %[[END]]#0
  // CHECK:             mbarrier.try_wait{{.*}} %{{.+}}, %[[FREE]] :
  // CHECK-NEXT:        tessera.store %[[HALF]], %[[WO]]
  // CHECK-NEXT:        nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
  // CHECK-NEXT:        nvvm.bar.warp.sync
  // CHECK:             mbarrier.arrive.shared
  // CHECK-NOT:         barrier id
  // CHECK:             %[[NEXTFREE:.+]] = arith.xori %[[FREE]], %c1_i32
  // CHECK-NEXT:        scf.yield %[[END]]#1, %[[END]]#2, %[[NEXTFREE]]
  // CHECK-NEXT:      }
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.return
  gpu.func @tiles(%a: memref<1024x256xf16>, %b: memref<256x256xf16>, %c: memref<1024x256xf16>)
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
      %half = tessera.map %sum : !tessera.fragment<64x256xf32, acc> -> !tessera.fragment<64x256xf16, acc> {
      ^bb0(%x: f32):
        %y = arith.truncf %x : f32 to f16
        tessera.yield %y : f16
      }
      tessera.store %half, %wo[%sub, %c0] in_bounds swizzled : !tessera.fragment<64x256xf16, acc>, memref<128x256xf16, #wg>
      gpu.barrier
      tessera.copy %wo[%c0, %c0], %c[%m, %c0] shape [128, 256] in_bounds from_swizzled : memref<128x256xf16, #wg>, memref<1024x256xf16>
    }
    gpu.return
  }

  // One step for each tile: the tile loop alone counts.

  // CHECK-LABEL: gpu.func @one_step
  // CHECK-SAME:    known_block_size = array<i32: 384, 1, 1>
  // CHECK-COUNT-3: scf.if
  // CHECK-NEXT:      nvvm.setmaxregister decrease 32
  // CHECK:           scf.for %{{.+}} = %block_id_x to %c8 step %grid_dim_x iter_args(%[[SLOT:.+]] = %c0, %[[PARITY:.+]] = %c0_i32) -> (index, i32) {
  // CHECK-NEXT:        %[[BEFORE:.+]] = arith.xori %[[PARITY]], %c1_i32
  // CHECK:             mbarrier.try_wait{{.*}} %{{.+}}, %[[BEFORE]] :
  // CHECK:             nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK:             scf.yield
  // CHECK-NEXT:      }
  // CHECK:           scf.for %{{.+}} = %block_id_x to %c8 step %grid_dim_x iter_args(%[[MADE:.+]] = %c0_i32) -> (i32) {
  // CHECK:             nvvm.cp.async.bulk.tensor.global.shared.cta
  // CHECK:             nvvm.cp.async.bulk.commit.group
  // CHECK:             nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK:         } else {
  // CHECK-NEXT:      nvvm.setmaxregister increase 232
  // CHECK-NEXT:      scf.for %{{.+}} = %block_id_x to %c8 step %grid_dim_x iter_args(%[[SLOT:.+]] = %c0, %[[PARITY:.+]] = %c0_i32, %[[FREE:.+]] = %c0_i32) -> (index, i32, i32) {
  // CHECK-NOT:         nvvm.barrier
  // CHECK:             mbarrier.try_wait{{.*}} %{{.+}}, %[[PARITY]] :
  // CHECK-NEXT:        %[[F:.+]] = tessera.load %{{.+}}[%[[SLOT]], %c0, %c0]
  // CHECK:             mbarrier.try_wait{{.*}} %{{.+}}, %[[FREE]] :
  // CHECK-NEXT:        tessera.store %[[F]]
  // CHECK-COUNT-2:     mbarrier.arrive.shared
  // CHECK-NOT:         nvvm.barrier
  // CHECK:             scf.yield
  // CHECK-NEXT:      }
  gpu.func @one_step(%a: memref<512x64xf16>, %c: memref<512x64xf16>)
      workgroup(%wa: memref<64x64xf16, #wg>, %wo: memref<64x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64, tessera.stages = 3 : i64} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %first = gpu.block_id x
    %stride = gpu.grid_dim x
    scf.for %tile = %first to %c8 step %stride {
      %m = arith.muli %tile, %c64 : index
      gpu.barrier
      tessera.copy %a[%m, %c0], %wa[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<512x64xf16>, memref<64x64xf16, #wg>
      gpu.barrier
      %f = tessera.load %wa[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, acc>
      gpu.barrier
      tessera.store %f, %wo[%c0, %c0] in_bounds swizzled : !tessera.fragment<64x64xf16, acc>, memref<64x64xf16, #wg>
      gpu.barrier
      tessera.copy %wo[%c0, %c0], %c[%m, %c0] shape [64, 64] in_bounds from_swizzled : memref<64x64xf16, #wg>, memref<512x64xf16>
    }
    gpu.return
  }

  // One tile: there is no wait before the stores, but one at the end.

  // CHECK-LABEL: gpu.func @one_tile
  // CHECK:         } else {
  // CHECK-NOT:       wait_group
  // CHECK:           tessera.store
  // CHECK:           nvvm.fence.proxy
  // CHECK-NEXT:      nvvm.barrier id = %c1_i32 number_of_threads = %c128_i32
  // CHECK-NEXT:      scf.if
  // CHECK:             nvvm.cp.async.bulk.tensor.global.shared.cta %{{.+}}, %{{.+}}, box[%c0_i32, %c64_i32, %c3_i32] :
  // CHECK-NEXT:        nvvm.cp.async.bulk.commit.group
  // CHECK-NEXT:      }
  // CHECK-NEXT:      scf.if
  // CHECK-NEXT:        nvvm.cp.async.bulk.wait_group 0 {read}
  // CHECK-NEXT:      }
  gpu.func @one_tile(%a: memref<512x64xf16>, %c: memref<4x512x64xf16>)
      workgroup(%wa: memref<64x64xf16, #wg>, %wo: memref<64x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %c64 = arith.constant 64 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %wa[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<512x64xf16>, memref<64x64xf16, #wg>
    gpu.barrier
    %f = tessera.load %wa[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, acc>
    tessera.store %f, %wo[%c0, %c0] in_bounds swizzled : !tessera.fragment<64x64xf16, acc>, memref<64x64xf16, #wg>
    gpu.barrier
    tessera.copy %wo[%c0, %c0], %c[%c3, %c64, %c0] shape [64, 64] from_swizzled : memref<64x64xf16, #wg>, memref<4x512x64xf16>
    gpu.return
  }

  // Rows that begin anywhere leave by the readers, which are not all threads.

  // CHECK-LABEL: gpu.func @unaligned_output
  // CHECK-SAME:    known_block_size = array<i32: 384, 1, 1>
  // CHECK-SAME:    tessera.copies = "bulk copies by a dedicated subgroup; all threads store the output from workgroup memory: rows of argument 1 of the kernel are not known to be aligned to 16 bytes"
  // CHECK-SAME:    tessera.tensor_maps = [{argument = 0 : i64, box = array<i64: 64, 64>, swizzle = 128 : i64, symbol = @unaligned_output_map_0}]
  // CHECK:         } else {
  // CHECK-NOT:       nvvm.cp.async.bulk
  // CHECK:           nvvm.barrier id = %c1_i32 number_of_threads = %c256_i32
  // CHECK-NEXT:      tessera.store
  // CHECK:           nvvm.barrier id = %c1_i32 number_of_threads = %c256_i32
  // CHECK-NEXT:      tessera.copy %{{.+}} shape [64, 64] from_swizzled {tessera.copy_threads = 256 : i64}
  // CHECK-NOT:       nvvm.cp.async.bulk
  // CHECK:         gpu.return
  gpu.func @unaligned_output(%a: memref<512x64xf16>, %c: memref<512x63xf16>)
      workgroup(%wa: memref<64x64xf16, #wg>, %wo: memref<64x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %first = gpu.block_id x
    %stride = gpu.grid_dim x
    scf.for %tile = %first to %c8 step %stride {
      %m = arith.muli %tile, %c64 : index
      gpu.barrier
      tessera.copy %a[%m, %c0], %wa[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<512x64xf16>, memref<64x64xf16, #wg>
      gpu.barrier
      %f = tessera.load %wa[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, acc>
      gpu.barrier
      tessera.store %f, %wo[%c0, %c0] in_bounds swizzled : !tessera.fragment<64x64xf16, acc>, memref<64x64xf16, #wg>
      gpu.barrier
      tessera.copy %wo[%c0, %c0], %c[%m, %c0] shape [64, 64] from_swizzled : memref<64x64xf16, #wg>, memref<512x63xf16>
    }
    gpu.return
  }

  // Three warpgroups that read begin with 128 registers for each thread, and get
  // more though 32 accumulators need none.

  // CHECK-LABEL: gpu.func @few_accumulators
  // CHECK-SAME:    known_block_size = array<i32: 512, 1, 1>
  // CHECK:         nvvm.setmaxregister decrease 24
  // CHECK:         nvvm.setmaxregister increase 160
  // CHECK:         gpu.return
  gpu.func @few_accumulators(%a: memref<512x64xf16>, %b: memref<64x64xf16>, %c: memref<512x64xf32>)
      workgroup(%wa: memref<192x64xf16, #wg>, %wb: memref<64x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %acc = tessera.fill %zero : !tessera.fragment<64x64xf32, acc>
    gpu.barrier
    tessera.copy %a[%c0, %c0], %wa[%c0, %c0] shape [192, 64] in_bounds alignment 16 swizzled : memref<512x64xf16>, memref<192x64xf16, #wg>
    tessera.copy %b[%c0, %c0], %wb[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<64x64xf16>, memref<64x64xf16, #wg>
    gpu.barrier
    %fa = tessera.load %wa[%c0, %c0] in_bounds swizzled : memref<192x64xf16, #wg> -> !tessera.fragment<64x64xf16, a>
    %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, b>
    %sum = tessera.mma %fa, %fb, %acc : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
    tessera.store %sum, %c[%c0, %c0] in_bounds : !tessera.fragment<64x64xf32, acc>, memref<512x64xf32>
    gpu.return
  }

  // Five warpgroups start with 80 registers. The producer releases at most 8 for each of the others.

  // CHECK-LABEL: gpu.func @five_groups
  // CHECK-SAME:    known_block_size = array<i32: 768, 1, 1>
  // CHECK:         nvvm.setmaxregister decrease 24
  // CHECK:         nvvm.setmaxregister increase 88
  gpu.func @five_groups(%a: memref<512x64xf16>, %b: memref<64x64xf16>, %c: memref<512x64xf32>)
      workgroup(%wa: memref<64x64xf16, #wg>, %wb: memref<64x64xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 640, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %acc = tessera.fill %zero : !tessera.fragment<64x64xf32, acc>
    gpu.barrier
    tessera.copy %a[%c0, %c0], %wa[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<512x64xf16>, memref<64x64xf16, #wg>
    tessera.copy %b[%c0, %c0], %wb[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<64x64xf16>, memref<64x64xf16, #wg>
    gpu.barrier
    %fa = tessera.load %wa[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, a>
    %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, b>
    %sum = tessera.mma %fa, %fb, %acc : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
    tessera.store %sum, %c[%c0, %c0] in_bounds : !tessera.fragment<64x64xf32, acc>, memref<512x64xf32>
    gpu.return
  }
}
