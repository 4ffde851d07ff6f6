// Globals: a constant, and a variable that a kernel and the host write.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 | FileCheck %s

// CHECK:      {{^}}[11,  22,  33,  44]
// CHECK-NEXT: sizes = [4] strides = [1] data =
// CHECK-NEXT: {{^}}[1,  2,  3,  4]

memref.global "private" constant @tens : memref<4xi64> = dense<[10, 20, 30, 40]>
memref.global "private" @variable : memref<4xi64> = dense<[1, 2, 3, 0]>

func.func private @printMemrefI64(memref<*xi64>)

func.func private @set_last(%x: i64) {
  %c3 = arith.constant 3 : index
  %v = memref.get_global @variable : memref<4xi64>
  memref.store %x, %v[%c3] : memref<4xi64>
  return
}

func.func @main() {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %four = arith.constant 4 : i64
  call @set_last(%four) : (i64) -> ()
  %t = memref.get_global @tens : memref<4xi64>
  %v = memref.get_global @variable : memref<4xi64>
  %r = memref.alloc() : memref<4xi64>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1) {
    %a = memref.load %t[%tx] : memref<4xi64>
    %b = memref.load %v[%tx] : memref<4xi64>
    %s = arith.addi %a, %b : i64
    memref.store %s, %r[%tx] : memref<4xi64>
    gpu.terminator
  }
  %u = memref.cast %r : memref<4xi64> to memref<*xi64>
  call @printMemrefI64(%u) : (memref<*xi64>) -> ()
  %w = memref.cast %v : memref<4xi64> to memref<*xi64>
  call @printMemrefI64(%w) : (memref<*xi64>) -> ()
  return
}
