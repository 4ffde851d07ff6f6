// Additions and multiplications with two results, of scalars and of vectors.

// RUN: gpu-runner --target=cpu --verify %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=sm_90a --verify %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=gfx942 --verify %s | FileCheck %s
// RUN: gpu-runner --target=cpu --verify -e wide %s | FileCheck %s
// RUN: %exits 3 gpu-runner --target=cpu --verify --debug-corrupt-output=1 %s

// The inputs are small; the multiplications by large numbers carry.
// CHECK: {{^}}verified

func.func @main(%a: memref<64xi32>, %low: memref<6x64xi32>, %carry: memref<64xi8>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %large = arith.constant 305419896 : i32
    %most = arith.constant -3 : i32
    %x = memref.load %a[%tx] : memref<64xi32>
    %n = arith.muli %x, %large : i32
    %s, %c = arith.addui_extended %n, %most : i32, i1
    %wide = arith.extui %c : i1 to i8
    memref.store %s, %low[%c0, %tx] : memref<6x64xi32>
    memref.store %wide, %carry[%tx] : memref<64xi8>
    %l0, %h0 = arith.mulsi_extended %n, %large : i32
    memref.store %l0, %low[%c1, %tx] : memref<6x64xi32>
    memref.store %h0, %low[%c2, %tx] : memref<6x64xi32>
    %l1, %h1 = arith.mului_extended %n, %large : i32
    memref.store %l1, %low[%c3, %tx] : memref<6x64xi32>
    memref.store %h1, %low[%c4, %tx] : memref<6x64xi32>
    %v = vector.from_elements %n, %large : vector<2xi32>
    %l2, %h2 = arith.mulsi_extended %v, %v : vector<2xi32>
    %e = vector.extract %h2[0] : i32 from vector<2xi32>
    memref.store %e, %low[%c5, %tx] : memref<6x64xi32>
    gpu.terminator
  }
  return
}

func.func @wide(%a: memref<8xi64>, %r: memref<2x8xi64>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1 : index
    %large = arith.constant -1311768467463790320 : i64
    %x = memref.load %a[%tx] : memref<8xi64>
    %n = arith.muli %x, %large : i64
    %l0, %h0 = arith.mulsi_extended %n, %large : i64
    memref.store %h0, %r[%c0, %tx] : memref<2x8xi64>
    %l1, %h1 = arith.mului_extended %n, %large : i64
    memref.store %h1, %r[%one, %tx] : memref<2x8xi64>
    gpu.terminator
  }
  return
}
