// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-orient-weights | FileCheck %s
// A chip without instructions for narrow weights leaves the operands as they are.
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --tessera-orient-weights | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: lhs_producer

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
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
// CHECK:         rhs_producer
func.func @more_rows(%a: memref<9x256xf16>, %w: memref<96x256xi8>, %c: memref<9x96xf32>) {
  tessera.contract ins(%a, %w : memref<9x256xf16>, memref<96x256xi8>)
      outs(%c : memref<9x96xf32>) maps [#mk, #nk, #mn] accumulate f32
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
