func.func @main(%a: tensor<33x32xf32>, %b: tensor<32x32xf32>) -> tensor<33x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<33x32xf32>) -> tensor<33x32xf32>
  %p = linalg.matmul ins(%a, %b : tensor<33x32xf32>, tensor<32x32xf32>) outs(%z : tensor<33x32xf32>) -> tensor<33x32xf32>
  return %p : tensor<33x32xf32>
}
