// For a caller with its own queue: only memory of the caller, and temporary
// memory with a result that the program owns.

func.func @multiply(%a: memref<?x?xf32>, %b: memref<?x?xf32>,
                    %c: memref<?x?xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<?x?xf32>)
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>)
                outs(%c : memref<?x?xf32>)
  return
}

func.func @cube(%a: tensor<40x40xf32>) -> tensor<40x40xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<40x40xf32>
  %clear = linalg.fill ins(%zero : f32) outs(%empty : tensor<40x40xf32>)
      -> tensor<40x40xf32>
  %square = linalg.matmul ins(%a, %a : tensor<40x40xf32>, tensor<40x40xf32>)
      outs(%clear : tensor<40x40xf32>) -> tensor<40x40xf32>
  %cube = linalg.matmul
      ins(%square, %a : tensor<40x40xf32>, tensor<40x40xf32>)
      outs(%clear : tensor<40x40xf32>) -> tensor<40x40xf32>
  return %cube : tensor<40x40xf32>
}

// Gives its argument back, which is a copy.
func.func @same(%a: tensor<40x40xf32>) -> tensor<40x40xf32> {
  return %a : tensor<40x40xf32>
}
