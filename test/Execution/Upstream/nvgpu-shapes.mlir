// nvgpu.mma.sync of all shapes and types. Each kernel loads its operands by the documented layout, and gives what
// linalg.matmul gives.

// RUN: gpu-runner %s --entry=f16_f32 --target=cpu --verify | FileCheck %s --check-prefixes=F16-F32,VERIFIED
// RUN: gpu-runner %s --entry=f16_f32 --target=cpu:emulate=sm_90a --verify | FileCheck %s --check-prefixes=F16-F32,VERIFIED
// RUN: gpu-runner %s --entry=f16_f32 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=F16-F32,VERIFIED
// RUN: gpu-runner %s --entry=f16_f32_linalg --target=cpu | FileCheck %s --check-prefix=F16-F32
// RUN: gpu-runner %s --entry=f16_f16 --target=cpu --verify | FileCheck %s --check-prefixes=F16-F16,VERIFIED
// RUN: gpu-runner %s --entry=f16_f16 --target=cpu:emulate=sm_90a --verify | FileCheck %s --check-prefixes=F16-F16,VERIFIED
// RUN: gpu-runner %s --entry=f16_f16 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=F16-F16,VERIFIED
// RUN: gpu-runner %s --entry=f16_f16_linalg --target=cpu | FileCheck %s --check-prefix=F16-F16
// RUN: gpu-runner %s --entry=f16_k8 --target=cpu --verify | FileCheck %s --check-prefixes=F16-K8,VERIFIED
// RUN: gpu-runner %s --entry=f16_k8 --target=cpu:emulate=sm_90a --verify | FileCheck %s --check-prefixes=F16-K8,VERIFIED
// RUN: gpu-runner %s --entry=f16_k8 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=F16-K8,VERIFIED
// RUN: gpu-runner %s --entry=f16_k8_linalg --target=cpu | FileCheck %s --check-prefix=F16-K8
// RUN: gpu-runner %s --entry=tf32 --target=cpu --verify | FileCheck %s --check-prefixes=TF32,VERIFIED
// RUN: gpu-runner %s --entry=tf32 --target=cpu:emulate=sm_90a --verify | FileCheck %s --check-prefixes=TF32,VERIFIED
// RUN: gpu-runner %s --entry=tf32 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=TF32,VERIFIED
// RUN: gpu-runner %s --entry=tf32_linalg --target=cpu | FileCheck %s --check-prefix=TF32
// RUN: gpu-runner %s --entry=tf32_k4 --target=cpu --verify | FileCheck %s --check-prefixes=TF32-K4,VERIFIED
// RUN: gpu-runner %s --entry=tf32_k4 --target=cpu:emulate=sm_90a --verify | FileCheck %s --check-prefixes=TF32-K4,VERIFIED
// RUN: gpu-runner %s --entry=tf32_k4 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=TF32-K4,VERIFIED
// RUN: gpu-runner %s --entry=tf32_k4_linalg --target=cpu | FileCheck %s --check-prefix=TF32-K4
// RUN: gpu-runner %s --entry=f64 --target=cpu --verify | FileCheck %s --check-prefixes=F64,VERIFIED
// RUN: gpu-runner %s --entry=f64 --target=cpu:emulate=sm_90a --verify | FileCheck %s --check-prefixes=F64,VERIFIED
// RUN: gpu-runner %s --entry=f64 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=F64,VERIFIED
// RUN: gpu-runner %s --entry=f64_linalg --target=cpu | FileCheck %s --check-prefix=F64
// RUN: gpu-runner %s --entry=i8 --target=cpu --verify | FileCheck %s --check-prefixes=I8,VERIFIED
// RUN: gpu-runner %s --entry=i8 --target=cpu:emulate=sm_90a --verify | FileCheck %s --check-prefixes=I8,VERIFIED
// RUN: gpu-runner %s --entry=i8 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=I8,VERIFIED
// RUN: gpu-runner %s --entry=i8_linalg --target=cpu | FileCheck %s --check-prefix=I8
// RUN: gpu-runner %s --entry=i8_k16 --target=cpu --verify | FileCheck %s --check-prefixes=I8-K16,VERIFIED
// RUN: gpu-runner %s --entry=i8_k16 --target=cpu:emulate=sm_90a --verify | FileCheck %s --check-prefixes=I8-K16,VERIFIED
// RUN: gpu-runner %s --entry=i8_k16 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=I8-K16,VERIFIED
// RUN: gpu-runner %s --entry=i8_k16_linalg --target=cpu | FileCheck %s --check-prefix=I8-K16
// RUN: gpu-runner %s --entry=f16_f32 --target=cuda:sm_80 --emit=ptx | FileCheck %s --check-prefix=CODE

