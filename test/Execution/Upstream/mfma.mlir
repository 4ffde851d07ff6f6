// amdgpu.mfma. Each kernel loads its operands by the documented layout, and gives what
// linalg.matmul gives.

// RUN: gpu-runner %s --entry=mfma_f16_32 --target=cpu --verify | FileCheck %s --check-prefixes=MFMA-F16-32,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f16_32 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=MFMA-F16-32,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f16_32 --target=cpu:emulate=sm_80 --verify | FileCheck %s --check-prefixes=MFMA-F16-32,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f16_32_linalg --target=cpu | FileCheck %s --check-prefix=MFMA-F16-32
// RUN: gpu-runner %s --entry=mfma_f16_16 --target=cpu --verify | FileCheck %s --check-prefixes=MFMA-F16-16,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f16_16 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=MFMA-F16-16,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f16_16 --target=cpu:emulate=sm_80 --verify | FileCheck %s --check-prefixes=MFMA-F16-16,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f16_16_linalg --target=cpu | FileCheck %s --check-prefix=MFMA-F16-16
// RUN: gpu-runner %s --entry=mfma_bf16 --target=cpu --verify | FileCheck %s --check-prefixes=MFMA-BF16,VERIFIED
// RUN: gpu-runner %s --entry=mfma_bf16 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=MFMA-BF16,VERIFIED
// RUN: gpu-runner %s --entry=mfma_bf16 --target=cpu:emulate=sm_80 --verify | FileCheck %s --check-prefixes=MFMA-BF16,VERIFIED
// RUN: gpu-runner %s --entry=mfma_bf16_linalg --target=cpu | FileCheck %s --check-prefix=MFMA-BF16
// RUN: gpu-runner %s --entry=mfma_f32 --target=cpu --verify | FileCheck %s --check-prefixes=MFMA-F32,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f32 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=MFMA-F32,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f32 --target=cpu:emulate=sm_80 --verify | FileCheck %s --check-prefixes=MFMA-F32,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f32_linalg --target=cpu | FileCheck %s --check-prefix=MFMA-F32
// RUN: gpu-runner %s --entry=mfma_f64 --target=cpu --verify | FileCheck %s --check-prefixes=MFMA-F64,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f64 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=MFMA-F64,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f64 --target=cpu:emulate=sm_80 --verify | FileCheck %s --check-prefixes=MFMA-F64,VERIFIED
// RUN: gpu-runner %s --entry=mfma_f64_linalg --target=cpu | FileCheck %s --check-prefix=MFMA-F64
// RUN: gpu-runner %s --entry=mfma_i8 --target=cpu --verify | FileCheck %s --check-prefixes=MFMA-I8,VERIFIED
// RUN: gpu-runner %s --entry=mfma_i8 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=MFMA-I8,VERIFIED
// RUN: gpu-runner %s --entry=mfma_i8 --target=cpu:emulate=sm_80 --verify | FileCheck %s --check-prefixes=MFMA-I8,VERIFIED
// RUN: gpu-runner %s --entry=mfma_i8_linalg --target=cpu | FileCheck %s --check-prefix=MFMA-I8
// RUN: gpu-runner %s --entry=mfma_f16_32 --target=hip:gfx942 --emit=amdgcn | FileCheck %s --check-prefix=CODE

// MFMA-F16-32: checksum eddcbd71
// MFMA-F16-16: checksum 288f839e
// MFMA-BF16: checksum 288f839e
// MFMA-F32: checksum fab52b64
// MFMA-F64: checksum 88d83065
// MFMA-I8: checksum 21853bda
// VERIFIED: {{^}}verified
// CODE-DAG: v_mfma_f32_32x32x8_f16
// CODE-DAG: v_mfma_f32_16x16x16_f16
// CODE-DAG: v_mfma_f32_16x16x16_bf16
// CODE-DAG: v_mfma_f32_16x16x4_f32
// CODE-DAG: v_mfma_f64_16x16x4_f64
// CODE-DAG: v_mfma_i32_16x16x32_i8

