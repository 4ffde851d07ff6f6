// Kernels of vendors' matrix instructions that are raised to fragments: other vendors' matrix units
// multiply them.

// RUN: gpu-runner %s --entry=gemm --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --entry=gemm --target=cpu:emulate=gfx942 --verify 2>&1 | FileCheck %s --check-prefixes=PAIR,CHECK --implicit-check-not="workgroup memory"
// RUN: gpu-runner %s --entry=gemm --target=cpu:emulate=gfx1100 --verify 2>&1 | FileCheck %s --check-prefixes=PAIR,CHECK --implicit-check-not="workgroup memory"
// RUN: gpu-runner %s --entry=gemm --target=cpu:emulate=pvc --verify 2>&1 | FileCheck %s --check-prefixes=RAISED,CHECK --implicit-check-not="workgroup memory"
// RUN: gpu-runner %s --entry=gemm --target=cpu:emulate=sm_80 --verify 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: gpu-runner %s --entry=gemm --target=hip:gfx942 --emit=amdgcn 2>&1 | FileCheck %s --check-prefix=MFMA
// RUN: gpu-runner %s --entry=staged --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --entry=staged --target=cpu:emulate=gfx942 --verify 2>&1 | FileCheck %s --check-prefixes=PAIR,CHECK --implicit-check-not="through workgroup memory"
// RUN: gpu-runner %s --entry=staged --target=cpu:emulate=gfx1100 --verify 2>&1 | FileCheck %s --check-prefixes=PAIR,CHECK --implicit-check-not="through workgroup memory"
// RUN: gpu-runner %s --entry=staged --target=cpu:emulate=pvc --verify 2>&1 | FileCheck %s --check-prefixes=RAISED,CHECK --implicit-check-not="through workgroup memory"
// RUN: gpu-runner %s --entry=staged --target=hip:gfx942 --emit=amdgcn 2>&1 | FileCheck %s --check-prefix=MFMA
// RUN: gpu-runner %s --entry=pipelined --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --entry=pipelined --target=cpu:emulate=gfx942 --verify 2>&1 | FileCheck %s --check-prefixes=PAIR,CHECK --implicit-check-not="through workgroup memory"
// RUN: gpu-runner %s --entry=pipelined --target=cpu:emulate=pvc --verify 2>&1 | FileCheck %s --check-prefixes=RAISED,CHECK --implicit-check-not="through workgroup memory"
// RUN: gpu-runner %s --entry=mfma --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --entry=mfma --target=cpu:emulate=gfx942 --verify 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: gpu-runner %s --entry=mfma --target=cpu:emulate=sm_80 --verify 2>&1 | FileCheck %s --check-prefixes=SM80,CHECK --implicit-check-not="workgroup memory"
// RUN: gpu-runner %s --entry=mfma --target=cpu:emulate=pvc --verify 2>&1 | FileCheck %s --check-prefixes=RAISED,CHECK --implicit-check-not="workgroup memory"
// RUN: gpu-runner %s --entry=mfma --target=cuda:sm_80 --emit=ptx 2>&1 | FileCheck %s --check-prefix=MMA

// PAIR: remark: 'nvgpu.mma.sync' op is raised to fragments: 16x16x16 'f16' x 'f16' -> 'f32', with the adjacent columns
// RAISED: op is raised to fragments: 16x16x16 'f16' x 'f16' -> 'f32'
// SM80: remark: 'amdgpu.mfma' op is raised to fragments: 16x16x16 'f16' x 'f16' -> 'f32'; cpu:emulate=sm_80 multiplies them by mma.m16n8k16.f32.f16
// CHECK: {{^}}verified
// MFMA: v_mfma_f32_16x16x16_f16
// MMA: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32

#wg = #gpu.address_space<workgroup>

