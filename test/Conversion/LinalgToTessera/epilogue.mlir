// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --convert-linalg-to-tessera --split-input-file | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#zj = affine_map<(i, j) -> (0, j)>
#none = affine_map<(i, j) -> ()>

// One generic op with operands of every kind: a row and a column vector, a
// transposed matrix, a row as a matrix, a tensor of rank 0, a scalar, and one
// that is captured.

// CHECK-DAG: #[[MK:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[NM:.+]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-DAG: #[[M:.+]] = affine_map<(d0, d1, d2) -> (d0)>
// CHECK-DAG: #[[N:.+]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-DAG: #[[NONE:.+]] = affine_map<(d0, d1, d2) -> ()>
// CHECK-LABEL: func @every_operand
// CHECK-SAME:    %[[ROW:.+]]: tensor<48xf32>, %[[COL:.+]]: tensor<64xf32>, %[[T:.+]]: tensor<48x64xf32>, %[[FLAT:.+]]: tensor<1x48xf32>, %[[ONE:.+]]: tensor<f32>, %[[S:[a-z0-9]+]]: f32, %[[CAPTURED:[a-z0-9]+]]: f32,
// CHECK-DAG:     %[[EMPTY:.+]] = tensor.empty() : tensor<64x48xf16>
// CHECK-DAG:     %[[FLAT1:.+]] = tensor.extract_slice %[[FLAT]][0, 0] [1, 48] [1, 1] : tensor<1x48xf32> to tensor<48xf32>
// CHECK:         tessera.contract
// CHECK-SAME:      extras(%[[ROW]], %[[COL]], %[[T]], %[[FLAT1]], %[[ONE]] : tensor<48xf32>, tensor<64xf32>, tensor<48x64xf32>, tensor<48xf32>, tensor<f32>)
// CHECK-SAME:      outs(%[[EMPTY]] : tensor<64x48xf16>)
// CHECK-SAME:      maps [#[[MK]], #[[KN]], #[[MN]], #[[N]], #[[M]], #[[NM]], #[[N]], #[[NONE]]]
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32, %[[E0:.+]]: f32, %[[E1:.+]]: f32, %[[E2:.+]]: f32, %[[E3:.+]]: f32, %[[E4:.+]]: f32):
// CHECK-NEXT:      %[[V0:.+]] = arith.addf %[[ACC]], %[[E0]]
// CHECK-NEXT:      %[[V1:.+]] = arith.mulf %[[V0]], %[[E1]]
// CHECK-NEXT:      %[[V2:.+]] = arith.addf %[[V1]], %[[E2]]
// CHECK-NEXT:      %[[V3:.+]] = arith.mulf %[[V2]], %[[E3]]
// CHECK-NEXT:      %[[V4:.+]] = arith.addf %[[V3]], %[[E4]]
// CHECK-NEXT:      %[[V5:.+]] = arith.mulf %[[V4]], %[[S]]
// CHECK-NEXT:      %[[V6:.+]] = arith.maximumf %[[V5]], %[[CAPTURED]]
// CHECK-NEXT:      %[[V7:.+]] = arith.truncf %[[V6]] : f32 to f16
// CHECK-NEXT:      tessera.yield %[[V7]] : f16
func.func @every_operand(%row: tensor<48xf32>, %col: tensor<64xf32>, %t: tensor<48x64xf32>,
                         %flat: tensor<1x48xf32>, %one: tensor<f32>, %s: f32, %captured: f32,
                         %a: tensor<64x32xf16>, %b: tensor<32x48xf16>) -> tensor<64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %e16 = tensor.empty() : tensor<64x48xf16>
  %r = linalg.generic {indexing_maps = [#ij, #j, #i, #ji, #zj, #none, #none, #ij],
                       iterator_types = ["parallel", "parallel"]}
      ins(%p, %row, %col, %t, %flat, %one, %s
          : tensor<64x48xf32>, tensor<48xf32>, tensor<64xf32>, tensor<48x64xf32>, tensor<1x48xf32>,
            tensor<f32>, f32)
      outs(%e16 : tensor<64x48xf16>) {
  ^bb0(%x: f32, %x0: f32, %x1: f32, %x2: f32, %x3: f32, %x4: f32, %x5: f32, %out: f16):
    %v0 = arith.addf %x, %x0 : f32
    %v1 = arith.mulf %v0, %x1 : f32
    %v2 = arith.addf %v1, %x2 : f32
    %v3 = arith.mulf %v2, %x3 : f32
    %v4 = arith.addf %v3, %x4 : f32
    %v5 = arith.mulf %v4, %x5 : f32
    %v6 = arith.maximumf %v5, %captured : f32
    %v7 = arith.truncf %v6 : f32 to f16
    linalg.yield %v7 : f16
  } -> tensor<64x48xf16>
  return %r : tensor<64x48xf16>
}

