// Columns of a tile in workgroup memory by transposing reads.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx950},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl),cse)" | FileCheck %s

#shared = #gpu.address_space<workgroup>
gpu.module @reads {
  // In 16 lanes, lane l reads row l / 4, columns 4 * (l % 4) and following; the next 16 lanes
  // read 16 columns further on, the next 32 eight rows below. A second read is four rows below.
  // CHECK-LABEL: gpu.func @columns(
  // CHECK:         %[[IN:.+]] = arith.andi %{{.+}}, %c15
  // CHECK:         %[[GROUP:.+]] = arith.subi %{{.+}}, %[[IN]]
  // CHECK:         %[[HALF:.+]] = arith.shrui %[[GROUP]], %c5
  // CHECK:         %[[HALFROW:.+]] = arith.muli %[[HALF]], %c8
  // CHECK:         %[[GROUPCOL:.+]] = arith.andi %[[GROUP]], %c31
  // CHECK:         %[[INROW:.+]] = arith.divui %[[IN]], %c4
  // CHECK:         %[[ROW:.+]] = arith.addi %[[HALFROW]], %[[INROW]]
  // CHECK:         %[[INCHUNK:.+]] = arith.remui %[[IN]], %c4
  // CHECK:         %[[INCOL:.+]] = arith.muli %[[INCHUNK]], %c4
  // CHECK:         %[[COL:.+]] = arith.addi %[[GROUPCOL]], %[[INCOL]]
  // CHECK:         %[[LOW:.+]] = amdgpu.transpose_load %{{.+}}[%[[ROW]], %[[COL]]] : memref<32x64xf16, #gpu.address_space<workgroup>> -> vector<4xf16>
  // CHECK:         %[[NEXT:.+]] = arith.addi %[[ROW]], %c4
  // CHECK:         %[[HIGH:.+]] = amdgpu.transpose_load %{{.+}}[%[[NEXT]], %[[COL]]] : memref<32x64xf16, #gpu.address_space<workgroup>> -> vector<4xf16>
  // CHECK:         vector.shuffle %[[LOW]], %[[HIGH]] [0, 1, 2, 3, 4, 5, 6, 7]
  // CHECK-NOT:     rocdl.update.dpp
  // CHECK:         amdgpu.mfma 32x32x16
  gpu.func @columns(%x: vector<8xf16>, %c: memref<32x32xf32>)
      workgroup(%A: memref<32x64xf16, #shared>, %B: memref<32x64xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tessera.load %A[%c0, %c0] : memref<32x64xf16, #shared> -> !tessera.fragment<32x16xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<32x64xf16, #shared> -> !tessera.fragment<16x32xf16, b>
    %z = tessera.fill %zero : !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %a, %b, %z
        : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x32xf16, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<32x32xf32, acc>, memref<32x32xf32>
    gpu.return
  }

  // Memory outside of the workgroup's has no such reads: quads of lanes exchange.
  // CHECK-LABEL: gpu.func @global(
  // CHECK-NOT:     amdgpu.transpose_load
  // CHECK:         rocdl.update.dpp
  gpu.func @global(%B: memref<32x64xf16>, %o: memref<16x32xf16>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tessera.load %B[%c0, %c0] : memref<32x64xf16> -> !tessera.fragment<32x16xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<32x64xf16> -> !tessera.fragment<16x32xf16, b>
    %z = tessera.fill %zero : !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %a, %b, %z
        : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x32xf16, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %b, %o[%c0, %c0] : !tessera.fragment<16x32xf16, b>, memref<16x32xf16>
    gpu.return
  }
}
