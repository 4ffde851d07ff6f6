// RUN: gpu-opt %s --split-input-file --verify-diagnostics

// attention: the verifier's constraints.

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @attention_c1_count(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %v: memref<96x48xf16>, %o: memref<64x48xf16>) {
  // expected-error @+1 {{attention_c1: expected one map for each of the 4 operands, not 3}}
  tessera.attention ins(%q, %k, %v : memref<64x32xf16>, memref<96x32xf16>, memref<96x48xf16>) outs(%o : memref<64x48xf16>) maps [#q, #k, #v] scale 1.0
  return
}

// -----

#q = affine_map<(m, n, d) -> (m, d)>
#k = affine_map<(m, n, d) -> (n, d)>

func.func @attention_c1_space(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %o: memref<64x32xf16>) {
  // expected-error @+1 {{attention_c1: the iteration space has 3 dimensions, but M, N, D and E require at least 4}}
  tessera.attention ins(%q, %k, %k : memref<64x32xf16>, memref<96x32xf16>, memref<96x32xf16>) outs(%o : memref<64x32xf16>) maps [#q, #k, #k, #q] scale 1.0
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, e)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @attention_c1_dims(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %v: memref<96x48xf16>, %o: memref<64x48xf16>) {
  // expected-error @+1 {{attention_c1: map 1, affine_map<(d0, d1, d2, d3) -> (d1, d3)>, does not map the batch and the dimensions of key to 'memref<96x32xf16>'}}
  tessera.attention ins(%q, %k, %v : memref<64x32xf16>, memref<96x32xf16>, memref<96x48xf16>) outs(%o : memref<64x48xf16>) maps [#q, #k, #v, #o] scale 1.0
  return
}

// -----

#q = affine_map<(h, m, n, d, e) -> (m, d)>
#k = affine_map<(h, m, n, d, e) -> (n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>

func.func @attention_c1_batch(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %v: memref<2x96x48xf16>, %o: memref<2x64x48xf16>) {
  // expected-error @+1 {{attention_c1: map 0, affine_map<(d0, d1, d2, d3, d4) -> (d1, d3)>, does not map the batch and the dimensions of query}}
  tessera.attention ins(%q, %k, %v : memref<64x32xf16>, memref<96x32xf16>, memref<2x96x48xf16>) outs(%o : memref<2x64x48xf16>) maps [#q, #k, #v, #o] scale 1.0
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @attention_c1_extent(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %v: memref<97x48xf16>, %o: memref<64x48xf16>) {
  // expected-error @+1 {{attention_c1: value has size 97 where another operand has 96}}
  tessera.attention ins(%q, %k, %v : memref<64x32xf16>, memref<96x32xf16>, memref<97x48xf16>) outs(%o : memref<64x48xf16>) maps [#q, #k, #v, #o] scale 1.0
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @attention_c2_query(%q: memref<64x32xf32>, %k: memref<96x32xf32>, %v: memref<96x48xf32>, %o: memref<64x48xf32>) {
  // expected-error @+1 {{'tessera.attention' op attention_c2: query has element type 'f32', expected f16 or bf16}}
  tessera.attention ins(%q, %k, %v : memref<64x32xf32>, memref<96x32xf32>, memref<96x48xf32>) outs(%o : memref<64x48xf32>) maps [#q, #k, #v, #o] scale 1.0
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @attention_c2_value(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %v: memref<96x48xbf16>, %o: memref<64x48xf16>) {
  // expected-error @+1 {{'tessera.attention' op attention_c2: query has element type 'f16', but value has 'bf16'}}
  tessera.attention ins(%q, %k, %v : memref<64x32xf16>, memref<96x32xf16>, memref<96x48xbf16>) outs(%o : memref<64x48xf16>) maps [#q, #k, #v, #o] scale 1.0
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @attention_c2_output(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %v: memref<96x48xf16>, %o: memref<64x48xbf16>) {
  // expected-error @+1 {{'tessera.attention' op attention_c2: the output has element type 'bf16', expected f32 or 'f16'}}
  tessera.attention ins(%q, %k, %v : memref<64x32xf16>, memref<96x32xf16>, memref<96x48xf16>) outs(%o : memref<64x48xbf16>) maps [#q, #k, #v, #o] scale 1.0
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @attention_c3(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %v: memref<96x48xf16>, %o: memref<64x48xf16>) {
  // expected-error @+1 {{'tessera.attention' op attention_c3: scale must be positive and finite, not -1.250000e+00 : f32}}
  tessera.attention ins(%q, %k, %v : memref<64x32xf16>, memref<96x32xf16>, memref<96x48xf16>) outs(%o : memref<64x48xf16>) maps [#q, #k, #v, #o] scale -1.25
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @attention_c3_causal(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %v: memref<96x48xf16>, %o: memref<64x48xf16>) {
  // expected-error @+1 {{'tessera.attention' op attention_c3: the magnitude of causal must be at most 2^30, not 1073741825}}
  tessera.attention ins(%q, %k, %v : memref<64x32xf16>, memref<96x32xf16>, memref<96x48xf16>) outs(%o : memref<64x48xf16>) maps [#q, #k, #v, #o] scale 1.0 causal 1073741825
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @attention_c4_mixed(%q: tensor<64x32xf16>, %k: memref<96x32xf16>, %v: memref<96x48xf16>, %o: memref<64x48xf16>) {
  // expected-error @+1 {{'tessera.attention' op attention_c4: operands must be all tensors or all memrefs}}
  tessera.attention ins(%q, %k, %v : tensor<64x32xf16>, memref<96x32xf16>, memref<96x48xf16>) outs(%o : memref<64x48xf16>) maps [#q, #k, #v, #o] scale 1.0
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

func.func @attention_c4_result(%q: tensor<64x32xf16>, %k: tensor<96x32xf16>, %v: tensor<96x48xf16>, %o: tensor<64x48xf16>) {
  // expected-error @+1 {{'tessera.attention' op attention_c4: a result requires a tensor output, and a tensor output a result}}
  tessera.attention ins(%q, %k, %v : tensor<64x32xf16>, tensor<96x32xf16>, tensor<96x48xf16>) outs(%o : tensor<64x48xf16>) maps [#q, #k, #v, #o] scale 1.0
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#o = affine_map<(m, n, d, e) -> (m, e)>
#v = affine_map<(m, n, d, e) -> (n, e)>

func.func @attention_c5_space(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %o: memref<64x32xf16>) {
  // expected-error @+1 {{attention_c5: first must be a map of (i, l), not affine_map<(d0) -> (d0)>}}
  tessera.attention ins(%q, %k, %k : memref<64x32xf16>, memref<96x32xf16>, memref<96x32xf16>) outs(%o : memref<64x32xf16>) maps [#q, #k, #v, #o] scale 1.0 first affine_map<(i) -> (i)>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#o = affine_map<(m, n, d, e) -> (m, e)>
#v = affine_map<(m, n, d, e) -> (n, e)>

func.func @attention_c5_sum(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %o: memref<64x32xf16>) {
  // expected-error @+1 {{attention_c5: each result of last must be a sum of i, l and a constant of a magnitude of at most 2^30, each at most once}}
  tessera.attention ins(%q, %k, %k : memref<64x32xf16>, memref<96x32xf16>, memref<96x32xf16>) outs(%o : memref<64x32xf16>) maps [#q, #k, #v, #o] scale 1.0 last affine_map<(i, l) -> (2 * i)>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#o = affine_map<(m, n, d, e) -> (m, e)>
#v = affine_map<(m, n, d, e) -> (n, e)>

func.func @attention_c5_constant(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %o: memref<64x32xf16>) {
  // expected-error @+1 {{attention_c5: each result of last must be a sum}}
  tessera.attention ins(%q, %k, %k : memref<64x32xf16>, memref<96x32xf16>, memref<96x32xf16>) outs(%o : memref<64x32xf16>) maps [#q, #k, #v, #o] scale 1.0 last affine_map<(i, l) -> (i + 1073741825)>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#o = affine_map<(m, n, d, e) -> (m, e)>
#v = affine_map<(m, n, d, e) -> (n, e)>

func.func @attention_c5_length(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %o: memref<64x32xf16>) {
  // expected-error @+1 {{attention_c5: last uses l, which requires the region 'length'}}
  tessera.attention ins(%q, %k, %k : memref<64x32xf16>, memref<96x32xf16>, memref<96x32xf16>) outs(%o : memref<64x32xf16>) maps [#q, #k, #v, #o] scale 1.0 last affine_map<(i, l) -> (l - 1)>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#o = affine_map<(m, n, d, e) -> (m, e)>
#v = affine_map<(m, n, d, e) -> (n, e)>

func.func @attention_c6_arguments(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %o: memref<64x32xf16>) {
  // expected-error @+1 {{attention_c6: score must take an f32 and 2 index values, and yield one 'f32'}}
  tessera.attention ins(%q, %k, %k : memref<64x32xf16>, memref<96x32xf16>, memref<96x32xf16>) outs(%o : memref<64x32xf16>) maps [#q, #k, #v, #o] scale 1.0 score {
  ^bb0(%x: f32, %i: index):
    tessera.yield %x : f32
  }
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#o = affine_map<(m, n, d, e) -> (m, e)>
#v = affine_map<(m, n, d, e) -> (n, e)>

func.func @attention_c6_effects(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %o: memref<64x32xf16>, %l: memref<index>) {
  %c3 = arith.constant 3 : index
  tessera.attention ins(%q, %k, %k : memref<64x32xf16>, memref<96x32xf16>, memref<96x32xf16>) outs(%o : memref<64x32xf16>) maps [#q, #k, #v, #o] scale 1.0 last affine_map<(i, l) -> (l)> length {
    %n = memref.load %l[] : memref<index>
    // expected-error @+1 {{attention_c6: length must not have side effects other than reading memory}}
    memref.store %c3, %l[] : memref<index>
    tessera.yield %n : index
  }
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#o = affine_map<(m, n, d, e) -> (m, e)>
#v = affine_map<(m, n, d, e) -> (n, e)>

func.func @attention_c7_keys(%q: memref<64x32xf16>, %k: memref<96x32xf16>, %o: memref<64x32xf16>) {
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{attention_c7: a page requires keys, and keys a page}}
  tessera.attention ins(%q, %k, %k : memref<64x32xf16>, memref<96x32xf16>, memref<96x32xf16>) outs(%o : memref<64x32xf16>) maps [#q, #k, #v, #o] scale 1.0 keys %c3
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#o = affine_map<(m, n, d, e) -> (m, e)>
#v = affine_map<(m, n, d, e) -> (n, e)>

func.func @attention_c7_page(%q: memref<64x32xf16>, %k: memref<9x?x32xf16>, %o: memref<64x32xf16>) {
  %c3 = arith.constant 3 : index
  // expected-error @+1 {{attention_c7: the number of keys of a page must be static and not zero, but key is 'memref<9x?x32xf16>'}}
  tessera.attention ins(%q, %k, %k : memref<64x32xf16>, memref<9x?x32xf16>, memref<9x?x32xf16>) outs(%o : memref<64x32xf16>) maps [#q, #k, #v, #o] scale 1.0 keys %c3 page {
  ^bb0(%j: index):
    tessera.yield %j : index
  }
  return
}
