func.func @main(%x: tensor<4096xf16>, %a: tensor<4096x256xf16>, %y: tensor<256xf32>) -> tensor<256xf32> {
  %r = linalg.vecmat ins(%x, %a : tensor<4096xf16>, tensor<4096x256xf16>) outs(%y : tensor<256xf32>) -> tensor<256xf32>
  return %r : tensor<256xf32>
}
