// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-bulk-copies,canonicalize,cse))" | FileCheck %s

// A step's matmul is waited for after the next step's has been issued.

#wg = #gpu.address_space<workgroup>
!a = !tessera.fragment<64x64xf16, a, "wgmma.m64n128k16.f32.f16">
!b = !tessera.fragment<64x128xf16, b, "wgmma.m64n128k16.f32.f16">
!acc = !tessera.fragment<64x128xf32, acc, "wgmma.m64n128k16.f32.f16">

gpu.module @m {
  // The release of a slot is for the slot of the previous iteration, and after
  // the loop for the last iteration.

  // CHECK-LABEL: gpu.func @steps
  // CHECK:           %[[END:.+]]:3 = scf.for %[[I:.+]] = %c0 to %c16 step %c1 iter_args(%[[ACC:.+]] = %{{.+}}, %[[SLOT:.+]] = %c0, %[[PARITY:.+]] = %c0_i32)
  // CHECK:             mbarrier.try_wait
  // CHECK:             %[[SUM:.+]] = tessera.mma %{{.+}}, %{{.+}}, %[[ACC]] {tessera.in_flight, tessera.instruction = "wgmma.m64n128k16.f32.f16"}
  // CHECK:             %[[LATER:.+]] = arith.cmpi ne, %[[I]], %c0
  // CHECK:             %[[FIRST:.+]] = arith.cmpi eq, %[[SLOT]], %c0
  // CHECK:             %[[LESS:.+]] = arith.subi %[[SLOT]], %c1
  // CHECK:             %[[BEFORE:.+]] = arith.select %[[FIRST]], %c3, %[[LESS]]
  // CHECK:             %[[LANES:.+]] = arith.extui %[[LATER]] : i1 to i32
  // CHECK:             mbarrier.arrive.shared::cta{{.*}} %{{.+}}, %{{.+}}, %[[LANES]]
  // CHECK:             scf.yield %[[SUM]],
  // CHECK:           %[[DONE:.+]] = tessera.await %[[END]]#0 pending 0
  // CHECK:           arith.select %{{.+}}, %c3, %{{.+}} : index
  // CHECK:           mbarrier.arrive.shared::cta{{.*}} %c1_i32
  // CHECK:           tessera.store %[[DONE]]
  gpu.func @steps(%a: memref<64x1024xf16>, %b: memref<1024x128xf16>, %c: memref<64x128xf32>)
      workgroup(%wa: memref<64x64xf16, #wg>, %wb: memref<64x128xf16, #wg>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %acc = tessera.fill %zero : !acc
    %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%s = %acc) -> (!acc) {
      %k = arith.muli %i, %c64 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %wa[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<64x1024xf16>, memref<64x64xf16, #wg>
      tessera.copy %b[%k, %c0], %wb[%c0, %c0] shape [64, 128] in_bounds alignment 16 swizzled : memref<1024x128xf16>, memref<64x128xf16, #wg>
      gpu.barrier
      %fa = tessera.load %wa[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !a
      %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x128xf16, #wg> -> !b
      %next = tessera.mma %fa, %fb, %s {tessera.instruction = "wgmma.m64n128k16.f32.f16"} : !a, !b -> !acc
      scf.yield %next : !acc
    }
    tessera.store %sum, %c[%c0, %c0] in_bounds : !acc, memref<64x128xf32>
    gpu.return
  }

  // With three slots, none can be kept longer; sums that are read in the loop
  // have to be there.

  // CHECK-LABEL: gpu.func @few_slots
  // CHECK-NOT:     tessera.in_flight
  // CHECK-NOT:     tessera.await
  // CHECK:         gpu.return
  gpu.func @few_slots(%a: memref<64x1024xf16>, %b: memref<1024x128xf16>, %c: memref<64x128xf32>)
      workgroup(%wa: memref<64x64xf16, #wg>, %wb: memref<64x128xf16, #wg>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 3 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %acc = tessera.fill %zero : !acc
    %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%s = %acc) -> (!acc) {
      %k = arith.muli %i, %c64 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %wa[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<64x1024xf16>, memref<64x64xf16, #wg>
      tessera.copy %b[%k, %c0], %wb[%c0, %c0] shape [64, 128] in_bounds alignment 16 swizzled : memref<1024x128xf16>, memref<64x128xf16, #wg>
      gpu.barrier
      %fa = tessera.load %wa[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !a
      %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x128xf16, #wg> -> !b
      %next = tessera.mma %fa, %fb, %s {tessera.instruction = "wgmma.m64n128k16.f32.f16"} : !a, !b -> !acc
      scf.yield %next : !acc
    }
    tessera.store %sum, %c[%c0, %c0] in_bounds : !acc, memref<64x128xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @read_in_loop
  // CHECK-NOT:     tessera.in_flight
  // CHECK-NOT:     tessera.await
  // CHECK:         gpu.return
  gpu.func @read_in_loop(%a: memref<64x1024xf16>, %b: memref<1024x128xf16>, %c: memref<64x128xf32>)
      workgroup(%wa: memref<64x64xf16, #wg>, %wb: memref<64x128xf16, #wg>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0.0 : f32
    %acc = tessera.fill %zero : !acc
    %sum = scf.for %i = %c0 to %c16 step %c1 iter_args(%s = %acc) -> (!acc) {
      %k = arith.muli %i, %c64 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %wa[%c0, %c0] shape [64, 64] in_bounds alignment 16 swizzled : memref<64x1024xf16>, memref<64x64xf16, #wg>
      tessera.copy %b[%k, %c0], %wb[%c0, %c0] shape [64, 128] in_bounds alignment 16 swizzled : memref<1024x128xf16>, memref<64x128xf16, #wg>
      gpu.barrier
      %fa = tessera.load %wa[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !a
      %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x128xf16, #wg> -> !b
      %next = tessera.mma %fa, %fb, %s {tessera.instruction = "wgmma.m64n128k16.f32.f16"} : !a, !b -> !acc
      %half = tessera.map %next : !acc -> !acc {
      ^bb0(%x: f32):
        %y = arith.mulf %x, %x : f32
        tessera.yield %y : f32
      }
      scf.yield %half : !acc
    }
    tessera.store %sum, %c[%c0, %c0] in_bounds : !acc, memref<64x128xf32>
    gpu.return
  }
}
