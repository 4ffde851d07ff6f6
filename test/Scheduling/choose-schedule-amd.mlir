// The tiles of AMD's chips: 64x64 accumulators over 64 lanes, 64x32 over 32; two
// stages where workgroup memory has room for them besides other workgroups.
//
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx906" --tessera-choose-schedule | FileCheck %s --check-prefixes=CHECK,GFX906
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx908" --tessera-choose-schedule | FileCheck %s --check-prefixes=CHECK,GFX908
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --tessera-choose-schedule | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx950" --tessera-choose-schedule | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx1100" --tessera-choose-schedule | FileCheck %s --check-prefixes=CHECK,GFX1100
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx1201" --tessera-choose-schedule | FileCheck %s --check-prefixes=CHECK,GFX1201

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @f16(
// GFX906:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 2, stages = 1, vthread = [1, 1], swizzle = true, raster = 8>
// GFX908:  schedule <workgroup = [128, 128], subgroup = [64, 64], k = 32, kFragment = 8, stages = 2, vthread = [1, 1], swizzle = true, raster = 8>
// GFX942:  schedule <workgroup = [128, 128], subgroup = [64, 64], k = 32, kFragment = 8, stages = 2, vthread = [1, 1], swizzle = true, raster = 8>
// GFX950:  schedule <workgroup = [128, 128], subgroup = [64, 64], k = 64, kFragment = 16, stages = 2, vthread = [1, 1], swizzle = true, raster = 8>
// GFX1100: schedule <workgroup = [128, 128], subgroup = [64, 32], k = 32, kFragment = 16, stages = 2, vthread = [1, 1], swizzle = true, raster = 8>
// GFX1201: schedule <workgroup = [128, 128], subgroup = [64, 32], k = 32, kFragment = 16, stages = 2, vthread = [1, 1], swizzle = true, raster = 8>
func.func @f16(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<4096x4096xf32>) {
  tessera.contract ins(%a, %b : memref<4096x4096xf16>, memref<4096x4096xf16>) outs(%c : memref<4096x4096xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%s: f32):
    tessera.yield %s : f32
  }
  return
}

// Sums that start from a constant: 256x256 by eight waves, if no compute unit then computes more elements.
// CHECK-LABEL: func @large(
// GFX908:  schedule <workgroup = [128, 128],
// GFX942:  schedule <workgroup = [256, 256], subgroup = [64, 128], k = 32, kFragment = 16, stages = 2, vthread = [4, 8], swizzle = true, raster = 8>
// GFX950:  schedule <workgroup = [256, 256], subgroup = [128, 64], k = 64, kFragment = 32, stages = 2, vthread = [8, 4], swizzle = true, raster = 8>
// GFX1100: schedule <workgroup = [128, 128],
func.func @large(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<4096x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x4096xf16>, memref<4096x4096xf16>) init(%zero : f32) outs(%c : memref<4096x4096xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%s: f32):
    tessera.yield %s : f32
  }
  return
}

// 17x17 tiles of 256x256: some of the 256 compute units of gfx950 would compute two, which is more than five tiles of
// 128x128. None of the 304 of gfx942 would.
// CHECK-LABEL: func @more_than_units(
// GFX942:  schedule <workgroup = [256, 256], subgroup = [64, 128],
// GFX950:  schedule <workgroup = [128, 128], subgroup = [64, 64],
func.func @more_than_units(%a: memref<4352x4096xf16>, %b: memref<4096x4352xf16>, %c: memref<4352x4352xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4352x4096xf16>, memref<4096x4352xf16>) init(%zero : f32) outs(%c : memref<4352x4352xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%s: f32):
    tessera.yield %s : f32
  }
  return
}

// A short K, and a few tiles: as before.
// CHECK-LABEL: func @short(
// GFX942:  schedule <workgroup = [128, 128], subgroup = [64, 64],
// GFX950:  schedule <workgroup = [128, 128], subgroup = [64, 64],
func.func @short(%a: memref<4096x2032xf16>, %b: memref<2032x4096xf16>, %c: memref<4096x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x2032xf16>, memref<2032x4096xf16>) init(%zero : f32) outs(%c : memref<4096x4096xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%s: f32):
    tessera.yield %s : f32
  }
  return
}
// CHECK-LABEL: func @few(
// GFX942:  schedule <workgroup = [128, 128], subgroup = [64, 64],
// GFX950:  schedule <workgroup = [128, 128], subgroup = [64, 64],
func.func @few(%a: memref<2048x4096xf16>, %b: memref<4096x2048xf16>, %c: memref<2048x2048xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<2048x4096xf16>, memref<4096x2048xf16>) init(%zero : f32) outs(%c : memref<2048x2048xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%s: f32):
    tessera.yield %s : f32
  }
  return
}

