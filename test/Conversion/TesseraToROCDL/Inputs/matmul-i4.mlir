func.func @main(%a: tensor<4096x4096xi4>, %b: tensor<4096x4096xi4>, %c: tensor<4096x4096xi32>) -> tensor<4096x4096xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xi4>, tensor<4096x4096xi4>)
      outs(%c : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}
