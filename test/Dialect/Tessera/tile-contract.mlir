// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-tile-contract --tessera-map-fragments \
// RUN:     --tessera-promote-tiles --tessera-pipeline-copies \
// RUN:     --canonicalize --cse --split-input-file | FileCheck %s

// From a contraction to a kernel: tiles, fragments of kFragment, workgroup memory, copies ahead.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Fragments straight from global memory. Every tile lies inside.

// CHECK-LABEL: func @global
// CHECK-SAME:    %[[A:.+]]: memref<64x32xf16>, %[[B:.+]]: memref<32x64xf16>, %[[C:.+]]: memref<64x64xf32>, %[[INIT:.+]]: f32
// CHECK:         %[[LANES:.+]] = gpu.subgroup_size : index
// CHECK:         %[[THREADS:.+]] = arith.muli %[[LANES]], %c4
// CHECK:         gpu.launch blocks(%[[X:.+]], %[[Y:.+]], %{{.+}}) in (%{{.+}} = %c2{{.*}}, %{{.+}} = %c2{{.*}}, %{{.+}} = %c1{{.*}}) threads(%{{.+}}, %{{.+}}, %{{.+}}) in (%{{.+}} = %[[THREADS]], %{{.+}} = %c1{{.*}}, %{{.+}} = %c1{{.*}}) {
// CHECK:           %[[ID:.+]] = gpu.subgroup_id
// CHECK-DAG:       %[[ROW:.+]] = arith.divui %[[ID]], %c2
// CHECK-DAG:       %[[COL:.+]] = arith.remui %[[ID]], %c2
// CHECK-DAG:       %[[SM:.+]] = arith.muli %[[ROW]], %c16
// CHECK-DAG:       %[[SN:.+]] = arith.muli %[[COL]], %c16
// CHECK-DAG:       %[[BM:.+]] = arith.muli %[[X]], %c32
// CHECK-DAG:       %[[BN:.+]] = arith.muli %[[Y]], %c32
// CHECK:           %[[FILL:.+]] = tessera.fill %[[INIT]] : !tessera.fragment<16x16xf32, acc>
// CHECK:           %[[SUM:.+]] = scf.for %[[K:.+]] = %c0{{.*}} to %c2{{.*}} step %c1{{.*}} iter_args(%[[ACC:.+]] = %[[FILL]])
// CHECK:             %[[K0:.+]] = arith.muli %[[K]], %c16
// CHECK:             %[[M:.+]] = arith.addi %[[BM]], %[[SM]]
// CHECK:             %[[FA:.+]] = tessera.load %[[A]][%[[M]], %[[K0]]] in_bounds : memref<64x32xf16> -> <16x16xf16, a>
// CHECK:             %[[N:.+]] = arith.addi %[[BN]], %[[SN]]
// CHECK:             %[[FB:.+]] = tessera.load %[[B]][%[[K0]], %[[N]]] in_bounds : memref<32x64xf16> -> <16x16xf16, b>
// CHECK:             %[[D:.+]] = tessera.mma %[[FA]], %[[FB]], %[[ACC]]
// CHECK:             scf.yield %[[D]]
// CHECK-DAG:       %[[OM:.+]] = arith.addi %[[BM]], %[[SM]]
// CHECK-DAG:       %[[ON:.+]] = arith.addi %[[BN]], %[[SN]]
// CHECK:           tessera.store %[[SUM]], %[[C]][%[[OM]], %[[ON]]] in_bounds
// CHECK:           gpu.terminator
// CHECK:         } {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 16], k = 16, kFragment = 16, stages = 0, vthread = [1, 1]>}
// CHECK-NOT:     tessera.contract
func.func @global(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x64xf16>) init(%init : f32)
      outs(%c : memref<64x64xf32>) maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [16, 16], k = 16, kFragment = 16, stages = 0> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#nm = affine_map<(m, n, k) -> (n, m)>

// One staging at a time, between barriers. B and C lie transposed; the sum
// starts from the old value; M and N stick out.

