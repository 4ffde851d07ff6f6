// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --tessera-map-linalg-to-simt --split-input-file --verify-diagnostics

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

// -----

// Host code that accesses elements is not planned.

func.func @accesses(%m: memref<i1>, %n: memref<4xi32>, %x: i32) {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  memref.store %x, %n[%c0] : memref<4xi32>
  scf.while : () -> () {
    %done = memref.load %m[] : memref<i1>
    %goes = arith.xori %done, %true : i1
    scf.condition(%goes)
  } do {
    scf.yield
  }
  return
}
