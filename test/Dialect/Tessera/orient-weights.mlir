// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-orient-weights | FileCheck %s
// A chip without instructions for narrow weights leaves the operands as they are.
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --tessera-orient-weights | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: lhs_producer

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#scale = affine_map<(m, n, k) -> (n, k floordiv 64)>
#bias = affine_map<(m, n, k) -> (n)>
// CHECK-DAG: #[[MK:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[NK:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[N:.+]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-DAG: #[[SCALE:.+]] = affine_map<(d0, d1, d2) -> (d1, d2 floordiv 64)>

// CHECK-LABEL: func @token
// CHECK-SAME:      %[[A:.+]]: memref<2x256xf16>, %[[W:.+]]: memref<96x256xi8>, %[[S:.+]]: memref<96x4xf16>, %[[B:.+]]: memref<96xf32>, %[[C:.+]]: memref<2x96xf32>
// CHECK:         tessera.contract ins(%[[W]], %[[A]] :
// CHECK-SAME:      extras(%[[B]] :
// CHECK-SAME:      lhs_inputs(%[[S]] :
// CHECK-SAME:      outs(%[[C]] :
// CHECK-SAME:      maps [#[[NK]], #[[MK]], #[[MN]], #[[N]], #[[SCALE]]]
// CHECK-SAME:      lhs_producer
func.func @token(%a: memref<2x256xf16>, %w: memref<96x256xi8>, %s: memref<96x4xf16>, %b: memref<96xf32>, %c: memref<2x96xf32>) {
  tessera.contract ins(%a, %w : memref<2x256xf16>, memref<96x256xi8>) extras(%b : memref<96xf32>)
      rhs_inputs(%s : memref<96x4xf16>) outs(%c : memref<2x96xf32>) maps [#mk, #nk, #mn, #bias, #scale] accumulate f32
      rhs_producer {
      ^bb0(%q: i8, %x: f16):
        %f = arith.sitofp %q : i8 to f16
        %d = arith.mulf %f, %x : f16
        tessera.yield %d : f16
      } {
  ^bb0(%acc: f32, %y: f32):
    %r = arith.addf %acc, %y : f32
    tessera.yield %r : f32
  }
  return
}

// CHECK-LABEL: func @more_rows
// CHECK:         lhs_producer
func.func @more_rows(%a: memref<100x256xf16>, %w: memref<96x256xi8>, %c: memref<100x96xf32>) {
  tessera.contract ins(%a, %w : memref<100x256xf16>, memref<96x256xi8>)
      outs(%c : memref<100x96xf32>) maps [#mk, #nk, #mn] accumulate f32
      rhs_producer {
      ^bb0(%q: i8):
        %f = arith.sitofp %q : i8 to f16
        tessera.yield %f : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @too_many_rows
// CHECK:         rhs_producer
func.func @too_many_rows(%a: memref<129x256xf16>, %w: memref<96x256xi8>, %c: memref<129x96xf32>) {
  tessera.contract ins(%a, %w : memref<129x256xf16>, memref<96x256xi8>)
      outs(%c : memref<129x96xf32>) maps [#mk, #nk, #mn] accumulate f32
      rhs_producer {
      ^bb0(%q: i8):
        %f = arith.sitofp %q : i8 to f16
        tessera.yield %f : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Weights that are as wide as the other operand, along K and along N.

// CHECK-LABEL: func @wide
// CHECK-SAME:      %[[A:.+]]: memref<4x11008xbf16>, %[[W:.+]]: memref<4096x11008xbf16>, %[[C:.+]]: memref<4x4096xbf16>
// CHECK:         tessera.contract ins(%[[W]], %[[A]] :
// CHECK-SAME:      outs(%[[C]] :
// CHECK-SAME:      maps [#[[NK]], #[[MK]], #[[MN]]]
func.func @wide(%a: memref<4x11008xbf16>, %w: memref<4096x11008xbf16>, %c: memref<4x4096xbf16>) {
  tessera.contract ins(%a, %w : memref<4x11008xbf16>, memref<4096x11008xbf16>)
      outs(%c : memref<4x4096xbf16>) maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %r = arith.truncf %acc : f32 to bf16
    tessera.yield %r : bf16
  }
  return
}

// CHECK-LABEL: func @wide_along_n
// CHECK-SAME:      %[[A:.+]]: memref<16x4096xf16>, %[[W:.+]]: memref<4096x14336xf16>
// CHECK:         tessera.contract ins(%[[W]], %[[A]] :
func.func @wide_along_n(%a: memref<16x4096xf16>, %w: memref<4096x14336xf16>, %c: memref<16x14336xf32>) {
  tessera.contract ins(%a, %w : memref<16x4096xf16>, memref<4096x14336xf16>)
      outs(%c : memref<16x14336xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// One row, 32 rows, and floats of 8 bits.

// CHECK-LABEL: func @more_wide
// CHECK-SAME:      %[[A:[a-z0-9]+]]: memref<1x11008xbf16>, %[[B:[a-z0-9]+]]: memref<32x11008xbf16>, %[[D:[a-z0-9]+]]: memref<16x4096xf8E4M3FN>, %[[W:[a-z0-9]+]]: memref<4096x11008xbf16>, %[[V:[a-z0-9]+]]: memref<4096x4096xf8E4M3FN>
// CHECK:         tessera.contract ins(%[[W]], %[[A]] :
// CHECK:         tessera.contract ins(%[[W]], %[[B]] :
// CHECK:         tessera.contract ins(%[[V]], %[[D]] :
func.func @more_wide(%a: memref<1x11008xbf16>, %b: memref<32x11008xbf16>, %d: memref<16x4096xf8E4M3FN>, %w: memref<4096x11008xbf16>, %v: memref<4096x4096xf8E4M3FN>, %c: memref<1x4096xf32>, %e: memref<32x4096xf32>, %f: memref<16x4096xf32>) {
  tessera.contract ins(%a, %w : memref<1x11008xbf16>, memref<4096x11008xbf16>)
      outs(%c : memref<1x4096xf32>) maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%b, %w : memref<32x11008xbf16>, memref<4096x11008xbf16>)
      outs(%e : memref<32x4096xf32>) maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%d, %v : memref<16x4096xf8E4M3FN>, memref<4096x4096xf8E4M3FN>)
      outs(%f : memref<16x4096xf32>) maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// More rows, weights that stay in the cache, and a schedule by hand; weights that are lhs.

// CHECK-LABEL: func @others
// CHECK-SAME:      %[[A:[a-z0-9]+]]: memref<33x11008xbf16>, %[[B:[a-z0-9]+]]: memref<4x1024xbf16>, %[[W:[a-z0-9]+]]: memref<4096x11008xbf16>, %[[V:[a-z0-9]+]]: memref<4096x1024xbf16>
// CHECK:         tessera.contract ins(%[[A]], %[[W]] :
// CHECK:         tessera.contract ins(%[[B]], %[[V]] :
// CHECK:         tessera.contract ins(%[[A]], %[[W]] :
// CHECK:         tessera.contract ins(%[[W]], %[[A]] :
func.func @others(%a: memref<33x11008xbf16>, %b: memref<4x1024xbf16>, %w: memref<4096x11008xbf16>, %v: memref<4096x1024xbf16>, %c: memref<33x4096xf32>, %d: memref<4x4096xf32>, %e: memref<4096x33xf32>) {
  tessera.contract ins(%a, %w : memref<33x11008xbf16>, memref<4096x11008xbf16>)
      outs(%c : memref<33x4096xf32>) maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%b, %v : memref<4x1024xbf16>, memref<4096x1024xbf16>)
      outs(%d : memref<4x4096xf32>) maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%a, %w : memref<33x11008xbf16>, memref<4096x11008xbf16>)
      outs(%c : memref<33x4096xf32>) maps [#mk, #nk, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [64, 64], k = 64, stages = 4, swizzle = true, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%w, %a : memref<4096x11008xbf16>, memref<33x11008xbf16>)
      outs(%e : memref<4096x33xf32>) maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// An rhs with N along the rows, which wgmma reads as tf32 from registers only, as
// lhs; and none of few rows, which are columns then.

// CHECK-LABEL: func @order
// CHECK-SAME:      %[[A:[a-z0-9]+]]: memref<1024x512xf32>, %[[B:[a-z0-9]+]]: memref<512x1024xf32>, %[[C:[a-z0-9]+]]: memref<16x512xf32>
// CHECK:         tessera.contract ins(%[[B]], %[[A]] :
// CHECK:         tessera.contract ins(%[[C]], %[[B]] :
func.func @order(%a: memref<1024x512xf32>, %b: memref<512x1024xf32>, %c: memref<16x512xf32>, %d: memref<1024x1024xf32>, %e: memref<16x1024xf32>) {
  tessera.contract ins(%a, %b : memref<1024x512xf32>, memref<512x1024xf32>) outs(%d : memref<1024x1024xf32>)
      maps [#mk, #kn, #mn] accumulate f32 precision tf32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%c, %b : memref<16x512xf32>, memref<512x1024xf32>) outs(%e : memref<16x1024xf32>)
      maps [#mk, #kn, #mn] accumulate f32 precision tf32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Tiles of 72 rows of lhs, of which each SM has one, as columns.

// CHECK-LABEL: func @one_wave
// CHECK-SAME:      %[[A:[a-z0-9]+]]: memref<9248x768xf16>, %[[B:[a-z0-9]+]]: memref<768x192xf16>
// CHECK:         tessera.contract ins(%[[B]], %[[A]] :
// CHECK-SAME:      schedule <workgroup = [192, 72],
func.func @one_wave(%a: memref<9248x768xf16>, %b: memref<768x192xf16>, %c: memref<9248x192xf16>) {
  tessera.contract ins(%a, %b : memref<9248x768xf16>, memref<768x192xf16>) outs(%c : memref<9248x192xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %0 = arith.truncf %acc : f32 to f16
    tessera.yield %0 : f16
  }
  return
}
