// Two matmuls without schedules.
func.func @main(%a: tensor<192x256xf16>, %b: tensor<256x160xf16>,
                %c: tensor<3x40x64xf16>, %d: tensor<3x64x48xf16>)
    -> (tensor<192x160xf32>, tensor<3x40x48xf32>) {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<192x160xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<192x160xf32>) -> tensor<192x160xf32>
  %r0 = linalg.matmul ins(%a, %b : tensor<192x256xf16>, tensor<256x160xf16>)
      outs(%z0 : tensor<192x160xf32>) -> tensor<192x160xf32>
  %e1 = tensor.empty() : tensor<3x40x48xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<3x40x48xf32>) -> tensor<3x40x48xf32>
  %r1 = linalg.batch_matmul ins(%c, %d : tensor<3x40x64xf16>, tensor<3x64x48xf16>)
      outs(%z1 : tensor<3x40x48xf32>) -> tensor<3x40x48xf32>
  return %r0, %r1 : tensor<192x160xf32>, tensor<3x40x48xf32>
}
