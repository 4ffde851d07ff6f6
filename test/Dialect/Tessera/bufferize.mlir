// RUN: gpu-opt %s --one-shot-bufferize="bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map" --canonicalize --split-input-file | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>

// The sum starts from a writable argument: it is computed in place.

// CHECK-LABEL: func @in_place
// CHECK-SAME:    %[[A:.+]]: memref<64x64xf32>, %[[B:.+]]: memref<64x64xf32>, %[[C:.+]]: memref<64x64xf32>
// CHECK-NEXT:    tessera.contract ins(%[[A]], %[[B]] : memref<64x64xf32>, memref<64x64xf32>) outs(%[[C]] : memref<64x64xf32>)
// CHECK-SAME:      accumulate f32 precision tf32 {
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32):
// CHECK-NEXT:      tessera.yield %[[ACC]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[C]]
func.func @in_place(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = tessera.contract ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32 precision tf32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// With init the old value is not read: a new buffer, and no copy.

// CHECK-LABEL: func @init
// CHECK:         %[[ALLOC:.+]] = memref.alloc()
// CHECK-NOT:     memref.copy
// CHECK:         tessera.contract {{.*}} init(%{{.+}} : f32) outs(%[[ALLOC]] : memref<64x64xf32>)
// CHECK:         return %[[ALLOC]]
func.func @init(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>,
                %c: tensor<64x64xf32> {bufferization.writable = false}, %init: f32) -> tensor<64x64xf32> {
  %r = tessera.contract ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) init(%init : f32)
      outs(%c : tensor<64x64xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// The output must not alias an operand of the matmul.

// CHECK-LABEL: func @over_operand
// CHECK-SAME:    %[[A:.+]]: memref<64x64xf32>, %[[B:.+]]: memref<64x64xf32>
// CHECK:         %[[ALLOC:.+]] = memref.alloc()
// CHECK:         tessera.contract ins(%[[A]], %[[B]] : {{.*}}) init(%{{.+}} : f32) outs(%[[ALLOC]] :
func.func @over_operand(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %init: f32) -> tensor<64x64xf32> {
  %r = tessera.contract ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) init(%init : f32)
      outs(%a : tensor<64x64xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#nm = affine_map<(m, n, k) -> (n, m)>

// Over an operand of the epilogue it may, if that is read where the output is
// written; not if it is read transposed.

// CHECK-LABEL: func @over_extra
// CHECK-SAME:    %[[A:.+]]: memref<64x64xf32>, %[[B:.+]]: memref<64x64xf32>, %[[X:.+]]: memref<64x64xf32>, %[[Y:.+]]: memref<64x64xf32>
// CHECK:         tessera.contract {{.*}} extras(%[[X]] : memref<64x64xf32>) outs(%[[X]] : memref<64x64xf32>)
// CHECK:         %[[ALLOC:.+]] = memref.alloc()
// CHECK:         tessera.contract {{.*}} extras(%[[Y]] : memref<64x64xf32>) outs(%[[ALLOC]] : memref<64x64xf32>)
func.func @over_extra(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %x: tensor<64x64xf32>,
                      %y: tensor<64x64xf32>, %init: f32) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %r = tessera.contract ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) init(%init : f32)
      extras(%x : tensor<64x64xf32>) outs(%x : tensor<64x64xf32>) maps [#mk, #kn, #mn, #mn] accumulate f32 {
  ^bb0(%acc: f32, %e: f32):
    %s = arith.addf %acc, %e : f32
    tessera.yield %s : f32
  } -> tensor<64x64xf32>
  %s = tessera.contract ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) init(%init : f32)
      extras(%y : tensor<64x64xf32>) outs(%y : tensor<64x64xf32>) maps [#mk, #kn, #mn, #nm] accumulate f32 {
  ^bb0(%acc: f32, %e: f32):
    %s = arith.addf %acc, %e : f32
    tessera.yield %s : f32
  } -> tensor<64x64xf32>
  return %r, %s : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

// Attention does not read the output's old value: a new buffer, and no copy. The query, whose shape is the
// output's, is read by many workgroups, and is not overwritten.

// CHECK-LABEL: func @attention
// CHECK-SAME:    %[[Q:.+]]: memref<64x32xf16>
// CHECK:         %[[ALLOC:.+]] = memref.alloc()
// CHECK-NOT:     memref.copy
// CHECK:         tessera.attention ins(%[[Q]], %{{.+}}, %{{.+}} : memref<64x32xf16>, memref<96x32xf16>, memref<96x32xf16>) outs(%[[ALLOC]] : memref<64x32xf16>)
// CHECK-SAME:      scale 1.250000e-01 causal 3
// CHECK:         return %[[ALLOC]]
func.func @attention(%q: tensor<64x32xf16>, %k: tensor<96x32xf16>, %v: tensor<96x32xf16>) -> tensor<64x32xf16> {
  %r = tessera.attention ins(%q, %k, %v : tensor<64x32xf16>, tensor<96x32xf16>, tensor<96x32xf16>)
      outs(%q : tensor<64x32xf16>) maps [#q, #k, #v, #o] scale 0.125 causal 3 -> tensor<64x32xf16>
  return %r : tensor<64x32xf16>
}
