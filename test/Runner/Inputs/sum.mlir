func.func @main(%a: memref<20x18xf32>, %b: memref<20x18xf32>, %out: memref<20x18xf32>) {
  linalg.add ins(%a, %b : memref<20x18xf32>, memref<20x18xf32>) outs(%out : memref<20x18xf32>)
  return
}
