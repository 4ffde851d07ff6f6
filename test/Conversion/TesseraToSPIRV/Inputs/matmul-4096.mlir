func.func @main(%a: tensor<4096x4096xELEMENT>, %b: tensor<4096x4096xELEMENT>) -> tensor<4096x4096xACC> {
  %zero = arith.constant ZERO : ACC
  %e = tensor.empty() : tensor<4096x4096xACC>
  %i = linalg.fill ins(%zero : ACC) outs(%e : tensor<4096x4096xACC>) -> tensor<4096x4096xACC>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xELEMENT>, tensor<4096x4096xELEMENT>) outs(%i : tensor<4096x4096xACC>) -> tensor<4096x4096xACC>
  return %r : tensor<4096x4096xACC>
}
