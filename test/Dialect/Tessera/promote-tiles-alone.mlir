// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-attach-chip="target=cpu chip=x86-64-avx512" --tessera-promote-tiles --split-input-file | FileCheck %s

// One lane is the whole workgroup of a CPU: no other lane would read a staged tile. A tile of f32 that
// is in bounds is read from its source; the other one is staged.

#one = #tessera.schedule<workgroup = [8, 32], subgroup = [8, 32], k = 16, kFragment = 16, stages = 1>

// CHECK-LABEL: func @plain
// CHECK-SAME:    %[[A:.+]]: memref<64x64xf32>, %[[B:.+]]: memref<64x64xf32>, %[[I:.+]]: index
// CHECK:         gpu.launch {{.*}} workgroup(%[[WA:[^ ]+]] : memref<8x{{[0-9]+}}xf32, #gpu.address_space<workgroup>>)
// CHECK:           tessera.copy %[[A]][%[[I]], %[[I]]], %[[WA]]
// CHECK-NOT:       tessera.copy
// CHECK:           tessera.load %[[WA]][%{{.+}}, %{{.+}}] in_bounds
// CHECK:           tessera.load %[[B]][%[[I]], %[[I]]] in_bounds
func.func @plain(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    %t = tessera.tile %a[%i, %i] : memref<64x64xf32> -> memref<8x16xf32>
    %u = tessera.tile %b[%i, %i] in_bounds : memref<64x64xf32> -> memref<16x32xf32>
    %f = tessera.load %t[%c0, %c0] in_bounds : memref<8x16xf32> -> !tessera.fragment<8x16xf32, a>
    %g = tessera.load %u[%c0, %c0] in_bounds : memref<16x32xf32> -> !tessera.fragment<16x32xf32, b>
    "test.use"(%f, %g) : (!tessera.fragment<8x16xf32, a>, !tessera.fragment<16x32xf32, b>) -> ()
    gpu.terminator
  } {tessera.schedule = #one}
  return
}

// -----

#one = #tessera.schedule<workgroup = [8, 32], subgroup = [8, 32], k = 16, kFragment = 16, stages = 1>

// Elements of 16 bits are packed along K on the way.

// CHECK-LABEL: func @narrow
// CHECK-COUNT-2: tessera.copy
func.func @narrow(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    %t = tessera.tile %a[%i, %i] in_bounds : memref<64x64xf16> -> memref<8x16xf16>
    %u = tessera.tile %b[%i, %i] in_bounds : memref<64x64xf16> -> memref<16x32xf16>
    %f = tessera.load %t[%c0, %c0] in_bounds : memref<8x16xf16> -> !tessera.fragment<8x16xf16, a>
    %g = tessera.load %u[%c0, %c0] in_bounds : memref<16x32xf16> -> !tessera.fragment<16x32xf16, b>
    "test.use"(%f, %g) : (!tessera.fragment<8x16xf16, a>, !tessera.fragment<16x32xf16, b>) -> ()
    gpu.terminator
  } {tessera.schedule = #one}
  return
}

// -----

#two = #tessera.schedule<workgroup = [16, 32], subgroup = [8, 32], k = 16, kFragment = 16, stages = 1>

// Two subgroups share the tile of b.

// CHECK-LABEL: func @shared
// CHECK-COUNT-2: tessera.copy
func.func @shared(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    %t = tessera.tile %a[%i, %i] in_bounds : memref<64x64xf32> -> memref<16x16xf32>
    %u = tessera.tile %b[%i, %i] in_bounds : memref<64x64xf32> -> memref<16x32xf32>
    %f = tessera.load %t[%c0, %c0] in_bounds : memref<16x16xf32> -> !tessera.fragment<8x16xf32, a>
    %g = tessera.load %u[%c0, %c0] in_bounds : memref<16x32xf32> -> !tessera.fragment<16x32xf32, b>
    "test.use"(%f, %g) : (!tessera.fragment<8x16xf32, a>, !tessera.fragment<16x32xf32, b>) -> ()
    gpu.terminator
  } {tessera.schedule = #two}
  return
}
