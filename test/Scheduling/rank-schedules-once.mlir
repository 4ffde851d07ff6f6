// The passes that decide about operands and the one that chooses schedules share rankings: the schedules of each
// contraction are compared once.
// REQUIRES: asserts

// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-orient-weights --tessera-map-matvec --tessera-pack-operands --tessera-choose-schedule --mlir-pass-statistics -o /dev/null 2>&1 | FileCheck %s
// CHECK-DAG: {{^ *}}2 tessera-choose-schedule - Number of default schedules{{$}}
// CHECK-DAG: {{^ *}}2 tessera-choose-schedule - Number of contractions whose schedules by single subgroups were compared{{$}}

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Rows that threads could copy for instructions of several subgroups, or a kernel to aligned ones.
func.func @long(%a: memref<448x2540xf16>, %b: memref<320x2540xf16>, %c: memref<448x320xf32>) {
  tessera.contract ins(%a, %b : memref<448x2540xf16>, memref<320x2540xf16>) outs(%c : memref<448x320xf32>)
      maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Operands that could be exchanged for one wave of tiles.
func.func @wave(%a: memref<1024x1024xf16>, %b: memref<1024x1024xf16>, %c: memref<1024x1024xf16>) {
  tessera.contract ins(%a, %b : memref<1024x1024xf16>, memref<1024x1024xf16>) outs(%c : memref<1024x1024xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