func.func @gemm(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf16>, %s: f32) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1) {
    %lane = gpu.lane_id
    %c32 = arith.constant 32 : index
    %q = arith.divui %tx, %c32 : index
    %qr = arith.divui %q, %c2 : index
    %qc = arith.remui %q, %c2 : index
    %row = affine.apply affine_map<(d0)[s0, s1] -> (s0 * 32 + s1 * 16 + d0 floordiv 4)>(%lane)[%bx, %qr]
    %pair = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%lane)
    %col = affine.apply affine_map<()[s0, s1] -> (s0 * 32 + s1 * 16)>()[%by, %qc]
    %bcol = affine.apply affine_map<(d0, d1) -> (d0 + d1 floordiv 4)>(%col, %lane)
    %row8 = affine.apply affine_map<(d0) -> (d0 + 8)>(%row)
    %bcol8 = affine.apply affine_map<(d0) -> (d0 + 8)>(%bcol)
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc0 = %zero, %acc1 = %zero) -> (vector<2x2xf32>, vector<2x2xf32>) {
      %ak0 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 0)>(%k, %pair)
      %a0 = vector.load %a[%row, %ak0] : memref<64x64xf16>, vector<2xf16>
      %ak2 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 0)>(%k, %pair)
      %a2 = vector.load %a[%row8, %ak2] : memref<64x64xf16>, vector<2xf16>
      %ak4 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 8)>(%k, %pair)
      %a4 = vector.load %a[%row, %ak4] : memref<64x64xf16>, vector<2xf16>
      %ak6 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 8)>(%k, %pair)
      %a6 = vector.load %a[%row8, %ak6] : memref<64x64xf16>, vector<2xf16>
      %za = arith.constant dense<0.0> : vector<4x2xf16>
      %x0 = vector.insert %a0, %za [0] : vector<2xf16> into vector<4x2xf16>
      %x1 = vector.insert %a2, %x0 [1] : vector<2xf16> into vector<4x2xf16>
      %x2 = vector.insert %a4, %x1 [2] : vector<2xf16> into vector<4x2xf16>
      %x3 = vector.insert %a6, %x2 [3] : vector<2xf16> into vector<4x2xf16>
      %k00 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 0)>(%k, %pair)
      %b00 = memref.load %b[%k00, %bcol] : memref<64x64xf16>
      %k01 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 1)>(%k, %pair)
      %b01 = memref.load %b[%k01, %bcol] : memref<64x64xf16>
      %k02 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 8)>(%k, %pair)
      %b02 = memref.load %b[%k02, %bcol] : memref<64x64xf16>
      %k03 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 9)>(%k, %pair)
      %b03 = memref.load %b[%k03, %bcol] : memref<64x64xf16>
      %y0 = vector.from_elements %b00, %b01, %b02, %b03 : vector<2x2xf16>
      %k10 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 0)>(%k, %pair)
      %b10 = memref.load %b[%k10, %bcol8] : memref<64x64xf16>
      %k11 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 1)>(%k, %pair)
      %b11 = memref.load %b[%k11, %bcol8] : memref<64x64xf16>
      %k12 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 8)>(%k, %pair)
      %b12 = memref.load %b[%k12, %bcol8] : memref<64x64xf16>
      %k13 = affine.apply affine_map<(d0, d1) -> (d0 + d1 + 9)>(%k, %pair)
      %b13 = memref.load %b[%k13, %bcol8] : memref<64x64xf16>
      %y1 = vector.from_elements %b10, %b11, %b12, %b13 : vector<2x2xf16>
      %n0 = nvgpu.mma.sync(%x3, %y0, %acc0) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %n1 = nvgpu.mma.sync(%x3, %y1, %acc1) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      scf.yield %n0, %n1 : vector<2x2xf32>, vector<2x2xf32>
    }
    %ccol = arith.addi %col, %pair : index
    %ccol8 = affine.apply affine_map<(d0) -> (d0 + 8)>(%ccol)
    %scale = vector.broadcast %s : f32 to vector<2x2xf32>
    %t0 = arith.mulf %r#0, %scale fastmath<contract> : vector<2x2xf32>
    %h0 = arith.truncf %t0 : vector<2x2xf32> to vector<2x2xf16>
    %d00 = vector.extract %h0[0] : vector<2xf16> from vector<2x2xf16>
    vector.store %d00, %c[%row, %ccol] : memref<64x64xf16>, vector<2xf16>
    %d01 = vector.extract %h0[1] : vector<2xf16> from vector<2x2xf16>
    vector.store %d01, %c[%row8, %ccol] : memref<64x64xf16>, vector<2xf16>
    %t1 = arith.mulf %r#1, %scale fastmath<contract> : vector<2x2xf32>
    %h1 = arith.truncf %t1 : vector<2x2xf32> to vector<2x2xf16>
    %d10 = vector.extract %h1[0] : vector<2xf16> from vector<2x2xf16>
    vector.store %d10, %c[%row, %ccol8] : memref<64x64xf16>, vector<2xf16>
    %d11 = vector.extract %h1[1] : vector<2xf16> from vector<2x2xf16>
    vector.store %d11, %c[%row8, %ccol8] : memref<64x64xf16>, vector<2xf16>
    gpu.terminator
  }
  return
}

