// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-attach-chip="target=cuda chip=sm_80" --tessera-promote-tiles --split-input-file --verify-diagnostics | FileCheck %s

#staged = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 1>

// Two tiles of one step: one barrier before both copies, one after.

// CHECK-LABEL: func @staged
// CHECK-SAME:    %[[A:.+]]: memref<?x?xf16>, %[[B:.+]]: memref<64x64xf16>, %[[I:.+]]: index
// CHECK:         gpu.launch {{.*}} workgroup(%[[WA:.+]] : memref<64x40xf16, #gpu.address_space<workgroup>>, %[[WB:.+]] : memref<32x40xf16, #gpu.address_space<workgroup>>)
// CHECK:           gpu.barrier
// CHECK:           tessera.copy %[[A]][%[[I]], %[[I]]], %[[WA]][%{{.+}}, %{{.+}}] shape [64, 32] alignment 2 :
// CHECK-NOT:       gpu.barrier
// CHECK:           tessera.copy %[[B]][%[[I]], %[[I]]], %[[WB]][%{{.+}}, %{{.+}}] shape [32, 32] in_bounds alignment 16 :
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      tessera.load %[[WA]][%[[I]], %[[I]]] in_bounds :
// CHECK-NEXT:      tessera.load %[[WB]][%[[I]], %[[I]]] transpose in_bounds :
// CHECK-NOT:       tessera.tile
func.func @staged(%a: memref<?x?xf16>, %b: memref<64x64xf16>, %i: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    %t = tessera.tile %a[%i, %i] alignment 2 : memref<?x?xf16> -> memref<64x32xf16>
    %u = tessera.tile %b[%i, %i] in_bounds alignment 16 : memref<64x64xf16> -> memref<32x32xf16>
    %f = tessera.load %t[%i, %i] in_bounds : memref<64x32xf16> -> !tessera.fragment<32x16xf16, a>
    %g = tessera.load %u[%i, %i] transpose in_bounds : memref<32x32xf16> -> !tessera.fragment<16x32xf16, b>
    "test.use"(%f, %g) : (!tessera.fragment<32x16xf16, a>, !tessera.fragment<16x32xf16, b>) -> ()
    gpu.terminator
  } {tessera.schedule = #staged}
  return
}

// -----

#swizzled = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 1, swizzle = true>

// Swizzled rows are not padded. A load that may leave the tile forbids padding too: zeros lie beyond.

// CHECK-LABEL: func @swizzled
// CHECK:         workgroup(%[[WA:.+]] : memref<64x32xf16, #gpu.address_space<workgroup>>, %[[WB:.+]] : memref<8x24xf16, #gpu.address_space<workgroup>>)
// CHECK:           tessera.copy {{.*}}, %[[WA]][%{{.+}}, %{{.+}}] shape [64, 32] swizzled
// CHECK:           tessera.copy {{.*}}, %[[WB]][%{{.+}}, %{{.+}}] shape [8, 24] :
// CHECK:           tessera.load %[[WA]][%{{.+}}, %{{.+}}] in_bounds swizzled
// CHECK:           tessera.load %[[WB]][%{{.+}}, %{{.+}}] :
func.func @swizzled(%a: memref<?x?xf16>, %i: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    %t = tessera.tile %a[%i, %i] : memref<?x?xf16> -> memref<64x32xf16>
    %u = tessera.tile %a[%i, %i] : memref<?x?xf16> -> memref<8x24xf16>
    %f = tessera.load %t[%i, %i] in_bounds : memref<64x32xf16> -> !tessera.fragment<32x16xf16, a>
    %g = tessera.load %u[%i, %i] : memref<8x24xf16> -> !tessera.fragment<32x16xf16, a>
    "test.use"(%f, %g) : (!tessera.fragment<32x16xf16, a>, !tessera.fragment<32x16xf16, a>) -> ()
    gpu.terminator
  } {tessera.schedule = #swizzled}
  return
}

// -----

#global = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 0>

// Without stages, loads read from the source; they are in bounds where the tile is.

// CHECK-LABEL: func @global
// CHECK-SAME:    %[[A:.+]]: memref<4x?x?xf16>, %[[I:.+]]: index, %[[J:.+]]: index
// CHECK-NOT:       gpu.barrier
// CHECK:           %[[ROW:.+]] = arith.addi %[[I]], %[[J]]
// CHECK:           %[[COL:.+]] = arith.addi %[[J]], %[[I]]
// CHECK:           tessera.load %[[A]][%[[I]], %[[ROW]], %[[COL]]] : memref<4x?x?xf16> -> <32x16xf16, a>
func.func @global(%a: memref<4x?x?xf16>, %i: index, %j: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    %t = tessera.tile %a[%i, %i, %j] : memref<4x?x?xf16> -> memref<64x32xf16>
    %f = tessera.load %t[%j, %i] in_bounds : memref<64x32xf16> -> !tessera.fragment<32x16xf16, a>
    "test.use"(%f) : (!tessera.fragment<32x16xf16, a>) -> ()
    gpu.terminator
  } {tessera.schedule = #global}
  return
}

// -----

#global = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 0>

func.func @gathered(%a: memref<64xf16>, %i: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    // expected-error @+1 {{a gathered tile requires staging in workgroup memory: set the schedule's 'stages' to 1 or more}}
    %t = tessera.tile %a[] gather {
    ^bb0(%r: index, %c: index):
      %true = arith.constant true
      tessera.yield %r, %true : index, i1
    } : memref<64xf16> -> memref<64x32xf16>
    gpu.terminator
  } {tessera.schedule = #global}
  return
}

// -----

func.func @outside(%a: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{a tile must be in a gpu.launch or a gpu.func}}
  %t = tessera.tile %a[%i, %i] : memref<64x64xf16> -> memref<64x32xf16>
  return
}
