// Vectors in host code: reads, writes, contractions and prints.

// RUN: gpu-runner %s --target=cpu -e main -entry-point-result=void | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a -e main | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 -e main | FileCheck %s

// CHECK:      {{^}}( 10, 22, 36, 52 )
// CHECK-NEXT: {{^}}( ( 1, 2, 3, 4 ), ( 10, 11, 12, 13 ) )
// CHECK-NEXT: {{^}}( ( 3, 0 ), ( 4, 0 ) )
// CHECK-NEXT: {{^}}120
// CHECK-NEXT: {{^}}( 19, 43 )
// CHECK-NEXT: sizes = [2, 4] strides = [4, 1] data =
// CHECK-NEXT: {{^}}{{\[\[}}1,   2,   3,   4],
// CHECK-NEXT: {{^}} [10,   22,   36,   52]]

#matvec = {
  indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>],
  iterator_types = ["parallel", "reduction"]
}

func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %m = memref.alloc() : memref<2x4xf32>
  %init = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [10.0, 11.0, 12.0, 13.0]]> : vector<2x4xf32>
  vector.transfer_write %init, %m[%c0, %c0] {in_bounds = [true, true]} : vector<2x4xf32>, memref<2x4xf32>
  %a = vector.load %m[%c0, %c0] : memref<2x4xf32>, vector<4xf32>
  %b = vector.load %m[%c1, %c0] : memref<2x4xf32>, vector<4xf32>
  %p = arith.mulf %a, %b : vector<4xf32>
  vector.print %p : vector<4xf32>
  %all = vector.transfer_read %m[%c0, %c0], %zero {in_bounds = [true, true]} : memref<2x4xf32>, vector<2x4xf32>
  vector.print %all : vector<2x4xf32>
  // Beyond the row, and transposed.
  %part = vector.transfer_read %m[%c0, %c2], %zero
      {permutation_map = affine_map<(i, j) -> (j, 0)>} : memref<2x4xf32>, vector<2x2xf32>
  %mask = arith.constant dense<[[1.0, 0.0], [1.0, 0.0]]> : vector<2x2xf32>
  %kept = arith.mulf %part, %mask : vector<2x2xf32>
  vector.print %kept : vector<2x2xf32>
  %sum = vector.reduction <add>, %p : vector<4xf32> into f32
  vector.print %sum : f32
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : vector<2x2xf32>
  %y = arith.constant dense<[5.0, 7.0]> : vector<2xf32>
  %none = arith.constant dense<0.0> : vector<2xf32>
  %r = vector.contract #matvec %x, %y, %none : vector<2x2xf32>, vector<2xf32> into vector<2xf32>
  vector.print %r : vector<2xf32>
  vector.store %p, %m[%c1, %c0] : memref<2x4xf32>, vector<4xf32>
  %u = memref.cast %m : memref<2x4xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  memref.dealloc %m : memref<2x4xf32>
  return
}
