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
