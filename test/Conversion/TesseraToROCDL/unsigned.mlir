// MFMA treats bytes as signed. An unsigned one is its low seven bits minus the
// value of its top bit as a sign; a difference is ~(~x + y).
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(tessera-legalize-fragments{flags=require-mma},convert-tessera-to-rocdl))" | FileCheck %s

gpu.module @mma {
  // CHECK-LABEL: gpu.func @unsigned_a(
  // CHECK:         %[[LOW:.+]] = arith.constant dense<127> : vector<8xi8>
  // CHECK:         %[[A0:.+]] = arith.andi %{{.+}}, %[[LOW]] : vector<8xi8>
  // CHECK:         %[[TOP:.+]] = arith.constant dense<-128> : vector<8xi8>
  // CHECK:         %[[A1:.+]] = arith.andi %{{.+}}, %[[TOP]] : vector<8xi8>
  // CHECK:         %[[S0:.+]] = amdgpu.mfma 32x32x16 %[[A0]] * %[[B:.+]] + %
  // CHECK:         %[[N0:.+]] = arith.xori %[[S0]]
  // CHECK:         %[[S1:.+]] = amdgpu.mfma 32x32x16 %[[A1]] * %[[B]] + %[[N0]]
  // CHECK:         arith.xori %[[S1]]
  // CHECK-NOT:     amdgpu.mfma
  gpu.func @unsigned_a(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<32x16xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<16x32xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<32x32xi32, acc>
    %d = tessera.mma %a, %b, %c unsigned_a
        : !tessera.fragment<32x16xi8, a>, !tessera.fragment<16x32xi8, b> -> !tessera.fragment<32x32xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<32x32xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // Both: four matmuls.
  // CHECK-LABEL: gpu.func @unsigned_both(
  // CHECK-COUNT-4: amdgpu.mfma 32x32x16
  // CHECK-NOT:     amdgpu.mfma
  gpu.func @unsigned_both(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<32x16xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<16x32xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<32x32xi32, acc>
    %d = tessera.mma %a, %b, %c unsigned_a unsigned_b
        : !tessera.fragment<32x16xi8, a>, !tessera.fragment<16x32xi8, b> -> !tessera.fragment<32x32xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<32x32xi32, acc>, memref<64x64xi32>
    gpu.return
  }
}
