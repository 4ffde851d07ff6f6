// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-attach-chip="target=cuda chip=sm_80" --tessera-pipeline-copies --canonicalize --cse --split-input-file | FileCheck %s

#schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2>

// The tile is also used before and after the loop, and keeps its memory for that.

// CHECK-LABEL: func @shared
// CHECK:         workgroup(%[[W:.+]] : memref<64x32xf16, #gpu.address_space<workgroup>>, %[[STAGES:.+]] : memref<2x64x32xf16, #gpu.address_space<workgroup>>)
// CHECK:           tessera.copy %{{.+}}, %[[W]]
// CHECK:           tessera.load %[[W]][%c0, %c0]
// CHECK:           tessera.async_copy %{{.+}}[], %[[STAGES]][%c0, %c0, %c0]
// CHECK:           scf.for
// CHECK:             tessera.async_copy %{{.+}}[], %[[STAGES]][
// CHECK:             tessera.load %[[STAGES]][
// CHECK:           tessera.copy %{{.+}}, %[[W]]
// CHECK:           tessera.load %[[W]][%c0, %c0]
func.func @shared(%a: memref<64x?xf16>, %n: index, %end: index, %init: !tessera.fragment<64x32xf16, a>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<64x32xf16, #gpu.address_space<workgroup>>) {
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] : memref<64x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
    gpu.barrier
    %first = tessera.load %w[%c0, %c0] in_bounds : memref<64x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<64x32xf16, a>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%f = %first) -> (!tessera.fragment<64x32xf16, a>) {
      %k = arith.muli %i, %c32 : index
      gpu.barrier
      tessera.copy %a[], %w[%c0, %c0] shape [64, 32] gather {
      ^bb0(%row: index, %col: index):
        %at = arith.addi %k, %col : index
        %inside = arith.cmpi ult, %at, %end : index
        tessera.yield %row, %at, %inside : index, index, i1
      } : memref<64x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds : memref<64x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<64x32xf16, a>
      %s = tessera.map %f, %g : !tessera.fragment<64x32xf16, a>, !tessera.fragment<64x32xf16, a> -> !tessera.fragment<64x32xf16, a> {
      ^bb0(%p: f16, %q: f16):
        %t = arith.addf %p, %q : f16
        tessera.yield %t : f16
      }
      scf.yield %s : !tessera.fragment<64x32xf16, a>
    }
    gpu.barrier
    tessera.copy %a[%c0, %n], %w[%c0, %c0] shape [64, 32] : memref<64x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
    gpu.barrier
    %last = tessera.load %w[%c0, %c0] in_bounds : memref<64x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<64x32xf16, a>
    "test.use"(%r, %last) : (!tessera.fragment<64x32xf16, a>, !tessera.fragment<64x32xf16, a>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

// -----

#schedule = #tessera.schedule<workgroup = [256, 32], subgroup = [32, 32], k = 128, kFragment = 16, stages = 2>

// 64 KiB, and twice as much for the stages, are more than a workgroup has.

// CHECK-LABEL: func @large
// CHECK-NOT:     async_copy
func.func @large(%a: memref<256x?xf16>, %n: index, %end: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<256x128xf16, #gpu.address_space<workgroup>>) {
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [256, 128] : memref<256x?xf16>, memref<256x128xf16, #gpu.address_space<workgroup>>
    scf.for %i = %c0 to %n step %c1 {
      %k = arith.muli %i, %c128 : index
      gpu.barrier
      tessera.copy %a[], %w[%c0, %c0] shape [256, 128] gather {
      ^bb0(%row: index, %col: index):
        %at = arith.addi %k, %col : index
        %inside = arith.cmpi ult, %at, %end : index
        tessera.yield %row, %at, %inside : index, index, i1
      } : memref<256x?xf16>, memref<256x128xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds : memref<256x128xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf16, a>
      "test.use"(%g) : (!tessera.fragment<32x32xf16, a>) -> ()
    }
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

// -----

#schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2>

// The tiles are read backwards: the copy after the last step would begin before the first element.

// CHECK-LABEL: func @backwards
// CHECK-NOT:     async_copy
func.func @backwards(%a: memref<64x?xf16>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1)
      workgroup(%w : memref<64x32xf16, #gpu.address_space<workgroup>>) {
    tessera.copy %a[%c0, %c0], %w[%c0, %c0] shape [64, 32] : memref<64x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
    scf.for %i = %c0 to %n step %c1 {
      %left = arith.subi %n, %i : index
      %before = arith.subi %left, %c1 : index
      %k = arith.muli %before, %c32 : index
      gpu.barrier
      tessera.copy %a[%c0, %k], %w[%c0, %c0] shape [64, 32] : memref<64x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %g = tessera.load %w[%c0, %c0] in_bounds : memref<64x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf16, a>
      "test.use"(%g) : (!tessera.fragment<32x32xf16, a>) -> ()
    }
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}
