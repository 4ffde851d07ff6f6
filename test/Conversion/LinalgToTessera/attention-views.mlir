// RUN: gpu-opt %s --split-input-file --convert-elementwise-to-linalg --tessera-fuse-elementwise --tessera-attach-chip="target=cuda chip=sm_90a" --convert-linalg-to-tessera | FileCheck %s

// The operands of attention are copies of tensors that have fewer heads, other orders of dimensions, or dimensions
// that are merged here.

#id = affine_map<(b, h, m, n) -> (b, h, m, n)>

// Keys and values that are repeated for four heads each are read where they are.

// CHECK-DAG: #[[Q:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d5)>
// CHECK-DAG: #[[K:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d4, d5)>
// CHECK-DAG: #[[V:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d4, d6)>
// CHECK-DAG: #[[O:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3, d6)>
// CHECK-LABEL: func @repeated(
// CHECK-SAME:    %[[A:.+]]: tensor<2x8x1x64xf16>, %[[B:.+]]: tensor<2x2x1000x64xf16>, %[[C:.+]]: tensor<2x2x1000x64xf16>
// CHECK-NOT:     linalg
// CHECK:         %[[E:.+]] = tensor.expand_shape %[[A]] {{\[}}[0], [1, 2], [3], [4]] output_shape [2, 2, 4, 1, 64]
// CHECK-NOT:     linalg
// CHECK:         %[[R:.+]] = tessera.attention ins(%[[E]], %[[B]], %[[C]] : tensor<2x2x4x1x64xf16>, tensor<2x2x1000x64xf16>, tensor<2x2x1000x64xf16>) outs(%{{.+}} : tensor<2x2x4x1x64xf16>)
// CHECK-SAME:      maps [#[[Q]], #[[K]], #[[V]], #[[O]]] scale 1.250000e-01 ->
// CHECK-NEXT:    tensor.collapse_shape %[[R]] {{\[}}[0], [1, 2], [3], [4]]
// CHECK-NOT:     linalg
// CHECK:         return
func.func @repeated(%q: tensor<2x8x1x64xf16>, %k: tensor<2x2x1000x64xf16>, %v: tensor<2x2x1000x64xf16>) -> tensor<2x8x1x64xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %ke = tensor.empty() : tensor<2x2x4x1000x64xf16>
  %kb = linalg.broadcast ins(%k : tensor<2x2x1000x64xf16>) outs(%ke : tensor<2x2x4x1000x64xf16>) dimensions = [2]
  %kr = tensor.collapse_shape %kb [[0], [1, 2], [3], [4]] : tensor<2x2x4x1000x64xf16> into tensor<2x8x1000x64xf16>
  %vb = linalg.broadcast ins(%v : tensor<2x2x1000x64xf16>) outs(%ke : tensor<2x2x4x1000x64xf16>) dimensions = [2]
  %vr = tensor.collapse_shape %vb [[0], [1, 2], [3], [4]] : tensor<2x2x4x1000x64xf16> into tensor<2x8x1000x64xf16>
  %e = tensor.empty() : tensor<2x8x1x1000xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x1x1000xf32>) -> tensor<2x8x1x1000xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, x)>, affine_map<(b, h, m, n, x) -> (b, h, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, n)>]
      ins(%q, %kr : tensor<2x8x1x64xf16>, tensor<2x8x1000x64xf16>) outs(%i : tensor<2x8x1x1000xf32>) -> tensor<2x8x1x1000xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x8x1x1000xf32>) outs(%e : tensor<2x8x1x1000xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x8x1x1000xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x8x1x1000xf32>) outs(%e : tensor<2x8x1x1000xf32>) -> tensor<2x8x1x1000xf32>
  %w = arith.truncf %p : tensor<2x8x1x1000xf32> to tensor<2x8x1x1000xf16>
  %f = tensor.empty() : tensor<2x8x1x64xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x8x1x64xf32>) -> tensor<2x8x1x64xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, n)>, affine_map<(b, h, m, n, x) -> (b, h, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, x)>]
      ins(%w, %vr : tensor<2x8x1x1000xf16>, tensor<2x8x1000x64xf16>) outs(%j : tensor<2x8x1x64xf32>) -> tensor<2x8x1x64xf32>
  %short = arith.truncf %r : tensor<2x8x1x64xf32> to tensor<2x8x1x64xf16>
  return %short : tensor<2x8x1x64xf16>
}

// -----

#id = affine_map<(h, m, n) -> (h, m, n)>
#row = affine_map<(h, m, n) -> (h, m)>

// Keys that a copy transposes, and queries that see no key: the maximum and the sum have a case of their
// own for them, so that the mask may hide all keys of the first four queries.

// CHECK-LABEL: func @guarded(
// CHECK-SAME:    %[[A:.+]]: tensor<2x64x32xf16>, %[[B:.+]]: tensor<96x2x32xf16>, %[[C:.+]]: tensor<2x96x48xf16>
// CHECK-NOT:     linalg
// CHECK:         tessera.attention ins(%[[A]], %[[B]], %[[C]] :
// CHECK-SAME:      scale 1.250000e-01 causal -4 ->
// CHECK-NOT:     linalg
// CHECK:         return
func.func @guarded(%q: tensor<2x64x32xf16>, %k: tensor<96x2x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %te = tensor.empty() : tensor<2x32x96xf16>
  %t = linalg.transpose ins(%k : tensor<96x2x32xf16>) outs(%te : tensor<2x32x96xf16>) permutation = [1, 2, 0]
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.batch_matmul ins(%q, %t : tensor<2x64x32xf16>, tensor<2x32x96xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %c = arith.constant 4 : index
    %z = arith.mulf %x, %factor : f32
    %d = arith.addi %b, %c : index
    %seen = arith.cmpi sle, %d, %a : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %re = tensor.empty() : tensor<2x64xf32>
  %lows = linalg.fill ins(%low : f32) outs(%re : tensor<2x64xf32>) -> tensor<2x64xf32>
  %max = linalg.reduce {arith.maximumf} ins(%s : tensor<2x64x96xf32>) outs(%lows : tensor<2x64xf32>) dimensions = [2]
  %power = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x64x96xf32>, tensor<2x64xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %none = arith.cmpf oeq, %y, %low : f32
    %finite = arith.select %none, %zero, %y : f32
    %below = arith.subf %x, %finite : f32
    %z = math.exp %below : f32
    linalg.yield %z : f32
  } -> tensor<2x64x96xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%re : tensor<2x64xf32>) -> tensor<2x64xf32>
  %sum = linalg.reduce {arith.addf} ins(%power : tensor<2x64x96xf32>) outs(%zeros : tensor<2x64xf32>) dimensions = [2]
  %we = tensor.empty() : tensor<2x64x96xf16>
  %w = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%power, %sum : tensor<2x64x96xf32>, tensor<2x64xf32>) outs(%we : tensor<2x64x96xf16>) {
  ^bb0(%x: f32, %y: f32, %old: f16):
    %none = arith.cmpf oeq, %y, %zero : f32
    %divisor = arith.select %none, %one, %y : f32
    %z = arith.divf %x, %divisor : f32
    %short = arith.truncf %z : f32 to f16
    linalg.yield %short : f16
  } -> tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.batch_matmul ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}