// CHECK-LABEL: func @staged
// CHECK-SAME:    %[[A:.+]]: memref<50x64xf16>, %[[B:.+]]: memref<40x64xf16>, %[[C:.+]]: memref<40x50xf32>
// CHECK:         gpu.launch {{.*}} workgroup(%[[AS:.+]] : memref<64x40xf16, #gpu.address_space<workgroup>>, %[[BS:.+]] : memref<32x40xf16, #gpu.address_space<workgroup>>)
// CHECK:           %[[ID:.+]] = gpu.subgroup_id
// CHECK:           %[[SM:.+]] = arith.muli %[[ID]], %c32
// CHECK:           %[[BN:.+]] = arith.muli %{{.+}}, %c32
// CHECK:           %[[OLD:.+]] = tessera.load %[[C]][%[[BN]], %[[SM]]] transpose : memref<40x50xf32> -> <32x32xf32, acc>
// CHECK:           scf.for {{.*}} iter_args(%{{.+}} = %[[OLD]])
// CHECK:             %[[K0:.+]] = arith.muli
// CHECK:             gpu.barrier
// CHECK:             tessera.copy %[[A]][%c0, %[[K0]]], %[[AS]][%c0, %c0] shape [64, 32] alignment 16
// CHECK:             tessera.copy %[[B]][%[[BN]], %[[K0]]], %[[BS]][%c0, %c0] shape [32, 32] alignment 16
// CHECK:             gpu.barrier
// CHECK:             tessera.load %[[AS]][%[[SM]], %c0] in_bounds
// CHECK:             tessera.load %[[BS]][%c0, %c0] transpose in_bounds
// CHECK:             tessera.mma
// CHECK:             tessera.load %[[AS]][%[[SM]], %c16] in_bounds
// CHECK:             tessera.load %[[BS]][%c0, %c16] transpose in_bounds
// CHECK:             tessera.mma
// CHECK:           tessera.store %{{.+}}, %[[C]][%[[BN]], %[[SM]]] transpose : <32x32xf32, acc>
func.func @staged(%a: memref<50x64xf16>, %b: memref<40x64xf16>, %c: memref<40x50xf32>) {
  tessera.contract ins(%a, %b : memref<50x64xf16>, memref<40x64xf16>)
      outs(%c : memref<40x50xf32>) maps [#mk, #nk, #nm] accumulate f32
      schedule <workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 1> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Three stagings in flight: two are issued before the loop, and each iteration
// leaves the last one pending. Dynamic sizes allow no wide access.

// CHECK-LABEL: func @pipelined
// CHECK-SAME:    %[[A:.+]]: memref<?x?xbf16>, %[[B:.+]]: memref<?x?xbf16>, %[[C:.+]]: memref<?x?xf32>
// CHECK-DAG:     %[[K:.+]] = memref.dim %[[A]], %c0
// CHECK-DAG:     %[[M:.+]] = memref.dim %[[A]], %c1
// CHECK-DAG:     %[[N:.+]] = memref.dim %[[B]], %c1
// CHECK-DAG:     %[[MX:.+]] = arith.addi %[[M]], %c63
// CHECK-DAG:     %[[GX:.+]] = arith.divui %[[MX]], %c64
// CHECK-DAG:     %[[NX:.+]] = arith.addi %[[N]], %c63
// CHECK-DAG:     %[[GY:.+]] = arith.divui %[[NX]], %c64
// CHECK-DAG:     %[[KX:.+]] = arith.addi %[[K]], %c15
// CHECK-DAG:     %[[STEPS:.+]] = arith.divui %[[KX]], %c16
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %[[GX]], %{{.+}} = %[[GY]], %{{.+}} = %c1{{.*}}) threads
// CHECK-SAME:      workgroup(%[[AS:.+]] : memref<3x16x72xbf16, #gpu.address_space<workgroup>>, %[[BS:.+]] : memref<3x16x72xbf16, #gpu.address_space<workgroup>>)
// CHECK:           tessera.async_copy %[[A]][%c0, %{{.+}}], %[[AS]][%c0, %c0, %c0] shape [16, 64] alignment 2
// CHECK:           tessera.async_copy %[[B]]
// CHECK:           tessera.async_copy %[[A]][%c16, %{{.+}}], %[[AS]][%c1, %c0, %c0]
// CHECK:           tessera.async_copy %[[B]]
// CHECK:           scf.for %[[I:.+]] = %c0 to %[[STEPS]] step %c1
// CHECK:             tessera.wait pending 2
// CHECK-NEXT:        gpu.barrier
// CHECK:             %[[NEXT:.+]] = arith.addi %[[I]], %c2
// CHECK:             %[[AT:.+]] = arith.muli %[[NEXT]], %c16
// CHECK:             %[[SLOT:.+]] = arith.remui %[[NEXT]], %c3
// CHECK:             tessera.async_copy %[[A]][%[[AT]], %{{.+}}], %[[AS]][%[[SLOT]], %c0, %c0]
// CHECK:             tessera.async_copy %[[B]][%[[AT]], %{{.+}}], %[[BS]][%[[SLOT]], %c0, %c0]
// CHECK:             %[[NOW:.+]] = arith.remui %[[I]], %c3
// CHECK:             tessera.load %[[AS]][%[[NOW]], %c0, %{{.+}}] transpose in_bounds
// CHECK:             tessera.load %[[BS]][%[[NOW]], %c0, %{{.+}}] in_bounds
// CHECK:           tessera.wait
// CHECK:           tessera.store %{{.+}}, %[[C]][%{{.+}}, %{{.+}}] :
func.func @pipelined(%a: memref<?x?xbf16>, %b: memref<?x?xbf16>, %c: memref<?x?xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<?x?xbf16>, memref<?x?xbf16>) init(%init : f32)
      outs(%c : memref<?x?xf32>) maps [#km, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 16, stages = 3> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

// Two dimensions of the batch: one is not the first of A, and B is the same
// along the other. Those that come first are indices of the operand itself.

// CHECK-LABEL: func @batch
// CHECK-SAME:    %[[A:.+]]: memref<3x64x5x16xf16>, %[[B:.+]]: memref<5x16x64xf16>, %[[C:.+]]: memref<3x5x64x64xf32>
// CHECK:         gpu.launch blocks(%{{.+}}, %{{.+}}, %[[Z:.+]]) in (%{{.+}} = %c1{{.*}}, %{{.+}} = %c1{{.*}}, %{{.+}} = %c15{{.*}}) threads
// CHECK-DAG:       %[[I:.+]] = arith.remui %[[Z]], %c5
// CHECK-DAG:       %[[O:.+]] = arith.divui %[[Z]], %c5
// CHECK-DAG:       memref.subview %[[A]][%[[O]], 0, %[[I]], 0] [1, 64, 1, 16] [1, 1, 1, 1] : memref<3x64x5x16xf16> to memref<64x16xf16, strided<[80, 1], offset: ?>>
// CHECK-NOT:       memref.subview
// CHECK:           tessera.copy %[[B]][%[[I]], %c0, %c0], %{{.+}}[%c0, %c0] shape [16, 64] in_bounds alignment 16 : memref<5x16x64xf16>
// CHECK:           tessera.store %{{.+}}, %[[C]][%[[O]], %[[I]], %{{.+}}, %{{.+}}] in_bounds : <32x32xf32, acc>, memref<3x5x64x64xf32>
func.func @batch(%a: memref<3x64x5x16xf16>, %b: memref<5x16x64xf16>, %c: memref<3x5x64x64xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<3x64x5x16xf16>, memref<5x16x64xf16>) init(%init : f32)
      outs(%c : memref<3x5x64x64xf32>)
      maps [affine_map<(b, c, m, n, k) -> (b, m, c, k)>, affine_map<(b, c, m, n, k) -> (c, k, n)>,
            affine_map<(b, c, m, n, k) -> (b, c, m, n)>] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 16, stages = 1> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

// A batch of dynamic size may be larger than a grid: the workgroups iterate.
// The staged data of one matrix is read before the next one is staged.

// CHECK-LABEL: func @unknown_batch
// CHECK-SAME:    %[[A:.+]]: memref<?x64x16xf16>, %[[B:.+]]: memref<?x16x64xf16>, %[[C:.+]]: memref<?x64x64xf32>
// CHECK:         %[[SIZE:.+]] = memref.dim
// CHECK:         %[[Z:.+]] = arith.minui %[[SIZE]], %c65535
// CHECK:         gpu.launch blocks(%{{.+}}, %{{.+}}, %[[BZ:.+]]) in (%{{.+}} = %c1{{.*}}, %{{.+}} = %c1{{.*}}, %[[GZ:.+]] = %[[Z]])
// CHECK:           scf.for %[[I:.+]] = %[[BZ]] to %[[SIZE]] step %[[GZ]]
// CHECK-NOT:         memref.subview
// CHECK:             gpu.barrier
// CHECK-NEXT:        tessera.copy %[[A]][%[[I]], %c0, %c0]
// CHECK-NEXT:        tessera.copy %[[B]][%[[I]], %c0, %c0]
// CHECK:             tessera.store %{{.+}}, %[[C]][%[[I]], %{{.+}}, %{{.+}}]
func.func @unknown_batch(%a: memref<?x64x16xf16>, %b: memref<?x16x64xf16>, %c: memref<?x64x64xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<?x64x16xf16>, memref<?x16x64xf16>) init(%init : f32)
      outs(%c : memref<?x64x64xf32>)
      maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>,
            affine_map<(b, m, n, k) -> (b, m, n)>] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 16, stages = 1> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Two by two vthreads: each has an accumulator of its own, and the copies are
// outside.

// CHECK-LABEL: func @vthreads
// CHECK:         %[[SUMS:.+]]:4 = scf.for {{.*}} iter_args(%[[A0:.+]] = %[[F:.+]], %[[A1:.+]] = %[[F]], %[[A2:.+]] = %[[F]], %[[A3:.+]] = %[[F]])
// CHECK:           tessera.copy
// CHECK:           tessera.copy
// CHECK:           gpu.barrier
// CHECK:           %[[NEXT:.+]]:4 = tessera.vthread (%[[I:.+]], %[[J:.+]]) in (2, 2) private(%[[ACC:.+]] = [%[[A0]], %[[A1]], %[[A2]], %[[A3]]] : !tessera.fragment<16x16xf32, acc>)
// CHECK:             %[[ROW:.+]] = arith.muli %[[I]], %c16
// CHECK:             %[[COL:.+]] = arith.muli %[[J]], %c16
// CHECK:             tessera.load {{.*}} -> <16x16xf16, a>
// CHECK:             tessera.load {{.*}} -> <16x16xf16, b>
// CHECK:             tessera.mma %{{.+}}, %{{.+}}, %[[ACC]]
// CHECK:             tessera.yield
// CHECK:           scf.yield %[[NEXT]]#0, %[[NEXT]]#1, %[[NEXT]]#2, %[[NEXT]]#3
// CHECK:         tessera.vthread (%{{.+}}, %{{.+}}) in (2, 2) private(%{{.+}} = [%[[SUMS]]#0, %[[SUMS]]#1, %[[SUMS]]#2, %[[SUMS]]#3]
// CHECK:           tessera.store
func.func @vthreads(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x64xf16>) init(%init : f32)
      outs(%c : memref<64x64xf32>) maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 16, stages = 1,
                vthread = [2, 2]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// The schedule states how many of them are interleaved.

// CHECK-LABEL: func @interleave
// CHECK:         tessera.vthread (%{{.+}}, %{{.+}}) in (4, 1) private({{.+}}) order groups(2) ->
// CHECK:           tessera.mma
// CHECK:         tessera.vthread (%{{.+}}, %{{.+}}) in (4, 1) private({{.+}}) order groups(2) {
// CHECK:           tessera.store
// CHECK:         interleave = 2
func.func @interleave(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x64xf16>) init(%init : f32)
      outs(%c : memref<64x64xf32>) maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [64, 16], k = 16, kFragment = 16, stages = 0,
                vthread = [4, 1], interleave = 2> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>
#m = affine_map<(m, n, k) -> (m)>
#n = affine_map<(m, n, k) -> (n)>
#none = affine_map<(m, n, k) -> ()>

// Operands of the epilogue: matrices are loaded, vectors broadcast, and a
// scalar is read once.

// CHECK-LABEL: func @epilogue
// CHECK-SAME:    %[[E0:.+]]: memref<64x64xf16>, %[[E1:.+]]: memref<64x64xf32>, %[[E2:.+]]: memref<64xf32>, %[[E3:.+]]: memref<64xf32>, %[[E4:.+]]: memref<f32>
// CHECK:         %[[S:.+]] = memref.load %[[E4]][]
// CHECK:         %[[X0:.+]] = tessera.load %[[E0]][%[[M:.+]], %[[N:.+]]] in_bounds : memref<64x64xf16> -> <32x32xf16, acc>
// CHECK:         %[[X1:.+]] = tessera.load %[[E1]][%[[N]], %[[M]]] transpose in_bounds : memref<64x64xf32> -> <32x32xf32, acc>
// CHECK:         %[[X2:.+]] = tessera.broadcast %[[E2]][%[[M]]] dimension 1 in_bounds
// CHECK:         %[[X3:.+]] = tessera.broadcast %[[E3]][%[[N]]] dimension 0 in_bounds
// CHECK:         %[[R:.+]] = tessera.map %{{.+}}, %[[X0]], %[[X1]], %[[X2]], %[[X3]] : {{.*}} -> <32x32xf16, acc>
// CHECK:         ^bb0(%[[ACC:.+]]: f32, %[[B0:.+]]: f16, %[[B1:.+]]: f32, %[[B2:.+]]: f32, %[[B3:.+]]: f32):
// CHECK:           arith.extf %[[B0]] : f16 to f32
// CHECK:           arith.addf %{{.+}}, %[[B1]]
// CHECK:           arith.mulf %{{.+}}, %[[B2]]
// CHECK:           arith.addf %{{.+}}, %[[B3]]
// CHECK:           arith.mulf %{{.+}}, %[[S]]
// CHECK:           tessera.yield %{{.+}} : f16
// CHECK:         tessera.store %[[R]], %{{.+}}[%[[M]], %[[N]]] in_bounds : <32x32xf16, acc>, memref<64x64xf16>
func.func @epilogue(%e0: memref<64x64xf16>, %e1: memref<64x64xf32>, %e2: memref<64xf32>, %e3: memref<64xf32>,
                    %e4: memref<f32>, %a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf16>,
                    %init: f32) {
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x64xf16>) init(%init : f32)
      extras(%e0, %e1, %e2, %e3, %e4
             : memref<64x64xf16>, memref<64x64xf32>, memref<64xf32>, memref<64xf32>, memref<f32>)
      outs(%c : memref<64x64xf16>) maps [#mk, #kn, #mn, #mn, #nm, #m, #n, #none] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 16, stages = 1> {
  ^bb0(%acc: f32, %x0: f16, %x1: f32, %x2: f32, %x3: f32, %x4: f32):
    %w0 = arith.extf %x0 : f16 to f32
    %v0 = arith.addf %acc, %w0 : f32
    %v1 = arith.addf %v0, %x1 : f32
    %v2 = arith.mulf %v1, %x2 : f32
    %v3 = arith.addf %v2, %x3 : f32
    %v4 = arith.mulf %v3, %x4 : f32
    %v5 = arith.truncf %v4 : f32 to f16
    tessera.yield %v5 : f16
  }
  return
}