// -----

// Named consumers, one after the other; a transposition as the last.

// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[NM:.+]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-LABEL: func @chain
// CHECK-SAME:    %[[X:.+]]: tensor<64x48xf32>, %[[Y:.+]]: tensor<64x48xf32>
// CHECK-DAG:     %[[E:.+]] = tensor.empty() : tensor<48x64xf32>
// CHECK:         tessera.contract {{.*}} extras(%[[X]], %[[Y]] : tensor<64x48xf32>, tensor<64x48xf32>)
// CHECK-SAME:      outs(%[[E]] : tensor<48x64xf32>)
// CHECK-SAME:      #[[NM]], #[[MN]], #[[MN]]]
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32, %[[E0:.+]]: f32, %[[E1:.+]]: f32):
// CHECK-NEXT:      %[[V0:.+]] = arith.addf %[[ACC]], %[[E0]]
// CHECK-NEXT:      %[[V1:.+]] = arith.mulf %[[V0]], %[[E1]]
// CHECK-NEXT:      %[[V2:.+]] = math.exp %[[V1]]
// CHECK-NEXT:      tessera.yield %[[V2]]
// CHECK-NOT:     linalg
func.func @chain(%x: tensor<64x48xf32>, %y: tensor<64x48xf32>, %a: tensor<64x32xf32>,
                 %b: tensor<32x48xf32>) -> tensor<48x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %s = linalg.add ins(%p, %x : tensor<64x48xf32>, tensor<64x48xf32>)
      outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %m = linalg.mul ins(%s, %y : tensor<64x48xf32>, tensor<64x48xf32>)
      outs(%s : tensor<64x48xf32>) -> tensor<64x48xf32>
  %r = linalg.exp ins(%m : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %et = tensor.empty() : tensor<48x64xf32>
  %t = linalg.transpose ins(%r : tensor<64x48xf32>) outs(%et : tensor<48x64xf32>) permutation = [1, 0]
  return %t : tensor<48x64xf32>
}

// -----

// The consumer reads its own output, and the sum starts from an old value:
// both are operands of the epilogue.

#ij = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func @old_values
// CHECK-SAME:    %[[C:.+]]: tensor<64x48xf32>, %[[D:.+]]: tensor<64x48xf32>
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK:         tessera.contract {{.*}} init(%[[ZERO]] : f32) extras(%[[C]], %[[D]] : {{.*}}) outs(%[[D]] :
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32, %[[E0:.+]]: f32, %[[E1:.+]]: f32):
// CHECK-NEXT:      %[[V0:.+]] = arith.addf %[[ACC]], %[[E0]]
// CHECK-NEXT:      %[[V1:.+]] = arith.mulf %[[V0]], %[[E1]]
// CHECK-NEXT:      tessera.yield %[[V1]]
func.func @old_values(%c: tensor<64x48xf32>, %d: tensor<64x48xf32>, %a: tensor<64x32xf32>,
                      %b: tensor<32x48xf32>) -> tensor<64x48xf32> {
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %r = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<64x48xf32>) outs(%d : tensor<64x48xf32>) {
  ^bb0(%x: f32, %out: f32):
    %v = arith.mulf %x, %out : f32
    linalg.yield %v : f32
  } -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// The same value twice, and two matmuls: the first is an operand of the
// second's epilogue.

