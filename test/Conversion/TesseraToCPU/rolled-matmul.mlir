// Matmuls of one lane that have many operations are loops over arrays of the lane, which they share.
// Small ones are unrolled.
//
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=x86-64-avx2},gpu.module(tessera-legalize-fragments,tessera-pack-workgroup-memory,convert-tessera-to-cpu))" | FileCheck %s

gpu.module @m {
  // Operands are extended before the loops. Eight vectors of accumulators are in registers: two rows.
  // CHECK-LABEL: func.func @large
  // CHECK:         %[[C:.+]] = memref.alloca() {alignment = 64 : i64} : memref<1024xf32>
  // CHECK:         %[[B:.+]] = memref.alloca() {alignment = 64 : i64} : memref<512xf32>
  // CHECK:         %[[A:.+]] = memref.alloca() {alignment = 64 : i64} : memref<512xf32>
  // CHECK-NOT:     memref.alloca
  // CHECK:         %[[LEFT:.+]] = arith.extf {{.*}} : vector<16xf16> to vector<16xf32>
  // CHECK:         vector.store %[[LEFT]], %[[A]]
  // CHECK:         %[[WIDE:.+]] = arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
  // CHECK:         vector.store %[[WIDE]], %[[B]]
  // CHECK:         vector.store %{{.+}}, %[[C]]
  // CHECK:         scf.for %{{.+}} = %{{.+}} to %c32
  // CHECK-COUNT-8:   vector.load %[[C]]{{.+}} : memref<1024xf32>, vector<8xf32>
  // CHECK:           scf.for %{{.+}} = %{{.+}} to %c16
  // CHECK-COUNT-4:     vector.load %[[B]]
  // CHECK:             memref.load %[[A]]
  // CHECK-COUNT-4:     math.fma
  // CHECK:             memref.load %[[A]]
  // CHECK-COUNT-4:     math.fma
  // CHECK-NOT:         math.fma
  // CHECK:             scf.yield
  // CHECK-COUNT-8:   vector.store %{{.+}}, %[[C]]
  // CHECK:         scf.for %{{.+}} = %{{.+}} to %c32
  // CHECK:           scf.for
  // CHECK-COUNT-8:     math.fma
  // CHECK-NOT:     math.fma
  // CHECK:         return
  gpu.func @large(%a: memref<32x16xf16>, %b: memref<16x32xf16>, %c: memref<32x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %x = tessera.load %a[%c0, %c0] in_bounds : memref<32x16xf16> -> !tessera.fragment<32x16xf16, a>
    %y = tessera.load %b[%c0, %c0] in_bounds : memref<16x32xf16> -> !tessera.fragment<16x32xf16, b>
    %z = tessera.fill %zero : !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %x, %y, %z : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x32xf16, b> -> !tessera.fragment<32x32xf32, acc>
    %e = tessera.mma %x, %y, %d : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x32xf16, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %e, %c[%c0, %c0] in_bounds : !tessera.fragment<32x32xf32, acc>, memref<32x32xf32>
    gpu.return
  }

  // CHECK-LABEL: func.func @small
  // CHECK-NOT:     memref.alloca
  // CHECK-NOT:     scf.for
  // CHECK-COUNT-512: math.fma
  // CHECK:         return
  gpu.func @small(%a: memref<8x16xf16>, %b: memref<16x32xf16>, %c: memref<8x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %x = tessera.load %a[%c0, %c0] in_bounds : memref<8x16xf16> -> !tessera.fragment<8x16xf16, a>
    %y = tessera.load %b[%c0, %c0] in_bounds : memref<16x32xf16> -> !tessera.fragment<16x32xf16, b>
    %z = tessera.fill %zero : !tessera.fragment<8x32xf32, acc>
    %d = tessera.mma %x, %y, %z : !tessera.fragment<8x16xf16, a>, !tessera.fragment<16x32xf16, b> -> !tessera.fragment<8x32xf32, acc>
    tessera.store %d, %c[%c0, %c0] in_bounds : !tessera.fragment<8x32xf32, acc>, memref<8x32xf32>
    gpu.return
  }

  // Loads at the coordinates of elements gather; a load at one position is one load.
  // CHECK-LABEL: func.func @positions
  // CHECK:         memref.load %{{.+}}[%{{.+}}] : memref<4xf32
  // CHECK-NOT:     memref.load
  // CHECK:         %[[LINE:.+]] = memref.reinterpret_cast %{{.+}} to offset: [0]
  // CHECK:         vector.gather %[[LINE]][%{{.+}}] [%{{.+}}], %{{.+}}, %{{.+}} : memref<?xf32>, vector<8xindex>
  // CHECK-COUNT-7: vector.gather
  // CHECK-NOT:     vector.gather
  // CHECK:         return
  gpu.func @positions(%bias: memref<2x40xf32, strided<[48, 1], offset: 3>>, %scale: memref<4xf32>, %i: index, %c: memref<2x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %x = tessera.load %c[%c0, %c0] in_bounds : memref<2x32xf32> -> !tessera.fragment<2x32xf32, acc>
    %y = tessera.map %x : !tessera.fragment<2x32xf32, acc> -> <2x32xf32, acc> {
    ^bb0(%v: f32, %row: index, %col: index):
      %s = memref.load %scale[%i] : memref<4xf32>
      %at = arith.addi %col, %i : index
      %b = memref.load %bias[%row, %at] : memref<2x40xf32, strided<[48, 1], offset: 3>>
      %m = arith.mulf %v, %s : f32
      %r = arith.addf %m, %b : f32
      tessera.yield %r : f32
    }
    tessera.store %y, %c[%c0, %c0] in_bounds : !tessera.fragment<2x32xf32, acc>, memref<2x32xf32>
    gpu.return
  }
}
