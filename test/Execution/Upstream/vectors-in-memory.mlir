// Host code with buffers whose elements are vectors, which are arguments and results of a function too.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// CHECK: {{^}}( 3, 5, 7, 9 )
// CHECK-NEXT: {{^}}21

func.func @sum(%m: memref<3xvector<4xf32>>, %out: memref<?xf32>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant dense<0.0> : vector<4xf32>
  %0 = scf.for %i = %c0 to %c3 step %c1 iter_args(%sum = %zero) -> (vector<4xf32>) {
    %1 = memref.load %m[%i] : memref<3xvector<4xf32>>
    %2 = arith.addf %sum, %1 : vector<4xf32>
    scf.yield %2 : vector<4xf32>
  }
  %first = vector.extract %0[3] : f32 from vector<4xf32>
  %second = vector.extract %0[2] : f32 from vector<4xf32>
  %third = vector.extract %0[1] : f32 from vector<4xf32>
  %a = arith.addf %first, %second : f32
  %b = arith.addf %a, %third : f32
  memref.store %b, %out[%c1] : memref<?xf32>
  return %0 : vector<4xf32>
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %v0 = arith.constant dense<1.0> : vector<4xf32>
  %v1 = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : vector<4xf32>
  %v2 = arith.constant dense<[2.0, 3.0, 4.0, 5.0]> : vector<4xf32>
  %m = memref.alloc() : memref<3xvector<4xf32>>
  %out = memref.alloc(%c2) : memref<?xf32>
  memref.store %v0, %m[%c0] : memref<3xvector<4xf32>>
  memref.store %v1, %m[%c1] : memref<3xvector<4xf32>>
  memref.store %v2, %m[%c2] : memref<3xvector<4xf32>>
  %0 = call @sum(%m, %out) : (memref<3xvector<4xf32>>, memref<?xf32>) -> vector<4xf32>
  vector.print %0 : vector<4xf32>
  %1 = memref.load %out[%c1] : memref<?xf32>
  vector.print %1 : f32
  return
}
