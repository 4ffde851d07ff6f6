// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --convert-linalg-to-tessera --split-input-file --verify-diagnostics | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#none = affine_map<(i, j) -> ()>

// Weights in 8 bits, with a scale and a zero point for each column: they stay
// so in memory.

// CHECK-DAG: #[[MK:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[N:.+]] = affine_map<(d0, d1, d2) -> (d1)>
// CHECK-LABEL: func @per_channel
// CHECK-SAME:    %[[A:.+]]: tensor<64x128xf16>, %[[W:.+]]: tensor<128x48xi8>, %[[S:.+]]: tensor<48xf16>, %[[Z:.+]]: tensor<48xi8>
// CHECK-NOT:     linalg.generic
// CHECK:         tessera.contract ins(%[[A]], %[[W]] : tensor<64x128xf16>, tensor<128x48xi8>)
// CHECK-SAME:      rhs_inputs(%[[S]], %[[Z]] : tensor<48xf16>, tensor<48xi8>)
// CHECK-SAME:      maps [#[[MK]], #[[KN]], #[[MN]], #[[N]], #[[N]]] accumulate f32 rhs_producer {
// CHECK-NEXT:    ^bb0(%[[X:.+]]: i8, %[[XS:.+]]: f16, %[[XZ:.+]]: i8):
// CHECK-NEXT:      %[[W16:.+]] = arith.extsi %[[X]] : i8 to i16
// CHECK-NEXT:      %[[Z16:.+]] = arith.extsi %[[XZ]] : i8 to i16
// CHECK-NEXT:      %[[D:.+]] = arith.subi %[[W16]], %[[Z16]] : i16
// CHECK-NEXT:      %[[F:.+]] = arith.sitofp %[[D]] : i16 to f16
// CHECK-NEXT:      %[[P:.+]] = arith.mulf %[[F]], %[[XS]] : f16
// CHECK-NEXT:      tessera.yield %[[P]] : f16
// CHECK:         ^bb0(%{{.*}}: f32):
func.func @per_channel(%a: tensor<64x128xf16>, %w: tensor<128x48xi8>, %scale: tensor<48xf16>, %zp: tensor<48xi8>,
                       %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %e = tensor.empty() : tensor<128x48xf16>
  %d = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %scale, %zp : tensor<128x48xi8>, tensor<48xf16>, tensor<48xi8>) outs(%e : tensor<128x48xf16>) {
  ^bb0(%x: i8, %s: f16, %z: i8, %out: f16):
    %xw = arith.extsi %x : i8 to i16
    %zw = arith.extsi %z : i8 to i16
    %t = arith.subi %xw, %zw : i16
    %f = arith.sitofp %t : i16 to f16
    %p = arith.mulf %f, %s : f16
    linalg.yield %p : f16
  } -> tensor<128x48xf16>
  %r = linalg.matmul ins(%a, %d : tensor<64x128xf16>, tensor<128x48xf16>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// A scale for each 32 rows: the weights are expanded for it, and collapsed.

#id = affine_map<(g, i, j) -> (g, i, j)>
#group = affine_map<(g, i, j) -> (g, j)>

// CHECK-DAG: #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[GN:.+]] = affine_map<(d0, d1, d2) -> (d2 floordiv 32, d1)>
// CHECK-LABEL: func @per_group
// CHECK-SAME:    %[[A:.+]]: tensor<64x128xf16>, %[[W:.+]]: tensor<128x48xi8>, %[[S:.+]]: tensor<4x48xf16>
// CHECK:         tessera.contract ins(%[[A]], %[[W]] : tensor<64x128xf16>, tensor<128x48xi8>)
// CHECK-SAME:      rhs_inputs(%[[S]] : tensor<4x48xf16>)
// CHECK-SAME:      #[[KN]], #{{.*}}, #[[GN]]] accumulate f32 rhs_producer {
// CHECK-NEXT:    ^bb0(%[[X:.+]]: i8, %[[XS:.+]]: f16):
// CHECK-NEXT:      arith.sitofp %[[X]] : i8 to f16
func.func @per_group(%a: tensor<64x128xf16>, %w: tensor<128x48xi8>, %scale: tensor<4x48xf16>,
                     %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %wg = tensor.expand_shape %w [[0, 1], [2]] output_shape [4, 32, 48] : tensor<128x48xi8> into tensor<4x32x48xi8>
  %e = tensor.empty() : tensor<4x32x48xf16>
  %d = linalg.generic {indexing_maps = [#id, #group, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %scale : tensor<4x32x48xi8>, tensor<4x48xf16>) outs(%e : tensor<4x32x48xf16>) {
  ^bb0(%x: i8, %s: f16, %out: f16):
    %f = arith.sitofp %x : i8 to f16
    %p = arith.mulf %f, %s : f16
    linalg.yield %p : f16
  } -> tensor<4x32x48xf16>
  %k = tensor.collapse_shape %d [[0, 1], [2]] : tensor<4x32x48xf16> into tensor<128x48xf16>
  %r = linalg.matmul ins(%a, %k : tensor<64x128xf16>, tensor<128x48xf16>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// Weights that come in groups are collapsed themselves. The number of groups
// may be dynamic.

#id = affine_map<(g, i, j) -> (g, i, j)>
#group = affine_map<(g, i, j) -> (j, g)>

// CHECK-DAG: #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[NG:.+]] = affine_map<(d0, d1, d2) -> (d1, d2 floordiv 32)>
// CHECK-LABEL: func @grouped_weights
// CHECK-SAME:    %[[A:.+]]: tensor<64x?xf16>, %[[W:.+]]: tensor<?x32x48xi8>, %[[S:.+]]: tensor<48x?xf16>
// CHECK:         %[[C:.+]] = tensor.collapse_shape %[[W]] {{\[}}[0, 1], [2]] : tensor<?x32x48xi8> into tensor<?x48xi8>
// CHECK:         tessera.contract ins(%[[A]], %[[C]] :
// CHECK-SAME:      #[[KN]], #{{.*}}, #[[NG]]]
func.func @grouped_weights(%a: tensor<64x?xf16>, %w: tensor<?x32x48xi8>, %scale: tensor<48x?xf16>, %g: index,
                           %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %e = tensor.empty(%g) : tensor<?x32x48xf16>
  %d = linalg.generic {indexing_maps = [#id, #group, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%w, %scale : tensor<?x32x48xi8>, tensor<48x?xf16>) outs(%e : tensor<?x32x48xf16>) {
  ^bb0(%x: i8, %s: f16, %out: f16):
    %f = arith.sitofp %x : i8 to f16
    %p = arith.mulf %f, %s : f16
    linalg.yield %p : f16
  } -> tensor<?x32x48xf16>
  %k = tensor.collapse_shape %d [[0, 1], [2]] : tensor<?x32x48xf16> into tensor<?x48xf16>
  %r = linalg.matmul ins(%a, %k : tensor<64x?xf16>, tensor<?x48xf16>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// Two producers, one of them before a transposition; a rounding of lhs; a scale
// for the whole tensor.

#id = affine_map<(i, j) -> (i, j)>
#none = affine_map<(i, j) -> ()>

// CHECK-DAG: #[[NK:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[NONE:.+]] = affine_map<(d0, d1, d2) -> ()>
// CHECK-LABEL: func @chain
// CHECK-SAME:    %[[A:.+]]: tensor<64x128xf32>, %[[W:.+]]: tensor<48x128xi8>, %[[S:.+]]: tensor<f32>
// CHECK:         tessera.contract ins(%[[A]], %[[W]] : tensor<64x128xf32>, tensor<48x128xi8>)
// CHECK-SAME:      rhs_inputs(%[[S]] : tensor<f32>)
// CHECK-SAME:      #[[NK]], #{{.*}}, #[[NONE]]] accumulate f32 lhs_producer {
// CHECK-NEXT:    ^bb0(%[[X:.+]]: f32):
// CHECK-NEXT:      %[[T:.+]] = arith.truncf %[[X]] : f32 to bf16
// CHECK-NEXT:      tessera.yield %[[T]] : bf16
// CHECK-NEXT:    } rhs_producer {
// CHECK-NEXT:    ^bb0(%[[Y:.+]]: i8, %[[YS:.+]]: f32):
// CHECK-NEXT:      %[[F:.+]] = arith.sitofp %[[Y]] : i8 to f32
// CHECK-NEXT:      %[[P:.+]] = arith.mulf %[[F]], %[[YS]] : f32
// CHECK-NEXT:      %[[R:.+]] = arith.truncf %[[P]] : f32 to bf16
// CHECK-NEXT:      tessera.yield %[[R]] : bf16
func.func @chain(%a: tensor<64x128xf32>, %w: tensor<48x128xi8>, %scale: tensor<f32>, %c: tensor<64x48xf32>)
    -> tensor<64x48xf32> {
  %e0 = tensor.empty() : tensor<64x128xbf16>
  %at = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x128xf32>) outs(%e0 : tensor<64x128xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<64x128xbf16>
  %e1 = tensor.empty() : tensor<48x128xf32>
  %d = linalg.generic {indexing_maps = [#id, #none, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %scale : tensor<48x128xi8>, tensor<f32>) outs(%e1 : tensor<48x128xf32>) {
  ^bb0(%x: i8, %s: f32, %out: f32):
    %f = arith.sitofp %x : i8 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<48x128xf32>
  %e2 = tensor.empty() : tensor<128x48xf32>
  %dt = linalg.transpose ins(%d : tensor<48x128xf32>) outs(%e2 : tensor<128x48xf32>) permutation = [1, 0]
  %e3 = tensor.empty() : tensor<128x48xbf16>
  %dn = linalg.map ins(%dt : tensor<128x48xf32>) outs(%e3 : tensor<128x48xbf16>)
    (%x: f32, %out: bf16) {
      %t = arith.truncf %x : f32 to bf16
      linalg.yield %t : bf16
    }
  %r = linalg.matmul ins(%at, %dn : tensor<64x128xbf16>, tensor<128x48xbf16>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// Ops between two matmuls become the epilogue of the first one.

// CHECK-LABEL: func @between_products
// CHECK:         %[[P:.+]] = tessera.contract
// CHECK:           arith.maximumf
// CHECK:         tessera.contract ins(%[[P]],
// CHECK-NOT:       lhs_producer
func.func @between_products(%a: tensor<64x128xf32>, %b: tensor<128x48xf32>, %d: tensor<48x32xf32>) -> tensor<64x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x128xf32>, tensor<128x48xf32>)
      outs(%f : tensor<64x48xf32>) -> tensor<64x48xf32>
  %relu = linalg.map ins(%p : tensor<64x48xf32>) outs(%e : tensor<64x48xf32>)
    (%x: f32, %out: f32) {
      %m = arith.maximumf %x, %zero : f32
      linalg.yield %m : f32
    }
  %e1 = tensor.empty() : tensor<64x32xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %r = linalg.matmul ins(%relu, %d : tensor<64x48xf32>, tensor<48x32xf32>)
      outs(%f1 : tensor<64x32xf32>) -> tensor<64x32xf32>
  return %r : tensor<64x32xf32>
}

// -----

// The filter of a convolution may have one; so may the image, if no window is
// out of bounds. The producer of a 1x1 filter is before the slice.

#id = affine_map<(i, j, k, l) -> (i, j, k, l)>
#f = affine_map<(i, j, k, l) -> (l)>

// CHECK-DAG: #[[L:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>
// CHECK-DAG: #[[F:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3)>
// CHECK-LABEL: func @convolutions
// CHECK-SAME:    %[[A:[a-z0-9]+]]: tensor<2x34x34x16xi8>, %[[W:[a-z0-9]+]]: tensor<3x3x16x32xi8>, %[[W1:[a-z0-9]+]]: tensor<1x1x32x8xi8>, %[[S:[a-z0-9]+]]: tensor<32xf16>
// CHECK:         %[[P:.+]] = tessera.contract ins(%[[A]], %[[W]] : {{.*}} rhs_inputs(%[[S]] : tensor<32xf16>)
// CHECK-SAME:      maps [#[[L]], {{.*}}, #[[F]]] accumulate f32 lhs_producer {
// CHECK:           rhs_producer {
// CHECK:         %[[W2:.+]] = tensor.extract_slice %[[W1]]{{.*}} to tensor<32x8xi8>
// CHECK:         tessera.contract ins(%[[P]], %[[W2]] : {{.*}} accumulate f32 rhs_producer {
// CHECK-NEXT:    ^bb0(%[[X:.+]]: i8):
// CHECK-NEXT:      arith.sitofp %[[X]] : i8 to f16
func.func @convolutions(%a: tensor<2x34x34x16xi8>, %w: tensor<3x3x16x32xi8>, %w1: tensor<1x1x32x8xi8>, %scale: tensor<32xf16>,
                        %c: tensor<2x32x32x32xf16>, %c1: tensor<2x32x32x8xf32>) -> tensor<2x32x32x8xf32> {
  %ea = tensor.empty() : tensor<2x34x34x16xf16>
  %af = linalg.map ins(%a : tensor<2x34x34x16xi8>) outs(%ea : tensor<2x34x34x16xf16>)
    (%x: i8, %out: f16) {
      %t = arith.sitofp %x : i8 to f16
      linalg.yield %t : f16
    }
  %e = tensor.empty() : tensor<3x3x16x32xf16>
  %d = linalg.generic {indexing_maps = [#id, #f, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%w, %scale : tensor<3x3x16x32xi8>, tensor<32xf16>) outs(%e : tensor<3x3x16x32xf16>) {
  ^bb0(%x: i8, %s: f16, %out: f16):
    %t = arith.sitofp %x : i8 to f16
    %p = arith.mulf %t, %s : f16
    linalg.yield %p : f16
  } -> tensor<3x3x16x32xf16>
  %r = linalg.conv_2d_nhwc_hwcf ins(%af, %d : tensor<2x34x34x16xf16>, tensor<3x3x16x32xf16>)
      outs(%c : tensor<2x32x32x32xf16>) -> tensor<2x32x32x32xf16>
  %e1 = tensor.empty() : tensor<1x1x32x8xf16>
  %d1 = linalg.map ins(%w1 : tensor<1x1x32x8xi8>) outs(%e1 : tensor<1x1x32x8xf16>)
    (%x: i8, %out: f16) {
      %t = arith.sitofp %x : i8 to f16
      linalg.yield %t : f16
    }
  %s = linalg.conv_2d_nhwc_hwcf ins(%r, %d1 : tensor<2x32x32x32xf16>, tensor<1x1x32x8xf16>)
      outs(%c1 : tensor<2x32x32x8xf32>) -> tensor<2x32x32x8xf32>
  return %s : tensor<2x32x32x8xf32>
}

// -----

// Not taken up: a result that is also returned, an exponential, which each tile
// would compute anew, coordinates, and the padded image of a convolution.

#id = affine_map<(i, j) -> (i, j)>

// CHECK-LABEL: func @not_fused
// CHECK-NOT:     lhs_producer
// CHECK-NOT:     rhs_producer
// CHECK:         return
func.func @not_fused(%a: tensor<64x128xf32>, %b: tensor<128x48xi8>, %c: tensor<64x48xf32>,
                     %image: tensor<2x32x16xi8>, %filter: tensor<3x16x32xf16>, %o: tensor<2x32x32xf32>)
    -> (tensor<64x48xf32>, tensor<64x48xf32>, tensor<2x32x32xf32>, tensor<128x48xf32>) {
  %e = tensor.empty() : tensor<64x128xf32>
  // expected-remark @+1 {{not fused into the matmul: each tile of the matmul would recompute it}}
  %exp = linalg.exp ins(%a : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %eb = tensor.empty() : tensor<128x48xf32>
  // expected-remark @+1 {{not fused into the matmul: it has users that are not matmuls}}
  %bf = linalg.map ins(%b : tensor<128x48xi8>) outs(%eb : tensor<128x48xf32>)
    (%x: i8, %out: f32) {
      %t = arith.sitofp %x : i8 to f32
      linalg.yield %t : f32
    }
  %r = linalg.matmul ins(%exp, %bf : tensor<64x128xf32>, tensor<128x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %tri = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%x: f32, %out: f32):
    %i = linalg.index 0 : index
    %v = arith.index_cast %i : index to i32
    %f = arith.sitofp %v : i32 to f32
    %m = arith.mulf %x, %f : f32
    linalg.yield %m : f32
  } -> tensor<64x128xf32>
  %s = linalg.matmul ins(%tri, %bf : tensor<64x128xf32>, tensor<128x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %ei = tensor.empty() : tensor<2x32x16xf16>
  // expected-remark @+1 {{a window may read out of bounds of its result, where the value must be zero}}
  %if = linalg.map ins(%image : tensor<2x32x16xi8>) outs(%ei : tensor<2x32x16xf16>)
    (%x: i8, %out: f16) {
      %t = arith.sitofp %x : i8 to f16
      linalg.yield %t : f16
    }
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %if low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%n: index, %w: index, %ch: index):
    tensor.yield %zero : f16
  } : tensor<2x32x16xf16> to tensor<2x34x16xf16>
  %t = linalg.conv_1d_nwc_wcf ins(%p, %filter : tensor<2x34x16xf16>, tensor<3x16x32xf16>)
      outs(%o : tensor<2x32x32xf32>) -> tensor<2x32x32xf32>
  return %r, %s, %t, %bf : tensor<64x48xf32>, tensor<64x48xf32>, tensor<2x32x32xf32>, tensor<128x48xf32>
}

// -----

// The body of the contraction itself contains them: group-wise scales,
// three-dimensional weights, and a half that is extended for it.

#lhs = affine_map<(m, n, g, k) -> (m, g, k)>
#rhs = affine_map<(m, n, g, k) -> (n, g, k)>
#scale = affine_map<(m, n, g, k) -> (n, g)>
#out = affine_map<(m, n, g, k) -> (m, n)>

// CHECK-DAG: #[[MGK:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-DAG: #[[NGK:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
// CHECK-DAG: #[[NG:.+]] = affine_map<(d0, d1, d2, d3) -> (d1, d2)>
// CHECK-LABEL: func @own_body
// CHECK-SAME:    %[[A:.+]]: tensor<64x4x32xf16>, %[[W:.+]]: tensor<48x4x32xi8>, %[[S:.+]]: tensor<48x4xf32>
// CHECK-NOT:     linalg
// CHECK:         tessera.contract ins(%[[A]], %[[W]] : tensor<64x4x32xf16>, tensor<48x4x32xi8>)
// CHECK-SAME:      rhs_inputs(%[[S]] : tensor<48x4xf32>)
// CHECK-SAME:      maps [#[[MGK]], #[[NGK]], #[[MN]], #[[NG]]] accumulate f32
// CHECK-SAME:      schedule <workgroup = [64, 48]
// CHECK-SAME:      lhs_producer {
// CHECK-NEXT:    ^bb0(%[[X:.+]]: f16):
// CHECK-NEXT:      %[[XW:.+]] = arith.extf %[[X]] : f16 to f32
// CHECK-NEXT:      tessera.yield %[[XW]] : f32
// CHECK-NEXT:    } rhs_producer {
// CHECK-NEXT:    ^bb0(%[[Y:.+]]: i8, %[[YS:.+]]: f32):
// CHECK-NEXT:      %[[F:.+]] = arith.sitofp %[[Y]] : i8 to f32
// CHECK-NEXT:      %[[P:.+]] = arith.mulf %[[F]], %[[YS]] : f32
// CHECK-NEXT:      tessera.yield %[[P]] : f32
func.func @own_body(%a: tensor<64x4x32xf16>, %w: tensor<48x4x32xi8>, %scale: tensor<48x4xf32>, %c: tensor<64x48xf32>)
    -> tensor<64x48xf32> {
  %r = linalg.generic {indexing_maps = [#lhs, #rhs, #scale, #out],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"],
                       tessera.schedule = #tessera.schedule<workgroup = [64, 48], subgroup = [32, 48], k = 16,
                                                            kFragment = 16, stages = 1>}
      ins(%a, %w, %scale : tensor<64x4x32xf16>, tensor<48x4x32xi8>, tensor<48x4xf32>) outs(%c : tensor<64x48xf32>) {
  ^bb0(%x: f16, %y: i8, %s: f32, %acc: f32):
    %xw = arith.extf %x : f16 to f32
    %f = arith.sitofp %y : i8 to f32
    %p = arith.mulf %f, %s : f32
    %m = arith.mulf %xw, %p : f32
    %t = arith.addf %acc, %m : f32
    linalg.yield %t : f32
  } -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// Reasons: the operand types, and the indices.

#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (i)>
#row = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func @reasons
// CHECK-NOT:     lhs_producer
// CHECK-NOT:     rhs_producer
// CHECK:         return
func.func @reasons(%x: tensor<64x128xf32>, %y: tensor<64x128xf32>, %z: tensor<128x48xi16>, %u: tensor<64xf32>,
                   %v: tensor<128xf32>, %w: tensor<128x48xf32>, %c: tensor<64x48xf32>, %c16: tensor<64x48xf16>,
                   %w16: tensor<128x48xf16>, %image: tensor<2x34x16xi8>, %filter: tensor<3x16x32xf16>,
                   %o: tensor<2x?x32xf32>)
    -> (tensor<64x48xf16>, tensor<64x48xf32>, tensor<2x?x32xf32>) {
  %e16 = tensor.empty() : tensor<64x128xf16>
  // expected-remark @+1 {{it reads much more than it writes, and each tile of the matmul would read it again}}
  %gate = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<64x128xf32>, tensor<64x128xf32>) outs(%e16 : tensor<64x128xf16>) {
  ^bb0(%a: f32, %b: f32, %out: f16):
    %p = arith.mulf %a, %b : f32
    %t = arith.truncf %p : f32 to f16
    linalg.yield %t : f16
  } -> tensor<64x128xf16>
  %r = linalg.matmul ins(%gate, %w16 : tensor<64x128xf16>, tensor<128x48xf16>)
      outs(%c16 : tensor<64x48xf16>) -> tensor<64x48xf16>
  %e = tensor.empty() : tensor<64x128xf32>
  // expected-remark @+1 {{none of its operands is indexed by all dimensions}}
  %outer = linalg.generic {indexing_maps = [#col, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%u, %v : tensor<64xf32>, tensor<128xf32>) outs(%e : tensor<64x128xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<64x128xf32>
  %ez = tensor.empty() : tensor<128x48xf32>
  // expected-remark @+1 {{fragments do not support the element type it reads}}
  %zf = linalg.map ins(%z : tensor<128x48xi16>) outs(%ez : tensor<128x48xf32>)
    (%a: i16, %out: f32) {
      %t = arith.sitofp %a : i16 to f32
      linalg.yield %t : f32
    }
  %s = linalg.matmul ins(%outer, %zf : tensor<64x128xf32>, tensor<128x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %ei = tensor.empty() : tensor<2x34x16xf16>
  // expected-remark @+1 {{a window may read out of bounds of its result, where the value must be zero}}
  %if = linalg.map ins(%image : tensor<2x34x16xi8>) outs(%ei : tensor<2x34x16xf16>)
    (%a: i8, %out: f16) {
      %t = arith.sitofp %a : i8 to f16
      linalg.yield %t : f16
    }
  %t = linalg.conv_1d_nwc_wcf ins(%if, %filter : tensor<2x34x16xf16>, tensor<3x16x32xf16>)
      outs(%o : tensor<2x?x32xf32>) -> tensor<2x?x32xf32>
  return %r, %s, %t : tensor<64x48xf16>, tensor<64x48xf32>, tensor<2x?x32xf32>
}
