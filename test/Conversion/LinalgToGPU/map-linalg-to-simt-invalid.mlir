// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --tessera-map-linalg-to-simt --split-input-file --verify-diagnostics

func.func @read(%m: memref<4xf32>, %i: index) -> f32 {
  // expected-error @+1 {{reads an element in host code, but the data is in device memory: use a linalg op, or pass a scalar argument}}
  %x = memref.load %m[%i] : memref<4xf32>
  return %x : f32
}

// -----

func.func @write(%m: memref<4xf32>, %i: index, %x: f32) {
  // expected-error @+1 {{writes an element in host code, but the data is in device memory: use a linalg op, or pass a scalar argument}}
  memref.store %x, %m[%i] : memref<4xf32>
  return
}

// -----

// A kernel's own accesses, and the host's stack.

func.func @fine(%m: memref<4xf32>, %i: index, %x: f32) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    memref.store %x, %m[%i] : memref<4xf32>
    gpu.terminator
  }
  %stack = memref.alloca() : memref<4xf32>
  memref.store %x, %stack[%i] : memref<4xf32>
  return
}
