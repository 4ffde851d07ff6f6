// RUN: gpu-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-pipeline-copies),canonicalize,cse)" --split-input-file | FileCheck %s

#schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 16, kFragment = 16, stages = 3>

// Wide elements: a step's copies follow its matmuls, and slots are constant.

// CHECK-LABEL: func @wide
// CHECK:         scf.for %{{.+}} = %c0 to %c6 step %c3
// CHECK-NEXT:      tessera.wait pending 1
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      tessera.load %[[W:.+]][%c0, %c0, %c0]
// CHECK:           tessera.map
// CHECK:           tessera.async_copy %{{.+}}, %[[W]][%c2, %c0, %c0]
// CHECK-NEXT:      tessera.wait pending 1
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      tessera.load %[[W]][%c1, %c0, %c0]
// CHECK:           tessera.map
// CHECK:           tessera.async_copy %{{.+}}, %[[W]][%c0, %c0, %c0]
func.func @wide(%a: memref<32x128xf64>, %init: !tessera.fragment<32x16xf64, a>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<32x16xf64, #gpu.address_space<workgroup>>) {
    %r = scf.for %i = %c0 to %steps step %c1 iter_args(%f = %init) -> (!tessera.fragment<32x16xf64, a>) {
      %k = arith.muli %i, %c16 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [32, 16] in_bounds 
          : memref<32x128xf64>, memref<32x16xf64, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds : memref<32x16xf64, #gpu.address_space<workgroup>>
          -> !tessera.fragment<32x16xf64, a>
      %s = tessera.map %f, %g : !tessera.fragment<32x16xf64, a>, !tessera.fragment<32x16xf64, a> -> !tessera.fragment<32x16xf64, a> {
      ^bb0(%p: f64, %q: f64):
        %t = arith.addf %p, %q : f64
        tessera.yield %t : f64
      }
      scf.yield %s : !tessera.fragment<32x16xf64, a>
    }
    "test.use"(%r) : (!tessera.fragment<32x16xf64, a>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

// -----

#schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 16, kFragment = 16, stages = 2>

// With two stages the next step would wait for copies that were just issued.

// CHECK-LABEL: func @two_stages
// CHECK:         scf.for
// CHECK-NEXT:      tessera.wait{{$}}
// CHECK-NEXT:      gpu.barrier
// CHECK-NOT:       tessera.load
// CHECK:           tessera.async_copy
// CHECK:           tessera.load
func.func @two_stages(%a: memref<32x128xf64>, %init: !tessera.fragment<32x16xf64, a>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<32x16xf64, #gpu.address_space<workgroup>>) {
    %r = scf.for %i = %c0 to %steps step %c1 iter_args(%f = %init) -> (!tessera.fragment<32x16xf64, a>) {
      %k = arith.muli %i, %c16 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [32, 16] in_bounds 
          : memref<32x128xf64>, memref<32x16xf64, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds : memref<32x16xf64, #gpu.address_space<workgroup>>
          -> !tessera.fragment<32x16xf64, a>
      %s = tessera.map %f, %g : !tessera.fragment<32x16xf64, a>, !tessera.fragment<32x16xf64, a> -> !tessera.fragment<32x16xf64, a> {
      ^bb0(%p: f64, %q: f64):
        %t = arith.addf %p, %q : f64
        tessera.yield %t : f64
      }
      scf.yield %s : !tessera.fragment<32x16xf64, a>
    }
    "test.use"(%r) : (!tessera.fragment<32x16xf64, a>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

// -----

#schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 16, kFragment = 16, stages = 3>

// Rows that begin within an access need registers on their way.

// CHECK-LABEL: func @odd_rows
// CHECK:         scf.for %{{.+}} = %c0 to %c6 step %c1
// CHECK-NEXT:      tessera.wait pending 1
// CHECK-NEXT:      gpu.barrier
// CHECK-NOT:       tessera.load
// CHECK:           tessera.async_copy
// CHECK:           tessera.load
func.func @odd_rows(%a: memref<32x129xf64>, %init: !tessera.fragment<32x16xf64, a>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<32x16xf64, #gpu.address_space<workgroup>>) {
    %r = scf.for %i = %c0 to %steps step %c1 iter_args(%f = %init) -> (!tessera.fragment<32x16xf64, a>) {
      %k = arith.muli %i, %c16 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [32, 16] in_bounds 
          : memref<32x129xf64>, memref<32x16xf64, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds : memref<32x16xf64, #gpu.address_space<workgroup>>
          -> !tessera.fragment<32x16xf64, a>
      %s = tessera.map %f, %g : !tessera.fragment<32x16xf64, a>, !tessera.fragment<32x16xf64, a> -> !tessera.fragment<32x16xf64, a> {
      ^bb0(%p: f64, %q: f64):
        %t = arith.addf %p, %q : f64
        tessera.yield %t : f64
      }
      scf.yield %s : !tessera.fragment<32x16xf64, a>
    }
    "test.use"(%r) : (!tessera.fragment<32x16xf64, a>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

// -----

#schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 16, kFragment = 16, stages = 3>

// CHECK-LABEL: func @narrow
// CHECK:         scf.for %{{.+}} = %c0 to %c6 step %c1
// CHECK-NOT:       tessera.load
// CHECK:           tessera.async_copy
// CHECK:           tessera.load
func.func @narrow(%a: memref<32x128xf16>, %init: !tessera.fragment<32x16xf16, a>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<32x16xf16, #gpu.address_space<workgroup>>) {
    %r = scf.for %i = %c0 to %steps step %c1 iter_args(%f = %init) -> (!tessera.fragment<32x16xf16, a>) {
      %k = arith.muli %i, %c16 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [32, 16] in_bounds 
          : memref<32x128xf16>, memref<32x16xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds : memref<32x16xf16, #gpu.address_space<workgroup>>
          -> !tessera.fragment<32x16xf16, a>
      %s = tessera.map %f, %g : !tessera.fragment<32x16xf16, a>, !tessera.fragment<32x16xf16, a> -> !tessera.fragment<32x16xf16, a> {
      ^bb0(%p: f16, %q: f16):
        %t = arith.addf %p, %q : f16
        tessera.yield %t : f16
      }
      scf.yield %s : !tessera.fragment<32x16xf16, a>
    }
    "test.use"(%r) : (!tessera.fragment<32x16xf16, a>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}
