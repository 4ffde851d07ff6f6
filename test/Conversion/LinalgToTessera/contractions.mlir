// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --convert-linalg-to-tessera --split-input-file | FileCheck %s

// CHECK-DAG: #[[MK:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-LABEL: func @matmul
// CHECK-SAME:    %[[A:.+]]: tensor<64x32xf16>, %[[B:.+]]: tensor<32x48xf16>, %[[C:.+]]: tensor<64x48xf32>
// CHECK-NEXT:    %[[R:.+]] = tessera.contract ins(%[[A]], %[[B]] : tensor<64x32xf16>, tensor<32x48xf16>) outs(%[[C]] : tensor<64x48xf32>)
// CHECK-SAME:      maps [#[[MK]], #[[KN]], #[[MN]]] accumulate f32 {
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32):
// CHECK-NEXT:      tessera.yield %[[ACC]] : f32
// CHECK-NEXT:    } -> tensor<64x48xf32>
// CHECK-NEXT:    return %[[R]]
func.func @matmul(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// CHECK-DAG: #[[MK:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[NK:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[KM:.+]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @transposed_maps
// CHECK:         tessera.contract {{.*}} maps [#[[MK]], #[[NK]], #[[MN]]]
// CHECK:         tessera.contract {{.*}} maps [#[[KM]], #[[KN]], #[[MN]]]
func.func @transposed_maps(%a: memref<64x32xf32>, %b: memref<48x32xf32>, %at: memref<32x64xf32>,
                           %bt: memref<32x48xf32>, %c: memref<64x48xf32>) {
  linalg.matmul indexing_maps = [#mk, #nk, #mn]
      ins(%a, %b : memref<64x32xf32>, memref<48x32xf32>) outs(%c : memref<64x48xf32>)
  linalg.contract indexing_maps = [#km, #kn, #mn]
      ins(%at, %bt : memref<32x64xf32>, memref<32x48xf32>) outs(%c : memref<64x48xf32>)
  return
}

// -----

// CHECK-DAG: #[[BMK:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[BKN:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[BMN:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>

// CHECK-LABEL: func @batch
// CHECK:         tessera.contract
// CHECK-SAME:      maps [#[[BMK]], #[[BKN]], #[[BMN]]] accumulate f32
func.func @batch(%a: tensor<?x?x?xbf16>, %b: tensor<?x?x?xbf16>, %c: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<?x?x?xbf16>, tensor<?x?x?xbf16>)
      outs(%c : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// -----

// Vectors have no M or no N.

// CHECK-LABEL: func @vectors
// CHECK:         tessera.contract ins(%{{.*}}, %{{.*}} : tensor<64x32xf32>, tensor<32xf32>)
// CHECK:         tessera.contract ins(%{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64x32xf32>)
func.func @vectors(%a: tensor<64x32xf32>, %x: tensor<32xf32>, %y: tensor<64xf32>)
    -> (tensor<64xf32>, tensor<32xf32>) {
  %r = linalg.matvec ins(%a, %x : tensor<64x32xf32>, tensor<32xf32>)
      outs(%y : tensor<64xf32>) -> tensor<64xf32>
  %s = linalg.vecmat ins(%y, %a : tensor<64xf32>, tensor<64x32xf32>)
      outs(%x : tensor<32xf32>) -> tensor<32xf32>
  return %r, %s : tensor<64xf32>, tensor<32xf32>
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// The casts are part of the body: operands keep their narrow types.

// CHECK-LABEL: func @generic
// CHECK:         tessera.contract ins(%{{.*}}, %{{.*}} : tensor<64x32xf16>, tensor<32x48xf16>)
// CHECK-SAME:      accumulate f32
func.func @generic(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %r = linalg.generic {indexing_maps = [#mk, #kn, #mn],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>) outs(%c : tensor<64x48xf32>) {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %p = arith.mulf %y, %x : f16
    %w = arith.extf %p : f16 to f32
    %s = arith.addf %w, %acc : f32
    linalg.yield %s : f32
  } -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// The sum is taken in f32, and rounded once.

// CHECK-LABEL: func @narrow_output
// CHECK-SAME:    %[[A:.+]]: tensor<64x32xf16>, %[[B:.+]]: tensor<32x48xf16>
// CHECK:         %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK:         tessera.contract ins(%[[A]], %[[B]] : {{.*}}) init(%[[ZERO]] : f32) {{.*}} accumulate f32
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32):
// CHECK-NEXT:      %[[T:.+]] = arith.truncf %[[ACC]] : f32 to f16
// CHECK-NEXT:      tessera.yield %[[T]] : f16
func.func @narrow_output(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>) -> tensor<64x48xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<64x48xf16>
  %c = linalg.fill ins(%zero : f16) outs(%e : tensor<64x48xf16>) -> tensor<64x48xf16>
  %r = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
      outs(%c : tensor<64x48xf16>) -> tensor<64x48xf16>
  return %r : tensor<64x48xf16>
}

// -----

// CHECK-LABEL: func @integers
// CHECK:         tessera.contract {{.*}} accumulate i32 {
// CHECK:         tessera.contract {{.*}} accumulate i32 unsigned_a unsigned_b {
// CHECK:         tessera.contract {{.*}} accumulate i32 {
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: i32):
// CHECK-NEXT:      arith.trunci %[[ACC]] : i32 to i8
func.func @integers(%a: memref<64x32xi8>, %b: memref<32x48xi8>, %c: memref<64x48xi32>, %d: memref<64x48xi8>) {
  linalg.matmul ins(%a, %b : memref<64x32xi8>, memref<32x48xi8>) outs(%c : memref<64x48xi32>)
  linalg.matmul {cast = #linalg.type_fn<cast_unsigned>}
      ins(%a, %b : memref<64x32xi8>, memref<32x48xi8>) outs(%c : memref<64x48xi32>)
  linalg.matmul ins(%a, %b : memref<64x32xi8>, memref<32x48xi8>) outs(%d : memref<64x48xi8>)
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @mixed_signs
// CHECK:         tessera.contract {{.*}} accumulate i32 unsigned_a {
func.func @mixed_signs(%a: memref<64x32xi8>, %b: memref<32x48xi8>, %c: memref<64x48xi32>) {
  linalg.generic {indexing_maps = [#mk, #kn, #mn],
                  iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : memref<64x32xi8>, memref<32x48xi8>) outs(%c : memref<64x48xi32>) {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %xw = arith.extui %x : i8 to i32
    %yw = arith.extsi %y : i8 to i32
    %p = arith.muli %xw, %yw : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  }
  return
}

// -----

// CHECK-LABEL: func @small_floats
// CHECK:         tessera.contract {{.*}} accumulate f32 {
// CHECK:         tessera.contract {{.*}} accumulate f64 {
func.func @small_floats(%a: memref<64x32xf8E4M3FN>, %b: memref<32x48xf8E5M2>, %c: memref<64x48xf32>,
                        %x: memref<64x32xf64>, %y: memref<32x48xf64>, %z: memref<64x48xf64>) {
  linalg.matmul ins(%a, %b : memref<64x32xf8E4M3FN>, memref<32x48xf8E5M2>) outs(%c : memref<64x48xf32>)
  linalg.matmul ins(%x, %y : memref<64x32xf64>, memref<32x48xf64>) outs(%z : memref<64x48xf64>)
  return
}

// -----

// CHECK-LABEL: func @attributes
// CHECK:         tessera.contract {{.*}} precision tf32
// CHECK-SAME:      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 8, stages = 2, vthread = [1, 1]>
func.func @attributes(%a: memref<64x32xf32>, %b: memref<32x64xf32>, %c: memref<64x64xf32>) {
  linalg.matmul {tessera.allow_tf32,
                 tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32],
                                                      k = 16, kFragment = 8, stages = 2>}
      ins(%a, %b : memref<64x32xf32>, memref<32x64xf32>) outs(%c : memref<64x64xf32>)
  return
}

// -----

// A transposition and a widening that produce operands are taken up.

// CHECK-DAG: #[[KM:.+]] = affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func @producers
// CHECK-SAME:    %[[A:.+]]: tensor<32x64xbf16>, %[[B:.+]]: tensor<32x48xbf16>
// CHECK-NOT:     linalg
// CHECK:         tessera.contract ins(%[[A]], %[[B]] : tensor<32x64xbf16>, tensor<32x48xbf16>)
// CHECK-SAME:      maps [#[[KM]], #[[KN]], #[[MN]]]
func.func @producers(%a: tensor<32x64xbf16>, %b: tensor<32x48xbf16>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %ea = tensor.empty() : tensor<64x32xbf16>
  %at = linalg.transpose ins(%a : tensor<32x64xbf16>) outs(%ea : tensor<64x32xbf16>) permutation = [1, 0]
  %ew = tensor.empty() : tensor<64x32xf32>
  %aw = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                        iterator_types = ["parallel", "parallel"]}
      ins(%at : tensor<64x32xbf16>) outs(%ew : tensor<64x32xf32>) {
  ^bb0(%x: bf16, %y: f32):
    %w = arith.extf %x : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<64x32xf32>
  %eb = tensor.empty() : tensor<32x48xf32>
  %bw = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                        iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<32x48xbf16>) outs(%eb : tensor<32x48xf32>) {
  ^bb0(%x: bf16, %y: f32):
    %w = arith.extf %x : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<32x48xf32>
  %r = linalg.matmul ins(%aw, %bw : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// Several K dimensions: the batch of a reduction is different.

// CHECK-DAG: #[[BMK:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[BKN:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
// CHECK-LABEL: func @batch_reduce
// CHECK:         tessera.contract {{.*}} maps [#[[BMK]], #[[BKN]], #[[MN]]] accumulate f32
func.func @batch_reduce(%a: tensor<8x64x32xf32>, %b: tensor<8x32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %r = linalg.batch_reduce_matmul ins(%a, %b : tensor<8x64x32xf32>, tensor<8x32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// Blocked matrices: two M, two N, two K.

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d2, d3, d5)>
// CHECK-DAG: #[[R:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d1, d2, d4, d5)>
// CHECK-DAG: #[[O:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3, d4)>
// CHECK-LABEL: func @mmt4d
// CHECK:         tessera.contract {{.*}} maps [#[[L]], #[[R]], #[[O]]] accumulate f32
func.func @mmt4d(%a: tensor<4x8x16x4xf16>, %b: tensor<6x8x16x4xf16>, %c: tensor<4x6x16x16xf32>) -> tensor<4x6x16x16xf32> {
  %r = linalg.mmt4d ins(%a, %b : tensor<4x8x16x4xf16>, tensor<6x8x16x4xf16>)
      outs(%c : tensor<4x6x16x16xf32>) -> tensor<4x6x16x16xf32>
  return %r : tensor<4x6x16x16xf32>
}

// -----

// Several M, N and K, in any order.

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
// CHECK-DAG: #[[R:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d4, d5, d2, d3)>
// CHECK-DAG: #[[O:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d1, d2, d0)>
// CHECK-LABEL: func @einsum
// CHECK:         tessera.contract {{.*}} maps [#[[L]], #[[R]], #[[O]]] accumulate f32
func.func @einsum(%a: memref<?x4x8x?xf32>, %b: memref<8x?x6x?xf32>, %c: memref<?x4x6x?xf32>) {
  linalg.contract indexing_maps = [affine_map<(i, j, p, q, k, l) -> (i, j, k, l)>,
                                   affine_map<(i, j, p, q, k, l) -> (k, l, p, q)>,
                                   affine_map<(i, j, p, q, k, l) -> (q, j, p, i)>]
      ins(%a, %b : memref<?x4x8x?xf32>, memref<8x?x6x?xf32>) outs(%c : memref<?x4x6x?xf32>)
  return
}

// -----

// A dimension of extent 1 that is summed over one operand only is sliced off.

// CHECK-DAG: #[[MK:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func @unit_sum
// CHECK-SAME:    %[[A:.+]]: tensor<64x32x1xf32>, %[[B:.+]]: tensor<32x48xf32>
// CHECK:         %[[S:.+]] = tensor.extract_slice %[[A]][0, 0, 0] [64, 32, 1] [1, 1, 1] : tensor<64x32x1xf32> to tensor<64x32xf32>
// CHECK:         tessera.contract ins(%[[S]], %[[B]] : {{.*}} maps [#[[MK]], #[[KN]], #[[MN]]]
func.func @unit_sum(%a: tensor<64x32x1xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, j) -> (m, k, j)>, affine_map<(m, n, k, j) -> (k, n)>,
                         affine_map<(m, n, k, j) -> (m, n)>],
                    iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<64x32x1xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  } -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// The same in memory.

// CHECK-LABEL: func @unit_sum_memref
// CHECK-SAME:    %[[A:.+]]: memref<?x32x1xf32>, %[[B:.+]]: memref<32x48xf32>
// CHECK:         %[[M:.+]] = memref.dim %[[A]]
// CHECK:         %[[S:.+]] = memref.subview %[[A]][0, 0, 0] [%[[M]], 32, 1] [1, 1, 1] : memref<?x32x1xf32> to memref<?x32xf32, strided<[32, 1]>>
// CHECK:         tessera.contract ins(%[[S]], %[[B]] :
func.func @unit_sum_memref(%a: memref<?x32x1xf32>, %b: memref<32x48xf32>, %c: memref<?x48xf32>) {
  linalg.generic {indexing_maps = [affine_map<(m, n, k, j) -> (m, k, j)>, affine_map<(m, n, k, j) -> (k, n)>,
                    affine_map<(m, n, k, j) -> (m, n)>],
               iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : memref<?x32x1xf32>, memref<32x48xf32>) outs(%c : memref<?x48xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %acc, %p : f32
    linalg.yield %s : f32
  }
  return
}
