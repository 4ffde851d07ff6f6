// RUN: gpu-opt %s --pass-pipeline="builtin.module(func.func(tessera-deallocate-buffers))" | FileCheck %s

// A buffer is freed after its last use.
// CHECK-LABEL: func.func @free
// CHECK:         %[[A:.+]] = memref.alloc() : memref<4xf32>
// CHECK-NEXT:    linalg.fill ins({{.*}}) outs(%[[A]] : memref<4xf32>)
// CHECK-NEXT:    linalg.copy
// CHECK-NEXT:    memref.dealloc %[[A]] : memref<4xf32>
// CHECK-NEXT:    return
func.func @free(%x: f32, %out: memref<4xf32>) {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  linalg.copy ins(%a : memref<4xf32>) outs(%out : memref<4xf32>)
  return
}

// Functions with barriers, or with a launch that has memory, are not changed.
// CHECK-LABEL: func.func @barrier
// CHECK-NOT:     memref.dealloc
// CHECK-LABEL: func.func @attribution
// CHECK-NOT:     memref.dealloc
// CHECK:         return
func.func @barrier(%x: f32, %n: index) {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.barrier
    gpu.terminator
  }
  return
}

func.func @attribution(%x: f32, %n: index) {
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%x : f32) outs(%a : memref<4xf32>)
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
      threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n)
      workgroup(%w : memref<4xf32, #gpu.address_space<workgroup>>) {
    gpu.terminator
  }
  return
}
