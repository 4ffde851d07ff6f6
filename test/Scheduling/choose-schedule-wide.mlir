// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#bkn = affine_map<(b, m, n, k) -> (b, k, n)>
#bmk = affine_map<(b, m, n, k) -> (m, k)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

// 8-bit floats whose sums are added up apart: 384 tiles of 128x176 are three
// rounds of 132 SMs, where 544 of 128x128 are five.
// CHECK-LABEL: func @bytes
// CHECK:         workgroup = [128, 176], subgroup = [64, 176], k = 128, kFragment = 128, stages = 5, {{.*}}persistent = 132,
func.func @bytes(%a: memref<4096x7168xf8E4M3FN>, %b: memref<2112x7168xf8E4M3FN>, %c: memref<4096x2112xf32>) {
  tessera.contract ins(%a, %b : memref<4096x7168xf8E4M3FN>, memref<2112x7168xf8E4M3FN>) outs(%c : memref<4096x2112xf32>)
      maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Scalar FMAs: tiles of 128x256 in bands, unless an SM would then compute more.
// CHECK-LABEL: func @scalars
// CHECK:         workgroup = [128, 256], subgroup = [64, 64], k = 16, kFragment = 4, stages = 4, {{.*}}raster = 8>
// CHECK:         workgroup = [128, 128], subgroup = [32, 64],
func.func @scalars(%a: memref<2048x2048xf32>, %b: memref<2048x2048xf32>, %c: memref<2048x2048xf32>, %d: memref<3000x3000xf32>, %e: memref<3000x3000xf32>, %f: memref<3000x3000xf32>) {
  tessera.contract ins(%a, %b : memref<2048x2048xf32>, memref<2048x2048xf32>) outs(%c : memref<2048x2048xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%d, %e : memref<3000x3000xf32>, memref<3000x3000xf32>) outs(%f : memref<3000x3000xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// One step of K: persistent workgroups load the next tile while they store one.
// CHECK-LABEL: func @short
// CHECK:         persistent = 132,
func.func @short(%a: memref<256x64xf16>, %b: memref<32x64x3136xf16>, %c: memref<32x256x3136xf16>) {
  tessera.contract ins(%a, %b : memref<256x64xf16>, memref<32x64x3136xf16>) outs(%c : memref<32x256x3136xf16>)
      maps [#bmk, #bkn, #bmn] accumulate f32 {
  ^bb0(%acc: f32):
    %0 = arith.truncf %acc : f32 to f16
    tessera.yield %0 : f16
  }
  return
}