// F16-F32: checksum a50a22eb
// F16-F16: checksum 8d010793
// F16-K8: checksum 2440ee3c
// TF32: checksum 2440ee3c
// TF32-K4: checksum 95c9c814
// F64: checksum feb7729d
// I8: checksum ac9dbac0
// I8-K16: checksum ae5fe7a3
// VERIFIED: {{^}}verified
// CODE-DAG: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// CODE-DAG: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16
// CODE-DAG: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// CODE-DAG: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// CODE-DAG: mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32
// CODE-DAG: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// CODE-DAG: mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32
// CODE-DAG: mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32

func.func @f16_f32(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %c: memref<16x8xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %group = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %a0 = arith.constant dense<0.0> : vector<4x2xf16>
    %ar0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 0)>(%tx)
    %av0 = memref.load %a[%ar0, %ac0] : memref<16x16xf16>
    %aa0 = vector.insert %av0, %a0 [0, 0] : f16 into vector<4x2xf16>
    %ar1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 1)>(%tx)
    %av1 = memref.load %a[%ar1, %ac1] : memref<16x16xf16>
    %aa1 = vector.insert %av1, %aa0 [0, 1] : f16 into vector<4x2xf16>
    %ar2 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac2 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 0)>(%tx)
    %av2 = memref.load %a[%ar2, %ac2] : memref<16x16xf16>
    %aa2 = vector.insert %av2, %aa1 [1, 0] : f16 into vector<4x2xf16>
    %ar3 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac3 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 1)>(%tx)
    %av3 = memref.load %a[%ar3, %ac3] : memref<16x16xf16>
    %aa3 = vector.insert %av3, %aa2 [1, 1] : f16 into vector<4x2xf16>
    %ar4 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac4 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %av4 = memref.load %a[%ar4, %ac4] : memref<16x16xf16>
    %aa4 = vector.insert %av4, %aa3 [2, 0] : f16 into vector<4x2xf16>
    %ar5 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac5 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 9)>(%tx)
    %av5 = memref.load %a[%ar5, %ac5] : memref<16x16xf16>
    %aa5 = vector.insert %av5, %aa4 [2, 1] : f16 into vector<4x2xf16>
    %ar6 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac6 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %av6 = memref.load %a[%ar6, %ac6] : memref<16x16xf16>
    %aa6 = vector.insert %av6, %aa5 [3, 0] : f16 into vector<4x2xf16>
    %ar7 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac7 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 9)>(%tx)
    %av7 = memref.load %a[%ar7, %ac7] : memref<16x16xf16>
    %aa7 = vector.insert %av7, %aa6 [3, 1] : f16 into vector<4x2xf16>
    %b0 = arith.constant dense<0.0> : vector<2x2xf16>
    %br0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 0)>(%tx)
    %bv0 = memref.load %b[%br0, %group] : memref<16x8xf16>
    %bb0 = vector.insert %bv0, %b0 [0, 0] : f16 into vector<2x2xf16>
    %br1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 1)>(%tx)
    %bv1 = memref.load %b[%br1, %group] : memref<16x8xf16>
    %bb1 = vector.insert %bv1, %bb0 [0, 1] : f16 into vector<2x2xf16>
    %br2 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %bv2 = memref.load %b[%br2, %group] : memref<16x8xf16>
    %bb2 = vector.insert %bv2, %bb1 [1, 0] : f16 into vector<2x2xf16>
    %br3 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 9)>(%tx)
    %bv3 = memref.load %b[%br3, %group] : memref<16x8xf16>
    %bb3 = vector.insert %bv3, %bb2 [1, 1] : f16 into vector<2x2xf16>
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %cr0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %cv0 = vector.load %c[%cr0, %col] : memref<16x8xf32>, vector<2xf32>
    %cr1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %cv1 = vector.load %c[%cr1, %col] : memref<16x8xf32>, vector<2xf32>
    %z = arith.constant dense<0.0> : vector<2x2xf32>
    %ci0 = vector.insert %cv0, %z [0] : vector<2xf32> into vector<2x2xf32>
    %ci1 = vector.insert %cv1, %ci0 [1] : vector<2xf32> into vector<2x2xf32>
    %d = nvgpu.mma.sync(%aa7, %bb3, %ci1) {mmaShape = [16, 8, 16]}
        : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %d0 = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    vector.store %d0, %c[%cr0, %col] : memref<16x8xf32>, vector<2xf32>
    %d1 = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %d1, %c[%cr1, %col] : memref<16x8xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}
