// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-tile-contract --tessera-map-fragments \
// RUN:     --tessera-promote-tiles --tessera-pipeline-copies \
// RUN:     --canonicalize --cse | FileCheck %s

// Workgroups that compute several matrices of a batch.

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bkn = affine_map<(b, m, n, k) -> (b, k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

// Two subgroups with two matrices each: both matmuls, then both stores. The batch ends in
// the middle of the third workgroup, which reads the last matrix instead of missing ones.

// CHECK-LABEL: func @direct
// CHECK-SAME:    %[[A:.+]]: memref<10x16x16xf16>, %[[B:.+]]: memref<10x16x16xf16>, %[[C:.+]]: memref<10x16x16xf32>
// CHECK:         %[[THREADS:.+]] = arith.muli %{{.+}}, %c2
// CHECK:         gpu.launch blocks(%{{.+}}, %{{.+}}, %[[Z:.+]]) in ({{.*}}%{{.+}} = %c3) threads({{.+}}) in (%{{.+}} = %[[THREADS]],
// CHECK:           %[[ID:.+]] = gpu.subgroup_id
// CHECK-DAG:       %[[SLOT:.+]] = arith.muli %[[ID]], %c2
// CHECK-DAG:       %[[FIRST:.+]] = arith.muli %[[Z]], %c4
// CHECK:           %[[Z0:.+]] = arith.addi %[[FIRST]], %[[SLOT]]
// CHECK:           %[[B0:.+]] = arith.minui %[[Z0]], %c9
// CHECK:           %[[NEXT:.+]] = arith.addi %[[SLOT]], %c1
// CHECK:           %[[Z1:.+]] = arith.addi %[[FIRST]], %[[NEXT]]
// CHECK:           %[[B1:.+]] = arith.minui %[[Z1]], %c9
// CHECK-NOT:       gpu.barrier
// CHECK:           %[[A0:.+]] = tessera.load %[[A]][%[[B0]], %c0, %c0] in_bounds
// CHECK:           %[[R0:.+]] = tessera.load %[[B]][%[[B0]], %c0, %c0] in_bounds
// CHECK:           %[[S0:.+]] = tessera.mma %[[A0]], %[[R0]]
// CHECK:           %[[A1:.+]] = tessera.load %[[A]][%[[B1]], %c0, %c0] in_bounds
// CHECK:           %[[R1:.+]] = tessera.load %[[B]][%[[B1]], %c0, %c0] in_bounds
// CHECK:           %[[S1:.+]] = tessera.mma %[[A1]], %[[R1]]
// CHECK:           %[[IN0:.+]] = arith.cmpi ult, %[[Z0]], %c10
// CHECK:           scf.if %[[IN0]] {
// CHECK-NEXT:        tessera.store %[[S0]], %[[C]][%[[B0]], %c0, %c0]
// CHECK:           %[[IN1:.+]] = arith.cmpi ult, %[[Z1]], %c10
// CHECK:           scf.if %[[IN1]] {
// CHECK-NEXT:        tessera.store %[[S1]], %[[C]][%[[B1]], %c0, %c0]
func.func @direct(%a: memref<10x16x16xf16>, %b: memref<10x16x16xf16>, %c: memref<10x16x16xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<10x16x16xf16>, memref<10x16x16xf16>) init(%init : f32) outs(%c : memref<10x16x16xf32>)
      maps [#bmk, #bkn, #bmn] accumulate f32
      schedule <workgroup = [16, 16], subgroup = [16, 16], k = 16, stages = 0, batches = 4, subgroupBatches = 2> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// The rows of a staged tile state the matrix that they belong to.

// CHECK-LABEL: func @staged
// CHECK-SAME:    %[[A:.+]]: memref<8x16x64xf16>, %[[B:.+]]: memref<8x64x16xf16>, %[[C:.+]]: memref<8x16x16xf32>
// CHECK:         gpu.launch blocks(%{{.+}}, %{{.+}}, %[[Z:.+]]) in ({{.*}}%{{.+}} = %c2) {{.*}} workgroup(%[[WA:.+]] : memref<64x40xf16, {{.+}}>, %[[WB:.+]] : memref<128x24xf16, {{.+}}>)
// CHECK:           %[[ID:.+]] = gpu.subgroup_id
// CHECK:           %[[FIRST:.+]] = arith.muli %[[Z]], %c4
// CHECK:           %[[BATCH:.+]] = arith.addi %[[FIRST]], %[[ID]]
// CHECK:           scf.for
// CHECK:             %[[K:.+]] = arith.muli %{{.+}}, %c32
// CHECK:             gpu.barrier
// CHECK:             tessera.copy %[[A]][], %[[WA]][%c0, %c0] shape [64, 32] alignment 16 contiguous 8 gather {
// CHECK-NEXT:        ^bb0(%[[I:.+]]: index, %[[J:.+]]: index):
// CHECK-NEXT:          %[[OF:.+]] = arith.divui %[[I]], %c16
// CHECK-NEXT:          %[[AT:.+]] = arith.addi %[[FIRST]], %[[OF]]
// CHECK-NEXT:          %[[ROW:.+]] = arith.remui %[[I]], %c16
// CHECK-NEXT:          %[[COL:.+]] = arith.addi %[[K]], %[[J]]
// CHECK-NEXT:          tessera.yield %[[AT]], %[[ROW]], %[[COL]], %true
// CHECK:             tessera.copy %[[B]][], %[[WB]][%c0, %c0] shape [128, 16] alignment 16 contiguous 8 gather {
// CHECK:             gpu.barrier
// CHECK:             tessera.load %[[WA]][%{{.+}}, %c0] in_bounds
// CHECK:             tessera.load %[[WB]][%{{.+}}, %c0] in_bounds
// CHECK:           tessera.store %{{.+}}, %[[C]][%[[BATCH]], %c0, %c0] in_bounds
func.func @staged(%a: memref<8x16x64xf16>, %b: memref<8x64x16xf16>, %c: memref<8x16x16xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<8x16x64xf16>, memref<8x64x16xf16>) init(%init : f32) outs(%c : memref<8x16x16xf32>)
      maps [#bmk, #bkn, #bmn] accumulate f32
      schedule <workgroup = [16, 16], subgroup = [16, 16], k = 32, stages = 1, batches = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
