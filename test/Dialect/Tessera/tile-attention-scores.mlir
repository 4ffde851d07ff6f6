// RUN: gpu-opt %s --split-input-file --tessera-attach-chip="target=cuda chip=sm_80" --tessera-tile-attention --canonicalize --cse | FileCheck %s

// Changed scores, bounds and pages.

#q = affine_map<(b, h, m, n, d, e) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d, e) -> (n, d)>
#v = affine_map<(b, h, m, n, d, e) -> (n, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, h, m, e)>

// The blocks of the window before the length are divided among the parts. Rows of keys are gathered from their pages,
// if there is such a page; keys after the length are not read. The heads are rows: each has its slope.

// CHECK-LABEL: func @pages(
// CHECK-SAME:    %[[Q:[^:]+]]: memref<2x4x1x64xf16>, %[[K:[^:]+]]: memref<100x16x64xf16>, %[[V:[^:]+]]: memref<100x16x64xf16>, %[[O:[^:]+]]: memref<2x4x1x64xf16>, %[[TABLE:[^:]+]]: memref<2x32xi32>, %[[LENGTHS:[^:]+]]: memref<2xi32>, %[[SLOPES:[^:]+]]: memref<4xf32>)
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG:     %[[C3:.+]] = arith.constant 3 : index
// CHECK-DAG:     %[[C16:.+]] = arith.constant 16 : index
// CHECK-DAG:     %[[C63:.+]] = arith.constant 63 : index
// CHECK-DAG:     %[[C64:.+]] = arith.constant 64 : index
// CHECK-DAG:     %[[C100:.+]] = arith.constant 100 : index
// CHECK-DAG:     %[[C512:.+]] = arith.constant 512 : index
// CHECK-DAG:     %[[C511:.+]] = arith.constant 511 : index
// CHECK-DAG:     %[[WINDOW:.+]] = arith.constant -256 : index
// CHECK-DAG:     %[[HIDDEN:.+]] = arith.constant 0xFF800000 : f32
// CHECK:         gpu.launch blocks(%{{[^,]+}}, %[[B:[^,]+]], %[[PART:[^)]+]])
// CHECK:         %[[LOADED:.+]] = memref.load %[[LENGTHS]][%[[B]]]
// CHECK:         %[[LENGTH:.+]] = arith.minsi
// CHECK:         %[[POSITIVE:.+]] = arith.maxsi %[[LENGTH]], %[[C0]]
// CHECK:         %[[END:.+]] = arith.minui %[[POSITIVE]], %[[C512]]
// CHECK:         %[[BEGIN:.+]] = arith.addi %[[LENGTH]], %[[WINDOW]]
// CHECK:         %[[FIRST:.+]] = arith.maxsi %[[BEGIN]], %[[C0]]
// CHECK:         arith.divui %[[FIRST]], %[[C64]]
// CHECK:         tessera.copy %[[K]][], %{{.+}}[%[[C0]], %[[C0]]] shape [64, 64] alignment 16 contiguous 64 swizzled gather {
// CHECK-NEXT:    ^bb0(%[[I:.+]]: index, %[[J:.+]]: index):
// CHECK:           %[[KEY:.+]] = arith.addi %{{.+}}, %[[I]]
// CHECK:           %[[IS_BEFORE_END:.+]] = arith.cmpi ult, %[[KEY]], %[[END]]
// CHECK:           %[[SAFE:.+]] = arith.minui %[[KEY]], %[[C511]]
// CHECK:           %[[AT:.+]] = arith.divui %[[SAFE]], %[[C16]]
// CHECK:           %[[ENTRY:.+]] = memref.load %[[TABLE]][%[[B]], %[[AT]]]
// CHECK:           %[[PAGE:.+]] = arith.index_cast %[[ENTRY]]
// CHECK:           %[[EXISTS:.+]] = arith.cmpi ult, %[[PAGE]], %[[C100]]
// CHECK:           %[[INSIDE:.+]] = arith.andi %[[IS_BEFORE_END]], %[[EXISTS]]
// CHECK:           %[[ROW:.+]] = arith.remui %[[KEY]], %[[C16]]
// CHECK:           tessera.yield %[[PAGE]], %[[ROW]], %[[J]], %[[INSIDE]]
// CHECK:         %[[S:.+]] = tessera.mma
// CHECK:         %[[CHANGED:.+]] = tessera.map %[[S]]
// CHECK-NEXT:    ^bb0(%[[X:.+]]: f32, %[[I:.+]]: index, %{{.+}}: index):
// CHECK:           %[[HEAD:.+]] = arith.minui %[[I]], %[[C3]]
// CHECK:           %[[SLOPE:.+]] = memref.load %[[SLOPES]][%[[HEAD]]]
// CHECK:           arith.addf %[[X]], %[[SLOPE]]
// CHECK:         tessera.map %[[CHANGED]]
// CHECK:           arith.cmpi slt
// CHECK:           arith.cmpi sge
// CHECK:           arith.select {{.*}} %[[HIDDEN]]
// CHECK:         scf.for
// CHECK:           gpu.barrier
// CHECK-NEXT:      tessera.copy %[[K]][]
// CHECK:           tessera.copy %[[V]][]
// CHECK:           gpu.barrier
// CHECK:           scf.if
// CHECK:         tessera.copy %[[V]][]
func.func @pages(%q: memref<2x4x1x64xf16>, %k: memref<100x16x64xf16>, %v: memref<100x16x64xf16>, %o: memref<2x4x1x64xf16>,
                 %table: memref<2x32xi32>, %lengths: memref<2xi32>, %slopes: memref<4xf32>) {
  %n = arith.constant 512 : index
  tessera.attention ins(%q, %k, %v : memref<2x4x1x64xf16>, memref<100x16x64xf16>, memref<100x16x64xf16>) outs(%o : memref<2x4x1x64xf16>)
      maps [#q, #k, #v, #o] scale 0.125 first affine_map<(i, l) -> (l - 256)> last affine_map<(i, l) -> (l - 1)> empty_is_nan
      schedule <workgroup = [16, 64], subgroup = [16, 64], k = 64, kFragment = 32, stages = 1, swizzle = true, splitK = 2>
      keys %n
      length {
      ^bb0(%b: index, %h: index):
        %l = memref.load %lengths[%b] : memref<2xi32>
        %length = arith.index_cast %l : i32 to index
        tessera.yield %length : index
      }
      page {
      ^bb0(%b: index, %h: index, %j: index):
        %c16 = arith.constant 16 : index
        %at = arith.divui %j, %c16 : index
        %p = memref.load %table[%b, %at] : memref<2x32xi32>
        %page = arith.index_cast %p : i32 to index
        tessera.yield %page : index
      }
      score {
      ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
        %slope = memref.load %slopes[%h] : memref<4xf32>
        %s = arith.addf %x, %slope : f32
        tessera.yield %s : f32
      }
  return
}

// -----

#q = affine_map<(b, m, n, d, e) -> (b, m, d)>
#k = affine_map<(b, m, n, d, e) -> (b, n, d)>
#v = affine_map<(b, m, n, d, e) -> (b, n, e)>
#o = affine_map<(b, m, n, d, e) -> (b, m, e)>

// Quotients and tanh of scores are approximate, as the exponential after them; those of f64 are not.

// CHECK-LABEL: func @capped(
// CHECK:         tessera.map
// CHECK-NOT:     math.tanh
// CHECK:           %[[SHARE:.+]] = arith.divf %{{.+}}, %{{.+}} fastmath<arcp,afn> : f32
// CHECK:           %[[EXPONENT:.+]] = arith.mulf %[[SHARE]], %{{.+}} : f32
// CHECK:           %[[POWER:.+]] = math.exp2 %[[EXPONENT]] fastmath<afn> : f32
// CHECK:           %[[SUM:.+]] = arith.addf %[[POWER]], %{{.+}} : f32
// CHECK:           %[[REST:.+]] = arith.divf %{{.+}}, %[[SUM]] fastmath<arcp,afn> : f32
// CHECK:           %[[BENT:.+]] = arith.subf %{{.+}}, %[[REST]] : f32
// CHECK:           arith.mulf %[[BENT]]
// CHECK:           arith.divf %{{.+}}, %{{.+}} : f64
func.func @capped(%q: memref<2x64x64xf16>, %k: memref<2x128x64xf16>, %v: memref<2x128x64xf16>, %o: memref<2x64x64xf16>) {
  tessera.attention ins(%q, %k, %v : memref<2x64x64xf16>, memref<2x128x64xf16>, memref<2x128x64xf16>) outs(%o : memref<2x64x64xf16>)
      maps [#q, #k, #v, #o] scale 0.125
      schedule <workgroup = [16, 64], subgroup = [16, 64], k = 64, kFragment = 32, stages = 1, swizzle = true>
      score {
      ^bb0(%x: f32, %b: index, %i: index, %j: index):
        %cap = arith.constant 30.0 : f32
        %share = arith.divf %x, %cap : f32
        %bent = math.tanh %share : f32
        %s = arith.mulf %bent, %cap : f32
        %wide = arith.extf %s : f32 to f64
        %two = arith.constant 2.0 : f64
        %half = arith.divf %wide, %two : f64
        %y = arith.truncf %half : f64 to f32
        tessera.yield %y : f32
      }
  return
}

// -----

#q = affine_map<(b, m, n, d, e) -> (b, m, d)>
#k = affine_map<(b, m, n, d, e) -> (b, n, d)>
#v = affine_map<(b, m, n, d, e) -> (b, n, e)>
#o = affine_map<(b, m, n, d, e) -> (b, m, e)>

// A quotient that decides about an element of a table is exact, and so is one that decides about a length.

// CHECK-LABEL: func @buckets(
// CHECK-NOT:     fastmath<arcp,afn>
// CHECK:         arith.divf
// CHECK:         arith.fptosi
// CHECK:         tessera.map
// CHECK-NOT:     fastmath<arcp,afn>
// CHECK:           arith.divf
// CHECK-NOT:     fastmath<arcp,afn>
// CHECK:           arith.fptosi
// CHECK:           memref.load
func.func @buckets(%q: memref<2x64x64xf16>, %k: memref<2x128x64xf16>, %v: memref<2x128x64xf16>, %o: memref<2x64x64xf16>, %table: memref<8xf32>, %lengths: memref<2xf32>) {
  tessera.attention ins(%q, %k, %v : memref<2x64x64xf16>, memref<2x128x64xf16>, memref<2x128x64xf16>) outs(%o : memref<2x64x64xf16>)
      maps [#q, #k, #v, #o] scale 0.125 last affine_map<(i, l) -> (l - 1)> empty_is_nan
      schedule <workgroup = [16, 64], subgroup = [16, 64], k = 64, kFragment = 32, stages = 1, swizzle = true>
      length {
      ^bb0(%b: index):
        %l = memref.load %lengths[%b] : memref<2xf32>
        %two = arith.constant 2.0 : f32
        %half = arith.divf %l, %two : f32
        %int = arith.fptosi %half : f32 to i32
        %length = arith.index_cast %int : i32 to index
        tessera.yield %length : index
      }
      score {
      ^bb0(%x: f32, %b: index, %i: index, %j: index):
        %int = arith.index_cast %j : index to i32
        %wide = arith.sitofp %int : i32 to f32
        %width = arith.constant 24.0 : f32
        %place = arith.divf %wide, %width : f32
        %bucket = arith.fptosi %place : f32 to i32
        %at = arith.index_cast %bucket : i32 to index
        %bias = memref.load %table[%at] : memref<8xf32>
        %y = arith.addf %x, %bias : f32
        tessera.yield %y : f32
      }
  return
}