func.func @f16_f16(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %c: memref<16x8xf16>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %group = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %a0 = arith.constant dense<0.0> : vector<4x2xf16>
    %ar0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 0)>(%tx)
    %av0 = memref.load %a[%ar0, %ac0] : memref<16x16xf16>
    %aa0 = vector.insert %av0, %a0 [0, 0] : f16 into vector<4x2xf16>
    %ar1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 1)>(%tx)
    %av1 = memref.load %a[%ar1, %ac1] : memref<16x16xf16>
    %aa1 = vector.insert %av1, %aa0 [0, 1] : f16 into vector<4x2xf16>
    %ar2 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac2 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 0)>(%tx)
    %av2 = memref.load %a[%ar2, %ac2] : memref<16x16xf16>
    %aa2 = vector.insert %av2, %aa1 [1, 0] : f16 into vector<4x2xf16>
    %ar3 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac3 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 1)>(%tx)
    %av3 = memref.load %a[%ar3, %ac3] : memref<16x16xf16>
    %aa3 = vector.insert %av3, %aa2 [1, 1] : f16 into vector<4x2xf16>
    %ar4 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac4 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %av4 = memref.load %a[%ar4, %ac4] : memref<16x16xf16>
    %aa4 = vector.insert %av4, %aa3 [2, 0] : f16 into vector<4x2xf16>
    %ar5 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac5 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 9)>(%tx)
    %av5 = memref.load %a[%ar5, %ac5] : memref<16x16xf16>
    %aa5 = vector.insert %av5, %aa4 [2, 1] : f16 into vector<4x2xf16>
    %ar6 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac6 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %av6 = memref.load %a[%ar6, %ac6] : memref<16x16xf16>
    %aa6 = vector.insert %av6, %aa5 [3, 0] : f16 into vector<4x2xf16>
    %ar7 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac7 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 9)>(%tx)
    %av7 = memref.load %a[%ar7, %ac7] : memref<16x16xf16>
    %aa7 = vector.insert %av7, %aa6 [3, 1] : f16 into vector<4x2xf16>
    %b0 = arith.constant dense<0.0> : vector<2x2xf16>
    %br0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 0)>(%tx)
    %bv0 = memref.load %b[%br0, %group] : memref<16x8xf16>
    %bb0 = vector.insert %bv0, %b0 [0, 0] : f16 into vector<2x2xf16>
    %br1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 1)>(%tx)
    %bv1 = memref.load %b[%br1, %group] : memref<16x8xf16>
    %bb1 = vector.insert %bv1, %bb0 [0, 1] : f16 into vector<2x2xf16>
    %br2 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %bv2 = memref.load %b[%br2, %group] : memref<16x8xf16>
    %bb2 = vector.insert %bv2, %bb1 [1, 0] : f16 into vector<2x2xf16>
    %br3 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 9)>(%tx)
    %bv3 = memref.load %b[%br3, %group] : memref<16x8xf16>
    %bb3 = vector.insert %bv3, %bb2 [1, 1] : f16 into vector<2x2xf16>
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %cr0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %cv0 = vector.load %c[%cr0, %col] : memref<16x8xf16>, vector<2xf16>
    %cr1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %cv1 = vector.load %c[%cr1, %col] : memref<16x8xf16>, vector<2xf16>
    %z = arith.constant dense<0.0> : vector<2x2xf16>
    %ci0 = vector.insert %cv0, %z [0] : vector<2xf16> into vector<2x2xf16>
    %ci1 = vector.insert %cv1, %ci0 [1] : vector<2xf16> into vector<2x2xf16>
    %d = nvgpu.mma.sync(%aa7, %bb3, %ci1) {mmaShape = [16, 8, 16]}
        : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf16>) -> vector<2x2xf16>
    %d0 = vector.extract %d[0] : vector<2xf16> from vector<2x2xf16>
    vector.store %d0, %c[%cr0, %col] : memref<16x8xf16>, vector<2xf16>
    %d1 = vector.extract %d[1] : vector<2xf16> from vector<2x2xf16>
    vector.store %d1, %c[%cr1, %col] : memref<16x8xf16>, vector<2xf16>
    gpu.terminator
  }
  return
}
func.func @f16_k8(%a: memref<16x8xf16>, %b: memref<8x8xf16>, %c: memref<16x8xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %group = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %a0 = arith.constant dense<0.0> : vector<2x2xf16>
    %ar0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 0)>(%tx)
    %av0 = memref.load %a[%ar0, %ac0] : memref<16x8xf16>
    %aa0 = vector.insert %av0, %a0 [0, 0] : f16 into vector<2x2xf16>
    %ar1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 1)>(%tx)
    %av1 = memref.load %a[%ar1, %ac1] : memref<16x8xf16>
    %aa1 = vector.insert %av1, %aa0 [0, 1] : f16 into vector<2x2xf16>
    %ar2 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac2 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 0)>(%tx)
    %av2 = memref.load %a[%ar2, %ac2] : memref<16x8xf16>
    %aa2 = vector.insert %av2, %aa1 [1, 0] : f16 into vector<2x2xf16>
    %ar3 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac3 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 1)>(%tx)
    %av3 = memref.load %a[%ar3, %ac3] : memref<16x8xf16>
    %aa3 = vector.insert %av3, %aa2 [1, 1] : f16 into vector<2x2xf16>
    %b0 = arith.constant dense<0.0> : vector<1x2xf16>
    %br0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 0)>(%tx)
    %bv0 = memref.load %b[%br0, %group] : memref<8x8xf16>
    %bb0 = vector.insert %bv0, %b0 [0, 0] : f16 into vector<1x2xf16>
    %br1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 1)>(%tx)
    %bv1 = memref.load %b[%br1, %group] : memref<8x8xf16>
    %bb1 = vector.insert %bv1, %bb0 [0, 1] : f16 into vector<1x2xf16>
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %cr0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %cv0 = vector.load %c[%cr0, %col] : memref<16x8xf32>, vector<2xf32>
    %cr1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %cv1 = vector.load %c[%cr1, %col] : memref<16x8xf32>, vector<2xf32>
    %z = arith.constant dense<0.0> : vector<2x2xf32>
    %ci0 = vector.insert %cv0, %z [0] : vector<2xf32> into vector<2x2xf32>
    %ci1 = vector.insert %cv1, %ci0 [1] : vector<2xf32> into vector<2x2xf32>
    %d = nvgpu.mma.sync(%aa3, %bb1, %ci1) {mmaShape = [16, 8, 8]}
        : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %d0 = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    vector.store %d0, %c[%cr0, %col] : memref<16x8xf32>, vector<2xf32>
    %d1 = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %d1, %c[%cr1, %col] : memref<16x8xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}