func.func @mfma_f16_32(%a: memref<32x8xf16>, %b: memref<8x32xf16>, %c: memref<32x32xf32>) {
  %c1 = arith.constant 1 : index
  %lanes = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %line = affine.apply affine_map<(d0) -> (d0 mod 32)>(%tx)
    %k = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4)>(%tx)
    %av = vector.load %a[%line, %k] : memref<32x8xf16>, vector<4xf16>
    %b0 = arith.constant dense<0.0> : vector<4xf16>
    %k0 = affine.apply affine_map<(d0) -> (d0 + 0)>(%k)
    %bv0 = memref.load %b[%k0, %line] : memref<8x32xf16>
    %bb0 = vector.insert %bv0, %b0 [0] : f16 into vector<4xf16>
    %k1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    %bv1 = memref.load %b[%k1, %line] : memref<8x32xf16>
    %bb1 = vector.insert %bv1, %bb0 [1] : f16 into vector<4xf16>
    %k2 = affine.apply affine_map<(d0) -> (d0 + 2)>(%k)
    %bv2 = memref.load %b[%k2, %line] : memref<8x32xf16>
    %bb2 = vector.insert %bv2, %bb1 [2] : f16 into vector<4xf16>
    %k3 = affine.apply affine_map<(d0) -> (d0 + 3)>(%k)
    %bv3 = memref.load %b[%k3, %line] : memref<8x32xf16>
    %bb3 = vector.insert %bv3, %bb2 [3] : f16 into vector<4xf16>
    %s0 = arith.constant dense<0.0> : vector<16xf32>
    %r0 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 0)>(%tx)
    %cv0 = memref.load %c[%r0, %line] : memref<32x32xf32>
    %s1 = vector.insert %cv0, %s0 [0] : f32 into vector<16xf32>
    %r1 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 1)>(%tx)
    %cv1 = memref.load %c[%r1, %line] : memref<32x32xf32>
    %s2 = vector.insert %cv1, %s1 [1] : f32 into vector<16xf32>
    %r2 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 2)>(%tx)
    %cv2 = memref.load %c[%r2, %line] : memref<32x32xf32>
    %s3 = vector.insert %cv2, %s2 [2] : f32 into vector<16xf32>
    %r3 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 3)>(%tx)
    %cv3 = memref.load %c[%r3, %line] : memref<32x32xf32>
    %s4 = vector.insert %cv3, %s3 [3] : f32 into vector<16xf32>
    %r4 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 8)>(%tx)
    %cv4 = memref.load %c[%r4, %line] : memref<32x32xf32>
    %s5 = vector.insert %cv4, %s4 [4] : f32 into vector<16xf32>
    %r5 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 9)>(%tx)
    %cv5 = memref.load %c[%r5, %line] : memref<32x32xf32>
    %s6 = vector.insert %cv5, %s5 [5] : f32 into vector<16xf32>
    %r6 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 10)>(%tx)
    %cv6 = memref.load %c[%r6, %line] : memref<32x32xf32>
    %s7 = vector.insert %cv6, %s6 [6] : f32 into vector<16xf32>
    %r7 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 11)>(%tx)
    %cv7 = memref.load %c[%r7, %line] : memref<32x32xf32>
    %s8 = vector.insert %cv7, %s7 [7] : f32 into vector<16xf32>
    %r8 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 16)>(%tx)
    %cv8 = memref.load %c[%r8, %line] : memref<32x32xf32>
    %s9 = vector.insert %cv8, %s8 [8] : f32 into vector<16xf32>
    %r9 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 17)>(%tx)
    %cv9 = memref.load %c[%r9, %line] : memref<32x32xf32>
    %s10 = vector.insert %cv9, %s9 [9] : f32 into vector<16xf32>
    %r10 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 18)>(%tx)
    %cv10 = memref.load %c[%r10, %line] : memref<32x32xf32>
    %s11 = vector.insert %cv10, %s10 [10] : f32 into vector<16xf32>
    %r11 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 19)>(%tx)
    %cv11 = memref.load %c[%r11, %line] : memref<32x32xf32>
    %s12 = vector.insert %cv11, %s11 [11] : f32 into vector<16xf32>
    %r12 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 24)>(%tx)
    %cv12 = memref.load %c[%r12, %line] : memref<32x32xf32>
    %s13 = vector.insert %cv12, %s12 [12] : f32 into vector<16xf32>
    %r13 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 25)>(%tx)
    %cv13 = memref.load %c[%r13, %line] : memref<32x32xf32>
    %s14 = vector.insert %cv13, %s13 [13] : f32 into vector<16xf32>
    %r14 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 26)>(%tx)
    %cv14 = memref.load %c[%r14, %line] : memref<32x32xf32>
    %s15 = vector.insert %cv14, %s14 [14] : f32 into vector<16xf32>
    %r15 = affine.apply affine_map<(d0) -> ((d0 floordiv 32) * 4 + 27)>(%tx)
    %cv15 = memref.load %c[%r15, %line] : memref<32x32xf32>
    %s16 = vector.insert %cv15, %s15 [15] : f32 into vector<16xf32>
    %d = amdgpu.mfma 32x32x8 %av * %bb3 + %s16 blgp = none : vector<4xf16>, vector<4xf16>, vector<16xf32>
    %d0 = vector.extract %d[0] : f32 from vector<16xf32>
    memref.store %d0, %c[%r0, %line] : memref<32x32xf32>
    %d1 = vector.extract %d[1] : f32 from vector<16xf32>
    memref.store %d1, %c[%r1, %line] : memref<32x32xf32>
    %d2 = vector.extract %d[2] : f32 from vector<16xf32>
    memref.store %d2, %c[%r2, %line] : memref<32x32xf32>
    %d3 = vector.extract %d[3] : f32 from vector<16xf32>
    memref.store %d3, %c[%r3, %line] : memref<32x32xf32>
    %d4 = vector.extract %d[4] : f32 from vector<16xf32>
    memref.store %d4, %c[%r4, %line] : memref<32x32xf32>
    %d5 = vector.extract %d[5] : f32 from vector<16xf32>
    memref.store %d5, %c[%r5, %line] : memref<32x32xf32>
    %d6 = vector.extract %d[6] : f32 from vector<16xf32>
    memref.store %d6, %c[%r6, %line] : memref<32x32xf32>
    %d7 = vector.extract %d[7] : f32 from vector<16xf32>
    memref.store %d7, %c[%r7, %line] : memref<32x32xf32>
    %d8 = vector.extract %d[8] : f32 from vector<16xf32>
    memref.store %d8, %c[%r8, %line] : memref<32x32xf32>
    %d9 = vector.extract %d[9] : f32 from vector<16xf32>
    memref.store %d9, %c[%r9, %line] : memref<32x32xf32>
    %d10 = vector.extract %d[10] : f32 from vector<16xf32>
    memref.store %d10, %c[%r10, %line] : memref<32x32xf32>
    %d11 = vector.extract %d[11] : f32 from vector<16xf32>
    memref.store %d11, %c[%r11, %line] : memref<32x32xf32>
    %d12 = vector.extract %d[12] : f32 from vector<16xf32>
    memref.store %d12, %c[%r12, %line] : memref<32x32xf32>
    %d13 = vector.extract %d[13] : f32 from vector<16xf32>
    memref.store %d13, %c[%r13, %line] : memref<32x32xf32>
    %d14 = vector.extract %d[14] : f32 from vector<16xf32>
    memref.store %d14, %c[%r14, %line] : memref<32x32xf32>
    %d15 = vector.extract %d[15] : f32 from vector<16xf32>
    memref.store %d15, %c[%r15, %line] : memref<32x32xf32>
    gpu.terminator
  }
  return
}
func.func @mfma_f16_16(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  %lanes = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %k = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4)>(%tx)
    %av = vector.load %a[%line, %k] : memref<16x16xf16>, vector<4xf16>
    %b0 = arith.constant dense<0.0> : vector<4xf16>
    %k0 = affine.apply affine_map<(d0) -> (d0 + 0)>(%k)
    %bv0 = memref.load %b[%k0, %line] : memref<16x16xf16>
    %bb0 = vector.insert %bv0, %b0 [0] : f16 into vector<4xf16>
    %k1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    %bv1 = memref.load %b[%k1, %line] : memref<16x16xf16>
    %bb1 = vector.insert %bv1, %bb0 [1] : f16 into vector<4xf16>
    %k2 = affine.apply affine_map<(d0) -> (d0 + 2)>(%k)
    %bv2 = memref.load %b[%k2, %line] : memref<16x16xf16>
    %bb2 = vector.insert %bv2, %bb1 [2] : f16 into vector<4xf16>
    %k3 = affine.apply affine_map<(d0) -> (d0 + 3)>(%k)
    %bv3 = memref.load %b[%k3, %line] : memref<16x16xf16>
    %bb3 = vector.insert %bv3, %bb2 [3] : f16 into vector<4xf16>
    %s0 = arith.constant dense<0.0> : vector<4xf32>
    %r0 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 0)>(%tx)
    %cv0 = memref.load %c[%r0, %line] : memref<16x16xf32>
    %s1 = vector.insert %cv0, %s0 [0] : f32 into vector<4xf32>
    %r1 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 1)>(%tx)
    %cv1 = memref.load %c[%r1, %line] : memref<16x16xf32>
    %s2 = vector.insert %cv1, %s1 [1] : f32 into vector<4xf32>
    %r2 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 2)>(%tx)
    %cv2 = memref.load %c[%r2, %line] : memref<16x16xf32>
    %s3 = vector.insert %cv2, %s2 [2] : f32 into vector<4xf32>
    %r3 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 3)>(%tx)
    %cv3 = memref.load %c[%r3, %line] : memref<16x16xf32>
    %s4 = vector.insert %cv3, %s3 [3] : f32 into vector<4xf32>
    %d = amdgpu.mfma 16x16x16 %av * %bb3 + %s4 blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
    %d0 = vector.extract %d[0] : f32 from vector<4xf32>
    memref.store %d0, %c[%r0, %line] : memref<16x16xf32>
    %d1 = vector.extract %d[1] : f32 from vector<4xf32>
    memref.store %d1, %c[%r1, %line] : memref<16x16xf32>
    %d2 = vector.extract %d[2] : f32 from vector<4xf32>
    memref.store %d2, %c[%r2, %line] : memref<16x16xf32>
    %d3 = vector.extract %d[3] : f32 from vector<4xf32>
    memref.store %d3, %c[%r3, %line] : memref<16x16xf32>
    gpu.terminator
  }
  return
}
func.func @mfma_bf16(%a: memref<16x16xbf16>, %b: memref<16x16xbf16>, %c: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  %lanes = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %k = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4)>(%tx)
    %av = vector.load %a[%line, %k] : memref<16x16xbf16>, vector<4xbf16>
    %b0 = arith.constant dense<0.0> : vector<4xbf16>
    %k0 = affine.apply affine_map<(d0) -> (d0 + 0)>(%k)
    %bv0 = memref.load %b[%k0, %line] : memref<16x16xbf16>
    %bb0 = vector.insert %bv0, %b0 [0] : bf16 into vector<4xbf16>
    %k1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    %bv1 = memref.load %b[%k1, %line] : memref<16x16xbf16>
    %bb1 = vector.insert %bv1, %bb0 [1] : bf16 into vector<4xbf16>
    %k2 = affine.apply affine_map<(d0) -> (d0 + 2)>(%k)
    %bv2 = memref.load %b[%k2, %line] : memref<16x16xbf16>
    %bb2 = vector.insert %bv2, %bb1 [2] : bf16 into vector<4xbf16>
    %k3 = affine.apply affine_map<(d0) -> (d0 + 3)>(%k)
    %bv3 = memref.load %b[%k3, %line] : memref<16x16xbf16>
    %bb3 = vector.insert %bv3, %bb2 [3] : bf16 into vector<4xbf16>
    %s0 = arith.constant dense<0.0> : vector<4xf32>
    %r0 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 0)>(%tx)
    %cv0 = memref.load %c[%r0, %line] : memref<16x16xf32>
    %s1 = vector.insert %cv0, %s0 [0] : f32 into vector<4xf32>
    %r1 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 1)>(%tx)
    %cv1 = memref.load %c[%r1, %line] : memref<16x16xf32>
    %s2 = vector.insert %cv1, %s1 [1] : f32 into vector<4xf32>
    %r2 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 2)>(%tx)
    %cv2 = memref.load %c[%r2, %line] : memref<16x16xf32>
    %s3 = vector.insert %cv2, %s2 [2] : f32 into vector<4xf32>
    %r3 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 3)>(%tx)
    %cv3 = memref.load %c[%r3, %line] : memref<16x16xf32>
    %s4 = vector.insert %cv3, %s3 [3] : f32 into vector<4xf32>
    %d = amdgpu.mfma 16x16x16 %av * %bb3 + %s4 blgp = none : vector<4xbf16>, vector<4xbf16>, vector<4xf32>
    %d0 = vector.extract %d[0] : f32 from vector<4xf32>
    memref.store %d0, %c[%r0, %line] : memref<16x16xf32>
    %d1 = vector.extract %d[1] : f32 from vector<4xf32>
    memref.store %d1, %c[%r1, %line] : memref<16x16xf32>
    %d2 = vector.extract %d[2] : f32 from vector<4xf32>
    memref.store %d2, %c[%r2, %line] : memref<16x16xf32>
    %d3 = vector.extract %d[3] : f32 from vector<4xf32>
    memref.store %d3, %c[%r3, %line] : memref<16x16xf32>
    gpu.terminator
  }
  return
}
func.func @mfma_f32(%a: memref<16x4xf32>, %b: memref<4x16xf32>, %c: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  %lanes = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %k = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 1)>(%tx)
    %av = memref.load %a[%line, %k] : memref<16x4xf32>
    %bv0 = memref.load %b[%k, %line] : memref<4x16xf32>
    %s0 = arith.constant dense<0.0> : vector<4xf32>
    %r0 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 0)>(%tx)
    %cv0 = memref.load %c[%r0, %line] : memref<16x16xf32>
    %s1 = vector.insert %cv0, %s0 [0] : f32 into vector<4xf32>
    %r1 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 1)>(%tx)
    %cv1 = memref.load %c[%r1, %line] : memref<16x16xf32>
    %s2 = vector.insert %cv1, %s1 [1] : f32 into vector<4xf32>
    %r2 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 2)>(%tx)
    %cv2 = memref.load %c[%r2, %line] : memref<16x16xf32>
    %s3 = vector.insert %cv2, %s2 [2] : f32 into vector<4xf32>
    %r3 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 3)>(%tx)
    %cv3 = memref.load %c[%r3, %line] : memref<16x16xf32>
    %s4 = vector.insert %cv3, %s3 [3] : f32 into vector<4xf32>
    %d = amdgpu.mfma 16x16x4 %av * %bv0 + %s4 blgp = none : f32, f32, vector<4xf32>
    %d0 = vector.extract %d[0] : f32 from vector<4xf32>
    memref.store %d0, %c[%r0, %line] : memref<16x16xf32>
    %d1 = vector.extract %d[1] : f32 from vector<4xf32>
    memref.store %d1, %c[%r1, %line] : memref<16x16xf32>
    %d2 = vector.extract %d[2] : f32 from vector<4xf32>
    memref.store %d2, %c[%r2, %line] : memref<16x16xf32>
    %d3 = vector.extract %d[3] : f32 from vector<4xf32>
    memref.store %d3, %c[%r3, %line] : memref<16x16xf32>
    gpu.terminator
  }
  return
}
func.func @mfma_f64(%a: memref<16x4xf64>, %b: memref<4x16xf64>, %c: memref<16x16xf64>) {
  %c1 = arith.constant 1 : index
  %lanes = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %k = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 1)>(%tx)
    %av = memref.load %a[%line, %k] : memref<16x4xf64>
    %bv0 = memref.load %b[%k, %line] : memref<4x16xf64>
    %s0 = arith.constant dense<0.0> : vector<4xf64>
    %r0 = affine.apply affine_map<(d0) -> (d0 floordiv 16 + 0)>(%tx)
    %cv0 = memref.load %c[%r0, %line] : memref<16x16xf64>
    %s1 = vector.insert %cv0, %s0 [0] : f64 into vector<4xf64>
    %r1 = affine.apply affine_map<(d0) -> (d0 floordiv 16 + 4)>(%tx)
    %cv1 = memref.load %c[%r1, %line] : memref<16x16xf64>
    %s2 = vector.insert %cv1, %s1 [1] : f64 into vector<4xf64>
    %r2 = affine.apply affine_map<(d0) -> (d0 floordiv 16 + 8)>(%tx)
    %cv2 = memref.load %c[%r2, %line] : memref<16x16xf64>
    %s3 = vector.insert %cv2, %s2 [2] : f64 into vector<4xf64>
    %r3 = affine.apply affine_map<(d0) -> (d0 floordiv 16 + 12)>(%tx)
    %cv3 = memref.load %c[%r3, %line] : memref<16x16xf64>
    %s4 = vector.insert %cv3, %s3 [3] : f64 into vector<4xf64>
    %d = amdgpu.mfma 16x16x4 %av * %bv0 + %s4 blgp = none : f64, f64, vector<4xf64>
    %d0 = vector.extract %d[0] : f64 from vector<4xf64>
    memref.store %d0, %c[%r0, %line] : memref<16x16xf64>
    %d1 = vector.extract %d[1] : f64 from vector<4xf64>
    memref.store %d1, %c[%r1, %line] : memref<16x16xf64>
    %d2 = vector.extract %d[2] : f64 from vector<4xf64>
    memref.store %d2, %c[%r2, %line] : memref<16x16xf64>
    %d3 = vector.extract %d[3] : f64 from vector<4xf64>
    memref.store %d3, %c[%r3, %line] : memref<16x16xf64>
    gpu.terminator
  }
  return
}
func.func @mfma_i8(%a: memref<16x32xi8>, %b: memref<32x16xi8>, %c: memref<16x16xi32>) {
  %c1 = arith.constant 1 : index
  %lanes = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %k = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%tx)
    %av = vector.load %a[%line, %k] : memref<16x32xi8>, vector<8xi8>
    %b0 = arith.constant dense<0> : vector<8xi8>
    %k0 = affine.apply affine_map<(d0) -> (d0 + 0)>(%k)
    %bv0 = memref.load %b[%k0, %line] : memref<32x16xi8>
    %bb0 = vector.insert %bv0, %b0 [0] : i8 into vector<8xi8>
    %k1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    %bv1 = memref.load %b[%k1, %line] : memref<32x16xi8>
    %bb1 = vector.insert %bv1, %bb0 [1] : i8 into vector<8xi8>
    %k2 = affine.apply affine_map<(d0) -> (d0 + 2)>(%k)
    %bv2 = memref.load %b[%k2, %line] : memref<32x16xi8>
    %bb2 = vector.insert %bv2, %bb1 [2] : i8 into vector<8xi8>
    %k3 = affine.apply affine_map<(d0) -> (d0 + 3)>(%k)
    %bv3 = memref.load %b[%k3, %line] : memref<32x16xi8>
    %bb3 = vector.insert %bv3, %bb2 [3] : i8 into vector<8xi8>
    %k4 = affine.apply affine_map<(d0) -> (d0 + 4)>(%k)
    %bv4 = memref.load %b[%k4, %line] : memref<32x16xi8>
    %bb4 = vector.insert %bv4, %bb3 [4] : i8 into vector<8xi8>
    %k5 = affine.apply affine_map<(d0) -> (d0 + 5)>(%k)
    %bv5 = memref.load %b[%k5, %line] : memref<32x16xi8>
    %bb5 = vector.insert %bv5, %bb4 [5] : i8 into vector<8xi8>
    %k6 = affine.apply affine_map<(d0) -> (d0 + 6)>(%k)
    %bv6 = memref.load %b[%k6, %line] : memref<32x16xi8>
    %bb6 = vector.insert %bv6, %bb5 [6] : i8 into vector<8xi8>
    %k7 = affine.apply affine_map<(d0) -> (d0 + 7)>(%k)
    %bv7 = memref.load %b[%k7, %line] : memref<32x16xi8>
    %bb7 = vector.insert %bv7, %bb6 [7] : i8 into vector<8xi8>
    %s0 = arith.constant dense<0> : vector<4xi32>
    %r0 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 0)>(%tx)
    %cv0 = memref.load %c[%r0, %line] : memref<16x16xi32>
    %s1 = vector.insert %cv0, %s0 [0] : i32 into vector<4xi32>
    %r1 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 1)>(%tx)
    %cv1 = memref.load %c[%r1, %line] : memref<16x16xi32>
    %s2 = vector.insert %cv1, %s1 [1] : i32 into vector<4xi32>
    %r2 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 2)>(%tx)
    %cv2 = memref.load %c[%r2, %line] : memref<16x16xi32>
    %s3 = vector.insert %cv2, %s2 [2] : i32 into vector<4xi32>
    %r3 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 4 + 3)>(%tx)
    %cv3 = memref.load %c[%r3, %line] : memref<16x16xi32>
    %s4 = vector.insert %cv3, %s3 [3] : i32 into vector<4xi32>
    %d = amdgpu.mfma 16x16x32 %av * %bb7 + %s4 blgp = none : vector<8xi8>, vector<8xi8>, vector<4xi32>
    %d0 = vector.extract %d[0] : i32 from vector<4xi32>
    memref.store %d0, %c[%r0, %line] : memref<16x16xi32>
    %d1 = vector.extract %d[1] : i32 from vector<4xi32>
    memref.store %d1, %c[%r1, %line] : memref<16x16xi32>
    %d2 = vector.extract %d[2] : i32 from vector<4xi32>
    memref.store %d2, %c[%r2, %line] : memref<16x16xi32>
    %d3 = vector.extract %d[3] : i32 from vector<4xi32>
    memref.store %d3, %c[%r3, %line] : memref<16x16xi32>
    gpu.terminator
  }
  return
}

