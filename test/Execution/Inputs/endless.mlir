// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A loop without an exit.

func.func @endless(%b: memref<64xi32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : index
    cf.br ^again
  ^again:
    memref.store %one, %b[%zero] : memref<64xi32>
    cf.br ^again
  }
  return
}