func.func @tf32(%a: memref<16x8xf32>, %b: memref<8x8xf32>, %c: memref<16x8xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %group = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %a0 = arith.constant dense<0.0> : vector<4x1xf32>
    %ar0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 1 + 0)>(%tx)
    %av0 = memref.load %a[%ar0, %ac0] : memref<16x8xf32>
    %aa0 = vector.insert %av0, %a0 [0, 0] : f32 into vector<4x1xf32>
    %ar1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 1 + 0)>(%tx)
    %av1 = memref.load %a[%ar1, %ac1] : memref<16x8xf32>
    %aa1 = vector.insert %av1, %aa0 [1, 0] : f32 into vector<4x1xf32>
    %ar2 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac2 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 1 + 4)>(%tx)
    %av2 = memref.load %a[%ar2, %ac2] : memref<16x8xf32>
    %aa2 = vector.insert %av2, %aa1 [2, 0] : f32 into vector<4x1xf32>
    %ar3 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac3 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 1 + 4)>(%tx)
    %av3 = memref.load %a[%ar3, %ac3] : memref<16x8xf32>
    %aa3 = vector.insert %av3, %aa2 [3, 0] : f32 into vector<4x1xf32>
    %b0 = arith.constant dense<0.0> : vector<2x1xf32>
    %br0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 1 + 0)>(%tx)
    %bv0 = memref.load %b[%br0, %group] : memref<8x8xf32>
    %bb0 = vector.insert %bv0, %b0 [0, 0] : f32 into vector<2x1xf32>
    %br1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 1 + 4)>(%tx)
    %bv1 = memref.load %b[%br1, %group] : memref<8x8xf32>
    %bb1 = vector.insert %bv1, %bb0 [1, 0] : f32 into vector<2x1xf32>
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %cr0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %cv0 = vector.load %c[%cr0, %col] : memref<16x8xf32>, vector<2xf32>
    %cr1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %cv1 = vector.load %c[%cr1, %col] : memref<16x8xf32>, vector<2xf32>
    %z = arith.constant dense<0.0> : vector<2x2xf32>
    %ci0 = vector.insert %cv0, %z [0] : vector<2xf32> into vector<2x2xf32>
    %ci1 = vector.insert %cv1, %ci0 [1] : vector<2xf32> into vector<2x2xf32>
    %d = nvgpu.mma.sync(%aa3, %bb1, %ci1) {mmaShape = [16, 8, 8], tf32Enabled}
        : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
    %d0 = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    vector.store %d0, %c[%cr0, %col] : memref<16x8xf32>, vector<2xf32>
    %d1 = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %d1, %c[%cr1, %col] : memref<16x8xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}
