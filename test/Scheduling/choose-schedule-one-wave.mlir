// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule | FileCheck %s

// Tiles of which each SM has one: 129 of 64 rows and 216 columns, where the
// chip's tilings of powers of two have 111 of 256 columns.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @columns
// CHECK:         workgroup = [64, 216], subgroup = [64, 216], k = 64, kFragment = 64, stages = 5, {{.*}}subgroupsPerFragment = 4, stageOutput = true>
func.func @columns(%a: memref<192x768xf16>, %b: memref<9208x768xf16>, %c: memref<192x9208xf16>) {
  tessera.contract ins(%a, %b : memref<192x768xf16>, memref<9208x768xf16>) outs(%c : memref<192x9208xf16>)
      maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %0 = arith.truncf %acc : f32 to f16
    tessera.yield %0 : f16
  }
  return
}

// With N along the rows of rhs, columns are those of whole panels.
// CHECK-LABEL: func @along_n
// CHECK-NOT:     workgroup = [64, 216]
func.func @along_n(%a: memref<192x768xf16>, %b: memref<768x9208xf16>, %c: memref<192x9208xf16>) {
  tessera.contract ins(%a, %b : memref<192x768xf16>, memref<768x9208xf16>) outs(%c : memref<192x9208xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %0 = arith.truncf %acc : f32 to f16
    tessera.yield %0 : f16
  }
  return
}

// Rows that begin within lines: workgroups share tiles, of which as many as 14
// clusters of eight hold are one wave.
// CHECK-LABEL: func @within_lines
// CHECK:         workgroup = [128, 72], subgroup = [64, 72], k = 64, kFragment = 64, stages = 8, {{.*}}stageOutput = true, cluster = [4, 2]>
func.func @within_lines(%a: memref<1000x1000xf16>, %b: memref<1000x1000xf16>, %c: memref<1000x1000xf16>) {
  tessera.contract ins(%a, %b : memref<1000x1000xf16>, memref<1000x1000xf16>) outs(%c : memref<1000x1000xf16>)
      maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %0 = arith.truncf %acc : f32 to f16
    tessera.yield %0 : f16
  }
  return
}

// A result of 32 bits, and one whose tiles are as good: as before.
// CHECK-LABEL: func @others
// CHECK:         workgroup = [64, 256],
// CHECK:         workgroup = [64, 128],
func.func @others(%a: memref<192x768xf16>, %b: memref<9208x768xf16>, %c: memref<192x9208xf32>, %d: memref<1024x1024xf16>, %e: memref<1024x1024xf16>, %f: memref<1024x1024xf16>) {
  tessera.contract ins(%a, %b : memref<192x768xf16>, memref<9208x768xf16>) outs(%c : memref<192x9208xf32>)
      maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%d, %e : memref<1024x1024xf16>, memref<1024x1024xf16>) outs(%f : memref<1024x1024xf16>)
      maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %0 = arith.truncf %acc : f32 to f16
    tessera.yield %0 : f16
  }
  return
}
