// The assembly of every row of the table.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-legalize-fragments{flags=require-mma},convert-tessera-to-nvvm))" | FileCheck %s

gpu.module @mma {
  // CHECK-LABEL: gpu.func @f16_k16(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @f16_k16(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x8xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x8xf16, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f16_k8(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @f16_k8(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x8xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<8x8xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x8xf16, a>, !tessera.fragment<8x8xf16, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f16_k4(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32 {$0, $1, $2, $3, $4, $5, $6, $7}, {$8, $9}, {$10, $11}, {$0, $1, $2, $3, $4, $5, $6, $7};", "=f,=f,=f,=f,=f,=f,=f,=f,r,r,r,r,0,1,2,3,4,5,6,7"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @f16_k4(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x4xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<4x16xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x16xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x4xf16, a>, !tessera.fragment<4x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f16_f16_k16(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {$0, $1}, {$2, $3, $4, $5}, {$6, $7}, {$0, $1};", "=r,=r,r,r,r,r,r,r,0,1"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @f16_f16_k16(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf16>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x8xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x8xf16, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x8xf16, b> -> !tessera.fragment<16x8xf16, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf16, acc>, memref<64x64xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f16_f16_k8(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {$0, $1}, {$2, $3}, {$4}, {$0, $1};", "=r,=r,r,r,r,0,1"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @f16_f16_k8(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf16>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x8xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<8x8xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x8xf16, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x8xf16, a>, !tessera.fragment<8x8xf16, b> -> !tessera.fragment<16x8xf16, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf16, acc>, memref<64x64xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f16_f16_k4(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 {$0, $1, $2, $3}, {$4, $5}, {$6, $7}, {$0, $1, $2, $3};", "=r,=r,=r,=r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @f16_f16_k4(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf16>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x4xf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<4x16xf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x16xf16, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x4xf16, a>, !tessera.fragment<4x16xf16, b> -> !tessera.fragment<16x16xf16, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xf16, acc>, memref<64x64xf16>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @bf16_k16(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @bf16_k16(%A: memref<64x64xbf16>, %B: memref<64x64xbf16>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xbf16> -> !tessera.fragment<16x16xbf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xbf16> -> !tessera.fragment<16x8xbf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x16xbf16, a>, !tessera.fragment<16x8xbf16, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @bf16_k8(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @bf16_k8(%A: memref<64x64xbf16>, %B: memref<64x64xbf16>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xbf16> -> !tessera.fragment<16x8xbf16, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xbf16> -> !tessera.fragment<8x8xbf16, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x8xbf16, a>, !tessera.fragment<8x8xbf16, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @tf32_k8(
  // CHECK-COUNT-6: nvvm.convert.float.to.tf32 %{{.+}} {rnd = #nvvm.fp_rnd_mode<rna>}
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @tf32_k8(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x8xf32, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<8x8xf32, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c precision tf32
        : !tessera.fragment<16x8xf32, a>, !tessera.fragment<8x8xf32, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @tf32_k4(
  // CHECK-COUNT-3: nvvm.convert.float.to.tf32 %{{.+}} {rnd = #nvvm.fp_rnd_mode<rna>}
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @tf32_k4(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x4xf32, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<4x8xf32, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c precision tf32
        : !tessera.fragment<16x4xf32, a>, !tessera.fragment<4x8xf32, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f64_m16k16(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=d,=d,=d,=d,d,d,d,d,d,d,0,1,2,3"
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=d,=d,=d,=d,d,d,d,d,d,d,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @f64_m16k16(%A: memref<64x64xf64>, %B: memref<64x64xf64>, %C: memref<64x64xf64>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<16x16xf64, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<16x8xf64, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<16x8xf64, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x16xf64, a>, !tessera.fragment<16x8xf64, b> -> !tessera.fragment<16x8xf64, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf64, acc>, memref<64x64xf64>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f64_m16k8(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=d,=d,=d,=d,d,d,d,d,d,d,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @f64_m16k8(%A: memref<64x64xf64>, %B: memref<64x64xf64>, %C: memref<64x64xf64>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<16x8xf64, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<8x8xf64, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<16x8xf64, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x8xf64, a>, !tessera.fragment<8x8xf64, b> -> !tessera.fragment<16x8xf64, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf64, acc>, memref<64x64xf64>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f64_m16k4(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$0, $1, $2, $3};", "=d,=d,=d,=d,d,d,d,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @f64_m16k4(%A: memref<64x64xf64>, %B: memref<64x64xf64>, %C: memref<64x64xf64>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<16x4xf64, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<4x8xf64, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<16x8xf64, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x4xf64, a>, !tessera.fragment<4x8xf64, b> -> !tessera.fragment<16x8xf64, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf64, acc>, memref<64x64xf64>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @f64_m8k4(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {$0, $1}, {$2}, {$3}, {$0, $1};", "=d,=d,d,d,0,1"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @f64_m8k4(%A: memref<64x64xf64>, %B: memref<64x64xf64>, %C: memref<64x64xf64>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<8x4xf64, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<4x8xf64, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<8x8xf64, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<8x4xf64, a>, !tessera.fragment<4x8xf64, b> -> !tessera.fragment<8x8xf64, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<8x8xf64, acc>, memref<64x64xf64>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @s8_s8(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=r,=r,=r,=r,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @s8_s8(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<16x32xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<32x8xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<16x8xi32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x8xi8, b> -> !tessera.fragment<16x8xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @u8_s8(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=r,=r,=r,=r,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @u8_s8(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<16x32xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<32x8xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<16x8xi32, acc>
    %d = tessera.mma %a, %b, %c unsigned_a
        : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x8xi8, b> -> !tessera.fragment<16x8xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @s8_u8(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=r,=r,=r,=r,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @s8_u8(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<16x32xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<32x8xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<16x8xi32, acc>
    %d = tessera.mma %a, %b, %c unsigned_b
        : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x8xi8, b> -> !tessera.fragment<16x8xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @u8_u8(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=r,=r,=r,=r,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @u8_u8(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<16x32xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<32x8xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<16x8xi32, acc>
    %d = tessera.mma %a, %b, %c unsigned_a unsigned_b
        : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x8xi8, b> -> !tessera.fragment<16x8xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @s8_k16(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {$0, $1, $2, $3}, {$4, $5}, {$6}, {$0, $1, $2, $3};", "=r,=r,=r,=r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @s8_k16(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<16x16xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<16x8xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<16x8xi32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x16xi8, a>, !tessera.fragment<16x8xi8, b> -> !tessera.fragment<16x8xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @s8_m8(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {$0, $1}, {$2}, {$3}, {$0, $1};", "=r,=r,r,r,0,1"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @s8_m8(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<8x16xi8, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<16x8xi8, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<8x8xi32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<8x16xi8, a>, !tessera.fragment<16x8xi8, b> -> !tessera.fragment<8x8xi32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<8x8xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @e4m3_e4m3(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @e4m3_e4m3(%A: memref<64x64xf8E4M3FN>, %B: memref<64x64xf8E4M3FN>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf8E4M3FN> -> !tessera.fragment<16x32xf8E4M3FN, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf8E4M3FN> -> !tessera.fragment<32x8xf8E4M3FN, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x32xf8E4M3FN, a>, !tessera.fragment<32x8xf8E4M3FN, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @e4m3_e5m2(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @e4m3_e5m2(%A: memref<64x64xf8E4M3FN>, %B: memref<64x64xf8E5M2>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf8E4M3FN> -> !tessera.fragment<16x32xf8E4M3FN, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf8E5M2> -> !tessera.fragment<32x8xf8E5M2, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x32xf8E4M3FN, a>, !tessera.fragment<32x8xf8E5M2, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @e5m2_e4m3(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @e5m2_e4m3(%A: memref<64x64xf8E5M2>, %B: memref<64x64xf8E4M3FN>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf8E5M2> -> !tessera.fragment<16x32xf8E5M2, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf8E4M3FN> -> !tessera.fragment<32x8xf8E4M3FN, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x32xf8E5M2, a>, !tessera.fragment<32x8xf8E4M3FN, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @e5m2_e5m2(
  // CHECK:         llvm.inline_asm
  // CHECK-SAME{LITERAL}: "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32 {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};", "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3"
  // CHECK-NOT:     llvm.inline_asm
  gpu.func @e5m2_e5m2(%A: memref<64x64xf8E5M2>, %B: memref<64x64xf8E5M2>, %C: memref<64x64xf32>) kernel {
    %c0 = arith.constant 0 : index
    %a = tessera.load %A[%c0, %c0] : memref<64x64xf8E5M2> -> !tessera.fragment<16x32xf8E5M2, a>
    %b = tessera.load %B[%c0, %c0] : memref<64x64xf8E5M2> -> !tessera.fragment<32x8xf8E5M2, b>
    %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x8xf32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<16x32xf8E5M2, a>, !tessera.fragment<32x8xf8E5M2, b> -> !tessera.fragment<16x8xf32, acc>
    tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x8xf32, acc>, memref<64x64xf32>
    gpu.return
  }
}
