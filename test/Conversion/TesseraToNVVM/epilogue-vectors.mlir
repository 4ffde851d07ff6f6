// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-bulk-copies,canonicalize,cse))" | FileCheck %s

// A vector that the epilogue adds is loaded before the matmuls of its tile, if registers are available, and before
// all tiles if these are in the same columns.

#wg = #gpu.address_space<workgroup>
!a = !tessera.fragment<64x64xf16, a, "wgmma.m64n256k16.f32.f16">
!b = !tessera.fragment<64x256xf16, b, "wgmma.m64n256k16.f32.f16">
!acc = !tessera.fragment<64x256xf32, acc, "wgmma.m64n256k16.f32.f16">
!half = !tessera.fragment<64x256xf16, acc, "wgmma.m64n256k16.f32.f16">

gpu.module @m {
  // Elements of two bytes take 32 registers beside 128 accumulators.

  // CHECK-LABEL: gpu.func @two_bytes
  // CHECK:         nvvm.setmaxregister increase 232
  // CHECK:         %[[BIAS:.+]] = tessera.broadcast %{{.+}}[%c0] dimension 0
  // CHECK:         scf.for
  // CHECK:           scf.for
  // CHECK:             tessera.mma
  // CHECK:           tessera.map %{{.+}}, %[[BIAS]]
  gpu.func @two_bytes(%a: memref<1024x256xf16>, %b: memref<256x256xf16>, %c: memref<1024x256xf16>, %bias: memref<256xf16>)
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
      %init = tessera.fill %zero : !acc
      %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %init) -> !acc {
        %k = arith.muli %i, %c64 : index
        gpu.barrier
        tessera.copy %a[%m, %k], %wa[%c0, %c0] shape [128, 64] in_bounds alignment 16 swizzled : memref<1024x256xf16>, memref<128x64xf16, #wg>
        tessera.copy %b[%k, %c0], %wb[%c0, %c0] shape [64, 256] in_bounds alignment 16 swizzled : memref<256x256xf16>, memref<64x256xf16, #wg>
        gpu.barrier
        %fa = tessera.load %wa[%sub, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !a
        %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x256xf16, #wg> -> !b
        %next = tessera.mma %fa, %fb, %acc : !a, !b -> !acc
        scf.yield %next : !acc
      }
      gpu.barrier
      %v = tessera.broadcast %bias[%c0] dimension 0 in_bounds : memref<256xf16> -> !half
      %half = tessera.map %sum, %v : !acc, !half -> !half {
      ^bb0(%x: f32, %y: f16):
        %0 = arith.extf %y : f16 to f32
        %1 = arith.addf %x, %0 : f32
        %2 = arith.truncf %1 : f32 to f16
        tessera.yield %2 : f16
      }
      tessera.store %half, %wo[%sub, %c0] in_bounds swizzled : !half, memref<128x256xf16, #wg>
      gpu.barrier
      tessera.copy %wo[%c0, %c0], %c[%m, %c0] shape [128, 256] in_bounds from_swizzled : memref<128x256xf16, #wg>, memref<1024x256xf16>
    }
    gpu.return
  }

  // A single step is not in a loop: the vector of a tile is loaded before the wait for the step.

  // CHECK-LABEL: gpu.func @one_step
  // CHECK:         nvvm.setmaxregister increase 232
  // CHECK:         scf.for %[[TILE:.+]] = %block_id_x
  // CHECK:           %[[N:.+]] = arith.muli %[[TILE]], %c256
  // CHECK-NOT:       llvm.inline_asm
  // CHECK-NOT:       scf.while
  // CHECK:           %[[BIAS:.+]] = tessera.broadcast %{{.+}}[%[[N]]] dimension 0
  // CHECK:           tessera.mma
  // CHECK:           tessera.map %{{.+}}, %[[BIAS]]
  gpu.func @one_step(%a: memref<128x64xf16>, %b: memref<64x2048xf16>, %c: memref<128x2048xf16>, %bias: memref<2048xf16>)
      workgroup(%wo: memref<128x256xf16, #wg>, %wa: memref<128x64xf16, #wg>, %wb: memref<64x256xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c256 = arith.constant 256 : index
    %zero = arith.constant 0.0 : f32
    %first = gpu.block_id x
    %stride = gpu.grid_dim x
    %thread = gpu.thread_id x
    %group = arith.divui %thread, %c128 : index
    %sub = arith.muli %group, %c64 : index
    scf.for %tile = %first to %c8 step %stride {
      %n = arith.muli %tile, %c256 : index
      %init = tessera.fill %zero : !acc
      gpu.barrier
      tessera.copy %a[%c0, %c0], %wa[%c0, %c0] shape [128, 64] in_bounds alignment 16 swizzled : memref<128x64xf16>, memref<128x64xf16, #wg>
      tessera.copy %b[%c0, %n], %wb[%c0, %c0] shape [64, 256] in_bounds alignment 16 swizzled : memref<64x2048xf16>, memref<64x256xf16, #wg>
      gpu.barrier
      %fa = tessera.load %wa[%sub, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !a
      %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x256xf16, #wg> -> !b
      %sum = tessera.mma %fa, %fb, %init : !a, !b -> !acc
      gpu.barrier
      %v = tessera.broadcast %bias[%n] dimension 0 in_bounds : memref<2048xf16> -> !half
      %half = tessera.map %sum, %v : !acc, !half -> !half {
      ^bb0(%x: f32, %y: f16):
        %0 = arith.extf %y : f16 to f32
        %1 = arith.addf %x, %0 : f32
        %2 = arith.truncf %1 : f32 to f16
        tessera.yield %2 : f16
      }
      tessera.store %half, %wo[%sub, %c0] in_bounds swizzled : !half, memref<128x256xf16, #wg>
      gpu.barrier
      tessera.copy %wo[%c0, %c0], %c[%c0, %n] shape [128, 256] in_bounds from_swizzled : memref<128x256xf16, #wg>, memref<128x2048xf16>
    }
    gpu.return
  }

  // Elements of four bytes would take 64 registers, and the matmuls would spill.

  // CHECK-LABEL: gpu.func @four_bytes
  // CHECK:         nvvm.setmaxregister increase 232
  // CHECK-NOT:     tessera.broadcast
  // CHECK:         tessera.mma
  // CHECK:         %[[BIAS:.+]] = tessera.broadcast %{{.+}}[%c0] dimension 0
  // CHECK-NEXT:    tessera.map %{{.+}}, %[[BIAS]]
  gpu.func @four_bytes(%a: memref<1024x256xf16>, %b: memref<256x256xf16>, %c: memref<1024x256xf16>, %bias: memref<256xf32>)
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
      %init = tessera.fill %zero : !acc
      %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%acc = %init) -> !acc {
        %k = arith.muli %i, %c64 : index
        gpu.barrier
        tessera.copy %a[%m, %k], %wa[%c0, %c0] shape [128, 64] in_bounds alignment 16 swizzled : memref<1024x256xf16>, memref<128x64xf16, #wg>
        tessera.copy %b[%k, %c0], %wb[%c0, %c0] shape [64, 256] in_bounds alignment 16 swizzled : memref<256x256xf16>, memref<64x256xf16, #wg>
        gpu.barrier
        %fa = tessera.load %wa[%sub, %c0] in_bounds swizzled : memref<128x64xf16, #wg> -> !a
        %fb = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<64x256xf16, #wg> -> !b
        %next = tessera.mma %fa, %fb, %acc : !a, !b -> !acc
        scf.yield %next : !acc
      }
      gpu.barrier
      %v = tessera.broadcast %bias[%c0] dimension 0 in_bounds : memref<256xf32> -> !acc
      %half = tessera.map %sum, %v : !acc, !acc -> !half {
      ^bb0(%x: f32, %y: f32):
        %1 = arith.addf %x, %y : f32
        %2 = arith.truncf %1 : f32 to f16
        tessera.yield %2 : f16
      }
      tessera.store %half, %wo[%sub, %c0] in_bounds swizzled : !half, memref<128x256xf16, #wg>
      gpu.barrier
      tessera.copy %wo[%c0, %c0], %c[%m, %c0] shape [128, 256] in_bounds from_swizzled : memref<128x256xf16, #wg>, memref<1024x256xf16>
    }
    gpu.return
  }
}
