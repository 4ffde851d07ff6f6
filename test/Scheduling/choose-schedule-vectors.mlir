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

// Operands that do not fit into the second cache are read from further away for
// each row or column of tiles: more rows, and more columns, than above.

// CHECK-LABEL: func @far_rhs
// AVX512:      schedule <workgroup = [8, 32], subgroup = [8, 32],
// AVX2:        schedule <workgroup = [4, 24], subgroup = [4, 24],
func.func @far_rhs(%a: memref<64x512xf32>, %b: memref<512x1024xf32>, %c: memref<64x1024xf32>) {
  tessera.contract ins(%a, %b : memref<64x512xf32>, memref<512x1024xf32>) outs(%c : memref<64x1024xf32>)
      maps [#lhs, #rhs, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @far_operands
// AVX512:      schedule <workgroup = [8, 48], subgroup = [8, 48],
// AVX2:        schedule <workgroup = [4, 24], subgroup = [4, 24],
func.func @far_operands(%a: memref<2048x2048xf32>, %b: memref<2048x2048xf32>, %c: memref<2048x2048xf32>) {
  tessera.contract ins(%a, %b : memref<2048x2048xf32>, memref<2048x2048xf32>) outs(%c : memref<2048x2048xf32>)
      maps [#lhs, #rhs, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Where rhs has K along its rows, vectors along K are transposed in registers:
// few rows in tiles of one vector, and many in equal parts, unless there would
// be few tiles.

#alongK = affine_map<(m, n, k) -> (n, k)>

// CHECK-LABEL: func @few_rows
// AVX512:      schedule <workgroup = [5, 16], subgroup = [5, 16], k = 16, kFragment = 16, stages = 0,
// AVX2:        schedule <workgroup = [5, 8], subgroup = [5, 8], k = 8, kFragment = 8, stages = 0,
func.func @few_rows(%a: memref<5x300xf32>, %b: memref<4096x300xf32>, %c: memref<5x4096xf32>) {
  tessera.contract ins(%a, %b : memref<5x300xf32>, memref<4096x300xf32>) outs(%c : memref<5x4096xf32>)
      maps [#lhs, #alongK, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @many_rows
// CHECK:       schedule <workgroup = [50, 32], subgroup = [50, 32], k = 16, kFragment = 16, stages = 0,
func.func @many_rows(%a: memref<100x300xf32>, %b: memref<4096x300xf32>, %c: memref<100x4096xf32>) {
  tessera.contract ins(%a, %b : memref<100x300xf32>, memref<4096x300xf32>) outs(%c : memref<100x4096xf32>)
      maps [#lhs, #alongK, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @few_tiles
// CHECK:       schedule <workgroup = [25, 32], subgroup = [25, 32], k = 16, kFragment = 16, stages = 0,
func.func @few_tiles(%a: memref<100x300xf32>, %b: memref<256x300xf32>, %c: memref<100x256xf32>) {
  tessera.contract ins(%a, %b : memref<100x300xf32>, memref<256x300xf32>) outs(%c : memref<100x256xf32>)
      maps [#lhs, #alongK, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @unknown_rows
// AVX512:      schedule <workgroup = [8, 16], subgroup = [8, 16], k = 4, kFragment = 4, stages = 0,
// AVX2:        schedule <workgroup = [8, 8], subgroup = [8, 8], k = 4, kFragment = 4, stages = 0,
func.func @unknown_rows(%a: memref<?x3xf32>, %b: memref<4096x3xf32>, %c: memref<?x4096xf32>) {
  tessera.contract ins(%a, %b : memref<?x3xf32>, memref<4096x3xf32>) outs(%c : memref<?x4096xf32>)
      maps [#lhs, #alongK, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Halves and doubles: as many bytes of accumulators.

// CHECK-LABEL: func @halves_along_k
// CHECK:       schedule <workgroup = [50, 32], subgroup = [50, 32], k = 16, kFragment = 16, stages = 0,
func.func @halves_along_k(%a: memref<100x300xf16>, %b: memref<4096x300xf16>, %c: memref<100x4096xf32>) {
  tessera.contract ins(%a, %b : memref<100x300xf16>, memref<4096x300xf16>) outs(%c : memref<100x4096xf32>)
      maps [#lhs, #alongK, #out] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @doubles_along_k
// CHECK:       schedule <workgroup = [50, 16], subgroup = [50, 16], k = 8, kFragment = 8, stages = 0,
func.func @doubles_along_k(%a: memref<100x300xf64>, %b: memref<4096x300xf64>, %c: memref<100x4096xf64>) {
  tessera.contract ins(%a, %b : memref<100x300xf64>, memref<4096x300xf64>) outs(%c : memref<100x4096xf64>)
      maps [#lhs, #alongK, #out] accumulate f64 {
  ^bb0(%acc: f64):
    tessera.yield %acc : f64
  }
  return
}