// CHECK-LABEL: func @f8(
// GFX906:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, kFragment = 1, stages = 1, vthread = [1, 1], swizzle = true, raster = 8>
// GFX908:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, kFragment = 1, stages = 1, vthread = [1, 1], swizzle = true, raster = 8>
// GFX942:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, kFragment = 1, stages = 1, vthread = [1, 1], swizzle = true, raster = 8>
// GFX950:  schedule <workgroup = [128, 128], subgroup = [64, 64], k = 128, kFragment = 64, stages = 2, vthread = [1, 1], swizzle = true, raster = 8>
// GFX1100: schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, kFragment = 1, stages = 1, vthread = [1, 1], swizzle = true, raster = 8>
// GFX1201: schedule <workgroup = [128, 128], subgroup = [64, 32], k = 64, kFragment = 16, stages = 2, vthread = [1, 1], swizzle = true, raster = 8>
func.func @f8(%a: memref<4096x4096xf8E4M3FN>, %b: memref<4096x4096xf8E4M3FN>, %c: memref<4096x4096xf32>) {
  tessera.contract ins(%a, %b : memref<4096x4096xf8E4M3FN>, memref<4096x4096xf8E4M3FN>) outs(%c : memref<4096x4096xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%s: f32):
    tessera.yield %s : f32
  }
  return
}

// Reads transpose bytes on gfx950, so that loads write LDS directly: steps of 128 bytes, and large tiles. An operand
// of the instruction is two reads of 16 bytes, for which the tile of a subgroup is square.
// CHECK-LABEL: func @large_f8(
// GFX950:  schedule <workgroup = [256, 256], subgroup = [128, 128], k = 128, kFragment = 128, stages = 2, vthread = [8, 8], swizzle = true, raster = 8>
func.func @large_f8(%a: memref<4096x4096xf8E4M3FN>, %b: memref<4096x4096xf8E4M3FN>, %c: memref<4096x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x4096xf8E4M3FN>, memref<4096x4096xf8E4M3FN>) init(%zero : f32) outs(%c : memref<4096x4096xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%s: f32):
    tessera.yield %s : f32
  }
  return
}

// CHECK-LABEL: func @large_i8(
// GFX942:  schedule <workgroup = [256, 256], subgroup = [64, 128], k = 64, kFragment = 32, stages = 2, vthread = [4, 8], swizzle = true, raster = 8>
// GFX950:  schedule <workgroup = [256, 256], subgroup = [128, 64], k = 128, kFragment = 64, stages = 2, vthread = [8, 4], swizzle = true, raster = 8>
func.func @large_i8(%a: memref<4096x4096xi8>, %b: memref<4096x4096xi8>, %c: memref<4096x4096xi32>) {
  %zero = arith.constant 0 : i32
  tessera.contract ins(%a, %b : memref<4096x4096xi8>, memref<4096x4096xi8>) init(%zero : i32) outs(%c : memref<4096x4096xi32>)
      maps [#mk, #kn, #mn] accumulate i32 {
  ^bb0(%s: i32):
    tessera.yield %s : i32
  }
  return
}

// CHECK-LABEL: func @f64(
// GFX906:  schedule <workgroup = [64, 32], subgroup = [32, 16], k = 8, kFragment = 1, stages = 1, vthread = [1, 1], swizzle = true, raster = 8>
// GFX908:  schedule <workgroup = [64, 32], subgroup = [32, 16], k = 8, kFragment = 1, stages = 1, vthread = [1, 1], swizzle = true, raster = 8>
// GFX942:  schedule <workgroup = [128, 64], subgroup = [64, 32], k = 8, kFragment = 4, stages = 2, vthread = [1, 1], swizzle = true>
// GFX950:  schedule <workgroup = [128, 64], subgroup = [64, 32], k = 8, kFragment = 4, stages = 2, vthread = [1, 1], swizzle = true>
// GFX1100: schedule <workgroup = [64, 32], subgroup = [32, 16], k = 8, kFragment = 1, stages = 1, vthread = [1, 1], swizzle = true, raster = 8>
// GFX1201: schedule <workgroup = [64, 32], subgroup = [32, 16], k = 8, kFragment = 1, stages = 1, vthread = [1, 1], swizzle = true, raster = 8>
func.func @f64(%a: memref<1000x1000xf64>, %b: memref<1000x1000xf64>, %c: memref<1000x1000xf64>) {
  tessera.contract ins(%a, %b : memref<1000x1000xf64>, memref<1000x1000xf64>) outs(%c : memref<1000x1000xf64>)
      maps [#mk, #kn, #mn] accumulate f64 {
  ^bb0(%s: f64):
    tessera.yield %s : f64
  }
  return
}

