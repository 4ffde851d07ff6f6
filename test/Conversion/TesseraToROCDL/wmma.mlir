// Matmuls on the matrix units of subgroups of 32 lanes: RDNA3, whose operands are held twice
// and whose accumulators of 16 bits use every other half of their registers, and RDNA4.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx1100},gpu.module(tessera-legalize-fragments{flags=require-mma},convert-tessera-to-rocdl))" | FileCheck %s --check-prefixes=CHECK,GFX11
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx1201},gpu.module(tessera-legalize-fragments{flags=require-mma},convert-tessera-to-rocdl))" | FileCheck %s --check-prefixes=CHECK,GFX12

gpu.module @mma {
  // CHECK-LABEL: gpu.func @f16(
  // GFX11:         amdgpu.wmma 16x16x16 {{.+}} : vector<16xf16>, vector<16xf16>, vector<8xf32>
  // GFX12:         amdgpu.wmma 16x16x16 {{.+}} : vector<8xf16>, vector<8xf16>, vector<8xf32>
  // CHECK-NOT:     amdgpu.wmma
  gpu.func @f16(%A: memref<64x256xf16>, %B: memref<256x64xf16>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xf16> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xf16> -> !tessera.fragment<16x16xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x16xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f16_sums(
  // GFX11:         %[[IN:.+]] = vector.shuffle %{{.+}}, %{{.+}} [0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1, 6, -1, 7, -1]
  // GFX11:         %[[OUT:.+]] = amdgpu.wmma 16x16x16 %{{.+}} * %{{.+}} + %[[IN]] : vector<16xf16>, vector<16xf16>, vector<16xf16>
  // GFX11:         vector.shuffle %[[OUT]], %[[OUT]] [0, 2, 4, 6, 8, 10, 12, 14]
  // GFX12-NOT:     vector.shuffle
  // GFX12:         amdgpu.wmma 16x16x16 {{.+}} : vector<8xf16>, vector<8xf16>, vector<8xf16>
  gpu.func @f16_sums(%A: memref<64x256xf16>, %B: memref<256x64xf16>, %C: memref<64x64xf16>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xf16> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xf16> -> !tessera.fragment<16x16xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x16xf16, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf16, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xf16, acc>, memref<64x64xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @bf16(
  // GFX11:         amdgpu.wmma 16x16x16 {{.+}} : vector<16xbf16>, vector<16xbf16>, vector<8xf32>
  // GFX12:         amdgpu.wmma 16x16x16 {{.+}} : vector<8xbf16>, vector<8xbf16>, vector<8xf32>
  gpu.func @bf16(%A: memref<64x256xbf16>, %B: memref<256x64xbf16>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xbf16> -> !tessera.fragment<16x16xbf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xbf16> -> !tessera.fragment<16x16xbf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x16xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x16xbf16, a>, !tessera.fragment<16x16xbf16, b> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @i8(
  // GFX11:         amdgpu.wmma 16x16x16 {{.+}} : vector<16xi8>, vector<16xi8>, vector<8xi32>
  // GFX12:         amdgpu.wmma 16x16x16 {{.+}} : vector<8xi8>, vector<8xi8>, vector<8xi32>
  gpu.func @i8(%A: memref<64x256xi8>, %B: memref<256x64xi8>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xi8> -> !tessera.fragment<16x16xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xi8> -> !tessera.fragment<16x16xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<16x16xi32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x16xi8, a>, !tessera.fragment<16x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @u8(
  // CHECK:         amdgpu.wmma 16x16x16 {{.+}} {unsignedA, unsignedB}
  gpu.func @u8(%A: memref<64x256xi8>, %B: memref<256x64xi8>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xi8> -> !tessera.fragment<16x16xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xi8> -> !tessera.fragment<16x16xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<16x16xi32, acc>
    %d = tessera.mma %a, %b, %c unsigned_a unsigned_b
        : !tessera.fragment<16x16xi8, a>, !tessera.fragment<16x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @i4(
  // GFX11:         rocdl.wmma.i32.16x16x16.iu4 {{.+}} {signA = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>)
  // GFX12:         rocdl.wmma.i32.16x16x16.iu4 {{.+}} {signA = true} : (i32, i32, vector<8xi32>)
  gpu.func @i4(%A: memref<64x256xi4>, %B: memref<256x64xi4>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xi4> -> !tessera.fragment<16x16xi4, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xi4> -> !tessera.fragment<16x16xi4, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<16x16xi32, acc>
    %d = tessera.mma %a, %b, %c unsigned_b
        : !tessera.fragment<16x16xi4, a>, !tessera.fragment<16x16xi4, b> -> !tessera.fragment<16x16xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // CHECK-LABEL:   gpu.func @i4_long(
  // GFX11-COUNT-2:   rocdl.wmma.i32.16x16x16.iu4 {{.+}} {signA = true, signB = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>)
  // GFX12-COUNT-1:   rocdl.wmma.i32.16x16x32.iu4 {{.+}} {signA = true, signB = true} : (vector<2xi32>, vector<2xi32>, vector<8xi32>)
  // CHECK-NOT:       rocdl.wmma
  gpu.func @i4_long(%A: memref<64x256xi4>, %B: memref<256x64xi4>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x256xi4> -> !tessera.fragment<16x32xi4, a>
    %b = tessera.load %B[%c0, %c0] : memref<256x64xi4> -> !tessera.fragment<32x16xi4, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<16x16xi32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x32xi4, a>, !tessera.fragment<32x16xi4, b> -> !tessera.fragment<16x16xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<64x64xi32>
    gpu.return
  }
}
