// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(convert-tessera-to-nvvm,canonicalize,cse))" | FileCheck %s

// Accumulators of a group pass through workgroup memory by matrices: each
// subgroup has rows of its own.

#wg = #gpu.address_space<workgroup>
!group = !tessera.fragment<64x32xf16, acc, "wgmma.m64n32k16.f32.f16">

gpu.module @m {
  // CHECK-LABEL: gpu.func @group
  // CHECK:         %[[ROWS:.+]] = arith.muli %{{.+}}, %c32
  // CHECK-COUNT-2: nvgpu.ldmatrix %{{.+}} {numTiles = 4 : i32, transpose = false}
  // CHECK-NOT:     nvgpu.ldmatrix
  // CHECK-COUNT-2: nvvm.stmatrix %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}} {
  // CHECK-NOT:     nvvm.stmatrix
  // CHECK:         gpu.return
  gpu.func @group() workgroup(%w: memref<64x32xf16, #wg>) kernel attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #wg> -> !group
    gpu.barrier
    tessera.store %f, %w[%c0, %c0] in_bounds swizzled : !group, memref<64x32xf16, #wg>
    gpu.return
  }
}