// The same by linalg.

func.func @mfma_f16_32_linalg(%a: memref<32x8xf16>, %b: memref<8x32xf16>, %c: memref<32x32xf32>) {
  linalg.matmul ins(%a, %b : memref<32x8xf16>, memref<8x32xf16>) outs(%c : memref<32x32xf32>)
  return
}
func.func @mfma_f16_16_linalg(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>) {
  linalg.matmul ins(%a, %b : memref<16x16xf16>, memref<16x16xf16>) outs(%c : memref<16x16xf32>)
  return
}
func.func @mfma_bf16_linalg(%a: memref<16x16xbf16>, %b: memref<16x16xbf16>, %c: memref<16x16xf32>) {
  linalg.matmul ins(%a, %b : memref<16x16xbf16>, memref<16x16xbf16>) outs(%c : memref<16x16xf32>)
  return
}
func.func @mfma_f32_linalg(%a: memref<16x4xf32>, %b: memref<4x16xf32>, %c: memref<16x16xf32>) {
  linalg.matmul ins(%a, %b : memref<16x4xf32>, memref<4x16xf32>) outs(%c : memref<16x16xf32>)
  return
}
func.func @mfma_f64_linalg(%a: memref<16x4xf64>, %b: memref<4x16xf64>, %c: memref<16x16xf64>) {
  linalg.matmul ins(%a, %b : memref<16x4xf64>, memref<4x16xf64>) outs(%c : memref<16x16xf64>)
  return
}
func.func @mfma_i8_linalg(%a: memref<16x32xi8>, %b: memref<32x16xi8>, %c: memref<16x16xi32>) {
  linalg.matmul ins(%a, %b : memref<16x32xi8>, memref<32x16xi8>) outs(%c : memref<16x16xi32>)
  return
}
