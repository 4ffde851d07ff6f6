// A thread's own array, with an index that is known at run time only.
func.func @main(%a: memref<256xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c512 = arith.constant 512 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c256, %sy = %c1, %sz = %c1) {
    %own = memref.alloca() : memref<512xf32>
    scf.for %i = %c0 to %n step %c1 {
      %position = arith.remui %i, %c512 : index
      %v = memref.load %a[%i] : memref<256xf32>
      memref.store %v, %own[%position] : memref<512xf32>
    }
    %from = arith.remui %tx, %c512 : index
    %r = memref.load %own[%from] : memref<512xf32>
    memref.store %r, %a[%tx] : memref<256xf32>
    gpu.terminator
  }
  return
}
