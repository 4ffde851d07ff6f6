// A memref of vectors, and a number of the index type.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s

// CHECK:      Memref base@ = 0x{{[0-9a-f]+}} rank = 2 offset = 0 sizes = [1, 2] strides = [2, 1] data =
// CHECK-NEXT: {{^}}{{\[\[}}((1, 1, 1, 1),   (1, 1, 1, 1),   (1, 1, 1, 1),  (1, 1, 1, 1)),   ((2, 2, 2, 2),
// CHECK:      {{^}}2{{$}}

!square = vector<4x4xf32>

func.func private @printMemrefVector4x4xf32(memref<?x?x!square>) attributes {llvm.emit_c_interface}
func.func private @printU64(index)
func.func private @printNewline()

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ones = arith.constant dense<1.0> : !square
  %twos = arith.constant dense<2.0> : !square
  %m = memref.alloc() : memref<1x2x!square>
  memref.store %ones, %m[%c0, %c0] : memref<1x2x!square>
  memref.store %twos, %m[%c0, %c1] : memref<1x2x!square>
  %d = memref.cast %m : memref<1x2x!square> to memref<?x?x!square>
  call @printMemrefVector4x4xf32(%d) : (memref<?x?x!square>) -> ()
  %size = memref.dim %d, %c1 : memref<?x?x!square>
  call @printU64(%size) : (index) -> ()
  call @printNewline() : () -> ()
  return
}
