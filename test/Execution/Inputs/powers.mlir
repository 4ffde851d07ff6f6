func.func @pow_f32(%x: tensor<131072xf32>, %y: tensor<131072xf32>) -> tensor<131072xf32> {
  %r = math.powf %x, %y : tensor<131072xf32>
  return %r : tensor<131072xf32>
}
func.func @pow_f64(%x: tensor<131072xf64>, %y: tensor<131072xf64>) -> tensor<131072xf64> {
  %r = math.powf %x, %y : tensor<131072xf64>
  return %r : tensor<131072xf64>
}
func.func @atan2_f32(%x: tensor<131072xf32>, %y: tensor<131072xf32>) -> tensor<131072xf32> {
  %r = math.atan2 %x, %y : tensor<131072xf32>
  return %r : tensor<131072xf32>
}
func.func @atan2_f64(%x: tensor<131072xf64>, %y: tensor<131072xf64>) -> tensor<131072xf64> {
  %r = math.atan2 %x, %y : tensor<131072xf64>
  return %r : tensor<131072xf64>
}
