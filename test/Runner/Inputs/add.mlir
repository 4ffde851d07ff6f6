// out = a + b, element by element, on memrefs of any length.
func.func @main(%a: memref<?xf32>, %b: memref<?xf32>, %out: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %out, %c0 : memref<?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%bx] : memref<?xf32>
    %y = memref.load %b[%bx] : memref<?xf32>
    %sum = arith.addf %x, %y : f32
    memref.store %sum, %out[%bx] : memref<?xf32>
    gpu.terminator
  }
  return
}
