// Host code reads and writes an argument, between kernels that write it.
func.func private @printMemrefF32(memref<*xf32>)
func.func @main(%m: memref<?xf32>) -> memref<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %hundred = arith.constant 100.0 : f32
  memref.store %hundred, %m[%c0] : memref<?xf32>
  %u = memref.cast %m : memref<?xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  linalg.exp ins(%m : memref<?xf32>) outs(%m : memref<?xf32>)
  %x = memref.load %m[%c1] : memref<?xf32>
  memref.store %x, %m[%c2] : memref<?xf32>
  %r = memref.alloc() : memref<2xf32>
  memref.store %x, %r[%c0] : memref<2xf32>
  memref.store %hundred, %r[%c1] : memref<2xf32>
  return %r : memref<2xf32>
}
