// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_80},gpu.module(tessera-legalize-fragments,convert-tessera-to-nvvm))" --split-input-file | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_70},gpu.module(tessera-legalize-fragments,convert-tessera-to-nvvm))" --split-input-file | FileCheck %s --check-prefix=SM70

//===----------------------------------------------------------------------===//
// ldmatrix
//===----------------------------------------------------------------------===//

gpu.module @m {
  // Rows of 16 bytes, aligned: one ldmatrix for a tile of a, one for one of b.
  // CHECK-LABEL: gpu.func @ldmatrix
  // CHECK:         nvgpu.ldmatrix %{{.+}}[%{{.+}}, %{{.+}}] {numTiles = 4 : i32, transpose = false} : memref<16x32xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
  // CHECK-NOT:     nvgpu.ldmatrix
  // CHECK:         nvgpu.ldmatrix {{.*}} {numTiles = 2 : i32, transpose = true} : memref<32x16xf16, #gpu.address_space<workgroup>> -> vector<2x2xf16>
  // CHECK-NOT:     vector.load
  // CHECK-NOT:     memref.load
  // Volta has none.
  // SM70-LABEL:  gpu.func @ldmatrix
  // SM70-NOT:      nvgpu.ldmatrix
  gpu.func @ldmatrix(%w: memref<16x32xf16, #gpu.address_space<workgroup>>, %v: memref<32x16xf16, #gpu.address_space<workgroup>>, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tessera.load %w[%c0, %c0] : memref<16x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %v[%c0, %c0] : memref<32x16xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x8xf16, b>
    %c = tessera.fill %zero : !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x8xf16, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %o[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<16x8xf32>
    gpu.return
  }

  // Column by column, the other way round.
  // CHECK-LABEL: gpu.func @ldmatrix_transposed
  // CHECK:         nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = true}
  // CHECK:         nvgpu.ldmatrix {{.*}} {numTiles = 2 : i32, transpose = false}
  gpu.func @ldmatrix_transposed(%w: memref<32x32xf16, #gpu.address_space<workgroup>>, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tessera.load %w[%c0, %c0] transpose : memref<32x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %w[%c0, %c0] transpose : memref<32x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x8xf16, b>
    %c = tessera.fill %zero : !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x8xf16, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %o[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<16x8xf32>
    gpu.return
  }

  // 8-bit and 32-bit elements: words of four and of one; .trans knows 16 bits only.
  // CHECK-LABEL: gpu.func @ldmatrix_widths
  // CHECK:         nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = false} : memref<32x32xi8, #gpu.address_space<workgroup>> -> vector<4x4xi8>
  // CHECK:         nvgpu.ldmatrix {{.*}} {numTiles = 2 : i32, transpose = false} : memref<32x32xi8, #gpu.address_space<workgroup>> -> vector<2x4xi8>
  // CHECK:         nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = false} : memref<32x32xf32, #gpu.address_space<workgroup>> -> vector<4x1xf32>
  // CHECK-NOT:     nvgpu.ldmatrix
  // CHECK:         memref.load
  gpu.func @ldmatrix_widths(%w: memref<32x32xi8, #gpu.address_space<workgroup>>, %x: memref<32x32xf32, #gpu.address_space<workgroup>>, %i: memref<16x8xi32>, %o: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %izero = arith.constant 0 : i32
    %zero = arith.constant 0.0 : f32
    %a = tessera.load %w[%c0, %c0] : memref<32x32xi8, #gpu.address_space<workgroup>> -> !tessera.fragment<16x32xi8, a>
    %b = tessera.load %w[%c0, %c0] transpose : memref<32x32xi8, #gpu.address_space<workgroup>> -> !tessera.fragment<32x8xi8, b>
    %c = tessera.fill %izero : !tessera.fragment<16x8xi32, acc>
    %d = tessera.mma %a, %b, %c : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x8xi8, b> -> !tessera.fragment<16x8xi32, acc>
    tessera.store %d, %i[%c0, %c0] : !tessera.fragment<16x8xi32, acc>, memref<16x8xi32>
    %e = tessera.load %x[%c0, %c0] : memref<32x32xf32, #gpu.address_space<workgroup>> -> !tessera.fragment<16x8xf32, a>
    %f = tessera.load %x[%c0, %c0] : memref<32x32xf32, #gpu.address_space<workgroup>> -> !tessera.fragment<8x8xf32, b>
    %g = tessera.fill %zero : !tessera.fragment<16x8xf32, acc>
    %h = tessera.mma %e, %f, %g precision tf32 : !tessera.fragment<16x8xf32, a>, !tessera.fragment<8x8xf32, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %h, %o[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<16x8xf32>
    gpu.return
  }

  // Not from global memory, nor where rows are not aligned to 16 bytes.
  // CHECK-LABEL: gpu.func @no_ldmatrix
  // CHECK-NOT:     nvgpu.ldmatrix
  // CHECK:         gpu.return
  gpu.func @no_ldmatrix(%g: memref<16x32xf16>, %w: memref<16x36xf16, #gpu.address_space<workgroup>>, %x: memref<32x32xf16, #gpu.address_space<workgroup>>, %i: index, %o: memref<16x16xf16>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %g[%c0, %c0] : memref<16x32xf16> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %w[%c0, %c0] : memref<16x36xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
    %c = tessera.load %x[%c0, %i] in_bounds : memref<32x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
    tessera.store %a, %o[%c0, %c0] : !tessera.fragment<16x16xf16, a>, memref<16x16xf16>
    tessera.store %b, %o[%c0, %c0] : !tessera.fragment<16x16xf16, a>, memref<16x16xf16>
    tessera.store %c, %o[%c0, %c0] : !tessera.fragment<16x16xf16, a>, memref<16x16xf16>
    gpu.return
  }

  // An index that is a multiple of eight keeps the rows aligned.
  // CHECK-LABEL: gpu.func @known_multiple
  // CHECK:         nvgpu.ldmatrix
  gpu.func @known_multiple(%w: memref<32x32xf16, #gpu.address_space<workgroup>>, %i: index, %o: memref<16x16xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c8 = arith.constant 8 : index
    %col = arith.muli %i, %c8 : index
    %a = tessera.load %w[%c0, %col] in_bounds : memref<32x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
    tessera.store %a, %o[%c0, %c0] : !tessera.fragment<16x16xf16, a>, memref<16x16xf16>
    gpu.return
  }
}

// -----

//===----------------------------------------------------------------------===//
// Global memory: widths and edges
//===----------------------------------------------------------------------===//

gpu.module @m {
  // Adjacent elements are accessed together, if the alignment permits: two f32
  // of an accumulator in rows that are aligned to 8 bytes, one in others.
  // CHECK-LABEL: gpu.func @widths
  // CHECK-COUNT-4: vector.store {{.*}} {alignment = 8 : i64} : memref<16x16xf32>, vector<2xf32>
  // CHECK-NOT:     vector.store
  // CHECK-COUNT-8: memref.store {{.*}} : memref<16x17xf32>
  // CHECK-NOT:     memref.store
  // Transposed, nothing lies side by side.
  // CHECK:         gpu.return
  gpu.func @widths(%m: memref<16x16xf32>, %n: memref<16x17xf32>, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.fill %x : !tessera.fragment<16x16xf32, acc>
    tessera.store %f, %m[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    tessera.store %f, %n[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x17xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @transposed
  // CHECK-COUNT-8: memref.store {{.*}} : memref<16x16xf32>
  // CHECK-NOT:     memref.store
  // CHECK:         gpu.return
  gpu.func @transposed(%m: memref<16x16xf32>, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.fill %x : !tessera.fragment<16x16xf32, acc>
    tessera.store %f, %m[%c0, %c0] transpose : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.return
  }

  // A last dimension that is not contiguous.
  // CHECK-LABEL: gpu.func @strided
  // CHECK-NOT:     vector.load
  // CHECK-COUNT-8: memref.load
  // CHECK-NOT:     memref.load
  gpu.func @strided(%m: memref<16x16xf32, strided<[64, 2]>>, %o: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.load %m[%c0, %c0] : memref<16x16xf32, strided<[64, 2]>> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %f, %o[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.return
  }

  // One test for the fragment, then all or masked; the promise saves it, and so
  // do static sizes.
  // CHECK-LABEL: gpu.func @edges
  // CHECK-SAME:    %[[M:.+]]: memref<?x?xf32>, %[[I:.+]]: index
  // CHECK-DAG:     %[[ROWS:.+]] = memref.dim %[[M]], %c0
  // CHECK-DAG:     %[[COLS:.+]] = memref.dim %[[M]], %c1
  // CHECK:         %[[BOTH:.+]] = arith.andi
  // CHECK:         scf.if %[[BOTH]] -> (vector<4xf32>, vector<4xf32>) {
  // CHECK-COUNT-8:   memref.load %[[M]]
  // CHECK:         } else {
  // CHECK-COUNT-8:   scf.if
  // CHECK:         }
  // CHECK:         scf.if
  // CHECK:           memref.store
  // CHECK:         } else {
  // CHECK:           scf.if
  // CHECK-NEXT:        memref.store
  gpu.func @edges(%m: memref<?x?xf32>, %i: index) kernel {
    %f = tessera.load %m[%i, %i] : memref<?x?xf32> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %f, %m[%i, %i] : !tessera.fragment<16x16xf32, acc>, memref<?x?xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @no_edges
  // CHECK-NOT:     scf.if
  // CHECK:         gpu.return
  gpu.func @no_edges(%m: memref<?x?xf32>, %s: memref<16x16xf32>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.load %m[%i, %i] in_bounds : memref<?x?xf32> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %f, %s[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.return
  }

  // Where the width is more than one, the edge is under a mask.
  // CHECK-LABEL: gpu.func @masked
  // CHECK:         vector.load {{.*}} : memref<20x23xf32, strided<[24, 1]>>, vector<2xf32>
  // CHECK:         } else {
  // CHECK:         vector.maskedload {{.*}} : memref<20x23xf32, strided<[24, 1]>>, vector<2xi1>, vector<2xf32> into vector<2xf32>
  // CHECK:         vector.store
  // CHECK:         } else {
  // CHECK:         vector.maskedstore {{.*}} : memref<20x23xf32, strided<[24, 1]>>, vector<2xi1>, vector<2xf32>
  gpu.func @masked(%m: memref<20x23xf32, strided<[24, 1]>>) kernel {
    %c8 = arith.constant 8 : index
    %f = tessera.load %m[%c8, %c8] : memref<20x23xf32, strided<[24, 1]>> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %f, %m[%c8, %c8] : !tessera.fragment<16x16xf32, acc>, memref<20x23xf32, strided<[24, 1]>>
    gpu.return
  }

  // Where rows end with a whole access, each is there or not.
  // CHECK-LABEL: gpu.func @whole
  // CHECK-NOT:     vector.masked
  // CHECK:         vector.load {{.*}} : memref<20x24xf32>, vector<2xf32>
  // CHECK:         } else {
  // CHECK:         %[[SOME:.+]] = arith.cmpi sgt
  // CHECK-NEXT:    scf.if %[[SOME]] -> (vector<2xf32>)
  // CHECK-NEXT:      vector.load {{.*}} : memref<20x24xf32>, vector<2xf32>
  // CHECK-NOT:     vector.masked
  // CHECK:         vector.store
  // CHECK:         } else {
  // CHECK:         %[[SOME:.+]] = arith.cmpi sgt
  // CHECK-NEXT:    scf.if %[[SOME]] {
  // CHECK-NEXT:      vector.store {{.*}} : memref<20x24xf32>, vector<2xf32>
  // CHECK-NOT:     vector.masked
  // CHECK:         gpu.return
  gpu.func @whole(%m: memref<20x24xf32>) kernel {
    %c8 = arith.constant 8 : index
    %f = tessera.load %m[%c8, %c8] : memref<20x24xf32> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %f, %m[%c8, %c8] : !tessera.fragment<16x16xf32, acc>, memref<20x24xf32>
    gpu.return
  }
}

// -----

//===----------------------------------------------------------------------===//
// copy and async_copy
//===----------------------------------------------------------------------===//

gpu.module @m {
  // 16 bytes a thread, past the caches; Volta goes through registers.
  // CHECK-LABEL: gpu.func @async
  // CHECK-COUNT-4: nvgpu.device_async_copy %{{.+}}[%{{.+}}, %{{.+}}], %{{.+}}[%{{.+}}, %{{.+}}], 8 {bypassL1} : memref<64x64xf16> to memref<64x64xf16, #gpu.address_space<workgroup>>
  // CHECK-NOT:     nvgpu.device_async_copy
  // CHECK-NEXT:    nvvm.cp.async.commit.group
  // CHECK-NEXT:    nvvm.cp.async.wait.group 0
  // CHECK-NEXT:    gpu.barrier
  // SM70-LABEL:  gpu.func @async
  // SM70-NOT:      async
  // SM70-COUNT-4:  vector.store {{.*}} {alignment = 16 : i64} : memref<64x64xf16, #gpu.address_space<workgroup>>, vector<8xf16>
  // SM70-NOT:      async
  // SM70:          gpu.barrier
  gpu.func @async(%g: memref<64x64xf16>, %w: memref<64x64xf16, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %g[%c0, %c0], %w[%c0, %c0] shape [64, 64] : memref<64x64xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }

  // How many elements are read is counted; the rest of the chunk is zero.
  // CHECK-LABEL: gpu.func @async_edge
  // CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0 : index
  // CHECK:         arith.maxsi
  // CHECK:         %[[LEFT:.+]] = arith.minsi
  // CHECK:         %[[IN:.+]] = arith.cmpi slt
  // CHECK:         %[[COUNT:.+]] = arith.select %[[IN]], %[[LEFT]], %{{.+}} : index
  // CHECK:         nvgpu.device_async_copy {{.*}}, 8, %[[COUNT]] {bypassL1} :
  // CHECK:         nvvm.cp.async.wait.group 2
  gpu.func @async_edge(%g: memref<?x?xf16>, %w: memref<64x64xf16, #gpu.address_space<workgroup>>, %i: index) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %g[%i, %i], %w[%c0, %c0] shape [64, 64] alignment 16 : memref<?x?xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
    tessera.wait for %t pending 2
    gpu.return
  }

  // 4 and 8 bytes too, not bypassing L1; rows aligned to 2 bytes go through
  // registers. Still a group: waits count groups.
  // CHECK-LABEL: gpu.func @async_narrow
  // CHECK:         nvgpu.device_async_copy {{.*}}, 4 : memref<64x64xf16, strided<[68, 1]>>
  // CHECK:         nvvm.cp.async.commit.group
  // CHECK:         nvgpu.device_async_copy {{.*}}, 2 : memref<64x64xf16, strided<[66, 1]>>
  // CHECK:         nvvm.cp.async.commit.group
  // CHECK-NOT:     nvgpu.device_async_copy
  // CHECK-COUNT-2: vector.load {{.*}} {alignment = 16 : i64} : memref<16xi8,
  // CHECK:         vector.store {{.*}} {alignment = 16 : i64} : memref<64x64xf16, #gpu.address_space<workgroup>>, vector<8xf16>
  // CHECK:         nvvm.cp.async.commit.group
  gpu.func @async_narrow(%g: memref<64x64xf16, strided<[68, 1]>>, %h: memref<64x64xf16, strided<[66, 1]>>, %i: memref<64x64xf16, strided<[65, 1]>>, %w: memref<64x64xf16, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    %t0 = tessera.async_copy %g[%c0, %c0], %w[%c0, %c0] shape [64, 64] : memref<64x64xf16, strided<[68, 1]>>, memref<64x64xf16, #gpu.address_space<workgroup>>
    %t1 = tessera.async_copy %h[%c0, %c0], %w[%c0, %c0] shape [64, 64] : memref<64x64xf16, strided<[66, 1]>>, memref<64x64xf16, #gpu.address_space<workgroup>>
    %t2 = tessera.async_copy %i[%c0, %c0], %w[%c0, %c0] shape [64, 64] : memref<64x64xf16, strided<[65, 1]>>, memref<64x64xf16, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Threads that are not whole rounds, and a block of unknown size.
  // CHECK-LABEL: gpu.func @rounds
  // CHECK-COUNT-2: vector.load {{.*}} {alignment = 16 : i64} : memref<64x64xf32>, vector<4xf32>
  // CHECK:         %[[SOME:.+]] = arith.cmpi ult
  // CHECK:         scf.if %[[SOME]] {
  // CHECK:           vector.store
  gpu.func @rounds(%g: memref<64x64xf32>, %w: memref<64x64xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c0 = arith.constant 0 : index
    tessera.copy %g[%c0, %c0], %w[%c0, %c0] shape [16, 64] : memref<64x64xf32>, memref<64x64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @unknown
  // CHECK:         scf.for %{{.+}} = %{{.+}} to %c256 step %{{.+}} {
  // CHECK:           vector.load
  // CHECK:           vector.store
  gpu.func @unknown(%g: memref<64x64xf32>, %w: memref<64x64xf32, #gpu.address_space<workgroup>>) kernel {
    %c0 = arith.constant 0 : index
    tessera.copy %g[%c0, %c0], %w[%c0, %c0] shape [16, 64] : memref<64x64xf32>, memref<64x64xf32, #gpu.address_space<workgroup>>
    gpu.return
  }

  // To an address that may be out of bounds: a whole chunk, or under a mask.
  // CHECK-LABEL: gpu.func @out
  // CHECK:         vector.load {{.*}} vector<4xf32>
  // CHECK:         scf.if
  // CHECK:           vector.store
  // CHECK:         } else {
  // CHECK:           vector.maskedstore
  gpu.func @out(%w: memref<16x16xf32, #gpu.address_space<workgroup>>, %g: memref<?x64xf32>, %i: index) kernel {
    %c0 = arith.constant 0 : index
    tessera.copy %w[%c0, %c0], %g[%i, %c0] shape [16, 16] : memref<16x16xf32, #gpu.address_space<workgroup>>, memref<?x64xf32>
    gpu.return
  }
}
