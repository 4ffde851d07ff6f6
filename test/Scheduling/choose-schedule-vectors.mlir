// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx512" --tessera-choose-schedule | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx2" --tessera-choose-schedule | FileCheck %s --check-prefixes=CHECK,AVX2

// Tiles of a subgroup of one lane: accumulators in vector registers, rows that
// divide M, and columns of which few are beyond N.

#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>

// 14x14 pixels. A masked vector has the last 4 of 68 columns.

// CHECK-LABEL: func @columns
// AVX512:      schedule <workgroup = [4, 80], subgroup = [4, 80], k = 1, kFragment = 1, stages = 0,
// AVX2:        schedule <workgroup = [4, 24], subgroup = [4, 24], k = 1, kFragment = 1, stages = 0,
func.func @columns(%a: memref<196x68xf32>, %b: memref<68x68xf32>, %c: memref<196x68xf32>) {
  tessera.contract ins(%a, %b : memref<196x68xf32>, memref<68x68xf32>) outs(%c : memref<196x68xf32>)
      maps [#lhs, #rhs, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// 7x7 pixels.

// CHECK-LABEL: func @rows
// AVX512:      schedule <workgroup = [7, 32], subgroup = [7, 32],
// AVX2:        schedule <workgroup = [5, 16], subgroup = [5, 16],
func.func @rows(%a: memref<49x512xf32>, %b: memref<512x512xf32>, %c: memref<49x512xf32>) {
  tessera.contract ins(%a, %b : memref<49x512xf32>, memref<512x512xf32>) outs(%c : memref<49x512xf32>)
      maps [#lhs, #rhs, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// The tile of the chip where extents are not known.

// CHECK-LABEL: func @unknown
// AVX512:      schedule <workgroup = [8, 32], subgroup = [8, 32],
// AVX2:        schedule <workgroup = [6, 16], subgroup = [6, 16],
func.func @unknown(%a: memref<?x512xf32>, %b: memref<512x512xf32>, %c: memref<?x512xf32>) {
  tessera.contract ins(%a, %b : memref<?x512xf32>, memref<512x512xf32>) outs(%c : memref<?x512xf32>)
      maps [#lhs, #rhs, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Steps of a convolution divide its channels, and a fragment has one element of
// K.

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h + r, w + s, c)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#pixels = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// CHECK-LABEL: func @channels
// AVX512:      schedule <workgroup = [14, 32], subgroup = [14, 32], k = 48, kFragment = 1, stages = 1,
// AVX2:        schedule <workgroup = [4, 16], subgroup = [4, 16], k = 48, kFragment = 1, stages = 1,
func.func @channels(%a: memref<1x16x16x96xf32>, %b: memref<3x3x96x64xf32>, %c: memref<1x14x14x64xf32>) {
  tessera.contract ins(%a, %b : memref<1x16x16x96xf32>, memref<3x3x96x64xf32>) outs(%c : memref<1x14x14x64xf32>)
      maps [#image, #hwcf, #pixels] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// A fragment has a word of narrower operands, which are extended in the tile of
// the chip.

// CHECK-LABEL: func @narrow
// AVX512:      schedule <workgroup = [8, 32], subgroup = [8, 32], k = 48, kFragment = 2, stages = 1,
// AVX2:        schedule <workgroup = [6, 16], subgroup = [6, 16], k = 48, kFragment = 2, stages = 1,
func.func @narrow(%a: memref<1x16x16x96xf16>, %b: memref<3x3x96x64xf16>, %c: memref<1x14x14x64xf32>) {
  tessera.contract ins(%a, %b : memref<1x16x16x96xf16>, memref<3x3x96x64xf16>) outs(%c : memref<1x14x14x64xf32>)
      maps [#image, #hwcf, #pixels] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
