// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-bulk-copies,canonicalize,cse))" | FileCheck %s

// Workgroups of a cluster that share tiles: each loads a part for all that read it.

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  // Two workgroups along M share the tile of rhs. Each loads two of its four panels
  // of 128 bytes, with an unchanged tensor map; a slot is empty when the eight
  // subgroups of both have released it, and full when all its bytes have arrived.

  // CHECK-LABEL: gpu.func @along_m
  // CHECK-SAME:    tessera.copies = "bulk copies by a dedicated subgroup; a second one stores the output from workgroup memory; workgroups share tiles in clusters of 2x1"
  // CHECK-SAME:    {argument = 1 : i64, box = array<i64: 64, 64>, swizzle = 128 : i64, symbol = @along_m_map_1}
  // CHECK:         %[[MAPB:.+]] = llvm.mlir.addressof @along_m_map_1
  // CHECK:         %[[RANK:.+]] = nvvm.read.ptx.sreg.cluster.ctaid.x
  // CHECK:         %[[M:.+]] = arith.remui %[[RANK]], %c2_i32
  // CHECK:         %[[N:.+]] = arith.divui %[[RANK]], %c2_i32
  // CHECK:         %[[COLUMN:.+]] = arith.muli %[[N]], %c2_i32
  // CHECK:         %[[BITS:.+]] = arith.shli %c3_i32, %[[COLUMN]]
  // CHECK:         %[[PART:.+]] = arith.index_castui %[[M]]
  // CHECK:         %[[MASK:.+]] = arith.trunci %[[BITS]] : i32 to i16
  // CHECK:         %[[LANE:.+]] = gpu.lane_id
  // CHECK:         %[[TO:.+]] = arith.index_cast %[[LANE]]
  // CHECK:         nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK:         nvvm.mbarrier.init %{{.+}}, %c16_i32
  // CHECK:         nvvm.fence.mbarrier.init
  // CHECK-NEXT:    }
  // CHECK-NEXT:    nvvm.cluster.arrive {aligned}
  // CHECK-NEXT:    nvvm.cluster.wait {aligned}
  // CHECK-NOT:     gpu.barrier
  // CHECK:           nvvm.setmaxregister decrease 40
  // CHECK:           mbarrier.try_wait.parity.shared::cta
  // CHECK:           mbarrier.arrive.expect_tx{{.*}} %{{.+}}, %c49152_i32
  // CHECK:           nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, box[%[[K:.+]], %{{.+}}] : !llvm
  // CHECK:           %[[AT:.+]] = arith.muli %[[PART]], %c128
  // CHECK:           %[[BYTES:.+]] = arith.muli %[[PART]], %c16384
  // CHECK:           %[[COL:.+]] = arith.index_cast %[[AT]]
  // CHECK:           nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[MAPB]], %{{.+}}, box[%[[COL]], %[[K]]] multicast_mask = %[[MASK]]
  // CHECK:           arith.addi %[[AT]], %c64
  // CHECK:           nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[MAPB]], %{{.+}} multicast_mask = %[[MASK]]
  // CHECK-NOT:       nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK:         } else {
  // CHECK:           mbarrier.try_wait.parity.shared::cta
  // CHECK:           tessera.mma
  // CHECK:           mapa.shared::cluster.u64 {{.*}}mbarrier.arrive.shared::cluster.b64 {{.*}} %{{.+}}, %[[TO]], %[[TO]], %c2_i32
  // CHECK:         nvvm.cluster.arrive
  // CHECK-NOT:     aligned
  // CHECK-NEXT:    nvvm.cluster.wait
  // CHECK-NEXT:    gpu.return
  gpu.func @along_m(%a: memref<1024x256xf16>, %b: memref<256x256xf16>, %c: memref<1024x256xf16>)
      workgroup(%wo: memref<128x256xf16, #wg>, %wa: memref<128x64xf16, #wg>, %wb: memref<64x256xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64, tessera.sharers = array<i64: 2, 1>} {
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

  // Two along N share the tile of lhs, which is one panel: half of its rows each.

  // CHECK-LABEL: gpu.func @along_n
  // CHECK-SAME:    {argument = 0 : i64, box = array<i64: 64, 64>, swizzle = 128 : i64, symbol = @along_n_map_0}
  // CHECK:         %[[RANK:.+]] = nvvm.read.ptx.sreg.cluster.ctaid.x
  // CHECK:         %[[PART:.+]] = arith.index_castui %[[RANK]]
  // CHECK:         expect_tx{{.*}} %{{.+}}, %c49152_i32
  // CHECK:         %[[ROW:.+]] = arith.muli %[[PART]], %c64
  // CHECK:         %[[AT:.+]] = arith.addi %{{.+}}, %[[ROW]]
  // CHECK:         arith.muli %[[PART]], %c8192
  // CHECK:         %[[R:.+]] = arith.index_cast %[[AT]]
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, box[%{{.+}}, %[[R]]] multicast_mask = %{{.+}} :
  // CHECK-COUNT-4: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, box[%{{[^]]+}}] : !llvm
  // CHECK:         } else {
  gpu.func @along_n(%a: memref<1024x256xf16>, %b: memref<256x256xf16>, %c: memref<1024x256xf16>)
      workgroup(%wo: memref<128x256xf16, #wg>, %wa: memref<128x64xf16, #wg>, %wb: memref<64x256xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64, tessera.sharers = array<i64: 1, 2>} {
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

  // Three release a slot: itself, one along M, one along N.

  // CHECK-LABEL: gpu.func @both
  // CHECK:         %[[RANK:.+]] = nvvm.read.ptx.sreg.cluster.ctaid.x
  // CHECK:         %[[M:.+]] = arith.remui %[[RANK]], %c2_i32
  // CHECK:         %[[N:.+]] = arith.divui %[[RANK]], %c2_i32
  // CHECK:         arith.shli %c5_i32, %[[M]]
  // CHECK:         arith.shli %c3_i32, %{{.+}}
  // CHECK:         %[[TO:.+]] = arith.select
  // CHECK:         nvvm.mbarrier.init %{{.+}}, %c24_i32
  // CHECK-COUNT-3: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}} multicast_mask
  // CHECK-NOT:     nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK:         mbarrier.arrive.shared::cluster.b64 {{.*}} %{{.+}}, %[[TO]], %{{.+}}, %c3_i32
  gpu.func @both(%a: memref<1024x256xf16>, %b: memref<256x256xf16>, %c: memref<1024x256xf16>)
      workgroup(%wo: memref<128x256xf16, #wg>, %wa: memref<128x64xf16, #wg>, %wb: memref<64x256xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64, tessera.sharers = array<i64: 2, 2>} {
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
}
