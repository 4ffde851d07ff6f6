// Each workgroup writes one half of a byte; another workgroup writes the other half.
func.func @store(%a: memref<65xi4>, %b: memref<65xi4>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c64, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%bx] : memref<65xi4>
    %i = arith.addi %bx, %c1 : index
    memref.store %x, %b[%i] : memref<65xi4>
    gpu.terminator
  }
  return
}
