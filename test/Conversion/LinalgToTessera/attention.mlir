// RUN: gpu-opt %s --convert-elementwise-to-linalg --tessera-fuse-elementwise --tessera-attach-chip="target=cuda chip=sm_80" --convert-linalg-to-tessera 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --input-file=%t.remarks --check-prefix=WHY
// RUN: gpu-opt %s --convert-elementwise-to-linalg --tessera-fuse-elementwise --tessera-attach-chip="target=cuda chip=sm_80" --convert-linalg-to-tessera="flags=no-fuse-attention" 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: gpu-opt %s --convert-elementwise-to-linalg --tessera-fuse-elementwise --tessera-attach-chip="target=cpu chip=x86-64-avx512" --convert-linalg-to-tessera 2>%t.cpu | FileCheck %s --check-prefix=CPU
// RUN: FileCheck %s --input-file=%t.cpu --check-prefix=CPU-REMARK
// OFF-NOT: tessera.attention
// OFF-NOT: apart from the softmax

// Two matmuls and the softmax between them; the remarks are in the order of the functions.

#q = affine_map<(h, m, n, x) -> (h, m, x)>
#s = affine_map<(h, m, n, x) -> (h, m, n)>
#p = affine_map<(h, m, n, x) -> (h, m, n)>
#id = affine_map<(h, m, n) -> (h, m, n)>

// CHECK-DAG: #[[Q:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3)>
// CHECK-DAG: #[[K:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3)>
// CHECK-DAG: #[[V:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d4)>
// CHECK-DAG: #[[O:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d4)>
// CHECK-DAG: #[[FROM_QUERY:.+]] = affine_map<(d0, d1) -> (d0)>
// CHECK-DAG: #[[BEFORE_QUERY:.+]] = affine_map<(d0, d1) -> (d0 - 1)>

