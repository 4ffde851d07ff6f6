// Data movement between registers and lanes.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_80},gpu.module(tessera-legalize-fragments,convert-tessera-to-nvvm,canonicalize))" | FileCheck %s

gpu.module @m {
  // Along the columns: the tiles, two registers within the lane, then lanes 1
  // and 2 apart; four rows' sums for each lane would be two tiles, here one.
  // CHECK-LABEL: gpu.func @reduce_columns
  // CHECK:         arith.maximumf %{{.+}} : vector<4xf32>
  // CHECK:         arith.maximumf %{{.+}} : f32
  // CHECK:         arith.xori %{{.+}}, %c1
  // CHECK:         gpu.shuffle idx
  // CHECK:         arith.maximumf %{{.+}} : f32
  // CHECK:         arith.xori %{{.+}}, %c2
  // CHECK:         gpu.shuffle idx
  // CHECK:         arith.maximumf %{{.+}} : f32
  // CHECK:         arith.maximumf %{{.+}} : f32
  // CHECK-COUNT-2: gpu.shuffle idx
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         gpu.return
  gpu.func @reduce_columns(%m: memref<16x16xf32>, %o: memref<16x1xf32>) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.load %m[%c0, %c0] : memref<16x16xf32> -> !tessera.fragment<16x16xf32, acc>
    %r = tessera.reduce max %f dimension 1 : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x1xf32, acc>
    tessera.store %r, %o[%c0, %c0] : !tessera.fragment<16x1xf32, acc>, memref<16x1xf32>
    gpu.return
  }

  // Along the rows: lanes 4, 8 and 16 apart. f64 goes in two halves.
  // CHECK-LABEL: gpu.func @reduce_rows
  // CHECK:         arith.addf
  // CHECK:         arith.xori %{{.+}}, %c4
  // CHECK-COUNT-2: gpu.shuffle idx
  // CHECK:         arith.addf
  // CHECK:         arith.xori %{{.+}}, %c8
  // CHECK-COUNT-2: gpu.shuffle idx
  // CHECK:         arith.addf
  // CHECK:         arith.xori %{{.+}}, %c16
  // CHECK-COUNT-2: gpu.shuffle idx
  // CHECK:         arith.addf
  gpu.func @reduce_rows(%m: memref<16x8xf64>, %o: memref<1x8xf64>) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.load %m[%c0, %c0] : memref<16x8xf64> -> !tessera.fragment<16x8xf64, acc>
    %r = tessera.reduce add %f dimension 0 : !tessera.fragment<16x8xf64, acc> -> !tessera.fragment<1x8xf64, acc>
    tessera.store %r, %o[%c0, %c0] : !tessera.fragment<1x8xf64, acc>, memref<1x8xf64>
    gpu.return
  }

  // Kinds on integers are signed.
  // CHECK-LABEL: gpu.func @reduce_kinds
  // CHECK:         arith.minsi
  // CHECK:         arith.maxsi
  // CHECK:         arith.muli
  // CHECK:         arith.addi
  gpu.func @reduce_kinds(%m: memref<16x8xi32>, %o: memref<1x8xi32>) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.load %m[%c0, %c0] : memref<16x8xi32> -> !tessera.fragment<16x8xi32, acc>
    %p = tessera.reduce min %f dimension 0 : !tessera.fragment<16x8xi32, acc> -> !tessera.fragment<1x8xi32, acc>
    %q = tessera.reduce max %f dimension 0 : !tessera.fragment<16x8xi32, acc> -> !tessera.fragment<1x8xi32, acc>
    %r = tessera.reduce mul %f dimension 0 : !tessera.fragment<16x8xi32, acc> -> !tessera.fragment<1x8xi32, acc>
    %s = tessera.reduce add %f dimension 0 : !tessera.fragment<16x8xi32, acc> -> !tessera.fragment<1x8xi32, acc>
    tessera.store %p, %o[%c0, %c0] : !tessera.fragment<1x8xi32, acc>, memref<1x8xi32>
    tessera.store %q, %o[%c0, %c0] : !tessera.fragment<1x8xi32, acc>, memref<1x8xi32>
    tessera.store %r, %o[%c0, %c0] : !tessera.fragment<1x8xi32, acc>, memref<1x8xi32>
    tessera.store %s, %o[%c0, %c0] : !tessera.fragment<1x8xi32, acc>, memref<1x8xi32>
    gpu.return
  }

  // The accumulator of one mma is an operand of the next: registers are
  // renamed, without exchanges between lanes.
  // CHECK-LABEL: gpu.func @chain
  // CHECK:         llvm.inline_asm "mma.sync
  // CHECK:         llvm.inline_asm "mma.sync
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         arith.truncf %{{.+}} : vector<4xf32> to vector<4xf16>
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         llvm.inline_asm "mma.sync
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         gpu.return
  gpu.func @chain(%A: memref<16x16xf16>, %C: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %A[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<16x16xf32> -> !tessera.fragment<16x16xf32, acc>
    %s = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    %p = tessera.convert %s : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf16, a>
    %d = tessera.mma %p, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.return
  }

  // To the other operand, elements change lanes.
  // CHECK-LABEL: gpu.func @move
  // CHECK:         arith.truncf
  // CHECK:         gpu.shuffle idx
  // CHECK:         arith.select
  // CHECK:         gpu.return
  gpu.func @move(%C: memref<16x16xf32>, %B: memref<16x16xf16>, %A: memref<16x16xf16>, %o: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
    %c = tessera.load %C[%c0, %c0] : memref<16x16xf32> -> !tessera.fragment<16x16xf32, acc>
    %b = tessera.convert %c : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf16, b>
    %d = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %d, %o[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.return
  }

  // Casts of the element type, signed and unsigned.
  // CHECK-LABEL: gpu.func @casts
  // CHECK-NOT:     gpu.shuffle
  // CHECK:         arith.sitofp {{.*}} : vector<4xi32> to vector<4xf32>
  // CHECK:         arith.uitofp {{.*}} : vector<4xi32> to vector<4xf32>
  // CHECK:         arith.fptosi {{.*}} : vector<4xf32> to vector<4xi8>
  // CHECK:         arith.fptoui {{.*}} : vector<4xf32> to vector<4xi8>
  // CHECK:         arith.sitofp {{.*}} : vector<4xi32> to vector<4xbf16>
  // f16 and bf16: through f32.
  // CHECK:         arith.extf {{.*}} : vector<4xbf16> to vector<4xf32>
  // CHECK:         arith.truncf {{.*}} : vector<4xf32> to vector<4xf16>
  gpu.func @casts(%C: memref<16x8xi32>, %I: memref<16x8xi8>, %H: memref<16x8xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c = tessera.load %C[%c0, %c0] : memref<16x8xi32> -> !tessera.fragment<16x8xi32, acc>
    %f = tessera.convert %c : !tessera.fragment<16x8xi32, acc> -> !tessera.fragment<16x8xf32, acc>
    %u = tessera.convert %c unsigned : !tessera.fragment<16x8xi32, acc> -> !tessera.fragment<16x8xf32, acc>
    %i = tessera.convert %f : !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<16x8xi8, acc>
    %j = tessera.convert %u unsigned : !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<16x8xi8, acc>
    %b = tessera.convert %f : !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<16x8xbf16, acc>
    %h = tessera.convert %b : !tessera.fragment<16x8xbf16, acc> -> !tessera.fragment<16x8xf16, acc>
    tessera.store %i, %I[%c0, %c0] : !tessera.fragment<16x8xi8, acc>, memref<16x8xi8>
    tessera.store %j, %I[%c0, %c0] : !tessera.fragment<16x8xi8, acc>, memref<16x8xi8>
    tessera.store %h, %H[%c0, %c0] : !tessera.fragment<16x8xf16, acc>, memref<16x8xf16>
    gpu.return
  }

  // A map without coordinates uses whole vectors; with coordinates, it is
  // applied element by element, at the lane's position.
  // CHECK-LABEL: gpu.func @map
  // CHECK:         arith.maximumf %{{.+}}, %{{.+}} : vector<4xf32>
  // CHECK:         gpu.lane_id
  // CHECK-COUNT-4: arith.cmpi sge
  // CHECK-NOT:     arith.cmpi sge
  // CHECK:         gpu.return
  gpu.func @map(%m: memref<16x8xf32>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %f = tessera.load %m[%c0, %c0] : memref<16x8xf32> -> !tessera.fragment<16x8xf32, acc>
    %g = tessera.map %f : !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<16x8xf32, acc> {
    ^bb0(%x: f32):
      %y = arith.maximumf %x, %zero : f32
      tessera.yield %y : f32
    }
    %h = tessera.map %g : !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<16x8xf32, acc> {
    ^bb0(%x: f32, %i: index, %j: index):
      %c = arith.cmpi sge, %i, %j : index
      %y = arith.select %c, %x, %zero : f32
      tessera.yield %y : f32
    }
    tessera.store %h, %m[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<16x8xf32>
    gpu.return
  }

  // A bias: two elements for the columns of each tile, read under a condition
  // where they may not be there.
  // CHECK-LABEL: gpu.func @bias
  // CHECK-COUNT-4: scf.if
  // CHECK-NOT:     scf.if
  // CHECK:         vector.from_elements %[[X:.+]], %[[Y:.+]], %[[X]], %[[Y]] : vector<4xf32>
  gpu.func @bias(%v: memref<?xf32>, %j: index, %o: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.broadcast %v[%j] dimension 0 : memref<?xf32> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %f, %o[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.return
  }

  // One that is all there, from an element on that is aligned: a load for the two.
  // CHECK-LABEL: gpu.func @aligned_bias
  // CHECK-COUNT-2: vector.load {{.*}} {alignment = 8 : i64} : memref<64xf32>, vector<2xf32>
  // CHECK-NOT:     load
  gpu.func @aligned_bias(%v: memref<64xf32>, %o: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %f = tessera.broadcast %v[%c16] dimension 0 : memref<64xf32> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %f, %o[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.return
  }

  // From an odd element on: one after the other.
  // CHECK-LABEL: gpu.func @odd_bias
  // CHECK-COUNT-4: memref.load
  // CHECK-NOT:     load
  gpu.func @odd_bias(%v: memref<64xf32>, %o: memref<16x16xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c3 = arith.constant 3 : index
    %f = tessera.broadcast %v[%c3] dimension 0 : memref<64xf32> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %f, %o[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.return
  }

  // An mma without a matrix unit: a multiply-add for each element.
  // CHECK-LABEL: gpu.func @fma
  // CHECK-COUNT-16: math.fma %{{.+}}, %{{.+}}, %{{.+}} : f32
  // CHECK-NOT:     math.fma
  gpu.func @fma(%A: memref<16x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<16x32xf32> -> !tessera.fragment<16x1xf32, a>
    %b = tessera.load %A[%c0, %c0] : memref<16x32xf32> -> !tessera.fragment<1x32xf32, b>
    %c = tessera.load %A[%c0, %c0] : memref<16x32xf32> -> !tessera.fragment<16x32xf32, acc>
    %d = tessera.mma %a, %b, %c : !tessera.fragment<16x1xf32, a>, !tessera.fragment<1x32xf32, b> -> !tessera.fragment<16x32xf32, acc>
    tessera.store %d, %A[%c0, %c0] : !tessera.fragment<16x32xf32, acc>, memref<16x32xf32>
    gpu.return
  }
}