// CHECK-LABEL: func @two_products
// CHECK:         %[[P:.+]] = tessera.contract
// CHECK:           %[[V:.+]] = arith.mulf %[[ACC:.+]], %[[ACC]] : f32
// CHECK:           tessera.yield %[[V]]
// CHECK:         %[[Q:.+]] = tessera.contract {{.*}} extras(%[[P]] : tensor<64x48xf32>)
// CHECK:           arith.addf
// CHECK:         return %[[Q]]
// CHECK-NOT:     linalg
func.func @two_products(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %d: tensor<32x48xf32>)
    -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %q = linalg.matmul ins(%a, %d : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %pp = linalg.mul ins(%p, %p : tensor<64x48xf32>, tensor<64x48xf32>)
      outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %r = linalg.add ins(%pp, %q : tensor<64x48xf32>, tensor<64x48xf32>)
      outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// Not fused: a result that is used twice, coordinates, a comparison's result.

#ij = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func @not_fused
// CHECK-COUNT-3: tessera.contract
// CHECK:         linalg.exp
// CHECK:         linalg.generic
// CHECK:         linalg.index
// CHECK:         linalg.generic
// CHECK:         arith.cmpf
func.func @not_fused(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %x: tensor<32x48xf32>, %y: tensor<32x48xf32>)
    -> (tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x48xi1>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %q = linalg.matmul ins(%a, %x : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %o = linalg.matmul ins(%a, %y : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %r = linalg.exp ins(%p : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %s = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%q : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) {
  ^bb0(%v: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %below = arith.cmpi sge, %i, %j : index
    %w = arith.select %below, %v, %zero : f32
    linalg.yield %w : f32
  } -> tensor<64x48xf32>
  %e1 = tensor.empty() : tensor<64x48xi1>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%o : tensor<64x48xf32>) outs(%e1 : tensor<64x48xi1>) {
  ^bb0(%v: f32, %out: i1):
    %w = arith.cmpf ogt, %v, %zero : f32
    linalg.yield %w : i1
  } -> tensor<64x48xi1>
  return %p, %r, %s, %t : tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x48xf32>, tensor<64x48xi1>
}

// -----

// Reshapes in between, one splitting a dimension, one merging two.

#id = affine_map<(i, j, k) -> (i, j, k)>

// CHECK-LABEL: func @reshaped
// CHECK-SAME:    %[[X:.+]]: tensor<4x16x48xf32>, %[[Y:.+]]: tensor<64x48xf32>
// CHECK-DAG:     %[[X2:.+]] = tensor.collapse_shape %[[X]] {{\[}}[0, 1], [2]] : tensor<4x16x48xf32> into tensor<64x48xf32>
// CHECK:         %[[P:.+]] = tessera.contract {{.*}} extras(%[[X2]], %[[Y]] : tensor<64x48xf32>, tensor<64x48xf32>)
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32, %[[E0:.+]]: f32, %[[E1:.+]]: f32):
// CHECK-NEXT:      %[[V0:.+]] = arith.addf %[[ACC]], %[[E0]]
// CHECK-NEXT:      %[[V1:.+]] = arith.mulf %[[V0]], %[[E1]]
// CHECK-NEXT:      tessera.yield %[[V1]]
// CHECK:         return %[[P]]
func.func @reshaped(%x: tensor<4x16x48xf32>, %y: tensor<64x48xf32>, %a: tensor<64x32xf32>, %b: tensor<32x48xf32>)
    -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p3 = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, 16, 48] : tensor<64x48xf32> into tensor<4x16x48xf32>
  %e3 = tensor.empty() : tensor<4x16x48xf32>
  %s = linalg.add ins(%p3, %x : tensor<4x16x48xf32>, tensor<4x16x48xf32>)
      outs(%e3 : tensor<4x16x48xf32>) -> tensor<4x16x48xf32>
  %s2 = tensor.collapse_shape %s [[0, 1], [2]] : tensor<4x16x48xf32> into tensor<64x48xf32>
  %r = linalg.mul ins(%s2, %y : tensor<64x48xf32>, tensor<64x48xf32>)
      outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// A batch that is merged, and a bias for each column.

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// CHECK-DAG: #[[O:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[N:.+]] = affine_map<(d0, d1, d2, d3) -> (d2)>
// CHECK-LABEL: func @merged_batch
// CHECK-SAME:    %[[BIAS:.+]]: tensor<48xf32>
// CHECK:         %[[P:.+]] = tessera.contract {{.*}} extras(%[[BIAS]] : tensor<48xf32>)
// CHECK-SAME:      #[[O]], #[[N]]]
// CHECK:         %[[C:.+]] = tensor.collapse_shape %[[P]] {{\[}}[0, 1], [2]] : tensor<4x16x48xf16> into tensor<64x48xf16>
// CHECK:         return %[[C]]
func.func @merged_batch(%bias: tensor<48xf32>, %a: tensor<4x16x32xf32>, %b: tensor<4x32x48xf32>) -> tensor<64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x16x48xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<4x16x48xf32>) -> tensor<4x16x48xf32>
  %p = linalg.batch_matmul ins(%a, %b : tensor<4x16x32xf32>, tensor<4x32x48xf32>)
      outs(%c : tensor<4x16x48xf32>) -> tensor<4x16x48xf32>
  %p2 = tensor.collapse_shape %p [[0, 1], [2]] : tensor<4x16x48xf32> into tensor<64x48xf32>
  %e2 = tensor.empty() : tensor<64x48xf16>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p2, %bias : tensor<64x48xf32>, tensor<48xf32>) outs(%e2 : tensor<64x48xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %s = arith.addf %x, %y : f32
    %t = arith.truncf %s : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64x48xf16>
  return %r : tensor<64x48xf16>
}
