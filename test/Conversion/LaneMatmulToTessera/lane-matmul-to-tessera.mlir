// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --convert-lane-matmul-to-tessera --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// One subgroup, by transfers and by vector.insert. The columns of b are rows of its memory. Eight
// columns are too few for a matrix unit of this chip.
// CHECK-LABEL: func @tile
// CHECK-SAME:    %[[A:.+]]: memref<16x16xf16>, %[[B:.+]]: memref<8x16xf16>, %[[C:.+]]: memref<16x8xf32>
// CHECK:         %[[SIZE:.+]] = gpu.subgroup_size
// CHECK:         gpu.launch blocks({{.*}}) in {{.*}} threads({{.*}}) in (%{{.+}} = %[[SIZE]],
// CHECK-NEXT:      %[[X:.+]] = tessera.load %[[A]][%c0, %c0] in_bounds : memref<16x16xf16> -> <16x16xf16, a>
// CHECK-NEXT:      %[[Y:.+]] = tessera.load %[[B]][%c0, %c0] transpose in_bounds : memref<8x16xf16> -> <16x8xf16, b>
// CHECK-NEXT:      %[[Z:.+]] = tessera.load %[[C]][%c0, %c0] in_bounds : memref<16x8xf32> -> <16x8xf32, acc>
// CHECK-NEXT:      %[[D:.+]] = tessera.mma %[[X]], %[[Y]], %[[Z]]
// CHECK-NEXT:      tessera.store %[[D]], %[[C]][%c0, %c0] in_bounds
// CHECK-NEXT:      gpu.terminator
func.func @tile(%a: memref<16x16xf16>, %b: memref<8x16xf16>, %c: memref<16x8xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %pad = arith.constant 0.0 : f16
    %c2 = arith.constant 2 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %g = arith.divui %tx, %c4 : index
    %t = arith.remui %tx, %c4 : index
    %p = arith.muli %t, %c2 : index
    %g8 = arith.addi %g, %c8 : index
    %p8 = arith.addi %p, %c8 : index
    %a0 = vector.transfer_read %a[%g, %p], %pad {in_bounds = [true]} : memref<16x16xf16>, vector<2xf16>
    %a1 = vector.transfer_read %a[%g8, %p], %pad {in_bounds = [true]} : memref<16x16xf16>, vector<2xf16>
    %a2 = vector.transfer_read %a[%g, %p8], %pad {in_bounds = [true]} : memref<16x16xf16>, vector<2xf16>
    %a3 = vector.transfer_read %a[%g8, %p8], %pad {in_bounds = [true]} : memref<16x16xf16>, vector<2xf16>
    %za = arith.constant dense<0.0> : vector<4x2xf16>
    %x0 = vector.insert %a0, %za [0] : vector<2xf16> into vector<4x2xf16>
    %x1 = vector.insert %a1, %x0 [1] : vector<2xf16> into vector<4x2xf16>
    %x2 = vector.insert %a2, %x1 [2] : vector<2xf16> into vector<4x2xf16>
    %x = vector.insert %a3, %x2 [3] : vector<2xf16> into vector<4x2xf16>
    %b0 = vector.transfer_read %b[%g, %p], %pad {in_bounds = [true]} : memref<8x16xf16>, vector<2xf16>
    %b1 = vector.transfer_read %b[%g, %p8], %pad {in_bounds = [true]} : memref<8x16xf16>, vector<2xf16>
    %zb = arith.constant dense<0.0> : vector<2x2xf16>
    %y0 = vector.insert %b0, %zb [0] : vector<2xf16> into vector<2x2xf16>
    %y = vector.insert %b1, %y0 [1] : vector<2xf16> into vector<2x2xf16>
    %i0 = vector.load %c[%g, %p] : memref<16x8xf32>, vector<2xf32>
    %i1 = vector.load %c[%g8, %p] : memref<16x8xf32>, vector<2xf32>
    %zc = ub.poison : vector<2x2xf32>
    %z0 = vector.insert_strided_slice %i0, %zc {offsets = [0, 0], strides = [1]} : vector<2xf32> into vector<2x2xf32>
    %z = vector.insert_strided_slice %i1, %z0 {offsets = [1, 0], strides = [1]} : vector<2xf32> into vector<2x2xf32>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is raised to fragments: 16x8x16 'f16' x 'f16' -> 'f32'; hip:gfx942 multiplies them by fma64.m8n8k1.f32.f16, not a matrix unit}}
    %d = nvgpu.mma.sync(%x, %y, %z) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %d0 = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    %d1 = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.transfer_write %d0, %c[%g, %p] {in_bounds = [true]} : vector<2xf32>, memref<16x8xf32>
    vector.transfer_write %d1, %c[%g8, %p] {in_bounds = [true]} : vector<2xf32>, memref<16x8xf32>
    gpu.terminator
  }
  return
}