// CHECK-LABEL: func @scaled
// CHECK-SAME:    %[[A:.+]]: tensor<2x64x32xf16>, %[[B:.+]]: tensor<2x96x32xf16>, %[[C:.+]]: tensor<2x96x48xf16>
// CHECK-NOT:     linalg
// CHECK:         %[[R:.+]] = tessera.attention ins(%[[A]], %[[B]], %[[C]] : tensor<2x64x32xf16>, tensor<2x96x32xf16>, tensor<2x96x48xf16>) outs(%{{.+}} : tensor<2x64x48xf16>)
// CHECK-SAME:      maps [#[[Q]], #[[K]], #[[V]], #[[O]]] scale 1.250000e-01 -> tensor<2x64x48xf16>
// CHECK-NEXT:    return %[[R]]
func.func @scaled(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// A divisor, and a mask of keys up to the query and 32 more.

// CHECK-LABEL: func @divided(
// CHECK-NOT:     linalg
// CHECK:         tessera.attention
// CHECK-SAME:      scale 2.000000e+00 causal 32 ->
// CHECK-NOT:     linalg
func.func @divided(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %c = arith.constant 32 : index
    %half = arith.constant 0.5 : f32
    %limit = arith.addi %a, %c : index
    %z = arith.divf %x, %half : f32
    %hidden = arith.cmpi sgt, %b, %limit : index
    %y = arith.select %hidden, %low, %z : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// The same comparison with the sides exchanged, before the scores are scaled, in 64 bits: `i + 1 > j`.

// CHECK-LABEL: func @exchanged(
// CHECK-NOT:     linalg
// CHECK:         tessera.attention
// CHECK-SAME:      scale 1.250000e-01 causal 0 ->
// CHECK-NOT:     linalg
func.func @exchanged(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %ii = arith.index_cast %a : index to i64
    %jj = arith.index_cast %b : index to i64
    %c1 = arith.constant 1 : i64
    %next = arith.addi %ii, %c1 : i64
    %seen = arith.cmpi sgt, %next, %jj : i64
    %lowest = arith.constant -3.40282347E+38 : f32
    %z = arith.select %seen, %x, %lowest : f32
    %y = arith.mulf %z, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// The kernel has the schedule of the second matmul.

// CHECK-LABEL: func @scheduled(
// CHECK-NOT:     linalg
// CHECK:         tessera.attention
// CHECK-SAME:      schedule <workgroup = [32, 32], subgroup = [16, 32], k = 32,
// CHECK-NOT:     linalg
func.func @scheduled(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q] {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 32], k = 32, stages = 1>}
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// The weights are a result as well.

// CHECK-LABEL: func @two_uses(
// CHECK-NOT:     tessera.attention
// CHECK:         tessera.contract
// CHECK:         tessera.contract
// CHECK-NOT:     tessera.attention
// WHY: remark: not fused with the preceding softmax into one kernel: the scores, or values computed from them, have other users
func.func @two_uses(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> (tensor<2x64x48xf16>, tensor<2x64x96xf16>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r, %w : tensor<2x64x48xf16>, tensor<2x64x96xf16>
}

// Scores that start from ones.

// CHECK-LABEL: func @other_start(
// CHECK-NOT:     tessera.attention
// CHECK:         tessera.contract
// CHECK:         tessera.contract
// CHECK-NOT:     tessera.attention
// WHY: remark: not fused with the preceding softmax into one kernel: a matmul does not start from zero
func.func @other_start(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%one : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// Weights of f32 cannot be an operand of a matmul of 16-bit types.

// CHECK-LABEL: func @single(
// CHECK-NOT:     tessera.attention
// CHECK:         tessera.contract
// CHECK:         tessera.contract
// CHECK-NOT:     tessera.attention
// WHY: remark: not fused with the preceding softmax into one kernel: query, key, value and weights must all be f16 or all be bf16, but are f16 and f16 and f32
func.func @single(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf32>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%p, %v : tensor<2x64x96xf32>, tensor<2x96x48xf32>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// A number that is not low enough to be sure: a change of scores, not a bound.

// CHECK-LABEL: func @visible(
// CHECK-NOT:     linalg
// CHECK:         tessera.attention {{.*}} scale 1.000000e+00 empty_is_nan score {
// CHECK-NEXT:    ^bb0(%[[X:.+]]: f32, %{{.+}}: index, %[[I:.+]]: index, %[[J:.+]]: index):
// CHECK-DAG:       %[[Z:.+]] = arith.mulf %[[X]]
// CHECK-DAG:       %[[SEEN:.+]] = arith.cmpi sle, %[[J]], %[[I]]
// CHECK:           %[[Y:.+]] = arith.select %[[SEEN]], %[[Z]]
// CHECK:           tessera.yield %[[Y]]
func.func @visible(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %z = arith.mulf %x, %factor : f32
    %some = arith.constant -1.0e4 : f32
    %seen = arith.cmpi sle, %b, %a : index
    %y = arith.select %seen, %z, %some : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// Keys from the query on.

// CHECK-LABEL: func @later_keys(
// CHECK-NOT:     linalg
// CHECK:         tessera.attention {{.*}} scale 1.250000e-01 first #[[FROM_QUERY]] empty_is_nan ->
func.func @later_keys(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi sge, %b, %a : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// The first query sees none, and its result is NaN.

// CHECK-LABEL: func @no_key(
// CHECK-NOT:     linalg
// CHECK:         tessera.attention {{.*}} scale 1.250000e-01 last #[[BEFORE_QUERY]] empty_is_nan ->
func.func @no_key(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi slt, %b, %a : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// Another function of the scores.

// CHECK-LABEL: func @capped(
// CHECK-NOT:     linalg
// CHECK:         tessera.attention {{.*}} scale 1.000000e+00 empty_is_nan score {
// CHECK:           %[[Y:.+]] = math.tanh
// CHECK-NEXT:      tessera.yield %[[Y]]
func.func @capped(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = math.tanh %x : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// A negative factor.

// CHECK-LABEL: func @negative(
// CHECK-NOT:     linalg
// CHECK:         tessera.attention {{.*}} scale 1.000000e+00 empty_is_nan score {
// CHECK:           %[[Y:.+]] = arith.mulf
// CHECK-NEXT:      tessera.yield %[[Y]]
func.func @negative(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %n = arith.constant -2.0 : f32
    %y = arith.mulf %x, %n : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// Keys that are stored column by column.

// CHECK-LABEL: func @columns(
// CHECK-NOT:     tessera.attention
// CHECK:         tessera.contract
// CHECK:         tessera.contract
// CHECK-NOT:     tessera.attention
// WHY: remark: not fused with the preceding softmax into one kernel: key is not row-major
func.func @columns(%q: tensor<2x64x32xf16>, %k: tensor<2x32x96xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, x, n)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x32x96xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// A schedule of the first matmul requires two kernels.

// CHECK-LABEL: func @first_schedule(
// CHECK-NOT:     tessera.attention
// CHECK:         tessera.contract
// CHECK:         tessera.contract
// CHECK-NOT:     tessera.attention
// WHY: remark: not fused with the preceding softmax into one kernel: the first matmul has a schedule of its own
func.func @first_schedule(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s] {tessera.schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32>}
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// The second one's is none for attention.

// CHECK-LABEL: func @bad_schedule(
// CHECK-NOT:     tessera.attention
// CHECK:         tessera.contract
// CHECK:         tessera.contract
// CHECK-NOT:     tessera.attention
// WHY: remark: not fused with the preceding softmax into one kernel: schedule_c24: k must be the head dimension D, 32, not 16
func.func @bad_schedule(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q] {tessera.schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 16>}
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}

// Values of more columns than a subgroup can hold.

// CHECK-LABEL: func @wide(
// CHECK-NOT:     tessera.attention
// CHECK:         tessera.contract
// CHECK:         tessera.contract
// CHECK-NOT:     tessera.attention
// WHY: remark: not fused with the preceding softmax into one kernel: schedule_c24: head dimensions D and E must be from 1 to 256, not 32 and 512
func.func @wide(%q: tensor<2x64x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x512xf16>) -> tensor<2x64x512xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x512xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x512xf32>) -> tensor<2x64x512xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x512xf16>) outs(%j : tensor<2x64x512xf32>) -> tensor<2x64x512xf32>
  %r = arith.truncf %pv : tensor<2x64x512xf32> to tensor<2x64x512xf16>
  return %r : tensor<2x64x512xf16>
}

// One query is a row of a tile, except where a thread computes a tile by itself: its matmuls are SIMT kernels.

// CHECK-LABEL: func @one_query(
// CHECK-NOT:     linalg
// CHECK:         tessera.attention
// CHECK-NOT:     linalg
// CPU-LABEL: func @one_query(
// CPU-NOT:     tessera.attention
// CPU:         tessera.contract
// CPU:         tessera.contract
// CPU-NOT:     tessera.attention
// CPU-LABEL: func
// CPU-REMARK: remark: not fused with the preceding softmax into one kernel: there is one query only: its matmuls are vector-matrix products
func.func @one_query(%q: tensor<2x1x32xf16>, %k: tensor<2x96x32xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x1x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x1x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x1x96xf32>) -> tensor<2x1x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x1x32xf16>, tensor<2x96x32xf16>) outs(%i : tensor<2x1x96xf32>) -> tensor<2x1x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x1x96xf32>) outs(%e : tensor<2x1x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x1x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x1x96xf32>) outs(%e : tensor<2x1x96xf32>) -> tensor<2x1x96xf32>
  %w = arith.truncf %p : tensor<2x1x96xf32> to tensor<2x1x96xf16>
  %f = tensor.empty() : tensor<2x1x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x1x48xf32>) -> tensor<2x1x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x1x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x1x48xf32>) -> tensor<2x1x48xf32>
  %r = arith.truncf %pv : tensor<2x1x48xf32> to tensor<2x1x48xf16>
  return %r : tensor<2x1x48xf16>
}

// No instruction divides D.

// CHECK-LABEL: func @uneven(
// CHECK-NOT:     tessera.attention
// CHECK:         tessera.contract
// CHECK:         tessera.contract
// CHECK-NOT:     tessera.attention
// WHY: remark: not fused with the preceding softmax into one kernel: schedule_c7: no matrix instruction of sm_80 for f16 divides query by key, a matmul of 16x64x2
func.func @uneven(%q: tensor<2x64x34xf16>, %k: tensor<2x96x34xf16>, %v: tensor<2x96x48xf16>) -> tensor<2x64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %factor = arith.constant 0.125 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %qk = linalg.contract indexing_maps = [#q, affine_map<(h, m, n, x) -> (h, n, x)>, #s]
      ins(%q, %k : tensor<2x64x34xf16>, tensor<2x96x34xf16>) outs(%i : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x96xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x96xf32>) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %w = arith.truncf %p : tensor<2x64x96xf32> to tensor<2x64x96xf16>
  %f = tensor.empty() : tensor<2x64x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %pv = linalg.contract indexing_maps = [#p, affine_map<(h, m, n, x) -> (h, n, x)>, #q]
      ins(%w, %v : tensor<2x64x96xf16>, tensor<2x96x48xf16>) outs(%j : tensor<2x64x48xf32>) -> tensor<2x64x48xf32>
  %r = arith.truncf %pv : tensor<2x64x48xf32> to tensor<2x64x48xf16>
  return %r : tensor<2x64x48xf16>
}
