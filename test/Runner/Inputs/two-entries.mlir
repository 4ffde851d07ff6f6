func.func private @helper(%x: memref<8xf32>) {
  linalg.add ins(%x, %x : memref<8xf32>, memref<8xf32>) outs(%x : memref<8xf32>)
  return
}
func.func @first(%x: memref<8xf32>) {
  func.call @helper(%x) : (memref<8xf32>) -> ()
  return
}
func.func @second(%a: tensor<16x16xf32>, %b: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %c = linalg.matmul ins(%a, %b : tensor<16x16xf32>, tensor<16x16xf32>)
      outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %c : tensor<16x16xf32>
}