func.func @tf32_k4(%a: memref<16x4xf32>, %b: memref<4x8xf32>, %c: memref<16x8xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %group = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %a0 = arith.constant dense<0.0> : vector<2x1xf32>
    %ar0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 1 + 0)>(%tx)
    %av0 = memref.load %a[%ar0, %ac0] : memref<16x4xf32>
    %aa0 = vector.insert %av0, %a0 [0, 0] : f32 into vector<2x1xf32>
    %ar1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 1 + 0)>(%tx)
    %av1 = memref.load %a[%ar1, %ac1] : memref<16x4xf32>
    %aa1 = vector.insert %av1, %aa0 [1, 0] : f32 into vector<2x1xf32>
    %b0 = arith.constant dense<0.0> : vector<1x1xf32>
    %br0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 1 + 0)>(%tx)
    %bv0 = memref.load %b[%br0, %group] : memref<4x8xf32>
    %bb0 = vector.insert %bv0, %b0 [0, 0] : f32 into vector<1x1xf32>
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %cr0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %cv0 = vector.load %c[%cr0, %col] : memref<16x8xf32>, vector<2xf32>
    %cr1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %cv1 = vector.load %c[%cr1, %col] : memref<16x8xf32>, vector<2xf32>
    %z = arith.constant dense<0.0> : vector<2x2xf32>
    %ci0 = vector.insert %cv0, %z [0] : vector<2xf32> into vector<2x2xf32>
    %ci1 = vector.insert %cv1, %ci0 [1] : vector<2xf32> into vector<2x2xf32>
    %d = nvgpu.mma.sync(%aa1, %bb0, %ci1) {mmaShape = [16, 8, 4], tf32Enabled}
        : (vector<2x1xf32>, vector<1x1xf32>, vector<2x2xf32>) -> vector<2x2xf32>
    %d0 = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    vector.store %d0, %c[%cr0, %col] : memref<16x8xf32>, vector<2xf32>
    %d1 = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %d1, %c[%cr1, %col] : memref<16x8xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}
func.func @f64(%a: memref<8x4xf64>, %b: memref<4x8xf64>, %c: memref<8x8xf64>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %group = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %a0 = arith.constant dense<0.0> : vector<1x1xf64>
    %ar0 = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %ac0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 1 + 0)>(%tx)
    %av0 = memref.load %a[%ar0, %ac0] : memref<8x4xf64>
    %aa0 = vector.insert %av0, %a0 [0, 0] : f64 into vector<1x1xf64>
    %b0 = arith.constant dense<0.0> : vector<1x1xf64>
    %br0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 1 + 0)>(%tx)
    %bv0 = memref.load %b[%br0, %group] : memref<4x8xf64>
    %bb0 = vector.insert %bv0, %b0 [0, 0] : f64 into vector<1x1xf64>
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %cr0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %cv0 = vector.load %c[%cr0, %col] : memref<8x8xf64>, vector<2xf64>
    %z = arith.constant dense<0.0> : vector<1x2xf64>
    %ci0 = vector.insert %cv0, %z [0] : vector<2xf64> into vector<1x2xf64>
    %d = nvgpu.mma.sync(%aa0, %bb0, %ci0) {mmaShape = [8, 8, 4]}
        : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %d0 = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %d0, %c[%cr0, %col] : memref<8x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}