// CHECK-LABEL: func @unaligned(
// GFX906:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 2, stages = 1, vthread = [1, 1]>
// GFX908:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 8, stages = 2, vthread = [1, 1], stageOutput = true>
// GFX942:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 8, stages = 2, vthread = [1, 1], stageOutput = true>
// GFX950:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2, vthread = [1, 1], stageOutput = true>
// GFX1100: schedule <workgroup = [64, 64], subgroup = [32, 16], k = 32, kFragment = 16, stages = 2, vthread = [1, 1], stageOutput = true>
// GFX1201: schedule <workgroup = [64, 64], subgroup = [32, 16], k = 32, kFragment = 16, stages = 2, vthread = [1, 1], stageOutput = true>
func.func @unaligned(%a: memref<509x511xf16>, %b: memref<511x513xf16>, %c: memref<509x513xf32>) {
  tessera.contract ins(%a, %b : memref<509x511xf16>, memref<511x513xf16>) outs(%c : memref<509x513xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%s: f32):
    tessera.yield %s : f32
  }
  return
}

// Unsigned: gfx906 has no such dot product.
// CHECK-LABEL: func @u8(
// GFX906:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, kFragment = 1, stages = 1, vthread = [1, 1], swizzle = true>
// GFX908:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, kFragment = 8, stages = 2, vthread = [1, 1], swizzle = true>
// GFX942:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, kFragment = 16, stages = 2, vthread = [1, 1], swizzle = true>
// GFX950:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 128, kFragment = 32, stages = 2, vthread = [1, 1], swizzle = true>
// GFX1100: schedule <workgroup = [64, 64], subgroup = [32, 16], k = 64, kFragment = 16, stages = 2, vthread = [1, 1], swizzle = true>
// GFX1201: schedule <workgroup = [64, 64], subgroup = [32, 16], k = 64, kFragment = 16, stages = 2, vthread = [1, 1], swizzle = true>
func.func @u8(%a: memref<512x512xi8>, %b: memref<512x512xi8>, %c: memref<512x512xi32>) {
  tessera.contract ins(%a, %b : memref<512x512xi8>, memref<512x512xi8>) outs(%c : memref<512x512xi32>)
      maps [#mk, #kn, #mn] accumulate i32 unsigned_a unsigned_b {
  ^bb0(%s: i32):
    tessera.yield %s : i32
  }
  return
}

// Bytes whose rows begin anywhere are loaded one by one, and held until the next step: half as many where registers
// are few.
// CHECK-LABEL: func @bytes_of_unknown_shape(
// GFX906:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, kFragment = 4, stages = 1, vthread = [1, 1]>
// GFX908:  schedule <workgroup = [128, 128], subgroup = [64, 64], k = 64, kFragment = 8, stages = 2, vthread = [1, 1]>
// GFX942:  schedule <workgroup = [128, 128], subgroup = [64, 64], k = 64, kFragment = 16, stages = 2, vthread = [1, 1]>
// GFX950:  schedule <workgroup = [128, 128], subgroup = [64, 64], k = 64, kFragment = 32, stages = 2, vthread = [1, 1]>
// GFX1100: schedule <workgroup = [128, 128], subgroup = [64, 32], k = 32, kFragment = 16, stages = 2, vthread = [1, 1]>
// GFX1201: schedule <workgroup = [128, 128], subgroup = [64, 32], k = 32, kFragment = 16, stages = 2, vthread = [1, 1]>
func.func @bytes_of_unknown_shape(%a: memref<?x?xi8>, %b: memref<?x?xi8>, %c: memref<?x?xi32>) {
  tessera.contract ins(%a, %b : memref<?x?xi8>, memref<?x?xi8>) outs(%c : memref<?x?xi32>)
      maps [#mk, #kn, #mn] accumulate i32 {
  ^bb0(%s: i32):
    tessera.yield %s : i32
  }
  return
}

// Windows of three channels are gathered element by element, each at an index of its own.
// CHECK-LABEL: func @gathered(
// GFX906:  schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 2, stages = 1, vthread = [1, 1]>
// GFX908:  schedule <workgroup = [64, 64], subgroup = [32, 64], k = 32, kFragment = 8, stages = 2, vthread = [1, 1]>
// GFX942:  schedule <workgroup = [64, 64], subgroup = [32, 64], k = 32, kFragment = 8, stages = 2, vthread = [1, 1]>
// GFX950:  schedule <workgroup = [64, 64], subgroup = [32, 64], k = 32, kFragment = 16, stages = 2, vthread = [1, 1]>
// GFX1100: schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2, vthread = [1, 1]>
// GFX1201: schedule <workgroup = [128, 64], subgroup = [64, 32], k = 16, kFragment = 16, stages = 2, vthread = [1, 1]>
func.func @gathered(%image: memref<4x90x94x3xf16>, %filters: memref<7x7x3x64xf16>, %out: memref<4x45x48x64xf32>) {
  tessera.contract ins(%image, %filters : memref<4x90x94x3xf16>, memref<7x7x3x64xf16>) outs(%out : memref<4x45x48x64xf32>)
      maps [affine_map<(n, h, w, f, r, s, c) -> (n, h * 2 + r - 3, w * 2 + s - 2, c)>,
            affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>,
            affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
