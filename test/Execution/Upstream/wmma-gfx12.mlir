// amdgpu.wmma of RDNA4. Each kernel loads its operands by the documented layout, and gives what
// linalg.matmul gives.

// RUN: gpu-runner %s --entry=wmma_f16 --target=cpu --verify | FileCheck %s --check-prefixes=WMMA-F16,VERIFIED
// RUN: gpu-runner %s --entry=wmma_f16 --target=cpu:emulate=gfx1201 --verify | FileCheck %s --check-prefixes=WMMA-F16,VERIFIED
// RUN: gpu-runner %s --entry=wmma_f16 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=WMMA-F16,VERIFIED
// RUN: gpu-runner %s --entry=wmma_f16_linalg --target=cpu | FileCheck %s --check-prefix=WMMA-F16
// RUN: gpu-runner %s --entry=wmma_i8 --target=cpu --verify | FileCheck %s --check-prefixes=WMMA-I8,VERIFIED
// RUN: gpu-runner %s --entry=wmma_i8 --target=cpu:emulate=gfx1201 --verify | FileCheck %s --check-prefixes=WMMA-I8,VERIFIED
// RUN: gpu-runner %s --entry=wmma_i8 --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefixes=WMMA-I8,VERIFIED
// RUN: gpu-runner %s --entry=wmma_i8_linalg --target=cpu | FileCheck %s --check-prefix=WMMA-I8
// RUN: gpu-runner %s --entry=wmma_f16 --target=hip:gfx1201 --emit=amdgcn | FileCheck %s --check-prefix=CODE

// WMMA-F16: checksum 288f839e
// WMMA-I8: checksum 20fbf458
// VERIFIED: {{^}}verified
// CODE-DAG: v_wmma_f32_16x16x16_f16
// CODE-DAG: v_wmma_i32_16x16x16_iu8

