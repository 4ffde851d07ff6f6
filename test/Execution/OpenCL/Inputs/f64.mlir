func.func @main(%a: tensor<64xf64>) -> tensor<64xf64> {
  %e = tensor.empty() : tensor<64xf64>
  %r = linalg.add ins(%a, %a : tensor<64xf64>, tensor<64xf64>) outs(%e : tensor<64xf64>) -> tensor<64xf64>
  return %r : tensor<64xf64>
}
