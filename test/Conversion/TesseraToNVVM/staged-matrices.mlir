// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(convert-tessera-to-nvvm,canonicalize,cse))" | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_80},gpu.module(convert-tessera-to-nvvm,canonicalize,cse))" | FileCheck %s --check-prefixes=CHECK,SM80

// Accumulators of 16 bits pass through workgroup memory four matrices of eight
// rows at a time: each lane has a row of 16 bytes there. stmatrix is there from
// sm_90 on.

#wg = #gpu.address_space<workgroup>
!acc = !tessera.fragment<16x16xf16, acc, "mma.m16n8k16.f32.f16">


gpu.module @m {
  // CHECK-LABEL: gpu.func @subgroup
  // CHECK:         %[[TILE:.+]] = nvgpu.ldmatrix %{{.+}} {numTiles = 2 : i32, transpose = false} : memref<16x16xf16, {{.+}}> -> vector<2x2xf16>
  // CHECK:         nvgpu.ldmatrix %{{.+}} {numTiles = 2 : i32, transpose = false}
  // CHECK-NOT:     nvgpu.ldmatrix
  // SM90-COUNT-2:  nvvm.stmatrix %{{.+}}, %{{.+}}, %{{.+}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<row>, shape = #nvvm.ld_st_matrix_shape<m = 8, n = 8>}
  // SM80-NOT:      stmatrix
  // SM80-COUNT-4:  vector.store
  // CHECK:         gpu.return
  gpu.func @subgroup(%i: index) workgroup(%w: memref<16x16xf16, #wg>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %f = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<16x16xf16, #wg> -> !acc
    gpu.barrier
    tessera.store %f, %w[%c0, %c0] in_bounds swizzled : !acc, memref<16x16xf16, #wg>
    gpu.return
  }
}
