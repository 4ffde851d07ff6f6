// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-bulk-copies,canonicalize,cse))" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_80},gpu.module(tessera-use-bulk-copies,canonicalize,cse))" | FileCheck %s --check-prefix=OLD

// One step in a loop, and kernels that have no such step.

// Before sm_90 nothing changes.
// OLD-NOT:   mbarrier
// OLD-NOT:   tensor_maps
// OLD-LABEL: gpu.func @step
// OLD-SAME:    workgroup(%{{.+}} : memref<64x32xf16, {{.+}}>, %{{.+}} : memref<32x128xf16, {{[^>]+}}>>) kernel
// OLD-SAME:    known_block_size = array<i32: 128, 1, 1>
// OLD-SAME:    tessera.copies = "copies by all threads: sm_80 has no bulk copies"
// OLD-COUNT-1: gpu.barrier
// OLD-NEXT:    tessera.copy %{{.+}} shape [64, 32] in_bounds alignment 16 swizzled
// OLD-NEXT:    tessera.copy %{{.+}} shape [32, 128] in_bounds alignment 16 swizzled
// OLD-NEXT:    gpu.barrier
// OLD-NOT:   mbarrier
// OLD-NOT:   tensor_maps
// OLD-NOT:   producer_threads

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  // Two copies for each step arrive at one barrier with all their bytes. Rows of
  // 256 bytes are two panels, and one map does for both.

  // CHECK-DAG:   llvm.mlir.global external constant @step_map_0() {{.*}} : !llvm.array<128 x i8>
  // CHECK-DAG:   llvm.mlir.global external constant @step_map_1() {{.*}} : !llvm.array<128 x i8>
  // CHECK-LABEL: gpu.func @step
  // CHECK-SAME:    workgroup(%[[BARS:.+]] : memref<6xi64, {{.+}}>, %[[WA:.+]] : memref<3x64x32xf16, {{.+}}>, %[[WB:.+]] : memref<3x32x128xf16, {{[^>]+}}>>) kernel
  // CHECK-SAME:    known_block_size = array<i32: 160, 1, 1>
  // CHECK-SAME:    tessera.copies = "bulk copies by a dedicated subgroup"
  // CHECK-SAME:    tessera.producer_threads = 32 : i64
  // CHECK-SAME:    tessera.tensor_maps = [
  // CHECK-SAME:      {argument = 0 : i64, box = array<i64: 1, 64, 32>, swizzle = 64 : i64, symbol = @step_map_0},
  // CHECK-SAME:      {argument = 1 : i64, box = array<i64: 32, 64>, swizzle = 128 : i64, symbol = @step_map_1}]

  // The producer has the engine fetch its maps, while one thread sets up three
  // pairs of barriers, before all go on: one arrival fills a slot, four
  // subgroups leave it.
  // CHECK-DAG:     %[[MAPB:.+]] = llvm.mlir.addressof @step_map_1
  // CHECK-DAG:     %[[MAPA:.+]] = llvm.mlir.addressof @step_map_0
  // CHECK:         %[[THREAD:.+]] = arith.addi %thread_id_x, %{{.+}}
  // CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %[[THREAD]], %c0
  // CHECK-NEXT:    %[[ISSUES:.+]] = arith.cmpi eq, %[[THREAD]], %c128
  // CHECK-NEXT:    scf.if %[[ISSUES]] {
  // CHECK-DAG:       nvvm.prefetch tensormap, %[[MAPA]]
  // CHECK-DAG:       nvvm.prefetch tensormap, %[[MAPB]]
  // CHECK:         scf.if %[[FIRST]] {
  // CHECK:           nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK:           %[[AT:.+]] = arith.addi %{{.+}}, %c24
  // CHECK:           %[[BITS:.+]] = arith.index_cast %[[AT]]
  // CHECK:           %[[EMPTY:.+]] = llvm.inttoptr %[[BITS]]
  // CHECK:           nvvm.mbarrier.init %[[EMPTY]], %c4_i32
  // CHECK:           nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK:           nvvm.mbarrier.init %{{.+}}, %c4_i32
  // CHECK:           nvvm.mbarrier.init %{{.+}}, %c1_i32
  // CHECK:           nvvm.mbarrier.init %{{.+}}, %c4_i32
  // CHECK-NEXT:      nvvm.fence.mbarrier.init
  // CHECK-NEXT:    }
  // CHECK-NEXT:    gpu.barrier

  // The producer's one thread. The parity before: all slots begin empty.
  // CHECK:         %[[PRODUCES:.+]] = arith.cmpi uge, %[[THREAD]], %c128
  // CHECK-NEXT:    scf.if %[[PRODUCES]] {
  // CHECK-NEXT:      scf.if %[[ISSUES]] {
  // CHECK-NEXT:        scf.for %[[I:.+]] = %c0 to %c8 step %c1 iter_args(%[[SLOT:.+]] = %c0, %[[PARITY:.+]] = %c0_i32) -> (index, i32) {
  // CHECK-NEXT:          %[[BEFORE:.+]] = arith.xori %[[PARITY]], %c1_i32
  // CHECK-NEXT:          %[[NUMBER:.+]] = arith.addi %[[SLOT]], %c3
  // CHECK:               %[[OFFSET:.+]] = arith.muli %[[NUMBER]], %c8
  // CHECK:               llvm.inline_asm {{.*}}mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;{{.*}} %{{.+}}, %[[BEFORE]] :
  // CHECK:               %[[OFFSET:.+]] = arith.muli %[[SLOT]], %c8
  // CHECK:               %[[POSITION:.+]] = arith.addi %{{.+}}, %[[OFFSET]]
  // CHECK:               %[[BITS:.+]] = arith.index_cast %[[POSITION]]
  // CHECK:               %[[FULL:.+]] = llvm.inttoptr %[[BITS]]

  // 64 x 32 and 32 x 128 of 2 bytes; innermost coordinates first.
  // CHECK:               nvvm.mbarrier.arrive.expect_tx %[[FULL]], %c12288_i32
  // CHECK:               %[[K:.+]] = arith.muli %[[I]], %c32
  // CHECK:               arith.muli %[[SLOT]], %c4096
  // CHECK:               %[[K32:.+]] = arith.index_cast %[[K]] : index to i32
  // CHECK:               nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[MAPA]], %[[FULL]], box[%[[K32]], %c64_i32, %c3_i32]
  // CHECK:               arith.muli %[[SLOT]], %c8192
  // CHECK:               nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[MAPB]], %[[FULL]], box[%c64_i32, %[[K32]]]
  // CHECK:               nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.+}}, %[[MAPB]], %[[FULL]], box[%c128_i32, %[[K32]]]
  // CHECK-NOT:           nvvm.cp.async.bulk.tensor

  // The parity changes after the last slot.
  // CHECK:               %[[NEXT:.+]] = arith.addi %[[SLOT]], %c1
  // CHECK-NEXT:          %[[LAST:.+]] = arith.cmpi eq, %[[NEXT]], %c3
  // CHECK-NEXT:          %[[S:.+]] = arith.select %[[LAST]], %c0, %[[NEXT]] : index
  // CHECK-NEXT:          %[[P:.+]] = arith.select %[[LAST]], %[[BEFORE]], %[[PARITY]] : i32
  // CHECK-NEXT:          scf.yield %[[S]], %[[P]]
  // CHECK-NEXT:        }

  // The consumers read the slot when it is full, and release it after the reads.
  // CHECK:         } else {
  // CHECK-NOT:       gpu.barrier
  // CHECK:           scf.for %{{.+}} = %c0 to %c8 step %c1 iter_args(%[[SLOT:.+]] = %c0, %[[PARITY:.+]] = %c0_i32) -> (index, i32) {
  // CHECK:             arith.muli %[[SLOT]], %c8
  // CHECK:             llvm.inline_asm {{.*}}mbarrier.try_wait{{.*}} %{{.+}}, %[[PARITY]] :
  // CHECK-NEXT:        tessera.load %[[WA]][%[[SLOT]], %c0, %c0] in_bounds swizzled
  // CHECK-NEXT:        tessera.load %[[WB]][%[[SLOT]], %c0, %c0] in_bounds swizzled
  // CHECK-NEXT:        tessera.store
  // CHECK-NEXT:        tessera.store
  // CHECK-NEXT:        %[[NUMBER:.+]] = arith.addi %[[SLOT]], %c3
  // CHECK-NEXT:        gpu.lane_id
  // CHECK:             arith.muli %[[NUMBER]], %c8
  // CHECK:             llvm.inline_asm {{.*}}setp.lt.u32 p, $1, $2;{{.*}}@p mbarrier.arrive.shared::cta.b64 _, [$0];
  // CHECK:             %[[NEXT:.+]] = arith.addi %[[SLOT]], %c1
  // CHECK-NEXT:        %[[LAST:.+]] = arith.cmpi eq, %[[NEXT]], %c3
  // CHECK-NEXT:        %[[OTHER:.+]] = arith.xori %[[PARITY]], %c1_i32
  // CHECK-NEXT:        %[[S:.+]] = arith.select %[[LAST]], %c0, %[[NEXT]] : index
  // CHECK-NEXT:        %[[P:.+]] = arith.select %[[LAST]], %[[OTHER]], %[[PARITY]] : i32
  // CHECK-NEXT:        scf.yield %[[S]], %[[P]]
  // CHECK-NOT:     nvvm.cp.async.bulk
  // CHECK:         gpu.return
  gpu.func @step(%a: memref<4x512x512xf16>, %b: memref<512x512xf16>, %c: memref<64x128xf16>)
      workgroup(%wa: memref<64x32xf16, #wg>, %wb: memref<32x128xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 3 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    scf.for %i = %c0 to %c8 step %c1 {
      %k = arith.muli %i, %c32 : index
      gpu.barrier
      tessera.copy %a[%c3, %c64, %k], %wa[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<4x512x512xf16>, memref<64x32xf16, #wg>
      tessera.copy %b[%k, %c64], %wb[%c0, %c0] shape [32, 128] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<32x128xf16, #wg>
      gpu.barrier
      %fa = tessera.load %wa[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
      %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<32x128xf16, #wg> -> !tessera.fragment<32x128xf16, acc>
      tessera.store %fa, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x128xf16>
      tessera.store %fb, %c[%c0, %c0] in_bounds : !tessera.fragment<32x128xf16, acc>, memref<64x128xf16>
    }
    gpu.return
  }

  // Without a loop one slot is used, and no position is counted.

  // CHECK-LABEL: gpu.func @once
  // CHECK-SAME:    tessera.copies = "bulk copies by a dedicated subgroup"
  // CHECK-NOT:     scf.for
  // CHECK:         mbarrier.try_wait{{.*}} %{{.+}}, %c1_i32 :
  // CHECK:         nvvm.cp.async.bulk.tensor.shared.cluster.global
  // CHECK:       } else {
  // CHECK-NOT:     scf.for
  // CHECK:         mbarrier.try_wait{{.*}} %{{.+}}, %c0_i32 :
  // CHECK-NEXT:    tessera.load %{{.+}}[%c0, %c0, %c0]
  // CHECK:         mbarrier.arrive.shared
  gpu.func @once(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // Unsupported kernels are not changed, and the reason is reported.

  // CHECK-LABEL: gpu.func @unaligned
  // CHECK-SAME:    known_block_size = array<i32: 128, 1, 1>
  // CHECK-SAME:    tessera.copies = "copies by all threads: rows of argument 0 of the kernel are not known to be aligned to 16 bytes"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @unaligned(%a: memref<512x511xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds swizzled : memref<512x511xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @padded
  // CHECK-SAME:    tessera.copies = "copies by all threads: the tiles are not swizzled"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @padded(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @gathered
  // CHECK-SAME:    tessera.copies = "copies by all threads: argument 0 of the kernel is gathered: it is not indexed by a window of static extents"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @gathered(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %true = arith.constant true
    gpu.barrier
    tessera.copy %a[], %w[%c0, %c0] shape [64, 32] swizzled gather {
    ^bb0(%i: index, %j: index):
      tessera.yield %i, %j, %true : index, index, i1
    } : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @view
  // CHECK-SAME:    tessera.copies = "copies by all threads: the copied memory is not a kernel argument"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @view(%a: memref<4x512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %v = memref.subview %a[1, 0, 0] [1, 512, 512] [1, 1, 1] : memref<4x512x512xf16> to memref<512x512xf16, strided<[512, 1], offset: 262144>>
    gpu.barrier
    tessera.copy %v[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16, strided<[512, 1], offset: 262144>>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @part
  // CHECK-SAME:    tessera.copies = "copies by all threads: a copy does not fill its workgroup memory buffer"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @part(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [32, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @rows
  // CHECK-SAME:    tessera.copies = "copies by all threads: tiles of 512x32 have more than 256 rows, or are not a multiple of the swizzle pattern of 1024 bytes"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @rows(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<512x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [512, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<512x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<512x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @condition
  // CHECK-SAME:    tessera.copies = "copies by all threads: copies are made under a condition"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @condition(%a: memref<512x512xf16>, %c: memref<64x32xf16>, %if: i1) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    scf.if %if {
      gpu.barrier
      tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
      tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    }
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_barrier
  // CHECK-SAME:    tessera.copies = "copies by all threads: the copies are not guarded by barriers"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @no_barrier(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // Data read in another block may be read in another step.

  // CHECK-LABEL: gpu.func @elsewhere
  // CHECK-SAME:    tessera.copies = "copies by all threads: copies and loads do not form a staged loop"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @elsewhere(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      gpu.barrier
      tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
      gpu.barrier
    }
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // Workgroup memory besides, which only the step's barriers guard: they would
  // be gone.

  // CHECK-LABEL: gpu.func @besides
  // CHECK-SAME:    tessera.copies = "copies by all threads: workgroup memory is also used for other data than the staged tiles"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @besides(%a: memref<512x512xf16>, %c: memref<64x32xf16>)
      workgroup(%w: memref<64x32xf16, #wg>, %o: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    scf.for %i = %c0 to %c8 step %c1 {
      gpu.barrier
      tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
      gpu.barrier
      %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
      tessera.store %f, %o[%c0, %c0] in_bounds swizzled : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16, #wg>
      gpu.barrier
      tessera.copy %o[%c0, %c0], %c[%c0, %c0] shape [64, 32] in_bounds from_swizzled : memref<64x32xf16, #wg>, memref<64x32xf16>
    }
    gpu.return
  }

  // No barrier separates the stores from their readers.

  // CHECK-LABEL: gpu.func @unguarded
  // CHECK-SAME:    tessera.copies = "copies by all threads: workgroup memory is also used for other data than the staged tiles"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @unguarded(%a: memref<512x512xf16>, %c: memref<64x32xf16>)
      workgroup(%w: memref<64x32xf16, #wg>, %o: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %o[%c0, %c0] in_bounds swizzled : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16, #wg>
    tessera.copy %o[%c0, %c0], %c[%c0, %c0] shape [64, 32] in_bounds from_swizzled : memref<64x32xf16, #wg>, memref<64x32xf16>
    gpu.return
  }

  // 57 slots of 4 KiB and a pattern for the barriers.

  // CHECK-LABEL: gpu.func @memory
  // CHECK-SAME:    tessera.copies = "copies by all threads: tiles and barriers require 234496 bytes of workgroup memory, but sm_90a has 232448"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @memory(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 57 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @threads
  // CHECK-SAME:    tessera.copies = "copies by all threads: a workgroup of 1024 threads has no room for a subgroup that copies"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @threads(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 1024, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // 512 threads would start with 128 registers, which the accumulators occupy.
  // Consecutive matmuls share them.

  // CHECK-LABEL: gpu.func @registers
  // CHECK-SAME:    tessera.copies = "copies by all threads: 128 accumulator registers for each thread leave no registers for 128 copying threads"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @registers(%a: memref<512x512xf16>, %b: memref<512x256xf16>, %c: memref<64x256xf32>)
      workgroup(%wa: memref<64x32xf16, #wg>, %wb: memref<32x256xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 384, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %zero = arith.constant 0.0 : f32
    %init = tessera.fill %zero : !tessera.fragment<64x256xf32, acc>
    gpu.barrier
    tessera.copy %a[%c0, %c0], %wa[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
    tessera.copy %b[%c0, %c0], %wb[%c0, %c0] shape [32, 256] in_bounds alignment 16 swizzled : memref<512x256xf16>, memref<32x256xf16, #wg>
    gpu.barrier
    %a0 = tessera.load %wa[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x16xf16, a>
    %b0 = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<32x256xf16, #wg> -> !tessera.fragment<16x256xf16, b>
    %half = tessera.mma %a0, %b0, %init : !tessera.fragment<64x16xf16, a>, !tessera.fragment<16x256xf16, b> -> !tessera.fragment<64x256xf32, acc>
    %a1 = tessera.load %wa[%c0, %c16] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x16xf16, a>
    %b1 = tessera.load %wb[%c16, %c0] in_bounds swizzled : memref<32x256xf16, #wg> -> !tessera.fragment<16x256xf16, b>
    %sum = tessera.mma %a1, %b1, %half : !tessera.fragment<64x16xf16, a>, !tessera.fragment<16x256xf16, b> -> !tessera.fragment<64x256xf32, acc>
    tessera.store %sum, %c[%c0, %c0] in_bounds : !tessera.fragment<64x256xf32, acc>, memref<64x256xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @stages
  // CHECK-SAME:    tessera.copies = "copies by all threads: the number of stages is not set on the kernel"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @stages(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // The producer would have to compute a value that is read from memory.

  // CHECK-LABEL: gpu.func @depends
  // CHECK-SAME:    tessera.copies = "copies by all threads: their source indices depend on values that the subgroups compute"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @depends(%a: memref<512x512xf16>, %c: memref<64x32xf16>, %n: memref<index>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %k = memref.load %n[] : memref<index>
    gpu.barrier
    tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }

  // Pipelined copies remain asynchronous, and the reason is reported.

  // CHECK-LABEL: gpu.func @pipelined
  // CHECK-SAME:    tessera.copies = "asynchronous copies by all threads: rows of argument 0 of the kernel are not known to be aligned to 16 bytes"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.async_copy
  gpu.func @pipelined(%a: memref<512x511xf16>) workgroup(%w: memref<2x64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %a[%c0, %c0], %w[%c0, %c0, %c0] shape [64, 32] in_bounds swizzled : memref<512x511xf16>, memref<2x64x32xf16, #wg>
    tessera.wait
    gpu.return
  }

  // CHECK-LABEL: gpu.func @pipelined_aligned
  // CHECK-SAME:    tessera.copies = "asynchronous copies by all threads"
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.async_copy
  gpu.func @pipelined_aligned(%a: memref<512x512xf16>) workgroup(%w: memref<2x64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %a[%c0, %c0], %w[%c0, %c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<2x64x32xf16, #wg>
    tessera.wait
    gpu.return
  }

  // Buffers of kernels without groups begin at multiples of less than a pattern.

  // CHECK-LABEL: gpu.func @alone
  // CHECK-NOT:     tessera.copies
  // CHECK-NOT:     mbarrier
  // CHECK:         tessera.copy
  gpu.func @alone(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %f, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }
}
