// Columns of a tile in workgroup memory by transposing reads.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx950},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl),cse)" -o %t
// RUN: FileCheck %s --input-file=%t

// Each lane gets the elements that the matmul expects of it.
// RUN: python3 %S/Inputs/transposed.py columns:plain:0:0 bytes:swizzled:64:16 wide_bytes:plain:32:32 floats:swizzled:0:48 < %t | FileCheck %s --check-prefix=LANES
// RUN: gpu-opt %t --pass-pipeline="builtin.module(gpu.module(tessera-separate-offsets),cse)" -o %t.2
// RUN: python3 %S/Inputs/transposed.py columns:plain:0:0 bytes:swizzled:64:16 wide_bytes:plain:32:32 floats:swizzled:0:48 < %t.2 | FileCheck %s --check-prefix=LANES
// LANES:      columns: 512 elements
// LANES-NEXT: bytes: 1024 elements
// LANES-NEXT: wide_bytes: 1024 elements
// LANES-NEXT: floats: 2048 elements

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

  // The same for bytes: lane l reads row l / 2, columns 8 * (l % 2) and following; the next 16
  // lanes read 16 rows further on, and the second read is eight rows below.
  // CHECK-LABEL: gpu.func @bytes(
  // CHECK:         %[[IN:.+]] = arith.andi %{{.+}}, %c15
  // CHECK:         %[[INROW:.+]] = arith.divui %[[IN]], %c2
  // CHECK:         %[[INCHUNK:.+]] = arith.remui %[[IN]], %c2
  // CHECK:         arith.muli %[[INCHUNK]], %c8
  // CHECK:         %[[LOW:.+]] = amdgpu.transpose_load %[[B:.+]][%{{.+}}, %{{.+}}] : memref<128x256xi8, #gpu.address_space<workgroup>> -> vector<8xi8>
  // CHECK:         %[[HIGH:.+]] = amdgpu.transpose_load %[[B]][%{{.+}}, %{{.+}}] : memref<128x256xi8, #gpu.address_space<workgroup>> -> vector<8xi8>
  // CHECK:         vector.shuffle %[[LOW]], %[[HIGH]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
  // CHECK:         amdgpu.mfma 16x16x64
  gpu.func @bytes(%c: memref<16x16xi32>)
      workgroup(%A: memref<16x128xi8, #shared>, %B: memref<128x256xi8, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %zero = arith.constant 0 : i32
    %a = tessera.load %A[%c0, %c0] : memref<16x128xi8, #shared> -> !tessera.fragment<16x64xi8, a>
    %b = tessera.load %B[%c64, %c16] swizzled : memref<128x256xi8, #shared> -> !tessera.fragment<64x16xi8, b>
    %z = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
    %d = tessera.mma %a, %b, %z
        : !tessera.fragment<16x64xi8, a>, !tessera.fragment<64x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<16x16xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @wide_bytes(
  // CHECK-COUNT-2: amdgpu.transpose_load {{.*}} -> vector<8xi8>
  // CHECK:         amdgpu.mfma 32x32x32
  gpu.func @wide_bytes(%c: memref<32x32xi32>)
      workgroup(%A: memref<32x32xi8, #shared>, %B: memref<64x96xi8, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %zero = arith.constant 0 : i32
    %a = tessera.load %A[%c0, %c0] : memref<32x32xi8, #shared> -> !tessera.fragment<32x32xi8, a>
    %b = tessera.load %B[%c32, %c32] : memref<64x96xi8, #shared> -> !tessera.fragment<32x32xi8, b>
    %z = tessera.fill %zero : !tessera.fragment<32x32xi32, acc>
    %d = tessera.mma %a, %b, %z
        : !tessera.fragment<32x32xi8, a>, !tessera.fragment<32x32xi8, b> -> !tessera.fragment<32x32xi32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<32x32xi32, acc>, memref<32x32xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @floats(
  // CHECK-COUNT-4: amdgpu.transpose_load {{.*}} -> vector<8xf8E4M3FN>
  // CHECK:         amdgpu.mfma 16x16x128
  gpu.func @floats(%c: memref<16x16xf32>)
      workgroup(%A: memref<16x128xf8E4M3FN, #shared>, %B: memref<128x128xf8E4M3FN, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c48 = arith.constant 48 : index
    %zero = arith.constant 0.0 : f32
    %a = tessera.load %A[%c0, %c0] : memref<16x128xf8E4M3FN, #shared> -> !tessera.fragment<16x128xf8E4M3FN, a>
    %b = tessera.load %B[%c0, %c48] swizzled : memref<128x128xf8E4M3FN, #shared> -> !tessera.fragment<128x16xf8E4M3FN, b>
    %z = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
    %d = tessera.mma %a, %b, %z
        : !tessera.fragment<16x128xf8E4M3FN, a>, !tessera.fragment<128x16xf8E4M3FN, b> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
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