func.func @staged(%a: memref<16x64xf16>, %b: memref<64x16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%as : memref<16x16xf16, #wg>, %bs : memref<16x16xf16, #wg>) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%tx)
    %chunk = affine.apply affine_map<(d0) -> ((d0 mod 2) * 8)>(%tx)
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %word = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%tx)
    %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc0 = %zero, %acc1 = %zero) -> (vector<2x2xf32>, vector<2x2xf32>) {
      %ka = arith.addi %k, %chunk : index
      %t = nvgpu.device_async_copy %a[%half, %ka], %as[%half, %chunk], 8 : memref<16x64xf16> to memref<16x16xf16, #wg>
      %kb = arith.addi %k, %half : index
      %v = vector.load %b[%kb, %chunk] : memref<64x16xf16>, vector<8xf16>
      vector.store %v, %bs[%half, %chunk] : memref<16x16xf16, #wg>, vector<8xf16>
      %g = nvgpu.device_async_create_group %t
      nvgpu.device_async_wait %g
      gpu.barrier
      %x = nvgpu.ldmatrix %as[%line, %word] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y = nvgpu.ldmatrix %bs[%line, %word] {numTiles = 4 : i32, transpose = true} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y0 = vector.extract_strided_slice %y {offsets = [0, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      %y1 = vector.extract_strided_slice %y {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      %n0 = nvgpu.mma.sync(%x, %y0, %acc0) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %n1 = nvgpu.mma.sync(%x, %y1, %acc1) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      gpu.barrier
      scf.yield %n0, %n1 : vector<2x2xf32>, vector<2x2xf32>
    }
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %row8 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %col8 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %e0 = vector.extract %r#0[0] : vector<2xf32> from vector<2x2xf32>
    %e1 = vector.extract %r#0[1] : vector<2xf32> from vector<2x2xf32>
    %e2 = vector.extract %r#1[0] : vector<2xf32> from vector<2x2xf32>
    %e3 = vector.extract %r#1[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %e0, %c[%row, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e2, %c[%row, %col8] : memref<16x16xf32>, vector<2xf32>
    vector.store %e1, %c[%row8, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e3, %c[%row8, %col8] : memref<16x16xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}

// Matrices in memory of one dimension, two subgroups along y, and an addend that is loaded element
// by element.
func.func @mfma(%a: memref<1024xf16>, %b: memref<1024xf16>, %c: memref<1024xf32>, %bias: memref<1024xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c2, %sz = %c1) {
    %line = arith.remui %tx, %c16 : index
    %group = arith.divui %tx, %c16 : index
    %c4 = arith.constant 4 : index
    %four = arith.muli %group, %c4 : index
    %row = arith.muli %by, %c16 : index
    %col = arith.muli %ty, %c16 : index
    %r = arith.addi %row, %line : index
    %base = arith.muli %r, %c32 : index
    %zero = arith.constant dense<0.0> : vector<4xf32>
    %d = scf.for %k = %c0 to %c32 step %c16 iter_args(%acc = %zero) -> (vector<4xf32>) {
      %kk = arith.addi %k, %four : index
      %ia = arith.addi %base, %kk : index
      %x = vector.load %a[%ia] : memref<1024xf16>, vector<4xf16>
      %n = arith.addi %col, %line : index
      %k0 = affine.apply affine_map<(d0, d1) -> ((d0 + 0) * 32 + d1)>(%kk, %n)
      %b0 = memref.load %b[%k0] : memref<1024xf16>
      %k1 = affine.apply affine_map<(d0, d1) -> ((d0 + 1) * 32 + d1)>(%kk, %n)
      %b1 = memref.load %b[%k1] : memref<1024xf16>
      %k2 = affine.apply affine_map<(d0, d1) -> ((d0 + 2) * 32 + d1)>(%kk, %n)
      %b2 = memref.load %b[%k2] : memref<1024xf16>
      %k3 = affine.apply affine_map<(d0, d1) -> ((d0 + 3) * 32 + d1)>(%kk, %n)
      %b3 = memref.load %b[%k3] : memref<1024xf16>
      %y = vector.from_elements %b0, %b1, %b2, %b3 : vector<4xf16>
      %next = amdgpu.mfma 16x16x16 %x * %y + %acc blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
      scf.yield %next : vector<4xf32>
    }
    %n = arith.addi %col, %line : index
    %m0 = affine.apply affine_map<(d0, d1, d2) -> ((d0 + d1 + 0) * 32 + d2)>(%row, %four, %n)
    %d0 = vector.extract %d[0] : f32 from vector<4xf32>
    %v0 = memref.load %bias[%m0] : memref<1024xf32>
    %w0 = arith.addf %d0, %v0 : f32
    %m1 = affine.apply affine_map<(d0, d1, d2) -> ((d0 + d1 + 1) * 32 + d2)>(%row, %four, %n)
    %d1 = vector.extract %d[1] : f32 from vector<4xf32>
    %v1 = memref.load %bias[%m1] : memref<1024xf32>
    %w1 = arith.addf %d1, %v1 : f32
    %m2 = affine.apply affine_map<(d0, d1, d2) -> ((d0 + d1 + 2) * 32 + d2)>(%row, %four, %n)
    %d2 = vector.extract %d[2] : f32 from vector<4xf32>
    %v2 = memref.load %bias[%m2] : memref<1024xf32>
    %w2 = arith.addf %d2, %v2 : f32
    %m3 = affine.apply affine_map<(d0, d1, d2) -> ((d0 + d1 + 3) * 32 + d2)>(%row, %four, %n)
    %d3 = vector.extract %d[3] : f32 from vector<4xf32>
    %v3 = memref.load %bias[%m3] : memref<1024xf32>
    %w3 = arith.addf %d3, %v3 : f32
    memref.store %w0, %c[%m0] : memref<1024xf32>
    memref.store %w1, %c[%m1] : memref<1024xf32>
    memref.store %w2, %c[%m2] : memref<1024xf32>
    memref.store %w3, %c[%m3] : memref<1024xf32>
    gpu.terminator
  }
  return
}

// Two rows of two subgroups, which copy the tiles of the next step while they multiply those of the
// present one. The result is added to memory.
func.func @pipelined(%a: memref<64x64xf16>, %b: memref<64x32xf16>, %c: memref<64x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c128, %sy = %c1, %sz = %c1)
             workgroup(%as : memref<2x32x16xf16, #wg>, %bs : memref<2x16x32xf16, #wg>) {
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %first = arith.muli %bx, %c32 : index
    %ar, %a4 = affine.delinearize_index %tx into (32, 4) : index, index
    %ac = affine.apply affine_map<(d0) -> (d0 * 4)>(%a4)
    %br, %b4 = affine.delinearize_index %tx into (16, 8) : index, index
    %bc = affine.apply affine_map<(d0) -> (d0 * 4)>(%b4)
    %arow = arith.addi %first, %ar : index
    %t0 = nvgpu.device_async_copy %a[%arow, %ac], %as[%c0, %ar, %ac], 4 : memref<64x64xf16> to memref<2x32x16xf16, #wg>
    %t1 = nvgpu.device_async_copy %b[%br, %bc], %bs[%c0, %br, %bc], 4 : memref<64x32xf16> to memref<2x16x32xf16, #wg>
    %g0 = nvgpu.device_async_create_group %t0, %t1
    // The subgroup's tile.
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 64 * 16)>(%tx)
    %col = affine.apply affine_map<(d0) -> (d0 floordiv 32 mod 2 * 16)>(%tx)
    %lane = arith.remui %tx, %c32 : index
    %line = affine.apply affine_map<(d0, d1) -> (d0 + d1 mod 16)>(%row, %lane)
    %word = affine.apply affine_map<(d0) -> (d0 floordiv 16 * 8)>(%lane)
    %bline = affine.apply affine_map<(d0) -> (d0 mod 16)>(%lane)
    %bword = arith.addi %col, %word : index
    %crow = affine.apply affine_map<(d0, d1, d2) -> (d0 + d1 + d2 floordiv 4)>(%first, %row, %lane)
    %crow8 = affine.apply affine_map<(d0) -> (d0 + 8)>(%crow)
    %ccol = affine.apply affine_map<(d0, d1) -> (d0 + d1 mod 4 * 2)>(%col, %lane)
    %ccol8 = affine.apply affine_map<(d0) -> (d0 + 8)>(%ccol)
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %i0 = vector.load %c[%crow, %ccol] : memref<64x32xf32>, vector<2xf32>
    %i1 = vector.load %c[%crow8, %ccol] : memref<64x32xf32>, vector<2xf32>
    %i2 = vector.load %c[%crow, %ccol8] : memref<64x32xf32>, vector<2xf32>
    %i3 = vector.load %c[%crow8, %ccol8] : memref<64x32xf32>, vector<2xf32>
    %x0 = vector.insert %i0, %zero [0] : vector<2xf32> into vector<2x2xf32>
    %x1 = vector.insert %i1, %x0 [1] : vector<2xf32> into vector<2x2xf32>
    %x2 = vector.insert %i2, %zero [0] : vector<2xf32> into vector<2x2xf32>
    %x3 = vector.insert %i3, %x2 [1] : vector<2xf32> into vector<2x2xf32>
    %r:3 = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc0 = %x1, %acc1 = %x3, %token = %g0)
        -> (vector<2x2xf32>, vector<2x2xf32>, !nvgpu.device.async.token) {
      nvgpu.device_async_wait %token {numGroups = 0 : i32}
      gpu.barrier
      %step = arith.divui %k, %c16 : index
      %slot = arith.remui %step, %c2 : index
      %next = arith.subi %c1, %slot : index
      %after = arith.addi %k, %c16 : index
      %to = arith.minui %after, %c48 : index
      %na = arith.addi %to, %ac : index
      %nb = arith.addi %to, %br : index
      %t2 = nvgpu.device_async_copy %a[%arow, %na], %as[%next, %ar, %ac], 4 : memref<64x64xf16> to memref<2x32x16xf16, #wg>
      %t3 = nvgpu.device_async_copy %b[%nb, %bc], %bs[%next, %br, %bc], 4 : memref<64x32xf16> to memref<2x16x32xf16, #wg>
      %g1 = nvgpu.device_async_create_group %t2, %t3
      %x = nvgpu.ldmatrix %as[%slot, %line, %word] {numTiles = 4 : i32, transpose = false} : memref<2x32x16xf16, #wg> -> vector<4x2xf16>
      %y = nvgpu.ldmatrix %bs[%slot, %bline, %bword] {numTiles = 4 : i32, transpose = true} : memref<2x16x32xf16, #wg> -> vector<4x2xf16>
      %y0 = vector.extract_strided_slice %y {offsets = [0, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      %y1 = vector.extract_strided_slice %y {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      %n0 = nvgpu.mma.sync(%x, %y0, %acc0) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %n1 = nvgpu.mma.sync(%x, %y1, %acc1) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      scf.yield %n0, %n1, %g1 : vector<2x2xf32>, vector<2x2xf32>, !nvgpu.device.async.token
    }
    nvgpu.device_async_wait %r#2 {numGroups = 0 : i32}
    %e0 = vector.extract %r#0[0] : vector<2xf32> from vector<2x2xf32>
    %e1 = vector.extract %r#0[1] : vector<2xf32> from vector<2x2xf32>
    %e2 = vector.extract %r#1[0] : vector<2xf32> from vector<2x2xf32>
    %e3 = vector.extract %r#1[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %e0, %c[%crow, %ccol] : memref<64x32xf32>, vector<2xf32>
    vector.store %e1, %c[%crow8, %ccol] : memref<64x32xf32>, vector<2xf32>
    vector.store %e2, %c[%crow, %ccol8] : memref<64x32xf32>, vector<2xf32>
    vector.store %e3, %c[%crow8, %ccol8] : memref<64x32xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}
