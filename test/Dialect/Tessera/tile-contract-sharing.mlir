// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-tile-contract --canonicalize --split-input-file | FileCheck %s

// Workgroups of a cluster are consecutive in the grid, along M first; the loops
// count clusters. Five rows of tiles are three rows of clusters, one of which
// is partly beyond the output: accesses along M are not in bounds.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @along_m
// CHECK-DAG:     %[[C2:.+]] = arith.constant 2 : index
// CHECK-DAG:     %[[C12:.+]] = arith.constant 12 : index
// CHECK-DAG:     %[[C8:.+]] = arith.constant 8 : index
// CHECK:         gpu.launch blocks(%[[X:.+]], %{{.+}}, %{{.+}}) in (%[[G:.+]] = %[[C8]], %{{.+}} = %c1, %{{.+}} = %c1)
// CHECK:           %[[RANK:.+]] = arith.remui %[[X]], %[[C2]]
// CHECK:           %[[FIRST:.+]] = arith.divui %[[X]], %[[C2]]
// CHECK:           %[[STEP:.+]] = arith.divui %[[G]], %[[C2]]
// CHECK:           scf.for %[[I:.+]] = %[[FIRST]] to %[[C12]] step %[[STEP]] {
// CHECK:             %[[ROW:.+]] = arith.muli %{{.+}}, %[[C2]]
// CHECK:             %[[OF:.+]] = arith.remui %[[RANK]], %[[C2]]
// CHECK:             %[[R:.+]] = arith.addi %[[ROW]], %[[OF]]
// CHECK:             %[[M:.+]] = arith.muli %[[R]], %c128
// CHECK:             tessera.tile %{{.+}}[%[[M]], %{{.+}}] alignment 16 : memref<640x256xf16> -> memref<128x64xf16>
// CHECK:             tessera.tile %{{.+}} in_bounds {{.*}} : memref<256x512xf16>
// CHECK:             tessera.store %{{.+}} : <64x128xf32, acc>, memref<640x512xf32>
func.func @along_m(%a: memref<640x256xf16>, %b: memref<256x512xf16>, %c: memref<640x512xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<640x256xf16>, memref<256x512xf16>) init(%init : f32)
      outs(%c : memref<640x512xf32>) maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, persistent = 8, subgroupsPerFragment = 4, cluster = [2, 1]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Clusters of 2x2, by bands of two rows of tiles, which are one row of clusters.

// CHECK-LABEL: func @both
// CHECK-DAG:     %[[C4:.+]] = arith.constant 4 : index
// CHECK-DAG:     %[[C16:.+]] = arith.constant 16 : index
// CHECK:         gpu.launch blocks(%[[X:.+]], %{{.+}}, %{{.+}}) in (%{{.+}} = %[[C16]], %{{.+}} = %c1, %{{.+}} = %c1)
// CHECK-NOT:       scf.for
// CHECK:           %[[RANK:.+]] = arith.remui %[[X]], %[[C4]]
// CHECK:           %[[UNIT:.+]] = arith.divui %[[X]], %[[C4]]
// CHECK-DAG:       %[[RM:.+]] = arith.remui %[[RANK]], %c2
// CHECK-DAG:       %[[RN:.+]] = arith.divui %[[RANK]], %c2
// CHECK:           scf.for
func.func @both(%a: memref<512x256xf16>, %b: memref<256x512xf16>, %c: memref<512x512xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<512x256xf16>, memref<256x512xf16>) init(%init : f32)
      outs(%c : memref<512x512xf32>) maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, raster = 2, subgroupsPerFragment = 4, cluster = [2, 2]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
