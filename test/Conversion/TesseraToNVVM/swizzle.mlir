// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_80},gpu.module(tessera-legalize-fragments,convert-tessera-to-nvvm,canonicalize,cse))" | FileCheck %s

gpu.module @m {
  // Rows of 128 bytes: chunk c of row r is kept as chunk c xor (r mod 8).
  // CHECK-LABEL: gpu.func @copy
  // CHECK-DAG:     %[[ROW:.+]] = arith.divui %thread_id_x, %c8
  // CHECK-DAG:     %[[CHUNK:.+]] = arith.remui %thread_id_x, %c8
  // CHECK-DAG:     %[[COL:.+]] = arith.muli %[[CHUNK]], %c8
  // CHECK:         %[[SHIFTED:.+]] = arith.shli %[[ROW]], %c3
  // CHECK:         %[[PHASE:.+]] = arith.andi %[[SHIFTED]], %c56
  // CHECK:         %[[KEPT:.+]] = arith.xori %[[COL]], %[[PHASE]]
  // CHECK:         vector.load %{{.+}}[%[[ROW]], %[[COL]]] {alignment = 16 : i64} : memref<64x64xf16>, vector<8xf16>
  // CHECK:         vector.store %{{.+}}, %{{.+}}[%[[ROW]], %[[KEPT]]] {alignment = 16 : i64}
  gpu.func @copy(%g: memref<64x64xf16>, %w: memref<64x64xf16, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    tessera.copy %g[%c0, %c0], %w[%c0, %c0] shape [64, 64] swizzled : memref<64x64xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
    gpu.return
  }


  // Rows of 64 bytes: chunk c of row r is stored as chunk c xor ((r / 2) mod
  // 4), independent of a buffer's index and of the counts at the edge.
  // CHECK-LABEL: gpu.func @async
  // CHECK-SAME:    index, %[[I:[a-z0-9]+]]: index)
  // CHECK-DAG:     %[[ROW:.+]] = arith.divui %thread_id_x, %c4
  // CHECK-DAG:     %[[CHUNK:.+]] = arith.remui %thread_id_x, %c4
  // CHECK-DAG:     %[[COL:.+]] = arith.muli %[[CHUNK]], %c8
  // CHECK-DAG:     %[[FROM_ROW:.+]] = arith.addi %[[I]], %[[ROW]]
  // CHECK-DAG:     %[[FROM_COL:.+]] = arith.addi %[[I]], %[[COL]]
  // CHECK-DAG:     %[[SHIFTED:.+]] = arith.shli %[[ROW]], %c2
  // CHECK-DAG:     %[[PHASE:.+]] = arith.andi %[[SHIFTED]], %c24
  // CHECK-DAG:     %[[KEPT:.+]] = arith.xori %[[COL]], %[[PHASE]]
  // CHECK:         nvgpu.device_async_copy %{{.+}}[%[[FROM_ROW]], %[[FROM_COL]]], %{{.+}}[%{{.+}}, %[[ROW]], %[[KEPT]]], 8, %{{.+}} {bypassL1}
  gpu.func @async(%g: memref<?x?xf16>, %w: memref<3x64x32xf16, #gpu.address_space<workgroup>>, %slot: index, %i: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %g[%i, %i], %w[%slot, %c0, %c0] shape [64, 32] alignment 16 swizzled : memref<?x?xf16>, memref<3x64x32xf16, #gpu.address_space<workgroup>>
    tessera.wait for %t
    gpu.return
  }


  // Rows of 32 bytes, two phases of four rows. From column 2 on, four elements
  // would straddle two chunks: two at once.
  // CHECK-LABEL: gpu.func @narrow
  // CHECK:           %[[ROW:.+]] = arith.divui %thread_id_x, %c2
  // CHECK:           %[[PHASE:.+]] = arith.andi %[[ROW]], %c4
  // CHECK:           %[[COL:.+]] = arith.addi %{{.+}}, %c2
  // CHECK:           %[[KEPT:.+]] = arith.xori %[[COL]], %[[PHASE]]
  // CHECK:           vector.store %{{.+}}, %{{.+}}[%[[ROW]], %[[KEPT]]] {alignment = 8 : i64} : {{.*}} vector<2xf32>
  gpu.func @narrow(%g: memref<16x8xf32>, %w: memref<16x8xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    tessera.copy %g[%c0, %c0], %w[%c0, %c2] shape [16, 4] swizzled : memref<16x8xf32>, memref<16x8xf32, #gpu.address_space<workgroup>>
    gpu.return
  }


  // Elements of 8 bytes: the bits of the phase are rotated. Chunk c of row r is
  // stored as chunk c xor (2 * (r mod 4) + r / 4 mod 2), so that half of a
  // subgroup reads two chunks of each of four rows without a conflict.
  // CHECK-LABEL: gpu.func @long
  // CHECK-DAG:     %[[ROW:.+]] = arith.divui %thread_id_x, %c8
  // CHECK:         %[[SHIFTED:.+]] = arith.shli %[[ROW]], %c1
  // CHECK:         %[[PHASE:.+]] = arith.andi %[[SHIFTED]], %c14
  // CHECK-DAG:     %[[HIGH:.+]] = arith.shrui %[[PHASE]], %c2
  // CHECK-DAG:     %[[LOW:.+]] = arith.shli %[[PHASE]], %c1
  // CHECK-DAG:     %[[LOW_BITS:.+]] = arith.andi %[[LOW]], %c12
  // CHECK-DAG:     %[[HIGH_BIT:.+]] = arith.andi %[[HIGH]], %c2
  // CHECK:         %[[ROTATED:.+]] = arith.ori %[[LOW_BITS]], %[[HIGH_BIT]]
  // CHECK:         %[[KEPT:.+]] = arith.xori %{{.+}}, %[[ROTATED]]
  // CHECK:         vector.store %{{.+}}, %{{.+}}[%[[ROW]], %[[KEPT]]] {alignment = 16 : i64}
  gpu.func @long(%g: memref<64x16xf64>, %w: memref<64x16xf64, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    tessera.copy %g[%c0, %c0], %w[%c0, %c0] shape [64, 16] swizzled : memref<64x16xf64>, memref<64x16xf64, #gpu.address_space<workgroup>>
    gpu.return
  }


  // The rows of ldmatrix are chunks. A row that is a multiple of 8 leaves the
  // phase to the lane: the same in every step of a loop.
  // CHECK-LABEL: gpu.func @ldmatrix
  // CHECK:         %[[LANE:.+]] = gpu.lane_id
  // CHECK:         %[[IN_MATRIX:.+]] = arith.andi %[[LANE]], %c7
  // CHECK:         %[[SHIFTED:.+]] = arith.shli %[[IN_MATRIX]], %c3
  // CHECK:         %[[PHASE:.+]] = arith.andi %[[SHIFTED]], %c56
  // CHECK:         %[[COL:.+]] = arith.addi %{{.+}}, %c16
  // CHECK:         %[[KEPT:.+]] = arith.xori %[[COL]], %[[PHASE]]
  // CHECK:         nvgpu.ldmatrix %{{.+}}[%{{.+}}, %[[KEPT]]] {numTiles = 4 : i32, transpose = false}
  // CHECK-NOT:     xori
  gpu.func @ldmatrix(%w: memref<64x64xf16, #gpu.address_space<workgroup>>, %i: index, %o: memref<16x16xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %row = arith.muli %i, %c16 : index
    %a = tessera.load %w[%row, %c16] in_bounds swizzled : memref<64x64xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
    tessera.store %a, %o[%c0, %c0] : !tessera.fragment<16x16xf16, a>, memref<16x16xf16>
    gpu.return
  }


  // CHECK-LABEL: gpu.func @transposed
  // CHECK:         %[[IN_MATRIX:.+]] = arith.andi %{{.+}}, %c7
  // CHECK:         %[[SHIFTED:.+]] = arith.shli %[[IN_MATRIX]], %c3
  // CHECK:         %[[PHASE:.+]] = arith.andi %[[SHIFTED]], %c56
  // CHECK:         %[[COL:.+]] = arith.addi %{{.+}}, %c16
  // CHECK:         %[[KEPT:.+]] = arith.xori %[[COL]], %[[PHASE]]
  // CHECK:         nvgpu.ldmatrix %{{.+}}[%{{.+}}, %[[KEPT]]] {numTiles = 4 : i32, transpose = true}
  gpu.func @transposed(%w: memref<64x64xf16, #gpu.address_space<workgroup>>, %o: memref<16x16xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %a = tessera.load %w[%c0, %c16] transpose in_bounds swizzled : memref<64x64xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
    tessera.store %a, %o[%c0, %c0] : !tessera.fragment<16x16xf16, a>, memref<16x16xf16>
    gpu.return
  }


  // Element by element, each in its own row.
  // CHECK-LABEL: gpu.func @elements
  // CHECK-COUNT-2: memref.load %{{.+}}[%{{.+}}, %{{.+}}]
  // CHECK-COUNT-2: arith.xori
  // CHECK-NOT:     vector.load
  // CHECK:         vector.from_elements
  gpu.func @elements(%w: memref<8x32xf32, #gpu.address_space<workgroup>>, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %w[%c0, %c0] transpose in_bounds swizzled : memref<8x32xf32, #gpu.address_space<workgroup>> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %a, %o[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<16x8xf32>
    gpu.return
  }

  // Rows of 192 bytes lie in three panels of 64, with chunk c of row r as chunk
  // c xor ((r / 2) mod 4): line (panel * 64 + row) of 32 elements is a third of
  // the memory's row.
  // CHECK-LABEL: gpu.func @narrow_panels
  // CHECK-SAME:    %[[J:[a-z0-9]+]]: index
  // CHECK:         %[[FIRST:.+]] = arith.muli %[[J]], %c32
  // CHECK:         arith.andi %{{.+}}, %c24
  // CHECK:         %[[INNER:.+]] = arith.xori
  // CHECK:         %[[KEPT:.+]] = arith.addi %[[FIRST]], %[[INNER]]
  // CHECK:         %[[PANEL:.+]] = arith.divui %[[KEPT]], %c32
  // CHECK:         %[[BEFORE:.+]] = arith.muli %[[PANEL]], %c64
  // CHECK:         %[[LINE:.+]] = arith.addi %[[BEFORE]], %{{.+}}
  // CHECK:         %[[ROW:.+]] = arith.divui %[[LINE]], %c3
  // CHECK:         nvgpu.ldmatrix %{{.+}}[%[[ROW]], %{{.+}}]
  gpu.func @narrow_panels(%w: memref<64x96xf16, #gpu.address_space<workgroup>>, %o: memref<16x16xf16>, %j: index) kernel {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %col = arith.muli %j, %c32 : index
    %a = tessera.load %w[%c0, %col] in_bounds swizzled : memref<64x96xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
    tessera.store %a, %o[%c0, %c0] : !tessera.fragment<16x16xf16, a>, memref<16x16xf16>
    gpu.return
  }

  // Rows of 512 bytes lie in four panels of 64 elements: line (panel * 64 + row)
  // of 64 elements is a quarter of the memory's row. A column that is a multiple
  // of all chunks has no part in the permutation.
  // CHECK-LABEL: gpu.func @outer
  // CHECK-SAME:    %[[J:[a-z0-9]+]]: index
  // CHECK:         %[[FIRST:.+]] = arith.muli %[[J]], %c64
  // CHECK:         %[[INNER:.+]] = arith.xori
  // CHECK:         %[[KEPT:.+]] = arith.addi %[[FIRST]], %[[INNER]]
  // CHECK:         %[[PANEL:.+]] = arith.divui %[[KEPT]], %c64
  // CHECK:         %[[BEFORE:.+]] = arith.muli %[[PANEL]], %c64
  // CHECK:         %[[LINE:.+]] = arith.addi %[[BEFORE]], %{{.+}}
  // CHECK:         %[[ROW:.+]] = arith.divui %[[LINE]], %c4
  // CHECK:         %[[QUARTER:.+]] = arith.remui %[[LINE]], %c4
  // CHECK:         %[[BEGIN:.+]] = arith.muli %[[QUARTER]], %c64
  // CHECK:         %[[WITHIN:.+]] = arith.remui %[[KEPT]], %c64
  // CHECK:         %[[COL:.+]] = arith.addi %[[BEGIN]], %[[WITHIN]]
  // CHECK:         nvgpu.ldmatrix %{{.+}}[%[[ROW]], %[[COL]]]
  gpu.func @outer(%w: memref<64x256xf16, #gpu.address_space<workgroup>>, %o: memref<16x16xf16>, %j: index) kernel {
    %c0 = arith.constant 0 : index
    %c64 = arith.constant 64 : index
    %col = arith.muli %j, %c64 : index
    %a = tessera.load %w[%c0, %col] in_bounds swizzled : memref<64x256xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
    tessera.store %a, %o[%c0, %c0] : !tessera.fragment<16x16xf16, a>, memref<16x16xf16>
    gpu.return
  }
}
