// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-attach-chip="target=cpu" --tessera-pipeline-copies --canonicalize --cse --split-input-file | FileCheck %s

#schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 3>

// Eight steps: six with copies, two without. All copies stay in bounds.

// CHECK-LABEL: func @known
// CHECK:         workgroup(%[[W:.+]] : memref<3x64x32xf16, #gpu.address_space<workgroup>>)
// CHECK:           tessera.async_copy %{{.+}}[%c0, %c0], %[[W]][%c0, %c0, %c0] shape [64, 32] in_bounds swizzled
// CHECK:           tessera.async_copy %{{.+}}[%c0, %c32], %[[W]][%c1, %c0, %c0] shape [64, 32] in_bounds swizzled
// CHECK:           %[[SUM:.+]] = scf.for %[[I:.+]] = %c0 to %c6 step %c1
// CHECK-NEXT:        tessera.wait pending 1
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        %[[NEXT:.+]] = arith.addi %[[I]], %c2
// CHECK-NEXT:        %[[AT:.+]] = arith.muli %[[NEXT]], %c32
// CHECK-NEXT:        %[[SLOT:.+]] = arith.remui %[[NEXT]], %c3
// CHECK-NEXT:        tessera.async_copy %{{.+}}[%c0, %[[AT]]], %[[W]][%[[SLOT]], %c0, %c0] shape [64, 32] in_bounds swizzled
// CHECK-NEXT:        %[[NOW:.+]] = arith.remui %[[I]], %c3
// CHECK-NEXT:        tessera.load %[[W]][%[[NOW]], %c0, %c0] in_bounds swizzled
// CHECK:           tessera.wait{{$}}
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      scf.for %{{.+}} = %c6 to %c8 step %c1 iter_args(%{{.+}} = %[[SUM]])
// CHECK-NOT:         tessera.async_copy
func.func @known(%a: memref<64x256xf16>, %init: !tessera.fragment<64x32xf16, a>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<64x32xf16, #gpu.address_space<workgroup>>) {
    %r = scf.for %i = %c0 to %c8 step %c1 iter_args(%f = %init) -> (!tessera.fragment<64x32xf16, a>) {
      %k = arith.muli %i, %c32 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [64, 32] in_bounds swizzled
          : memref<64x256xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #gpu.address_space<workgroup>>
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

// A dynamic number of steps: copies run past the end, and are checked. In a loop over tiles, the staged
// data of a tile is read before the first copy of the next. The region of a gather is cloned too.

// CHECK-LABEL: func @unknown
// CHECK:           scf.for
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        tessera.async_copy %{{.+}}[], %{{.+}}[%c0, %c0, %c0] shape [64, 32] gather {
// CHECK:             tessera.yield
// CHECK:             scf.for %{{.+}} = %c0 to %{{.+}} step
// CHECK-NEXT:          tessera.wait{{$}}
// CHECK-NEXT:          gpu.barrier
// CHECK:               tessera.async_copy
// CHECK-NOT:           in_bounds
// CHECK:               tessera.load
// CHECK:             tessera.wait{{$}}
// CHECK-NOT:         gpu.barrier
// CHECK:           gpu.terminator
func.func @unknown(%a: memref<?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<64x32xf16, #gpu.address_space<workgroup>>) {
    scf.for %tile = %c0 to %n step %c1 {
      scf.for %i = %c0 to %n step %c1 {
        gpu.barrier
        tessera.copy %a[], %w[%c0, %c0] shape [64, 32] gather {
        ^bb0(%r: index, %c: index):
          %at = arith.addi %r, %i : index
          %in = arith.cmpi ult, %at, %n : index
          tessera.yield %at, %in : index, i1
        } : memref<?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
        gpu.barrier
        %g = tessera.load %w[%c0, %c0] in_bounds : memref<64x32xf16, #gpu.address_space<workgroup>>
            -> !tessera.fragment<64x32xf16, a>
        "test.use"(%g) : (!tessera.fragment<64x32xf16, a>) -> ()
      }
    }
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}
