// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-bulk-copies))" --split-input-file --verify-diagnostics | FileCheck %s

// tessera-pipeline-copies decides whether TMA performs a kernel's copies (tessera.bulk).

#wg = #gpu.address_space<workgroup>

// CHECK-LABEL: gpu.func @yes
// CHECK-SAME:    tessera.copies = "bulk copies by a dedicated subgroup"
// CHECK-LABEL: gpu.func @no
// CHECK-SAME:    tessera.copies = "copies by all threads: tessera-pipeline-copies decided against bulk copies"
// CHECK:         tessera.copy
gpu.module @m {
  gpu.func @yes(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled {tessera.bulk = true} : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %x = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %x, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }
  gpu.func @no(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled {tessera.bulk = false} : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %x = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %x, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }
}

// -----

// TMA was chosen before the registers of a kernel and the layout of its tiles were known. If these do
// not permit it, all threads copy, and the report of the kernel has the reason.

#wg = #gpu.address_space<workgroup>
gpu.module @m {
  // CHECK-LABEL: gpu.func @impossible
  // CHECK-SAME:    tessera.copies = "copies by all threads: the tiles are not swizzled"
  gpu.func @impossible(%a: memref<512x512xf16>, %c: memref<64x32xf16>) workgroup(%w: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 {tessera.bulk = true} : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %x = tessera.load %w[%c0, %c0] in_bounds : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %x, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }
}

// -----

// Copies of one kernel have one decision.

#wg = #gpu.address_space<workgroup>
gpu.module @m {
  gpu.func @both(%a: memref<512x512xf16>, %c: memref<64x32xf16>)
      workgroup(%w: memref<64x32xf16, #wg>, %v: memref<64x32xf16, #wg>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64, tessera.stages = 2 : i64} {
    %c0 = arith.constant 0 : index
    gpu.barrier
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled {tessera.bulk = true} : memref<512x512xf16>, memref<64x32xf16, #wg>
    // expected-error @+1 {{tessera.bulk differs from that of an earlier copy of the kernel: TMA performs all of them or none}}
    tessera.copy %a[%c0, %c0], %v[%c0, %c0] shape [64, 32] in_bounds alignment 16 swizzled {tessera.bulk = false} : memref<512x512xf16>, memref<64x32xf16, #wg>
    gpu.barrier
    %x = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !tessera.fragment<64x32xf16, acc>
    tessera.store %x, %c[%c0, %c0] in_bounds : !tessera.fragment<64x32xf16, acc>, memref<64x32xf16>
    gpu.return
  }
}
