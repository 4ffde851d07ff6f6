// D = (A B scaled) C in one kernel: the accumulators of the first matmul become
// the `a` operand of the second, once such that no element changes its lane
// (f16) and once with different maps, so that elements move between lanes (i8,
// and the `b` operand).
//
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=integers | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=right | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%A: memref<32x16xf16>, %B: memref<16x32xf16>, %C: memref<32x16xf16>, %D: memref<32x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 0.5 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %a = tessera.load %A[%c0, %c0] : memref<32x16xf16> -> !tessera.fragment<32x16xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<16x32xf16> -> !tessera.fragment<16x32xf16, b>
    %i = tessera.fill %zero : !tessera.fragment<32x32xf32, acc>
    %s = tessera.mma %a, %b, %i : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x32xf16, b>
        -> !tessera.fragment<32x32xf32, acc>
    %t = tessera.map %s : !tessera.fragment<32x32xf32, acc> -> !tessera.fragment<32x32xf32, acc> {
    ^bb0(%x: f32):
      %y = arith.mulf %x, %half : f32
      tessera.yield %y : f32
    }
    %p = tessera.convert %t : !tessera.fragment<32x32xf32, acc> -> !tessera.fragment<32x32xf16, a>
    %c = tessera.load %C[%c0, %c0] : memref<32x16xf16> -> !tessera.fragment<32x16xf16, b>
    %j = tessera.fill %zero : !tessera.fragment<32x16xf32, acc>
    %d = tessera.mma %p, %c, %j : !tessera.fragment<32x32xf16, a>, !tessera.fragment<32x16xf16, b>
        -> !tessera.fragment<32x16xf32, acc>
    tessera.store %d, %D[%c0, %c0] : !tessera.fragment<32x16xf32, acc>, memref<32x16xf32>
    gpu.terminator
  }
  return
}

func.func @integers(%A: memref<16x32xi8>, %B: memref<32x32xi8>, %C: memref<32x16xi8>, %D: memref<16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0 : i32
  %three = arith.constant 3 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %a = tessera.load %A[%c0, %c0] : memref<16x32xi8> -> !tessera.fragment<16x32xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<32x32xi8> -> !tessera.fragment<32x32xi8, b>
    %i = tessera.fill %zero : !tessera.fragment<16x32xi32, acc>
    %s = tessera.mma %a, %b, %i : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x32xi8, b>
        -> !tessera.fragment<16x32xi32, acc>
    %t = tessera.map %s : !tessera.fragment<16x32xi32, acc> -> !tessera.fragment<16x32xi32, acc> {
    ^bb0(%x: i32):
      %y = arith.shrsi %x, %three : i32
      tessera.yield %y : i32
    }
    %p = tessera.convert %t : !tessera.fragment<16x32xi32, acc> -> !tessera.fragment<16x32xi8, a>
    %c = tessera.load %C[%c0, %c0] : memref<32x16xi8> -> !tessera.fragment<32x16xi8, b>
    %j = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
    %d = tessera.mma %p, %c, %j unsigned_b : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b>
        -> !tessera.fragment<16x16xi32, acc>
    tessera.store %d, %D[%c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<16x16xi32>
    gpu.terminator
  }
  return
}

func.func @right(%A: memref<16x16xf16>, %B: memref<16x16xf16>, %C: memref<16x16xf16>, %D: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %a = tessera.load %A[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
    %i = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
    %s = tessera.mma %a, %b, %i : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b>
        -> !tessera.fragment<16x16xf32, acc>
    %p = tessera.convert %s : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
    %d = tessera.mma %c, %p, %i : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b>
        -> !tessera.fragment<16x16xf32, acc>
    tessera.store %d, %D[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.terminator
  }
  return
}
