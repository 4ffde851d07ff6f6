// Fragments that memory holds column by column, of several shapes and types,
// within the memory and beyond its edges.
//
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// CHECK: {{^}}verified
// RUN: gpu-runner %s --target=cpu:generic --verify | FileCheck %s

func.func @main(%A: memref<40x36xf32>, %B: memref<35x19xi32>, %C: memref<40x36xf64>,
                %F: memref<4x32xf32>, %G: memref<16x16xf32>, %H: memref<12x64xi32>,
                %I: memref<24x8xf64>, %J: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %f = tessera.load %A[%c3, %c5] transpose
        : memref<40x36xf32> -> !tessera.fragment<4x32xf32, acc>
    tessera.store %f, %F[%c0, %c0] : !tessera.fragment<4x32xf32, acc>, memref<4x32xf32>
    %at = arith.muli %c5, %c5 : index
    %g = tessera.load %A[%at, %at] transpose
        : memref<40x36xf32> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %g, %G[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    %h = tessera.load %B[%c3, %c5] transpose
        : memref<35x19xi32> -> !tessera.fragment<12x64xi32, acc>
    tessera.store %h, %H[%c0, %c0] : !tessera.fragment<12x64xi32, acc>, memref<12x64xi32>
    %i = tessera.load %C[%at, %c1] transpose
        : memref<40x36xf64> -> !tessera.fragment<24x8xf64, acc>
    tessera.store %i, %I[%c0, %c0] : !tessera.fragment<24x8xf64, acc>, memref<24x8xf64>
    // All of it beyond.
    %far = arith.muli %at, %c3 : index
    %j = tessera.load %A[%far, %far] transpose
        : memref<40x36xf32> -> !tessera.fragment<8x16xf32, acc>
    tessera.store %j, %J[%c0, %c0] : !tessera.fragment<8x16xf32, acc>, memref<8x16xf32>
    gpu.terminator
  }
  return
}
