// Matmuls on the matrix units of subgroups of 64 lanes.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(tessera-legalize-fragments{flags=require-mma},convert-tessera-to-rocdl))" | FileCheck %s

gpu.module @mma {
  // CHECK-LABEL: gpu.func @f16_32(
  // CHECK:         amdgpu.mfma 32x32x8 %{{.+}} * %{{.+}} + %{{.+}} blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
  // CHECK-NOT:     amdgpu.mfma
  gpu.func @f16_32(%A: memref<64x256xf16>, %B: memref<256x64xf16>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xf16> -> !tessera.fragment<32x8xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xf16> -> !tessera.fragment<8x32xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<32x8xf16, a>, !tessera.fragment<8x32xf16, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<32x32xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f16_16(
  // CHECK:         amdgpu.mfma 16x16x16 {{.+}} : vector<4xf16>, vector<4xf16>, vector<4xf32>
  // CHECK-NOT:     amdgpu.mfma
  gpu.func @f16_16(%A: memref<64x256xf16>, %B: memref<256x64xf16>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xf16> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xf16> -> !tessera.fragment<16x16xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x16xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @bf16(
  // CHECK:         amdgpu.mfma 32x32x8 {{.+}} : vector<4xbf16>, vector<4xbf16>, vector<16xf32>
  gpu.func @bf16(%A: memref<64x256xbf16>, %B: memref<256x64xbf16>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xbf16> -> !tessera.fragment<32x8xbf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xbf16> -> !tessera.fragment<8x32xbf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<32x8xbf16, a>, !tessera.fragment<8x32xbf16, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<32x32xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // One element per lane is a scalar.
  // CHECK-LABEL: gpu.func @f32(
  // CHECK:         amdgpu.mfma 32x32x2 {{.+}} : f32, f32, vector<16xf32>
  gpu.func @f32(%A: memref<64x256xf32>, %B: memref<256x64xf32>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xf32> -> !tessera.fragment<32x2xf32, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xf32> -> !tessera.fragment<2x32xf32, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<32x2xf32, a>, !tessera.fragment<2x32xf32, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<32x32xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @tf32(
  // CHECK:         amdgpu.mfma 32x32x4 {{.+}} {reducePrecision} blgp = none : vector<2xf32>, vector<2xf32>, vector<16xf32>
  gpu.func @tf32(%A: memref<64x256xf32>, %B: memref<256x64xf32>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xf32> -> !tessera.fragment<32x4xf32, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xf32> -> !tessera.fragment<4x32xf32, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %a, %b, %c precision tf32
        : !tessera.fragment<32x4xf32, a>, !tessera.fragment<4x32xf32, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<32x32xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f64(
  // CHECK:         amdgpu.mfma 16x16x4 {{.+}} : f64, f64, vector<4xf64>
  gpu.func @f64(%A: memref<64x256xf64>, %B: memref<256x64xf64>, %C: memref<64x64xf64>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xf64> -> !tessera.fragment<16x4xf64, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xf64> -> !tessera.fragment<4x16xf64, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<16x16xf64, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x4xf64, a>, !tessera.fragment<4x16xf64, b> -> !tessera.fragment<16x16xf64, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xf64, acc>, memref<64x64xf64>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f8(
  // CHECK:         amdgpu.mfma 32x32x16 {{.+}} : vector<8xf8E4M3FNUZ>, vector<8xf8E5M2FNUZ>, vector<16xf32>
  gpu.func @f8(%A: memref<64x256xf8E4M3FNUZ>, %B: memref<256x64xf8E5M2FNUZ>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xf8E4M3FNUZ> -> !tessera.fragment<32x16xf8E4M3FNUZ, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xf8E5M2FNUZ> -> !tessera.fragment<16x32xf8E5M2FNUZ, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<32x16xf8E4M3FNUZ, a>, !tessera.fragment<16x32xf8E5M2FNUZ, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<32x32xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @i8(
  // CHECK-NOT:     arith.xori
  // CHECK:         amdgpu.mfma 32x32x16 {{.+}} : vector<8xi8>, vector<8xi8>, vector<16xi32>
  // CHECK-NOT:     amdgpu.mfma
  gpu.func @i8(%A: memref<64x256xi8>, %B: memref<256x64xi8>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xi8> -> !tessera.fragment<32x16xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xi8> -> !tessera.fragment<16x32xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<32x32xi32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<32x16xi8, a>, !tessera.fragment<16x32xi8, b> -> !tessera.fragment<32x32xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<32x32xi32, acc>, memref<64x64xi32>
    gpu.return
  }
}
