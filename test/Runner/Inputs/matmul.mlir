func.func @main(%a: tensor<20x24xf16>, %b: tensor<24x18xf16>) -> tensor<20x18xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<20x18xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<20x18xf32>) -> tensor<20x18xf32>
  %c = linalg.matmul ins(%a, %b : tensor<20x24xf16>, tensor<24x18xf16>)
      outs(%init : tensor<20x18xf32>) -> tensor<20x18xf32>
  return %c : tensor<20x18xf32>
}
