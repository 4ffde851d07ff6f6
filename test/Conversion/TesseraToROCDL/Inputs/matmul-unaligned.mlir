func.func @main(%a: tensor<253x131xf16>, %b: tensor<131x190xf16>) -> tensor<253x190xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<253x190xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<253x190xf32>) -> tensor<253x190xf32>
  %c = linalg.matmul ins(%a, %b : tensor<253x131xf16>, tensor<131x190xf16>)
      outs(%init : tensor<253x190xf32>) -> tensor<253x190xf32>
  return %c : tensor<253x190xf32>
}
