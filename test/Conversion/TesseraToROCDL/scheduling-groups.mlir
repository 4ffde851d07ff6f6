// LDS reads and matmuls alternate, if copies run ahead and are in bounds. For MFMA, not for WMMA.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl))" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx1100},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl))" | FileCheck %s --check-prefix=NONE
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx950},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl))" | FileCheck %s --check-prefix=LATE
// NONE-NOT: rocdl.sched.group.barrier

#shared = #gpu.address_space<workgroup>
gpu.module @products {
  // Eight matmuls; four reads each of a and of b, two of which are one instruction: a third
  // of the four, then a matmul and a read three times, then the remaining matmuls.
  // CHECK-LABEL: gpu.func @step(
  // CHECK-COUNT-8: amdgpu.mfma
  // CHECK-NEXT:    rocdl.sched.group.barrier 256, 1, 0
  // CHECK-NEXT:    rocdl.sched.group.barrier 8, 1, 0
  // CHECK-NEXT:    rocdl.sched.group.barrier 256, 1, 0
  // CHECK-NEXT:    rocdl.sched.group.barrier 8, 1, 0
  // CHECK-NEXT:    rocdl.sched.group.barrier 256, 1, 0
  // CHECK-NEXT:    rocdl.sched.group.barrier 8, 1, 0
  // CHECK-NEXT:    rocdl.sched.group.barrier 256, 1, 0
  // CHECK-NEXT:    rocdl.sched.group.barrier 8, 8, 0
  // CHECK-NOT:     rocdl.sched.group.barrier
  // CHECK:         gpu.return
  gpu.func @step(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>)
      workgroup(%A: memref<64x32xf16, #shared>, %B: memref<32x64xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %s = tessera.async_copy %a[%c0, %c0], %A[%c0, %c0] shape [64, 32] in_bounds : memref<64x32xf16>, memref<64x32xf16, #shared>
    %t = tessera.async_copy %b[%c0, %c0], %B[%c0, %c0] shape [32, 64] in_bounds : memref<32x64xf16>, memref<32x64xf16, #shared>
    tessera.wait for %s, %t
    gpu.barrier
    %x = tessera.load %A[%c0, %c0] : memref<64x32xf16, #shared> -> !tessera.fragment<64x16xf16, a>
    %y = tessera.load %B[%c0, %c0] : memref<32x64xf16, #shared> -> !tessera.fragment<16x64xf16, b>
    %z = tessera.fill %zero : !tessera.fragment<64x64xf32, acc>
    %d = tessera.mma %x, %y, %z
        : !tessera.fragment<64x16xf16, a>, !tessera.fragment<16x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // 64 matmuls and 16 reads: four matmuls between two reads.
  // CHECK-LABEL: gpu.func @many(
  // CHECK-COUNT-64: amdgpu.mfma
  // CHECK-NEXT:    rocdl.sched.group.barrier 256, 5, 0
  // CHECK-NEXT:    rocdl.sched.group.barrier 8, 4, 0
  // CHECK-NEXT:    rocdl.sched.group.barrier 256, 1, 0
  // CHECK-NEXT:    rocdl.sched.group.barrier 8, 4, 0
  // CHECK:         rocdl.sched.group.barrier 8, 64, 0
  // CHECK-NOT:     rocdl.sched.group.barrier
  // CHECK:         gpu.return
  gpu.func @many(%a: memref<128x32xf16>, %b: memref<32x128xf16>, %c: memref<128x128xf32>)
      workgroup(%A: memref<128x32xf16, #shared>, %B: memref<32x128xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %s = tessera.async_copy %a[%c0, %c0], %A[%c0, %c0] shape [128, 32] in_bounds : memref<128x32xf16>, memref<128x32xf16, #shared>
    %t = tessera.async_copy %b[%c0, %c0], %B[%c0, %c0] shape [32, 128] in_bounds : memref<32x128xf16>, memref<32x128xf16, #shared>
    tessera.wait for %s, %t
    gpu.barrier
    %x = tessera.load %A[%c0, %c0] : memref<128x32xf16, #shared> -> !tessera.fragment<128x32xf16, a>
    %y = tessera.load %B[%c0, %c0] : memref<32x128xf16, #shared> -> !tessera.fragment<32x128xf16, b>
    %z = tessera.fill %zero : !tessera.fragment<128x128xf32, acc>
    %d = tessera.mma %x, %y, %z
        : !tessera.fragment<128x32xf16, a>, !tessera.fragment<32x128xf16, b> -> !tessera.fragment<128x128xf32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<128x128xf32, acc>, memref<128x128xf32>
    gpu.return
  }

  // The operands of 20 matmuls are 72 registers: each is read before its first use. The order of the matmuls is that of
  // blocks of four operands of a and two of b, then of four and one for each operand of b that is read. The first
  // 20 of 28 reads are those of the first eight matmuls and of the next one.
  // LATE-LABEL: gpu.func @wide(
  // LATE:         amdgpu.lds_barrier
  // LATE-COUNT-2: vector.load
  // LATE-NOT:     vector.load
  // LATE-COUNT-4: amdgpu.transpose_load
  // LATE-NOT:     {{amdgpu.transpose_load|vector.load}}
  // LATE:         amdgpu.mfma 16x16x128
  // LATE-NOT:     vector.load
  // LATE-COUNT-4: amdgpu.transpose_load
  // LATE-NOT:     {{amdgpu.transpose_load|vector.load}}
  // LATE:         amdgpu.mfma 16x16x128
  // LATE-COUNT-2: vector.load
  // LATE-NOT:     {{amdgpu.transpose_load|vector.load}}
  // LATE-COUNT-2: amdgpu.mfma 16x16x128
  // LATE-COUNT-2: vector.load
  // LATE-NOT:     {{amdgpu.transpose_load|vector.load}}
  // LATE-COUNT-2: amdgpu.mfma 16x16x128
  // LATE-COUNT-2: vector.load
  // LATE-NOT:     {{amdgpu.transpose_load|vector.load}}
  // LATE-COUNT-2: amdgpu.mfma 16x16x128
  // LATE-NOT:     vector.load
  // LATE-COUNT-4: amdgpu.transpose_load
  // LATE-NOT:     {{amdgpu.transpose_load|vector.load}}
  // LATE-COUNT-4: amdgpu.mfma 16x16x128
  // LATE-COUNT-4: amdgpu.transpose_load
  // LATE-NOT:     {{amdgpu.transpose_load|vector.load}}
  // LATE-COUNT-4: amdgpu.mfma 16x16x128
  // LATE-COUNT-4: amdgpu.transpose_load
  // LATE-NOT:     {{amdgpu.transpose_load|vector.load}}
  // LATE-COUNT-4: amdgpu.mfma 16x16x128
  // LATE-NEXT:    rocdl.sched.group.barrier 256, 20, 0
  // LATE-NEXT:    rocdl.sched.group.barrier 8, 1, 0
  // LATE-NEXT:    rocdl.sched.group.barrier 256, 1, 0
  // LATE-COUNT-7: rocdl.sched.group.barrier 256, 1, 0
  // LATE-NEXT:    rocdl.sched.group.barrier 8, 12, 0
  gpu.func @wide(%a: memref<64x128xf8E4M3FN>, %b: memref<128x80xf8E4M3FN>, %c: memref<64x80xf32>)
      workgroup(%A: memref<64x128xf8E4M3FN, #shared>, %B: memref<128x80xf8E4M3FN, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %s = tessera.async_copy %a[%c0, %c0], %A[%c0, %c0] shape [64, 128] in_bounds : memref<64x128xf8E4M3FN>, memref<64x128xf8E4M3FN, #shared>
    %t = tessera.async_copy %b[%c0, %c0], %B[%c0, %c0] shape [128, 80] in_bounds : memref<128x80xf8E4M3FN>, memref<128x80xf8E4M3FN, #shared>
    tessera.wait for %s, %t
    gpu.barrier
    %x = tessera.load %A[%c0, %c0] : memref<64x128xf8E4M3FN, #shared> -> !tessera.fragment<64x128xf8E4M3FN, a>
    %y = tessera.load %B[%c0, %c0] : memref<128x80xf8E4M3FN, #shared> -> !tessera.fragment<128x80xf8E4M3FN, b>
    %z = tessera.fill %zero : !tessera.fragment<64x80xf32, acc>
    %d = tessera.mma %x, %y, %z
        : !tessera.fragment<64x128xf8E4M3FN, a>, !tessera.fragment<128x80xf8E4M3FN, b> -> !tessera.fragment<64x80xf32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<64x80xf32, acc>, memref<64x80xf32>
    gpu.return
  }

  // Nothing runs ahead: the order is LLVM's.
  // CHECK-LABEL: gpu.func @synchronous(
  // CHECK-NOT:     rocdl.sched.group.barrier
  // CHECK:         gpu.return
  gpu.func @synchronous(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>)
      workgroup(%A: memref<64x32xf16, #shared>, %B: memref<32x64xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    tessera.copy %a[%c0, %c0], %A[%c0, %c0] shape [64, 32] in_bounds : memref<64x32xf16>, memref<64x32xf16, #shared>
    tessera.copy %b[%c0, %c0], %B[%c0, %c0] shape [32, 64] in_bounds : memref<32x64xf16>, memref<32x64xf16, #shared>
    gpu.barrier
    %x = tessera.load %A[%c0, %c0] : memref<64x32xf16, #shared> -> !tessera.fragment<64x16xf16, a>
    %y = tessera.load %B[%c0, %c0] : memref<32x64xf16, #shared> -> !tessera.fragment<16x64xf16, b>
    %z = tessera.fill %zero : !tessera.fragment<64x64xf32, acc>
    %d = tessera.mma %x, %y, %z
        : !tessera.fragment<64x16xf16, a>, !tessera.fragment<16x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
    gpu.return
  }
}