func.func @i8(%a: memref<16x32xi8>, %b: memref<32x8xi8>, %c: memref<16x8xi32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %group = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %a0 = arith.constant dense<0> : vector<4x4xi8>
    %ar0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 0)>(%tx)
    %av0 = memref.load %a[%ar0, %ac0] : memref<16x32xi8>
    %aa0 = vector.insert %av0, %a0 [0, 0] : i8 into vector<4x4xi8>
    %ar1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 1)>(%tx)
    %av1 = memref.load %a[%ar1, %ac1] : memref<16x32xi8>
    %aa1 = vector.insert %av1, %aa0 [0, 1] : i8 into vector<4x4xi8>
    %ar2 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac2 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 2)>(%tx)
    %av2 = memref.load %a[%ar2, %ac2] : memref<16x32xi8>
    %aa2 = vector.insert %av2, %aa1 [0, 2] : i8 into vector<4x4xi8>
    %ar3 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac3 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 3)>(%tx)
    %av3 = memref.load %a[%ar3, %ac3] : memref<16x32xi8>
    %aa3 = vector.insert %av3, %aa2 [0, 3] : i8 into vector<4x4xi8>
    %ar4 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac4 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 0)>(%tx)
    %av4 = memref.load %a[%ar4, %ac4] : memref<16x32xi8>
    %aa4 = vector.insert %av4, %aa3 [1, 0] : i8 into vector<4x4xi8>
    %ar5 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac5 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 1)>(%tx)
    %av5 = memref.load %a[%ar5, %ac5] : memref<16x32xi8>
    %aa5 = vector.insert %av5, %aa4 [1, 1] : i8 into vector<4x4xi8>
    %ar6 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac6 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 2)>(%tx)
    %av6 = memref.load %a[%ar6, %ac6] : memref<16x32xi8>
    %aa6 = vector.insert %av6, %aa5 [1, 2] : i8 into vector<4x4xi8>
    %ar7 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac7 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 3)>(%tx)
    %av7 = memref.load %a[%ar7, %ac7] : memref<16x32xi8>
    %aa7 = vector.insert %av7, %aa6 [1, 3] : i8 into vector<4x4xi8>
    %ar8 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac8 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 16)>(%tx)
    %av8 = memref.load %a[%ar8, %ac8] : memref<16x32xi8>
    %aa8 = vector.insert %av8, %aa7 [2, 0] : i8 into vector<4x4xi8>
    %ar9 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac9 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 17)>(%tx)
    %av9 = memref.load %a[%ar9, %ac9] : memref<16x32xi8>
    %aa9 = vector.insert %av9, %aa8 [2, 1] : i8 into vector<4x4xi8>
    %ar10 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac10 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 18)>(%tx)
    %av10 = memref.load %a[%ar10, %ac10] : memref<16x32xi8>
    %aa10 = vector.insert %av10, %aa9 [2, 2] : i8 into vector<4x4xi8>
    %ar11 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac11 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 19)>(%tx)
    %av11 = memref.load %a[%ar11, %ac11] : memref<16x32xi8>
    %aa11 = vector.insert %av11, %aa10 [2, 3] : i8 into vector<4x4xi8>
    %ar12 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac12 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 16)>(%tx)
    %av12 = memref.load %a[%ar12, %ac12] : memref<16x32xi8>
    %aa12 = vector.insert %av12, %aa11 [3, 0] : i8 into vector<4x4xi8>
    %ar13 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac13 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 17)>(%tx)
    %av13 = memref.load %a[%ar13, %ac13] : memref<16x32xi8>
    %aa13 = vector.insert %av13, %aa12 [3, 1] : i8 into vector<4x4xi8>
    %ar14 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac14 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 18)>(%tx)
    %av14 = memref.load %a[%ar14, %ac14] : memref<16x32xi8>
    %aa14 = vector.insert %av14, %aa13 [3, 2] : i8 into vector<4x4xi8>
    %ar15 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac15 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 19)>(%tx)
    %av15 = memref.load %a[%ar15, %ac15] : memref<16x32xi8>
    %aa15 = vector.insert %av15, %aa14 [3, 3] : i8 into vector<4x4xi8>
    %b0 = arith.constant dense<0> : vector<2x4xi8>
    %br0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 0)>(%tx)
    %bv0 = memref.load %b[%br0, %group] : memref<32x8xi8>
    %bb0 = vector.insert %bv0, %b0 [0, 0] : i8 into vector<2x4xi8>
    %br1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 1)>(%tx)
    %bv1 = memref.load %b[%br1, %group] : memref<32x8xi8>
    %bb1 = vector.insert %bv1, %bb0 [0, 1] : i8 into vector<2x4xi8>
    %br2 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 2)>(%tx)
    %bv2 = memref.load %b[%br2, %group] : memref<32x8xi8>
    %bb2 = vector.insert %bv2, %bb1 [0, 2] : i8 into vector<2x4xi8>
    %br3 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 3)>(%tx)
    %bv3 = memref.load %b[%br3, %group] : memref<32x8xi8>
    %bb3 = vector.insert %bv3, %bb2 [0, 3] : i8 into vector<2x4xi8>
    %br4 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 16)>(%tx)
    %bv4 = memref.load %b[%br4, %group] : memref<32x8xi8>
    %bb4 = vector.insert %bv4, %bb3 [1, 0] : i8 into vector<2x4xi8>
    %br5 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 17)>(%tx)
    %bv5 = memref.load %b[%br5, %group] : memref<32x8xi8>
    %bb5 = vector.insert %bv5, %bb4 [1, 1] : i8 into vector<2x4xi8>
    %br6 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 18)>(%tx)
    %bv6 = memref.load %b[%br6, %group] : memref<32x8xi8>
    %bb6 = vector.insert %bv6, %bb5 [1, 2] : i8 into vector<2x4xi8>
    %br7 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 19)>(%tx)
    %bv7 = memref.load %b[%br7, %group] : memref<32x8xi8>
    %bb7 = vector.insert %bv7, %bb6 [1, 3] : i8 into vector<2x4xi8>
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %cr0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %cv0 = vector.load %c[%cr0, %col] : memref<16x8xi32>, vector<2xi32>
    %cr1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %cv1 = vector.load %c[%cr1, %col] : memref<16x8xi32>, vector<2xi32>
    %z = arith.constant dense<0> : vector<2x2xi32>
    %ci0 = vector.insert %cv0, %z [0] : vector<2xi32> into vector<2x2xi32>
    %ci1 = vector.insert %cv1, %ci0 [1] : vector<2xi32> into vector<2x2xi32>
    %d = nvgpu.mma.sync(%aa15, %bb7, %ci1) {mmaShape = [16, 8, 32]}
        : (vector<4x4xi8>, vector<2x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
    %d0 = vector.extract %d[0] : vector<2xi32> from vector<2x2xi32>
    vector.store %d0, %c[%cr0, %col] : memref<16x8xi32>, vector<2xi32>
    %d1 = vector.extract %d[1] : vector<2xi32> from vector<2x2xi32>
    vector.store %d1, %c[%cr1, %col] : memref<16x8xi32>, vector<2xi32>
    gpu.terminator
  }
  return
}
func.func @i8_k16(%a: memref<16x16xi8>, %b: memref<16x8xi8>, %c: memref<16x8xi32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %group = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %a0 = arith.constant dense<0> : vector<2x4xi8>
    %ar0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 0)>(%tx)
    %av0 = memref.load %a[%ar0, %ac0] : memref<16x16xi8>
    %aa0 = vector.insert %av0, %a0 [0, 0] : i8 into vector<2x4xi8>
    %ar1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 1)>(%tx)
    %av1 = memref.load %a[%ar1, %ac1] : memref<16x16xi8>
    %aa1 = vector.insert %av1, %aa0 [0, 1] : i8 into vector<2x4xi8>
    %ar2 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac2 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 2)>(%tx)
    %av2 = memref.load %a[%ar2, %ac2] : memref<16x16xi8>
    %aa2 = vector.insert %av2, %aa1 [0, 2] : i8 into vector<2x4xi8>
    %ar3 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %ac3 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 3)>(%tx)
    %av3 = memref.load %a[%ar3, %ac3] : memref<16x16xi8>
    %aa3 = vector.insert %av3, %aa2 [0, 3] : i8 into vector<2x4xi8>
    %ar4 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac4 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 0)>(%tx)
    %av4 = memref.load %a[%ar4, %ac4] : memref<16x16xi8>
    %aa4 = vector.insert %av4, %aa3 [1, 0] : i8 into vector<2x4xi8>
    %ar5 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac5 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 1)>(%tx)
    %av5 = memref.load %a[%ar5, %ac5] : memref<16x16xi8>
    %aa5 = vector.insert %av5, %aa4 [1, 1] : i8 into vector<2x4xi8>
    %ar6 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac6 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 2)>(%tx)
    %av6 = memref.load %a[%ar6, %ac6] : memref<16x16xi8>
    %aa6 = vector.insert %av6, %aa5 [1, 2] : i8 into vector<2x4xi8>
    %ar7 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %ac7 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 3)>(%tx)
    %av7 = memref.load %a[%ar7, %ac7] : memref<16x16xi8>
    %aa7 = vector.insert %av7, %aa6 [1, 3] : i8 into vector<2x4xi8>
    %b0 = arith.constant dense<0> : vector<1x4xi8>
    %br0 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 0)>(%tx)
    %bv0 = memref.load %b[%br0, %group] : memref<16x8xi8>
    %bb0 = vector.insert %bv0, %b0 [0, 0] : i8 into vector<1x4xi8>
    %br1 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 1)>(%tx)
    %bv1 = memref.load %b[%br1, %group] : memref<16x8xi8>
    %bb1 = vector.insert %bv1, %bb0 [0, 1] : i8 into vector<1x4xi8>
    %br2 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 2)>(%tx)
    %bv2 = memref.load %b[%br2, %group] : memref<16x8xi8>
    %bb2 = vector.insert %bv2, %bb1 [0, 2] : i8 into vector<1x4xi8>
    %br3 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 4 + 3)>(%tx)
    %bv3 = memref.load %b[%br3, %group] : memref<16x8xi8>
    %bb3 = vector.insert %bv3, %bb2 [0, 3] : i8 into vector<1x4xi8>
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %cr0 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 0)>(%tx)
    %cv0 = vector.load %c[%cr0, %col] : memref<16x8xi32>, vector<2xi32>
    %cr1 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %cv1 = vector.load %c[%cr1, %col] : memref<16x8xi32>, vector<2xi32>
    %z = arith.constant dense<0> : vector<2x2xi32>
    %ci0 = vector.insert %cv0, %z [0] : vector<2xi32> into vector<2x2xi32>
    %ci1 = vector.insert %cv1, %ci0 [1] : vector<2xi32> into vector<2x2xi32>
    %d = nvgpu.mma.sync(%aa7, %bb3, %ci1) {mmaShape = [16, 8, 16]}
        : (vector<2x4xi8>, vector<1x4xi8>, vector<2x2xi32>) -> vector<2x2xi32>
    %d0 = vector.extract %d[0] : vector<2xi32> from vector<2x2xi32>
    vector.store %d0, %c[%cr0, %col] : memref<16x8xi32>, vector<2xi32>
    %d1 = vector.extract %d[1] : vector<2xi32> from vector<2x2xi32>
    vector.store %d1, %c[%cr1, %col] : memref<16x8xi32>, vector<2xi32>
    gpu.terminator
  }
  return
}

