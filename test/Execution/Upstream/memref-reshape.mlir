// Memory with the shape that other memory holds.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: %exits 1 gpu-runner %s --target=cpu -e unranked --verify 2>&1 | FileCheck %s --check-prefix=UNRANKED

// CHECK: {{^}}verified
// UNRANKED: error: the reference does not support this form of 'memref.reshape'

func.func @main(%a: memref<2x6xf32>, %r: memref<4x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %shape = memref.alloc() : memref<2xindex>
  memref.store %c4, %shape[%c0] : memref<2xindex>
  memref.store %c3, %shape[%c1] : memref<2xindex>
  %b = memref.reshape %a(%shape) : (memref<2x6xf32>, memref<2xindex>) -> memref<?x?xf32>
  scf.for %i = %c0 to %c4 step %c1 {
    scf.for %j = %c0 to %c3 step %c1 {
      %x = memref.load %b[%i, %j] : memref<?x?xf32>
      %y = arith.addf %x, %x : f32
      memref.store %y, %r[%i, %j] : memref<4x3xf32>
    }
  }
  return
}

func.func @unranked(%a: memref<2x6xf32>, %r: memref<1xf32>) {
  %c0 = arith.constant 0 : index
  %c12 = arith.constant 12 : index
  %shape = memref.alloc() : memref<1xindex>
  memref.store %c12, %shape[%c0] : memref<1xindex>
  %dynamic = memref.cast %shape : memref<1xindex> to memref<?xindex>
  %u = memref.reshape %a(%dynamic) : (memref<2x6xf32>, memref<?xindex>) -> memref<*xf32>
  %b = memref.cast %u : memref<*xf32> to memref<?xf32>
  %x = memref.load %b[%c0] : memref<?xf32>
  memref.store %x, %r[%c0] : memref<1xf32>
  return
}
