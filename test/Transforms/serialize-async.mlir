// RUN: gpu-opt %s --tessera-serialize-async --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @copies
// CHECK-SAME:    %[[H:.*]]: memref<16xf32>, %[[N:.*]]: index, %[[X:.*]]: f32
func.func @copies(%h: memref<16xf32>, %n: index, %x: f32) {
  // CHECK-NEXT: memref.cast
  // CHECK-NEXT: %[[D:.*]] = memref.alloc() : memref<16xf32>
  // CHECK-NEXT: %[[E:.*]] = memref.alloc(%[[N]]) : memref<?xf32>
  // CHECK-NEXT: memref.copy %[[H]], %[[D]]
  // CHECK-NEXT: linalg.fill ins(%[[X]] : f32) outs(%[[E]] : memref<?xf32>)
  // CHECK-NEXT: memref.dealloc %[[D]]
  // CHECK-NEXT: return
  %u = memref.cast %h : memref<16xf32> to memref<*xf32>
  gpu.host_register %u : memref<*xf32>
  %t0 = gpu.wait async
  %d, %t1 = gpu.alloc async [%t0] () : memref<16xf32>
  %e = gpu.alloc host_shared (%n) : memref<?xf32>
  %t2 = gpu.memcpy async [%t1] %d, %h : memref<16xf32>, memref<16xf32>
  %t3 = gpu.memset async [%t2] %e, %x : memref<?xf32>, f32
  %t4 = gpu.dealloc async [%t3] %d : memref<16xf32>
  gpu.wait [%t4]
  gpu.host_unregister %u : memref<*xf32>
  return
}

// CHECK-LABEL: func.func @launches
// CHECK-SAME:    %[[ONE:.*]]: index, %[[M:.*]]: memref<?xf32>, %[[X:.*]]: f32
func.func @launches(%c1: index, %m: memref<?xf32>, %x: f32) {
  // CHECK-NEXT: gpu.launch blocks(
  // CHECK-NEXT:   memref.store %[[X]], %[[M]][%[[ONE]]]
  // CHECK-NEXT:   gpu.terminator
  // CHECK-NEXT: }
  // CHECK-NEXT: linalg.fill ins(%[[X]] : f32) outs(%[[M]] : memref<?xf32>)
  // CHECK-NEXT: return
  %t0 = gpu.wait async
  %t1 = gpu.launch async [%t0] blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
                   threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %d = func.call @mgpuMemGetDeviceMemRef1dFloat(%m) : (memref<?xf32>) -> memref<?xf32>
    memref.store %x, %d[%c1] : memref<?xf32>
    gpu.terminator
  }
  gpu.wait [%t1]
  func.call @fillResource1DFloat(%m, %x) : (memref<?xf32>, f32) -> ()
  return
}
func.func private @mgpuMemGetDeviceMemRef1dFloat(memref<?xf32>) -> memref<?xf32>
func.func private @fillResource1DFloat(memref<?xf32>, f32)

// -----

func.func @token() -> !gpu.async.token {
  // expected-error @+1 {{the token of this op is used by an op other than one of the gpu dialect on the host; wait for it with gpu.wait instead}}
  %t0 = gpu.wait async
  // expected-note @+1 {{it is used here}}
  return %t0 : !gpu.async.token
}