func.func @wmma_f16(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  %lanes = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %k = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%tx)
    %av = vector.load %a[%line, %k] : memref<16x16xf16>, vector<8xf16>
    %b0 = arith.constant dense<0.0> : vector<8xf16>
    %k0 = affine.apply affine_map<(d0) -> (d0 + 0)>(%k)
    %bv0 = memref.load %b[%k0, %line] : memref<16x16xf16>
    %bb0 = vector.insert %bv0, %b0 [0] : f16 into vector<8xf16>
    %k1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    %bv1 = memref.load %b[%k1, %line] : memref<16x16xf16>
    %bb1 = vector.insert %bv1, %bb0 [1] : f16 into vector<8xf16>
    %k2 = affine.apply affine_map<(d0) -> (d0 + 2)>(%k)
    %bv2 = memref.load %b[%k2, %line] : memref<16x16xf16>
    %bb2 = vector.insert %bv2, %bb1 [2] : f16 into vector<8xf16>
    %k3 = affine.apply affine_map<(d0) -> (d0 + 3)>(%k)
    %bv3 = memref.load %b[%k3, %line] : memref<16x16xf16>
    %bb3 = vector.insert %bv3, %bb2 [3] : f16 into vector<8xf16>
    %k4 = affine.apply affine_map<(d0) -> (d0 + 4)>(%k)
    %bv4 = memref.load %b[%k4, %line] : memref<16x16xf16>
    %bb4 = vector.insert %bv4, %bb3 [4] : f16 into vector<8xf16>
    %k5 = affine.apply affine_map<(d0) -> (d0 + 5)>(%k)
    %bv5 = memref.load %b[%k5, %line] : memref<16x16xf16>
    %bb5 = vector.insert %bv5, %bb4 [5] : f16 into vector<8xf16>
    %k6 = affine.apply affine_map<(d0) -> (d0 + 6)>(%k)
    %bv6 = memref.load %b[%k6, %line] : memref<16x16xf16>
    %bb6 = vector.insert %bv6, %bb5 [6] : f16 into vector<8xf16>
    %k7 = affine.apply affine_map<(d0) -> (d0 + 7)>(%k)
    %bv7 = memref.load %b[%k7, %line] : memref<16x16xf16>
    %bb7 = vector.insert %bv7, %bb6 [7] : f16 into vector<8xf16>
    %s0 = arith.constant dense<0.0> : vector<8xf32>
    %r0 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 0)>(%tx)
    %cv0 = memref.load %c[%r0, %line] : memref<16x16xf32>
    %s1 = vector.insert %cv0, %s0 [0] : f32 into vector<8xf32>
    %r1 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 1)>(%tx)
    %cv1 = memref.load %c[%r1, %line] : memref<16x16xf32>
    %s2 = vector.insert %cv1, %s1 [1] : f32 into vector<8xf32>
    %r2 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 2)>(%tx)
    %cv2 = memref.load %c[%r2, %line] : memref<16x16xf32>
    %s3 = vector.insert %cv2, %s2 [2] : f32 into vector<8xf32>
    %r3 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 3)>(%tx)
    %cv3 = memref.load %c[%r3, %line] : memref<16x16xf32>
    %s4 = vector.insert %cv3, %s3 [3] : f32 into vector<8xf32>
    %r4 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 4)>(%tx)
    %cv4 = memref.load %c[%r4, %line] : memref<16x16xf32>
    %s5 = vector.insert %cv4, %s4 [4] : f32 into vector<8xf32>
    %r5 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 5)>(%tx)
    %cv5 = memref.load %c[%r5, %line] : memref<16x16xf32>
    %s6 = vector.insert %cv5, %s5 [5] : f32 into vector<8xf32>
    %r6 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 6)>(%tx)
    %cv6 = memref.load %c[%r6, %line] : memref<16x16xf32>
    %s7 = vector.insert %cv6, %s6 [6] : f32 into vector<8xf32>
    %r7 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 7)>(%tx)
    %cv7 = memref.load %c[%r7, %line] : memref<16x16xf32>
    %s8 = vector.insert %cv7, %s7 [7] : f32 into vector<8xf32>
    %d = amdgpu.wmma 16x16x16 %av * %bb7 + %s8 : vector<8xf16>, vector<8xf16>, vector<8xf32>
    %d0 = vector.extract %d[0] : f32 from vector<8xf32>
    memref.store %d0, %c[%r0, %line] : memref<16x16xf32>
    %d1 = vector.extract %d[1] : f32 from vector<8xf32>
    memref.store %d1, %c[%r1, %line] : memref<16x16xf32>
    %d2 = vector.extract %d[2] : f32 from vector<8xf32>
    memref.store %d2, %c[%r2, %line] : memref<16x16xf32>
    %d3 = vector.extract %d[3] : f32 from vector<8xf32>
    memref.store %d3, %c[%r3, %line] : memref<16x16xf32>
    %d4 = vector.extract %d[4] : f32 from vector<8xf32>
    memref.store %d4, %c[%r4, %line] : memref<16x16xf32>
    %d5 = vector.extract %d[5] : f32 from vector<8xf32>
    memref.store %d5, %c[%r5, %line] : memref<16x16xf32>
    %d6 = vector.extract %d[6] : f32 from vector<8xf32>
    memref.store %d6, %c[%r6, %line] : memref<16x16xf32>
    %d7 = vector.extract %d[7] : f32 from vector<8xf32>
    memref.store %d7, %c[%r7, %line] : memref<16x16xf32>
    gpu.terminator
  }
  return
}
func.func @wmma_i8(%a: memref<16x16xi8>, %b: memref<16x16xi8>, %c: memref<16x16xi32>) {
  %c1 = arith.constant 1 : index
  %lanes = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %k = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%tx)
    %av = vector.load %a[%line, %k] : memref<16x16xi8>, vector<8xi8>
    %b0 = arith.constant dense<0> : vector<8xi8>
    %k0 = affine.apply affine_map<(d0) -> (d0 + 0)>(%k)
    %bv0 = memref.load %b[%k0, %line] : memref<16x16xi8>
    %bb0 = vector.insert %bv0, %b0 [0] : i8 into vector<8xi8>
    %k1 = affine.apply affine_map<(d0) -> (d0 + 1)>(%k)
    %bv1 = memref.load %b[%k1, %line] : memref<16x16xi8>
    %bb1 = vector.insert %bv1, %bb0 [1] : i8 into vector<8xi8>
    %k2 = affine.apply affine_map<(d0) -> (d0 + 2)>(%k)
    %bv2 = memref.load %b[%k2, %line] : memref<16x16xi8>
    %bb2 = vector.insert %bv2, %bb1 [2] : i8 into vector<8xi8>
    %k3 = affine.apply affine_map<(d0) -> (d0 + 3)>(%k)
    %bv3 = memref.load %b[%k3, %line] : memref<16x16xi8>
    %bb3 = vector.insert %bv3, %bb2 [3] : i8 into vector<8xi8>
    %k4 = affine.apply affine_map<(d0) -> (d0 + 4)>(%k)
    %bv4 = memref.load %b[%k4, %line] : memref<16x16xi8>
    %bb4 = vector.insert %bv4, %bb3 [4] : i8 into vector<8xi8>
    %k5 = affine.apply affine_map<(d0) -> (d0 + 5)>(%k)
    %bv5 = memref.load %b[%k5, %line] : memref<16x16xi8>
    %bb5 = vector.insert %bv5, %bb4 [5] : i8 into vector<8xi8>
    %k6 = affine.apply affine_map<(d0) -> (d0 + 6)>(%k)
    %bv6 = memref.load %b[%k6, %line] : memref<16x16xi8>
    %bb6 = vector.insert %bv6, %bb5 [6] : i8 into vector<8xi8>
    %k7 = affine.apply affine_map<(d0) -> (d0 + 7)>(%k)
    %bv7 = memref.load %b[%k7, %line] : memref<16x16xi8>
    %bb7 = vector.insert %bv7, %bb6 [7] : i8 into vector<8xi8>
    %s0 = arith.constant dense<0> : vector<8xi32>
    %r0 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 0)>(%tx)
    %cv0 = memref.load %c[%r0, %line] : memref<16x16xi32>
    %s1 = vector.insert %cv0, %s0 [0] : i32 into vector<8xi32>
    %r1 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 1)>(%tx)
    %cv1 = memref.load %c[%r1, %line] : memref<16x16xi32>
    %s2 = vector.insert %cv1, %s1 [1] : i32 into vector<8xi32>
    %r2 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 2)>(%tx)
    %cv2 = memref.load %c[%r2, %line] : memref<16x16xi32>
    %s3 = vector.insert %cv2, %s2 [2] : i32 into vector<8xi32>
    %r3 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 3)>(%tx)
    %cv3 = memref.load %c[%r3, %line] : memref<16x16xi32>
    %s4 = vector.insert %cv3, %s3 [3] : i32 into vector<8xi32>
    %r4 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 4)>(%tx)
    %cv4 = memref.load %c[%r4, %line] : memref<16x16xi32>
    %s5 = vector.insert %cv4, %s4 [4] : i32 into vector<8xi32>
    %r5 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 5)>(%tx)
    %cv5 = memref.load %c[%r5, %line] : memref<16x16xi32>
    %s6 = vector.insert %cv5, %s5 [5] : i32 into vector<8xi32>
    %r6 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 6)>(%tx)
    %cv6 = memref.load %c[%r6, %line] : memref<16x16xi32>
    %s7 = vector.insert %cv6, %s6 [6] : i32 into vector<8xi32>
    %r7 = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8 + 7)>(%tx)
    %cv7 = memref.load %c[%r7, %line] : memref<16x16xi32>
    %s8 = vector.insert %cv7, %s7 [7] : i32 into vector<8xi32>
    %d = amdgpu.wmma 16x16x16 %av * %bb7 + %s8 : vector<8xi8>, vector<8xi8>, vector<8xi32>
    %d0 = vector.extract %d[0] : i32 from vector<8xi32>
    memref.store %d0, %c[%r0, %line] : memref<16x16xi32>
    %d1 = vector.extract %d[1] : i32 from vector<8xi32>
    memref.store %d1, %c[%r1, %line] : memref<16x16xi32>
    %d2 = vector.extract %d[2] : i32 from vector<8xi32>
    memref.store %d2, %c[%r2, %line] : memref<16x16xi32>
    %d3 = vector.extract %d[3] : i32 from vector<8xi32>
    memref.store %d3, %c[%r3, %line] : memref<16x16xi32>
    %d4 = vector.extract %d[4] : i32 from vector<8xi32>
    memref.store %d4, %c[%r4, %line] : memref<16x16xi32>
    %d5 = vector.extract %d[5] : i32 from vector<8xi32>
    memref.store %d5, %c[%r5, %line] : memref<16x16xi32>
    %d6 = vector.extract %d[6] : i32 from vector<8xi32>
    memref.store %d6, %c[%r6, %line] : memref<16x16xi32>
    %d7 = vector.extract %d[7] : i32 from vector<8xi32>
    memref.store %d7, %c[%r7, %line] : memref<16x16xi32>
    gpu.terminator
  }
  return
}

// The same by linalg.

func.func @wmma_f16_linalg(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>) {
  linalg.matmul ins(%a, %b : memref<16x16xf16>, memref<16x16xf16>) outs(%c : memref<16x16xf32>)
  return
}
func.func @wmma_i8_linalg(%a: memref<16x16xi8>, %b: memref<16x16xi8>, %c: memref<16x16xi32>) {
  linalg.matmul ins(%a, %b : memref<16x16xi8>, memref<16x16xi8>) outs(%c : memref<16x16xi32>)
  return
}
