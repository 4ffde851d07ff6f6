// Buffers that grow and shrink.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// CHECK: {{^}}( 10, 11, 12, 13, 99 )
// CHECK-NEXT: {{^}}( 10, 11 )

func.func @main() {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %init = arith.constant dense<[10, 11, 12, 13]> : vector<4xi32>
  %last = arith.constant 99 : i32
  %a = memref.alloc(%c4) : memref<?xi32>
  vector.store %init, %a[%c0] : memref<?xi32>, vector<4xi32>
  %b = memref.realloc %a(%c5) : memref<?xi32> to memref<?xi32>
  memref.store %last, %b[%c4] : memref<?xi32>
  %0 = vector.load %b[%c0] : memref<?xi32>, vector<5xi32>
  vector.print %0 : vector<5xi32>
  %c = memref.realloc %b(%c2) : memref<?xi32> to memref<?xi32>
  %1 = vector.load %c[%c0] : memref<?xi32>, vector<2xi32>
  vector.print %1 : vector<2xi32>
  memref.dealloc %c : memref<?xi32>
  return
}
