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

// -----

#schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2>

// The scales of weights that are narrower are read one step ahead, one row of them; the last step reads its own
// ones again. (The matmul that uses the weights is left out.)

// CHECK-LABEL: func @ahead
// CHECK:           %[[FIRST:.+]] = tessera.broadcast %{{.+}}[%c0] dimension 0 : {{.+}} -> <1x32xf16, b>
// CHECK:           %[[R:.+]]:2 = scf.for %[[I:.+]] = %c0 to %c3 step %c1 iter_args(%{{.+}} = %{{.+}}, %[[NOW:.+]] = %[[FIRST]])
// CHECK:             %[[ALL:.+]] = tessera.broadcast %[[NOW]] dimension 0 : !tessera.fragment<1x32xf16, b> -> <32x32xf16, b>
// CHECK:             %[[AFTER:.+]] = arith.addi %[[I]], %c1
// CHECK:             %[[STEP:.+]] = arith.minui %[[AFTER]], %c3
// CHECK:             %[[AT:.+]] = memref.subview %{{.+}}[%[[STEP]], 0]
// CHECK:             %[[NEXT:.+]] = tessera.broadcast %[[AT]][%c0] dimension 0 : {{.+}} -> <1x32xf16, b>
// CHECK:             tessera.wait
// CHECK:             tessera.map %{{.+}}, %[[ALL]]
// CHECK:             scf.yield %{{.+}}, %[[NEXT]]
func.func @ahead(%w: memref<128x32xi8>, %s: memref<4x32xf16>, %init: !tessera.fragment<32x32xf16, b>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%t : memref<32x32xi8, #gpu.address_space<workgroup>>) {
    %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%f = %init) -> (!tessera.fragment<32x32xf16, b>) {
      %k = arith.muli %i, %c32 : index
      gpu.barrier
      tessera.copy %w[%k, %c0], %t[%c0, %c0] shape [32, 32] in_bounds
          : memref<128x32xi8>, memref<32x32xi8, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %t[%c0, %c0] in_bounds : memref<32x32xi8, #gpu.address_space<workgroup>>
          -> !tessera.fragment<32x32xi8, b>
      %row = memref.subview %s[%i, 0] [1, 32] [1, 1] : memref<4x32xf16> to memref<32xf16, strided<[1], offset: ?>>
      %v = tessera.broadcast %row[%c0] dimension 0 : memref<32xf16, strided<[1], offset: ?>> -> !tessera.fragment<32x32xf16, b>
      %m = tessera.map %g, %v : !tessera.fragment<32x32xi8, b>, !tessera.fragment<32x32xf16, b> -> !tessera.fragment<32x32xf16, b> {
      ^bb0(%q: i8, %scale: f16):
        %n = arith.sitofp %q : i8 to f16
        %p = arith.mulf %n, %scale : f16
        tessera.yield %p : f16
      }
      %sum = tessera.map %f, %m : !tessera.fragment<32x32xf16, b>, !tessera.fragment<32x32xf16, b> -> !tessera.fragment<32x32xf16, b> {
      ^bb0(%p: f16, %q: f16):
        %a = arith.addf %p, %q : f16
        tessera.yield %a : f16
      }
      scf.yield %sum : !tessera.fragment<32x32xf16, b>
    }
    "test.use"(%r) : (!tessera.fragment<32x32xf16, b>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

// -----

#schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 3>

// Five or eight steps: as many as stages in any case, so that all copies stay in bounds.

// CHECK-LABEL: func @either
// CHECK:           %[[STEPS:.+]] = arith.select %{{.+}}, %c5, %c8
// CHECK-COUNT-2:   tessera.async_copy {{.+}} in_bounds
// CHECK:           %[[MAIN:.+]] = arith.subi %[[STEPS]], %c2
// CHECK:           scf.for %{{.+}} = %c0 to %[[MAIN]] step %c1
// CHECK:             tessera.async_copy {{.+}} in_bounds
// CHECK:           tessera.wait{{$}}
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      scf.for %{{.+}} = %[[MAIN]] to %[[STEPS]] step %c1
// CHECK-NOT:         tessera.async_copy

// Two or eight are fewer than stages.

// CHECK-LABEL: func @too_few
// CHECK-NOT:     tessera.async_copy {{.+}} in_bounds
// CHECK:         scf.for %{{.+}} = %c0 to %{{.+}} step %c1
// CHECK-NOT:     scf.for
func.func @either(%a: memref<64x512xf16>, %init: !tessera.fragment<64x32xf16, a>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c2)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<64x32xf16, #gpu.address_space<workgroup>>) {
    %last = arith.cmpi eq, %z, %c1 : index
    %n = arith.select %last, %c5, %c8 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%f = %init) -> (!tessera.fragment<64x32xf16, a>) {
      %k = arith.muli %i, %c32 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [64, 32] in_bounds swizzled
          : memref<64x512xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #gpu.address_space<workgroup>>
          -> !tessera.fragment<64x32xf16, a>
      scf.yield %g : !tessera.fragment<64x32xf16, a>
    }
    "test.use"(%r) : (!tessera.fragment<64x32xf16, a>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

func.func @too_few(%a: memref<64x512xf16>, %init: !tessera.fragment<64x32xf16, a>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c2)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<64x32xf16, #gpu.address_space<workgroup>>) {
    %last = arith.cmpi eq, %z, %c1 : index
    %n = arith.select %last, %c2, %c8 : index
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%f = %init) -> (!tessera.fragment<64x32xf16, a>) {
      %k = arith.muli %i, %c32 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [64, 32] in_bounds swizzled
          : memref<64x512xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds swizzled : memref<64x32xf16, #gpu.address_space<workgroup>>
          -> !tessera.fragment<64x32xf16, a>
      scf.yield %g : !tessera.fragment<64x32xf16, a>
    }
    "test.use"(%r) : (!tessera.fragment<64x32xf16, a>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}
