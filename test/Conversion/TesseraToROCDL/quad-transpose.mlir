// A column's elements from memory that holds rows: a quad of lanes loads four rows at once and exchanges them.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl))" | FileCheck %s

#shared = #gpu.address_space<workgroup>
gpu.module @loads {
  // CHECK-LABEL: gpu.func @halves(
  // CHECK:         vector.load {{.+}} : memref<64x64xf16, #gpu.address_space<workgroup>>, vector<4xf16>
  // CHECK:         rocdl.update.dpp {{.+}} with 177, 15, 15, true : i32
  // CHECK:         llvm.call_intrinsic "llvm.amdgcn.perm"
  // CHECK:         rocdl.update.dpp {{.+}} with 177, 15, 15, true : i32
  // CHECK:         llvm.call_intrinsic "llvm.amdgcn.perm"
  // CHECK:         rocdl.update.dpp {{.+}} with 78, 15, 15, true : i32
  // CHECK-NOT:     memref.load
  // CHECK:         amdgpu.mfma 32x32x8
  gpu.func @halves(%C: memref<64x64xf32>) workgroup(%A: memref<64x64xf16, #shared>, %B: memref<64x64xf16, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf16, #shared> -> !tessera.fragment<32x8xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf16, #shared> -> !tessera.fragment<8x32xf16, b>
    %c = tessera.fill %zero : !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<32x8xf16, a>, !tessera.fragment<8x32xf16, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<32x32xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @bytes(
  // CHECK-COUNT-2: vector.load {{.+}} : memref<64x64xi8, #gpu.address_space<workgroup>>, vector<4xi8>
  // CHECK-NOT:     memref.load
  // CHECK:         amdgpu.mfma 32x32x16
  gpu.func @bytes(%C: memref<64x64xi32>) workgroup(%A: memref<64x64xi8, #shared>, %B: memref<64x64xi8, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %a = tessera.load %A[%c0, %c0] : memref<64x64xi8, #shared> -> !tessera.fragment<32x16xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xi8, #shared> -> !tessera.fragment<16x32xi8, b>
    %c = tessera.fill %zero : !tessera.fragment<32x32xi32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<32x16xi8, a>, !tessera.fragment<16x32xi8, b> -> !tessera.fragment<32x32xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<32x32xi32, acc>, memref<64x64xi32>
    gpu.return
  }
}