// -----

#mk = affine_map<(m, k) -> (m, k)>
#k = affine_map<(m, k) -> (k)>
#m = affine_map<(m, k) -> (m)>

// Without N, vectors are matrices of one row, in memory order.

// CHECK-LABEL: func @vector
// CHECK-SAME:    %[[A:.+]]: memref<64x32xf32>, %[[X:.+]]: memref<32xf32>, %[[Y:.+]]: memref<64xf32>
// CHECK:         %[[Y2:.+]] = memref.expand_shape %[[Y]] {{.*}} : memref<64xf32> into memref<1x64xf32>
// CHECK:         tessera.load %[[Y2]][%[[N:.+]], %[[M:.+]]] transpose : memref<1x64xf32> -> <32x8xf32, acc>
// CHECK:         %[[X2:.+]] = memref.expand_shape %[[X]] {{.*}} : memref<32xf32> into memref<1x32xf32>
// CHECK:         tessera.copy %[[X2]]
// CHECK-SAME:      shape [8, 16]
// CHECK:         tessera.store %{{.+}}, %[[Y2]][%[[N]], %[[M]]] transpose
func.func @vector(%a: memref<64x32xf32>, %x: memref<32xf32>, %y: memref<64xf32>) {
  tessera.contract ins(%a, %x : memref<64x32xf32>, memref<32xf32>) outs(%y : memref<64xf32>)
      maps [#mk, #k, #m] accumulate f32
      schedule <workgroup = [64, 8], subgroup = [32, 8], k = 16, kFragment = 1, stages = 1> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// If the first dimension runs fastest in memory, the view is transposed.

// CHECK-LABEL: func @column_major
// CHECK-SAME:    %[[A:.+]]: memref<64x32xf16, strided<[1, 64]>>
// CHECK:         %[[T:.+]] = memref.transpose %[[A]] (d0, d1) -> (d1, d0) : memref<64x32xf16, strided<[1, 64]>> to memref<32x64xf16, strided<[64, 1]>>
// CHECK:         tessera.copy %[[T]]
// CHECK-SAME:      shape [16, 64]
// CHECK:         tessera.load {{.*}} transpose in_bounds : {{.*}} -> <32x16xf16, a>
func.func @column_major(%a: memref<64x32xf16, strided<[1, 64]>>, %b: memref<32x64xf16>, %c: memref<64x64xf32>,
                        %init: f32) {
  tessera.contract ins(%a, %b : memref<64x32xf16, strided<[1, 64]>>, memref<32x64xf16>) init(%init : f32)
      outs(%c : memref<64x64xf32>) maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 16, stages = 1> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Many fragments in a step are a loop; attributes are copied to the mma; an
// output of another type than the sum is converted.

// CHECK-LABEL: func @integers
// CHECK:         %[[OLD:.+]] = tessera.load {{.*}} -> <16x32xi8, acc>
// CHECK:         tessera.convert %[[OLD]] : <16x32xi8, acc> -> <16x32xi32, acc>
// CHECK:         scf.for
// CHECK:           tessera.copy
// CHECK:           scf.for %[[K:.+]] = %c0{{.*}} to %c96{{.*}} step %c16
// CHECK:             tessera.load %{{.+}}[%c0{{.*}}, %[[K]]] in_bounds
// CHECK:             tessera.load %{{.+}}[%[[K]], %c0{{.*}}] in_bounds
// CHECK:             tessera.mma {{.*}} unsigned_b
// CHECK:         tessera.map
// CHECK:           arith.trunci
func.func @integers(%a: memref<64x192xi8>, %b: memref<192x64xi8>, %c: memref<64x64xi8>) {
  tessera.contract ins(%a, %b : memref<64x192xi8>, memref<192x64xi8>) outs(%c : memref<64x64xi8>)
      maps [#mk, #kn, #mn] accumulate i32 unsigned_b
      schedule <workgroup = [16, 32], subgroup = [16, 32], k = 96, kFragment = 16, stages = 1> {
  ^bb0(%acc: i32):
    %t = arith.trunci %acc : i32 to i8
    tessera.yield %t : i8
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Where static sizes prove that copies stay inside, the last steps run on their own, with nothing
// left to copy.

// CHECK-LABEL: func @peeled
// CHECK-COUNT-4: tessera.async_copy {{.*}} in_bounds alignment 16
// CHECK:         %[[SUM:.+]] = scf.for %{{.+}} = %c0{{.*}} to %c6{{.*}} step %c1
// CHECK:           tessera.wait pending 2
// CHECK-NEXT:      gpu.barrier
// CHECK-COUNT-2:   tessera.async_copy {{.*}} in_bounds alignment 16
// CHECK:           tessera.mma
// CHECK:         tessera.wait
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    %[[ALL:.+]] = scf.for %{{.+}} = %c6{{.*}} to %c8{{.*}} step %c1{{.*}} iter_args(%{{.+}} = %[[SUM]])
// CHECK-NOT:       tessera.async_copy
// CHECK:           tessera.mma
// CHECK:         tessera.store %[[ALL]]
func.func @peeled(%a: memref<64x128xf16>, %b: memref<128x64xf16>, %c: memref<64x64xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<64x128xf16>, memref<128x64xf16>) init(%init : f32)
      outs(%c : memref<64x64xf32>) maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 16, stages = 3> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

// A tile of the output is staged in workgroup memory, with the order of the
// output's rows. The previous tile has been stored before the next one is staged.

// CHECK-LABEL: func @staged_output
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<3x56x512xf16>
// CHECK:         gpu.launch {{.*}} workgroup(%[[W:.+]] : memref<32x64xf16, #gpu.address_space<workgroup>>)
// CHECK:           %[[SM:.+]] = arith.muli %{{.+}}, %c16
// CHECK:           scf.for
// CHECK:             %[[BM:.+]] = arith.muli %{{.+}}, %c64
// CHECK:             %[[BN:.+]] = arith.muli %{{.+}}, %c32
// CHECK:             %[[SUM:.+]] = scf.for
// CHECK:             gpu.barrier
// CHECK:             %[[R:.+]] = tessera.map %[[SUM]]
// CHECK:             tessera.store %[[R]], %[[W]][%c0, %[[SM]]] transpose in_bounds swizzled : <16x32xf16, acc>
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        tessera.copy %[[W]][%c0, %c0], %[[C]][%{{.+}}, %[[BN]], %[[BM]]] shape [32, 64] from_swizzled :
// CHECK-NOT:         gpu.barrier
// CHECK:         stageOutput = true
func.func @staged_output(%a: memref<3x512x64xf16>, %b: memref<3x64x56xf16>, %c: memref<3x56x512xf16>, %init: f32) {
  tessera.contract ins(%a, %b : memref<3x512x64xf16>, memref<3x64x56xf16>) init(%init : f32)
      outs(%c : memref<3x56x512xf16>)
      maps [affine_map<(z, m, n, k) -> (z, m, k)>, affine_map<(z, m, n, k) -> (z, k, n)>,
            affine_map<(z, m, n, k) -> (z, n, m)>] accumulate f32
      schedule <workgroup = [64, 32], subgroup = [16, 32], k = 16, stages = 0, persistent = 5, stageOutput = true> {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// The epilogue's input is loaded to the memory of the output's tile, if it has
// the output's type and order and its rows allow for whole accesses: this is
// the second extra. The memory can hold one input.

// CHECK-LABEL: func @staged_input
// CHECK-SAME:    %{{.+}}: memref<64x64xf16>, %{{.+}}: memref<64x64xf16>, %[[WIDE:.+]]: memref<64x64xf32>, %[[E:.+]]: memref<64x64xf16>, %[[E2:.+]]: memref<64x64xf16>, %[[C:.+]]: memref<64x64xf16>)
// CHECK:         gpu.launch {{.*}} workgroup(%[[W:.+]] : memref<32x64xf16, #gpu.address_space<workgroup>>)
// CHECK:           scf.for
// CHECK:             %[[M:.+]] = arith.muli %{{.+}}, %c32
// CHECK:             %[[SUM:.+]] = scf.for
// CHECK:             gpu.barrier
// CHECK-NEXT:        tessera.copy %[[E]][%[[M]], %{{.+}}], %[[W]][%c0, %c0] shape [32, 64] in_bounds swizzled :
// CHECK-NEXT:        gpu.barrier
// CHECK:             %[[FW:.+]] = tessera.load %[[WIDE]]
// CHECK:             %[[F:.+]] = tessera.load %[[W]][%[[SM:.+]], %c0] in_bounds swizzled : {{.+}} -> <16x64xf16, acc>
// CHECK:             %[[F2:.+]] = tessera.load %[[E2]]
// CHECK:             %[[R:.+]] = tessera.map %[[SUM]], %[[FW]], %[[F]], %[[F2]]
// CHECK:             tessera.store %[[R]], %[[W]][%[[SM]], %c0] in_bounds swizzled
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        tessera.copy %[[W]][%c0, %c0], %[[C]]
func.func @staged_input(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %wide: memref<64x64xf32>,
                        %e: memref<64x64xf16>, %e2: memref<64x64xf16>, %c: memref<64x64xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) init(%zero : f32)
      extras(%wide, %e, %e2 : memref<64x64xf32>, memref<64x64xf16>, memref<64x64xf16>)
      outs(%c : memref<64x64xf16>)
      maps [#mk, #kn, #mn, #mn, #mn, #mn] accumulate f32
      schedule <workgroup = [32, 64], subgroup = [16, 64], k = 16, stages = 0, persistent = 2, stageOutput = true> {
  ^bb0(%acc: f32, %x: f32, %y: f16, %z: f16):
    %0 = arith.addf %acc, %x : f32
    %1 = arith.addf %y, %z : f16
    %2 = arith.extf %1 : f16 to f32
    %3 = arith.addf %0, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    tessera.yield %4 : f16
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Rows of 126 bytes are read where they are.

// CHECK-LABEL: func @unaligned_input
// CHECK-SAME:    %{{.+}}: memref<64x64xf16>, %{{.+}}: memref<64x63xf16>, %[[E:.+]]: memref<64x63xf16>, %{{.+}}: memref<64x63xf16>)
// CHECK-NOT:     tessera.copy %[[E]]
// CHECK:         tessera.load %[[E]]
func.func @unaligned_input(%a: memref<64x64xf16>, %b: memref<64x63xf16>, %e: memref<64x63xf16>, %c: memref<64x63xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x63xf16>) init(%zero : f32)
      extras(%e : memref<64x63xf16>) outs(%c : memref<64x63xf16>)
      maps [#mk, #kn, #mn, #mn] accumulate f32
      schedule <workgroup = [32, 64], subgroup = [16, 64], k = 16, stages = 0, stageOutput = true> {
  ^bb0(%acc: f32, %y: f16):
    %0 = arith.truncf %acc : f32 to f16
    %1 = arith.addf %0, %y : f16
    tessera.yield %1 : f16
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Parts go to a workspace of accumulators; rows of 96 bytes are not swizzled. A
// workgroup that has one tile has no tile before.

// CHECK-LABEL: func @staged_parts
// CHECK:         %[[P:.+]] = memref.alloc() : memref<2x48x24xf32>
// CHECK:         gpu.launch {{.*}} workgroup(%[[W:.+]] : memref<48x24xf32, #gpu.address_space<workgroup>>)
// CHECK:           %[[SUM:.+]] = scf.for
// CHECK-NOT:       gpu.barrier
// CHECK:           tessera.store %[[SUM]], %[[W]][%c0, %c0] in_bounds : <48x24xf32, acc>
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      tessera.copy %[[W]][%c0, %c0], %[[P]][%{{.+}}, %c0, %c0] shape [48, 24] in_bounds :
func.func @staged_parts(%a: memref<48x64xf16>, %b: memref<64x24xf16>, %c: memref<48x24xf32>) {
  tessera.contract ins(%a, %b : memref<48x64xf16>, memref<64x24xf16>) outs(%c : memref<48x24xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [48, 24], subgroup = [48, 24], k = 16, stages = 0, splitK = 2, stageOutput = true> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// An output without elements: no kernel.

// CHECK-LABEL: func @nothing
// CHECK-NOT:     gpu.launch
// CHECK-NOT:     tessera.contract
// CHECK:         return
func.func @nothing(%a: memref<64x32xf16>, %b: memref<32x0xf16>, %c: memref<64x0xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x0xf16>) init(%init : f32)
      outs(%c : memref<64x0xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// The epilogue is split at its reductions: columns beyond the end of a row are neutral, shared
// values are computed once, and values that depend on reductions only once for each row.

// CHECK-LABEL: func @softmax
// CHECK:         %[[X:.+]] = tessera.mma
// CHECK:         %[[MASKED:.+]] = tessera.map %[[X]]
// CHECK-NEXT:    ^bb0(%{{.+}}: f32, %{{.+}}: index, %[[COLUMN:.+]]: index):
// CHECK-NEXT:      arith.cmpi slt, %[[COLUMN]], %c50
// CHECK-NEXT:      arith.select
// CHECK:         %[[MAX:.+]] = tessera.reduce max %[[MASKED]] dimension 1
// CHECK:         %[[ALL:.+]] = tessera.broadcast %[[MAX]] dimension 1
// CHECK:         %[[POWER:.+]] = tessera.map %[[X]], %[[ALL]]
// CHECK:           math.exp
// CHECK:         %[[MASKED:.+]] = tessera.map %[[POWER]] :
// CHECK-NOT:       math.exp
// CHECK:         %[[SUM:.+]] = tessera.reduce add %[[MASKED]] dimension 1
// CHECK:         %[[FACTOR:.+]] = tessera.map %[[SUM]] : {{.+}} -> <64x1xf32, acc>
// CHECK:           arith.divf
// CHECK:         %[[ALL:.+]] = tessera.broadcast %[[FACTOR]] dimension 1
// CHECK:         %[[Y:.+]] = tessera.map %[[POWER]], %[[ALL]]
// CHECK:         tessera.store %[[Y]], %arg2
func.func @softmax(%a: memref<64x16xf16>, %b: memref<16x50xf16>, %c: memref<64x50xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<64x16xf16>, memref<16x50xf16>) init(%zero : f32) outs(%c : memref<64x50xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %max = tessera.row_reduce max %acc : f32
    %below = arith.subf %acc, %max : f32
    %power = math.exp %below : f32
    %sum = tessera.row_reduce add %power : f32
    %one = arith.constant 1.0 : f32
    %factor = arith.divf %one, %sum : f32
    %y = arith.mulf %power, %factor : f32
    tessera.yield %y : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#m = affine_map<(m, n, k) -> (m)>

// An output without N is stored by its one column. Nothing is beyond the end of a row.

// CHECK-LABEL: func @row_sums
// CHECK:         %[[X:.+]] = tessera.mma
// CHECK:         %[[OLD:.+]] = tessera.broadcast %arg2[%c0] dimension 1 in_bounds : memref<64xf32> -> <64x1xf32, acc>
// CHECK:         %[[SUM:.+]] = tessera.reduce add %[[X]] dimension 1
// CHECK:         %[[Y:.+]] = tessera.map %[[OLD]], %[[SUM]]
// CHECK:         tessera.store %[[Y]], %{{.+}}[%c0, %c0] transpose in_bounds : <64x1xf32, acc>, memref<1x64xf32>
func.func @row_sums(%a: memref<64x16xf16>, %b: memref<16x48xf16>, %x: memref<64xf32>, %c: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<64x16xf16>, memref<16x48xf16>) init(%zero : f32) extras(%x : memref<64xf32>)
      outs(%c : memref<64xf32>) maps [#mk, #kn, #m, #m] accumulate f32 {
  ^bb0(%acc: f32, %old: f32):
    %sum = tessera.row_reduce add %acc : f32
    %y = arith.addf %sum, %old : f32
    tessera.yield %y : f32
  }
  return
}
