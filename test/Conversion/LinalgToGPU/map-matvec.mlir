// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_75" --tessera-map-matvec --canonicalize --cse --split-input-file | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx512" --tessera-map-matvec --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=CPU

// K runs fastest: a subgroup for each row, 16 bytes a lane, four at a time. All
// lanes take part in the last reduction; one stores.

// CHECK-LABEL: func @rows
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<4096x1024xf32>, %[[X:[a-z0-9]+]]: memref<1024xf32>, %[[Y:[a-z0-9]+]]: memref<4096xf32>
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %c512, %{{.+}} = %c1, {{.*}} threads({{.*}}) in (%{{.+}} = %c256
// CHECK-DAG:       %[[MINE:.+]] = arith.divui %{{.+}}, %c32
// CHECK-DAG:       %[[LANE:.+]] = arith.remui %{{.+}}, %c32
// CHECK:           scf.for
// CHECK-COUNT-4:     vector.load %[[A]][{{.*}}] {alignment = 16 : i64} : memref<4096x1024xf32>, vector<4xf32>
// CHECK-NOT:       memref.load
// CHECK:           %[[SUM:.+]] = gpu.subgroup_reduce add %{{.+}} uniform : (f32) -> f32
// CHECK:           %[[FIRST:.+]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK:           scf.if %[[FIRST]]
// CHECK:             memref.store %{{.+}}, %[[Y]]
// CHECK:         tessera.plain_matmul = #tessera.plain_matmul<4096x1x1024, f32 x f32 -> f32, "plain threads, a subgroup for each row: with one column, memory limits it">
// CHECK-NOT:     tessera.contract

// CPU-LABEL: func @rows
// CPU:         gpu.launch {{.*}} threads({{.*}}) in (%{{.+}} = %c1
// CPU:           scf.for
// CPU:             scf.for
// CPU-COUNT-4:       math.fma %{{.+}} : vector<16xf32>
// CPU-NOT:     gpu.subgroup_reduce
// CPU-NOT:     gpu.barrier
func.func @rows(%a: memref<4096x1024xf32>, %x: memref<1024xf32>, %y: memref<4096xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %x : memref<4096x1024xf32>, memref<1024xf32>)
      init(%zero : f32) outs(%y : memref<4096xf32>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>]
      accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

// N runs fastest: a vector of columns for each thread, K over 8 rows of threads
// and 32 workgroups, whose partial sums a second kernel adds. f16 in f32 sums.

// CHECK-LABEL: func @columns
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<1024xf16>, %[[B:[a-z0-9]+]]: memref<1024x4096xf16>, %[[Y:[a-z0-9]+]]: memref<4096xf32>
// CHECK:         %[[P:.+]] = memref.alloc() : memref<32x4096xf32>
// CHECK:         gpu.launch blocks(%{{.+}}, %[[PART:.+]], %{{.+}}) in (%{{.+}} = %c16, %{{.+}} = %c32, {{.*}} workgroup(%[[W:.+]] : memref<8x256xf32, #gpu.address_space<workgroup>>)
// CHECK:           scf.for
// CHECK:             vector.load %[[B]][{{.*}}] {alignment = 16 : i64} : memref<1024x4096xf16>, vector<8xf16>
// CHECK:             arith.extf
// CHECK:             math.fma %{{.+}} : vector<8xf32>
// CHECK:           vector.store %{{.+}}, %[[W]]
// CHECK:           gpu.barrier
// CHECK:           vector.store %{{.+}}, %[[P]][%[[PART]], %{{.+}}] {alignment = 16 : i64}
// CHECK:         gpu.launch
// CHECK:           vector.load %[[P]]
// CHECK:           memref.store %{{.+}}, %[[Y]]
// CHECK:         memref.dealloc %[[P]]
func.func @columns(%x: memref<1024xf16>, %b: memref<1024x4096xf16>, %y: memref<4096xf32>) {
  tessera.contract ins(%x, %b : memref<1024xf16>, memref<1024x4096xf16>)
      outs(%y : memref<4096xf32>)
      maps [affine_map<(n, k) -> (k)>, affine_map<(n, k) -> (k, n)>, affine_map<(n, k) -> (n)>]
      accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

// One unit column: its vectors still run along K. Rows whose alignment is not known are read
// element by element. The epilogue is applied.

// CHECK-LABEL: func @unit
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<64x?xf32>, %[[X:[a-z0-9]+]]: memref<?x1xf32>, %[[B:[a-z0-9]+]]: memref<64x1xf32>
// CHECK-NOT:     vector.load
// CHECK:         memref.load %[[A]]
// CHECK:         gpu.subgroup_reduce
// CHECK:         %[[BIAS:.+]] = memref.load %[[B]]
// CHECK:         arith.addf %{{.+}}, %[[BIAS]]
// CPU-LABEL: func @unit
// CPU-SAME:    %[[A:[a-z0-9]+]]: memref<64x?xf32>, %[[X:[a-z0-9]+]]: memref<?x1xf32>
// CPU:           %[[T:.+]] = memref.transpose %[[X]] (d0, d1) -> (d1, d0)
// CPU:           vector.load %[[T]][%c0, %{{.+}}] {alignment = 4 : i64} : memref<1x?xf32, {{.*}}>, vector<16xf32>
func.func @unit(%a: memref<64x?xf32>, %x: memref<?x1xf32>, %b: memref<64x1xf32>, %y: memref<64x1xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %x : memref<64x?xf32>, memref<?x1xf32>)
      init(%zero : f32) extras(%b : memref<64x1xf32>) outs(%y : memref<64x1xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>,
            affine_map<(m, n, k) -> (m, n)>]
      accumulate f32 {
  ^bb0(%acc: f32, %e: f32):
    %s = arith.addf %acc, %e : f32
    tessera.yield %s : f32
  }
  return
}

// -----

// A weight of 8 bits, dequantized on the way by a scale for each 64 of a row:
// one load of the scale for a vector of 8. (From sm_80 on, the matrix unit
// computes it: test/Scheduling/choose-schedule-weights.mlir.)

// CHECK-LABEL: func @producer
// CHECK-SAME:    %[[W:[a-z0-9]+]]: memref<512x1024xi8>, %[[S:[a-z0-9]+]]: memref<512x16xf16>
// CHECK:           %[[Q:.+]] = vector.load %[[W]][%[[ROW:.+]], %[[K:.+]]] {alignment = 8 : i64} : memref<512x1024xi8>, vector<8xi8>
// CHECK-NEXT:      %[[G:.+]] = arith.divui %[[K]], %c64
// CHECK-NEXT:      %[[SCALE:.+]] = memref.load %[[S]][%[[ROW]], %[[G]]]
// CHECK-NEXT:      %[[SCALES:.+]] = vector.broadcast %[[SCALE]] : f16 to vector<8xf16>
// CHECK-NEXT:      %[[F:.+]] = arith.sitofp %[[Q]] : vector<8xi8> to vector<8xf16>
// CHECK-NEXT:      %[[D:.+]] = arith.mulf %[[F]], %[[SCALES]]
// CHECK-NEXT:      arith.extf %[[D]] : vector<8xf16> to vector<8xf32>
// CHECK:         plain_matmul<{{.*}}"plain threads, a subgroup for each row
func.func @producer(%w: memref<512x1024xi8>, %s: memref<512x16xf16>, %x: memref<1024xf16>, %y: memref<512xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%w, %x : memref<512x1024xi8>, memref<1024xf16>)
      init(%zero : f32) lhs_inputs(%s : memref<512x16xf16>) outs(%y : memref<512xf32>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>,
            affine_map<(m, k) -> (m, k floordiv 64)>]
      accumulate f32
      lhs_producer {
      ^bb0(%q: i8, %scale: f16):
        %f = arith.sitofp %q : i8 to f16
        %d = arith.mulf %f, %scale : f16
        tessera.yield %d : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

// Contractions with a schedule, or with both dimensions, use fragments.

// CHECK-LABEL: func @others
// CHECK-COUNT-2: tessera.contract
// CHECK-NOT:     gpu.launch
func.func @others(%a: memref<64x32xf32>, %b: memref<32x48xf32>, %c: memref<64x48xf32>, %x: memref<32xf32>,
                  %y: memref<64xf32>) {
  tessera.contract ins(%a, %b : memref<64x32xf32>, memref<32x48xf32>) outs(%c : memref<64x48xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%a, %x : memref<64x32xf32>, memref<32xf32>) outs(%y : memref<64xf32>)
      maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>]
      accumulate f32
      schedule <workgroup = [8, 1], subgroup = [8, 1], k = 1, kFragment = 1, stages = 0, vthread = [1, 1]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

// A convolution of one pixel: threads share the channels, though dimensions of
// one element come first. The 12 vectors of columns leave 16 rows of threads of
// the usual 256: since parts of 32 steps would not pay for a second kernel, the
// one workgroup has twice as many.

// CHECK-LABEL: func @pixel
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %c1, %{{.+}} = %c1, {{.*}} threads({{.*}}) in (%{{.+}} = %c512
// CHECK:           arith.divui %{{.+}}, %c16
// CHECK:           scf.for %{{.+}} = %c0 to %c1152 step %c128
// CHECK-COUNT-4:     vector.load %{{.+}} : memref<1x1x1152x48xf32>, vector<4xf32>
// CHECK-COUNT-4:     math.fma
// CHECK:           gpu.barrier
// CHECK:         tessera.plain_matmul = {{.*}}a thread for each 4 columns, 32 rows of threads in a workgroup: with one row
// CHECK-NOT:     gpu.launch
func.func @pixel(%x: memref<1x1x1x1152xf32>, %b: memref<1x1x1152x48xf32>, %y: memref<1x1x1x48xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%x, %b : memref<1x1x1x1152xf32>, memref<1x1x1152x48xf32>)
      init(%zero : f32) outs(%y : memref<1x1x1x48xf32>)
      maps [affine_map<(n, h, w, f, kh, kw, c) -> (n, kh, kw, c)>, affine_map<(n, h, w, f, kh, kw, c) -> (kh, kw, c, f)>,
            affine_map<(n, h, w, f, kh, kw, c) -> (n, h, w, f)>]
      accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
