func.func @main(%a: tensor<32x32xf16>, %b: tensor<32x32xf16>, %d: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e16 = tensor.empty() : tensor<32x32xf16>
  %e32 = tensor.empty() : tensor<32x32xf32>
  %n = linalg.negf ins(%a : tensor<32x32xf16>) outs(%e16 : tensor<32x32xf16>) -> tensor<32x32xf16>
  %init = linalg.fill ins(%zero : f32) outs(%e32 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 16, kFragment = 16, vthread = [2, 2]>}
      ins(%n, %b : tensor<32x32xf16>, tensor<32x32xf16>) outs(%init : tensor<32x32xf32>) -> tensor<32x32xf32>
  %s = linalg.add ins(%c, %d : tensor<32x32xf32>, tensor<32x32xf32>) outs(%e32 : tensor<32x32xf32>) -> tensor<32x32xf32>
  %x = linalg.abs ins(%s : tensor<32x32xf32>) outs(%e32 : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %x : tensor<32x32xf32>
}