// The same by linalg.

func.func @f16_f32_linalg(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %c: memref<16x8xf32>) {
  linalg.matmul ins(%a, %b : memref<16x16xf16>, memref<16x8xf16>) outs(%c : memref<16x8xf32>)
  return
}
func.func @f16_f16_linalg(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %c: memref<16x8xf16>) {
  linalg.matmul ins(%a, %b : memref<16x16xf16>, memref<16x8xf16>) outs(%c : memref<16x8xf16>)
  return
}
func.func @f16_k8_linalg(%a: memref<16x8xf16>, %b: memref<8x8xf16>, %c: memref<16x8xf32>) {
  linalg.matmul ins(%a, %b : memref<16x8xf16>, memref<8x8xf16>) outs(%c : memref<16x8xf32>)
  return
}
func.func @tf32_linalg(%a: memref<16x8xf32>, %b: memref<8x8xf32>, %c: memref<16x8xf32>) {
  linalg.matmul ins(%a, %b : memref<16x8xf32>, memref<8x8xf32>) outs(%c : memref<16x8xf32>)
  return
}
func.func @tf32_k4_linalg(%a: memref<16x4xf32>, %b: memref<4x8xf32>, %c: memref<16x8xf32>) {
  linalg.matmul ins(%a, %b : memref<16x4xf32>, memref<4x8xf32>) outs(%c : memref<16x8xf32>)
  return
}
func.func @f64_linalg(%a: memref<8x4xf64>, %b: memref<4x8xf64>, %c: memref<8x8xf64>) {
  linalg.matmul ins(%a, %b : memref<8x4xf64>, memref<4x8xf64>) outs(%c : memref<8x8xf64>)
  return
}
func.func @i8_linalg(%a: memref<16x32xi8>, %b: memref<32x8xi8>, %c: memref<16x8xi32>) {
  linalg.matmul ins(%a, %b : memref<16x32xi8>, memref<32x8xi8>) outs(%c : memref<16x8xi32>)
  return
}
func.func @i8_k16_linalg(%a: memref<16x16xi8>, %b: memref<16x8xi8>, %c: memref<16x8xi32>) {
  linalg.matmul ins(%a, %b : memref<16x16xi8>, memref<16x8xi8>) outs(%c : memref<16x8xi32>)
  return
}
