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

// -----

// A scalar of the device may be a condition of the host. Where it is zero, as in
// a run that only plans memory, the loop must end.

func.func @conditions(%m: memref<i1>, %n: memref<1xi64>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %true = arith.constant true
  %count = memref.load %n[%c0] : memref<1xi64>
  %bound = arith.index_cast %count : i64 to index
  scf.while (%i = %c0) : (index) -> index {
    %holds = memref.load %m[] : memref<i1>
    %inside = arith.cmpi slt, %i, %bound : index
    %both = arith.andi %inside, %holds : i1
    scf.condition(%both) %i : index
  } do {
  ^bb0(%i: index):
    %next = arith.addi %i, %c1 : index
    scf.yield %next : index
  }
  // expected-error @+1 {{reads device memory, but its condition may be true if all of it is zero: let the condition be an element that is read, or its conjunction with others}}
  scf.while : () -> () {
    %done = memref.load %m[] : memref<i1>
    %goes = arith.xori %done, %true : i1
    scf.condition(%goes)
  } do {
    scf.yield
  }
  return
}
