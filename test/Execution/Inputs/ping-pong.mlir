// 200 kernels, each of which reads what the one before has written and writes
// what that one has read, in other workgroups.
func.func @main(%x: memref<65536xi32>, %y: memref<65536xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %c64 = arith.constant 64 : index
  %c1024 = arith.constant 1024 : index
  %last = arith.constant 65535 : index
  %factor = arith.constant 5 : i32
  %one = arith.constant 1 : i32
  scf.for %i = %c0 to %c100 step %c1 {
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c64, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1024, %sy = %c1, %sz = %c1) {
      %first = arith.muli %bx, %c1024 : index
      %index = arith.addi %first, %tx : index
      %other = arith.subi %last, %index : index
      %value = memref.load %x[%other] : memref<65536xi32>
      %product = arith.muli %value, %factor : i32
      %sum = arith.addi %product, %one : i32
      memref.store %sum, %y[%index] : memref<65536xi32>
      gpu.terminator
    }
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c64, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c1024, %sy = %c1, %sz = %c1) {
      %first = arith.muli %bx, %c1024 : index
      %index = arith.addi %first, %tx : index
      %other = arith.xori %index, %c1024 : index
      %value = memref.load %y[%other] : memref<65536xi32>
      %number = arith.index_cast %index : index to i32
      %sum = arith.addi %value, %number : i32
      memref.store %sum, %x[%index] : memref<65536xi32>
      gpu.terminator
    }
  }
  return
}
