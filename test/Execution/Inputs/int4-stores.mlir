func.func @store(%a: memref<64xi4>, %b: memref<64xi4>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%tx] : memref<64xi4>
    memref.store %x, %b[%tx] : memref<64xi4>
    gpu.terminator
  }
  return
}
