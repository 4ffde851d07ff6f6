// RUN: gpu-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},func.func(tessera-pipeline-copies),canonicalize,cse)" --split-input-file | FileCheck %s

#schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 3>

// Thirteen steps with constant slots: three rounds of three, two with copies after them, two without.

// CHECK-LABEL: func @known
// CHECK:         workgroup(%[[W:.+]] : memref<3x64x32xf16, #gpu.address_space<workgroup>>)
// CHECK:           tessera.async_copy %{{.+}}[%c0, %c0], %[[W]][%c0, %c0, %c0]
// CHECK-NEXT:      tessera.async_copy %{{.+}}[%c0, %c32], %[[W]][%c1, %c0, %c0]
// CHECK-NEXT:      scf.for %[[I:.+]] = %c0 to %c9 step %c3
// CHECK-NEXT:        tessera.wait pending 1
// CHECK-NEXT:        gpu.barrier
// CHECK:             tessera.async_copy %{{.+}}, %[[W]][%c2, %c0, %c0]
// CHECK-NEXT:        tessera.load %[[W]][%c0, %c0, %c0]
// CHECK:             tessera.wait pending 1
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        arith.addi %[[I]], %c3
// CHECK:             tessera.async_copy %{{.+}}, %[[W]][%c0, %c0, %c0]
// CHECK-NEXT:        tessera.load %[[W]][%c1, %c0, %c0]
// CHECK:             tessera.wait pending 1
// CHECK-NEXT:        gpu.barrier
// CHECK:             tessera.async_copy %{{.+}}, %[[W]][%c1, %c0, %c0]
// CHECK-NEXT:        tessera.load %[[W]][%c2, %c0, %c0]
// CHECK-NOT:         tessera.load
// CHECK:             scf.yield
// CHECK-NOT:       scf.for
// CHECK:           tessera.wait pending 1
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      tessera.async_copy %{{.+}}[%c0, %c352], %[[W]][%c2, %c0, %c0]
// CHECK-NEXT:      tessera.load %[[W]][%c0, %c0, %c0]
// CHECK:           tessera.wait pending 1
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      tessera.async_copy %{{.+}}[%c0, %c384], %[[W]][%c0, %c0, %c0]
// CHECK-NEXT:      tessera.load %[[W]][%c1, %c0, %c0]
// CHECK:           tessera.wait{{$}}
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      tessera.load %[[W]][%c2, %c0, %c0]
// CHECK:           tessera.load %[[W]][%c0, %c0, %c0]
// CHECK-NOT:       tessera.load
func.func @known(%a: memref<64x416xf16>, %init: !tessera.fragment<64x32xf16, a>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c13 = arith.constant 13 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<64x32xf16, #gpu.address_space<workgroup>>) {
    %r = scf.for %i = %c0 to %c13 step %c1 iter_args(%f = %init) -> (!tessera.fragment<64x32xf16, a>) {
      %k = arith.muli %i, %c32 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [64, 32] in_bounds
          : memref<64x416xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds : memref<64x32xf16, #gpu.address_space<workgroup>>
          -> !tessera.fragment<64x32xf16, a>
      %s = tessera.map %f, %g : !tessera.fragment<64x32xf16, a>, !tessera.fragment<64x32xf16, a> -> !tessera.fragment<64x32xf16, a> {
      ^bb0(%p: f16, %q: f16):
        %t = arith.addf %p, %q : f16
        tessera.yield %t : f16
      }
      scf.yield %s : !tessera.fragment<64x32xf16, a>
    }
    "test.use"(%r) : (!tessera.fragment<64x32xf16, a>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

// -----

#schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2>

// Copies that may lie out of bounds: their slots are computed.

// CHECK-LABEL: func @edges
// CHECK:         scf.for %[[I:.+]] = %c0 to %c12 step %c1
// CHECK:           %[[NEXT:.+]] = arith.addi %[[I]], %c1
// CHECK:           %[[SLOT:.+]] = arith.remui %[[NEXT]], %c2
// CHECK:           tessera.async_copy %{{.+}}, %{{.+}}[%[[SLOT]], %c0, %c0]
func.func @edges(%a: memref<50x416xf16>, %init: !tessera.fragment<64x32xf16, a>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c13 = arith.constant 13 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<64x32xf16, #gpu.address_space<workgroup>>) {
    %r = scf.for %i = %c0 to %c13 step %c1 iter_args(%f = %init) -> (!tessera.fragment<64x32xf16, a>) {
      %k = arith.muli %i, %c32 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [64, 32]
          : memref<50x416xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds : memref<64x32xf16, #gpu.address_space<workgroup>>
          -> !tessera.fragment<64x32xf16, a>
      scf.yield %g : !tessera.fragment<64x32xf16, a>
    }
    "test.use"(%r) : (!tessera.fragment<64x32xf16, a>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}
