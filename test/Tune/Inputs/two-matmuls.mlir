func.func @main(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<32x48xf32>, %s: tensor<32x32xf32>)
    -> (tensor<64x48xf32>, tensor<64x48xf32>, tensor<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%z : tensor<64x48xf32>) -> tensor<64x48xf32>
  %rp = math.absf %p : tensor<64x48xf32>
  %q = linalg.matmul ins(%a, %c : tensor<64x32xf32>, tensor<32x48xf32>) outs(%z : tensor<64x48xf32>) -> tensor<64x48xf32>
  %rq = math.absf %q : tensor<64x48xf32>
  %es = tensor.empty() : tensor<32x32xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<32x32xf32>) -> tensor<32x32xf32>
  %h = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16, kFragment = 16, stages = 0, vthread = [1, 1]>}
      ins(%s, %s : tensor<32x32xf32>, tensor<32x32xf32>) outs(%zs : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %rp, %rq, %h : tensor<64x48xf32>, tensor<64x48xf32>, tensor<32x32xf32>
}