// -----

// Two rows of two subgroups, each with two tiles of columns that a loop carries: one fragment of 16
// columns, which the matrix unit multiplies. The result is scaled and rounded.
// CHECK-LABEL: func @gemm
// CHECK-SAME:    %[[A:.+]]: memref<64x64xf16>, %[[B:.+]]: memref<64x64xf16>, %[[C:.+]]: memref<64x64xf16>, %[[S:.+]]: f32
// CHECK:         %[[LANES:.+]] = gpu.subgroup_size
// CHECK:         %[[SIZE:.+]] = arith.muli %[[LANES]], %c4
// CHECK:         gpu.launch blocks(%[[X:.+]], %{{.+}}, %{{.+}}) in {{.*}} threads({{.*}}) in (%{{.+}} = %[[SIZE]],
// CHECK:           %[[ZERO:.+]] = tessera.fill %{{.+}} : !tessera.fragment<16x16xf32, acc>
// CHECK:           %[[R:.+]] = scf.for %[[K:.+]] = %c0 to %c64 step %c16 iter_args(%[[ACC:.+]] = %[[ZERO]]) -> (!tessera.fragment<16x16xf32, acc>) {
// CHECK:             %[[ID:.+]] = gpu.subgroup_id
// CHECK:             arith.divui %[[ID]], %c2
// CHECK-DAG:         %[[L:.+]] = tessera.load %[[A]][%{{.+}}, %[[K]]] in_bounds : memref<64x64xf16> -> <16x16xf16, a>
// CHECK-DAG:         %[[F:.+]] = tessera.load %[[B]][%[[K]], %{{.+}}] in_bounds : memref<64x64xf16> -> <16x16xf16, b>
// CHECK:             %[[N:.+]] = tessera.mma %[[L]], %[[F]], %[[ACC]]
// CHECK-NEXT:        scf.yield %[[N]]
// CHECK:           %[[T:.+]] = tessera.map %[[R]]
// CHECK:             arith.mulf %{{.+}}, %[[S]] fastmath<contract> : f32
// CHECK:           %[[H:.+]] = tessera.map %[[T]] {{.*}} -> <16x16xf16, acc>
// CHECK:             arith.truncf %{{.+}} : f32 to f16
// CHECK:           tessera.store %[[H]], %[[C]][%{{.+}}, %{{.+}}] in_bounds : <16x16xf16, acc>
// CHECK-NOT:       nvgpu
// CHECK-NOT:       vector
// CHECK-NOT:       memref.load
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
      // expected-remark@+1 {{'nvgpu.mma.sync' op is raised to fragments: 16x16x16 'f16' x 'f16' -> 'f32', with the adjacent columns; hip:gfx942 multiplies them by mfma.m16n16k16.f32.f16}}
      %n0 = nvgpu.mma.sync(%x3, %y0, %acc0) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      // expected-note@+1 {{the adjacent columns}}
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
