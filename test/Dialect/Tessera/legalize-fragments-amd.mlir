// The instructions of AMD's chips: MFMA over 64 lanes, WMMA over 32, and dot
// products or FMAs on chips that have neither for the types.
//
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx906" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,GFX906
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx908" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,GFX908
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx90a" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,GFX90A
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,GFX942
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx950" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,GFX950
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx1100" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,GFX1100
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx1201" --tessera-legalize-fragments | FileCheck %s --check-prefixes=CHECK,GFX1201
// RUN: not gpu-opt %s --tessera-attach-chip="target=hip chip=gfx943" --tessera-legalize-fragments 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: unknown chip 'gfx943' of target 'hip': known are, nearest first: gfx942, gfx90

// CHECK-LABEL: func @f16(
// GFX906:  tessera.mma {{.*}} {tessera.instruction = "dot2.m32n32k2.f32.f16"}
// GFX908:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k8.f32.f16"}
// GFX90A:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k8.f32.f16"}
// GFX942:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k8.f32.f16"}
// GFX950:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k16.f32.f16"}
// GFX1100: tessera.mma {{.*}} {tessera.instruction = "wmma.m16n16k16.f32.f16"}
// GFX1201: tessera.mma {{.*}} {tessera.instruction = "wmma12.m16n16k16.f32.f16"}
func.func @f16(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<64x64xf16, a>
  %b = tessera.load %B[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<64x64xf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
  return
}

// No matrix unit of CDNA sums in f16.
// CHECK-LABEL: func @f16_f16(
// GFX906:  tessera.mma {{.*}} {tessera.instruction = "fma64.m32n32k1.f16.f16"}
// GFX942:  tessera.mma {{.*}} {tessera.instruction = "fma64.m32n32k1.f16.f16"}
// GFX1100: tessera.mma {{.*}} {tessera.instruction = "wmma.m16n16k16.f16.f16"}
// GFX1201: tessera.mma {{.*}} {tessera.instruction = "wmma12.m16n16k16.f16.f16"}
func.func @f16_f16(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<64x64xf16, a>
  %b = tessera.load %B[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<64x64xf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<64x64xf16, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x64xf16, b> -> !tessera.fragment<64x64xf16, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<64x64xf16, acc>, memref<64x64xf16>
  return
}

// CHECK-LABEL: func @bf16(
// GFX906:  tessera.mma {{.*}} {tessera.instruction = "fma64.m32n32k1.f32.bf16"}
// GFX908:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k4.f32.bf16"}
// GFX90A:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k8.f32.bf16"}
// GFX942:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k8.f32.bf16"}
// GFX950:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k16.f32.bf16"}
// GFX1100: tessera.mma {{.*}} {tessera.instruction = "wmma.m16n16k16.f32.bf16"}
// GFX1201: tessera.mma {{.*}} {tessera.instruction = "wmma12.m16n16k16.f32.bf16"}
func.func @bf16(%A: memref<64x64xbf16>, %B: memref<64x64xbf16>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<64x64xbf16> -> !tessera.fragment<64x64xbf16, a>
  %b = tessera.load %B[%c0, %c0] : memref<64x64xbf16> -> !tessera.fragment<64x64xbf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<64x64xbf16, a>, !tessera.fragment<64x64xbf16, b> -> !tessera.fragment<64x64xf32, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
  return
}

// CDNA multiplies f32 as it is.
// CHECK-LABEL: func @f32(
// GFX906:  tessera.mma {{.*}} {tessera.instruction = "fma64.m32n32k4.f32.f32"}
// GFX908:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k2.f32.f32"}
// GFX942:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k2.f32.f32"}
// GFX950:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k2.f32.f32"}
// GFX1100: tessera.mma {{.*}} {tessera.instruction = "fma.m16n32k4.f32.f32"}
// GFX1201: tessera.mma {{.*}} {tessera.instruction = "fma.m16n32k4.f32.f32"}
func.func @f32(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, a>
  %b = tessera.load %B[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, b>
  %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<64x64xf32, a>, !tessera.fragment<64x64xf32, b> -> !tessera.fragment<64x64xf32, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
  return
}

// Only CDNA3 has the shorter format.
// CHECK-LABEL: func @tf32(
// GFX90A:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k2.f32.f32"}
// GFX942:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k4.f32.xf32"}
// GFX950:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k2.f32.f32"}
func.func @tf32(%A: memref<64x64xf32>, %B: memref<64x64xf32>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, a>
  %b = tessera.load %B[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, b>
  %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, acc>
  %d = tessera.mma %a, %b, %c precision tf32 : !tessera.fragment<64x64xf32, a>, !tessera.fragment<64x64xf32, b> -> !tessera.fragment<64x64xf32, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
  return
}

// CHECK-LABEL: func @f64(
// GFX908:  tessera.mma {{.*}} {tessera.instruction = "fma64.m32n32k1.f64.f64"}
// GFX90A:  tessera.mma {{.*}} {tessera.instruction = "mfma.m16n16k4.f64.f64"}
// GFX942:  tessera.mma {{.*}} {tessera.instruction = "mfma.m16n16k4.f64.f64"}
// GFX950:  tessera.mma {{.*}} {tessera.instruction = "mfma.m16n16k4.f64.f64"}
// GFX1100: tessera.mma {{.*}} {tessera.instruction = "fma.m16n32k1.f64.f64"}
func.func @f64(%A: memref<64x64xf64>, %B: memref<64x64xf64>, %C: memref<64x64xf64>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<64x64xf64, a>
  %b = tessera.load %B[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<64x64xf64, b>
  %c = tessera.load %C[%c0, %c0] : memref<64x64xf64> -> !tessera.fragment<64x64xf64, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<64x64xf64, a>, !tessera.fragment<64x64xf64, b> -> !tessera.fragment<64x64xf64, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<64x64xf64, acc>, memref<64x64xf64>
  return
}

// CHECK-LABEL: func @i8(
// GFX906:  tessera.mma {{.*}} {tessera.instruction = "dot4.m32n32k4.i32.i8"}
// GFX908:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k8.i32.i8"}
// GFX90A:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k8.i32.i8"}
// GFX942:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k16.i32.i8"}
// GFX950:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k32.i32.i8"}
// GFX1100: tessera.mma {{.*}} {tessera.instruction = "wmma.m16n16k16.i32.i8"}
// GFX1201: tessera.mma {{.*}} {tessera.instruction = "wmma12.m16n16k16.i32.i8"}
func.func @i8(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<64x64xi8, a>
  %b = tessera.load %B[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<64x64xi8, b>
  %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<64x64xi32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<64x64xi8, a>, !tessera.fragment<64x64xi8, b> -> !tessera.fragment<64x64xi32, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<64x64xi32, acc>, memref<64x64xi32>
  return
}

// v_dot4_i32_i8 knows signed elements only.
// CHECK-LABEL: func @u8(
// GFX906:  tessera.mma {{.*}} {tessera.instruction = "fma64.m32n32k1.i32.i8"}
// GFX908:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k8.i32.i8"}
// GFX942:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k16.i32.i8"}
// GFX1100: tessera.mma {{.*}} {tessera.instruction = "wmma.m16n16k16.i32.i8"}
// GFX1201: tessera.mma {{.*}} {tessera.instruction = "wmma12.m16n16k16.i32.i8"}
func.func @u8(%A: memref<64x64xi8>, %B: memref<64x64xi8>, %C: memref<64x64xi32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<64x64xi8, a>
  %b = tessera.load %B[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<64x64xi8, b>
  %c = tessera.load %C[%c0, %c0] : memref<64x64xi32> -> !tessera.fragment<64x64xi32, acc>
  %d = tessera.mma %a, %b, %c unsigned_b : !tessera.fragment<64x64xi8, a>, !tessera.fragment<64x64xi8, b> -> !tessera.fragment<64x64xi32, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<64x64xi32, acc>, memref<64x64xi32>
  return
}

// A chip has its own 8-bit floats, and computes the others without its matrix
// unit.
// CHECK-LABEL: func @fnuz(
// GFX90A:  tessera.mma {{.*}} {tessera.instruction = "fma64.m32n32k1.f32.f8E4M3FNUZ.f8E5M2FNUZ"}
// GFX942:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k16.f32.f8E4M3FNUZ.f8E5M2FNUZ"}
// GFX950:  tessera.mma {{.*}} {tessera.instruction = "fma64.m32n32k1.f32.f8E4M3FNUZ.f8E5M2FNUZ"}
// GFX1201: tessera.mma {{.*}} {tessera.instruction = "fma.m16n32k1.f32.f8E4M3FNUZ.f8E5M2FNUZ"}
func.func @fnuz(%A: memref<64x64xf8E4M3FNUZ>, %B: memref<64x64xf8E5M2FNUZ>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<64x64xf8E4M3FNUZ> -> !tessera.fragment<64x64xf8E4M3FNUZ, a>
  %b = tessera.load %B[%c0, %c0] : memref<64x64xf8E5M2FNUZ> -> !tessera.fragment<64x64xf8E5M2FNUZ, b>
  %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<64x64xf8E4M3FNUZ, a>, !tessera.fragment<64x64xf8E5M2FNUZ, b> -> !tessera.fragment<64x64xf32, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
  return
}

// CHECK-LABEL: func @ocp(
// GFX942:  tessera.mma {{.*}} {tessera.instruction = "fma64.m32n32k1.f32.f8E5M2.f8E4M3FN"}
// GFX950:  tessera.mma {{.*}} {tessera.instruction = "mfma.m32n32k64.f32.f8E5M2.f8E4M3FN"}
// GFX1100: tessera.mma {{.*}} {tessera.instruction = "fma.m16n32k1.f32.f8E5M2.f8E4M3FN"}
// GFX1201: tessera.mma {{.*}} {tessera.instruction = "wmma12.m16n16k16.f32.f8E5M2.f8E4M3FN"}
func.func @ocp(%A: memref<64x64xf8E5M2>, %B: memref<64x64xf8E4M3FN>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<64x64xf8E5M2> -> !tessera.fragment<64x64xf8E5M2, a>
  %b = tessera.load %B[%c0, %c0] : memref<64x64xf8E4M3FN> -> !tessera.fragment<64x64xf8E4M3FN, b>
  %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<64x64xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<64x64xf8E5M2, a>, !tessera.fragment<64x64xf8E4M3FN, b> -> !tessera.fragment<64x64xf32, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
  return
}

// Sixteen rows and columns use the smaller shape, also of all lanes; eight do
// not use the matrix unit, but the dot product.
// CHECK-LABEL: func @small(
// GFX906:  tessera.mma {{.*}} {tessera.instruction = "dot2.m16n16k2.f32.f16"}
// GFX908:  tessera.mma {{.*}} {tessera.instruction = "mfma.m16n16k16.f32.f16"}
// GFX950:  tessera.mma {{.*}} {tessera.instruction = "mfma.m16n16k32.f32.f16"}
// GFX1100: tessera.mma {{.*}} {tessera.instruction = "wmma.m16n16k16.f32.f16"}
// GFX906:  tessera.mma {{.*}} {tessera.instruction = "dot2.m8n8k2.f32.f16"}
// GFX908:  tessera.mma {{.*}} {tessera.instruction = "fma64.m8n8k1.f32.f16"}
// GFX950:  tessera.mma {{.*}} {tessera.instruction = "fma64.m8n8k1.f32.f16"}
// GFX1100: tessera.mma {{.*}} {tessera.instruction = "fma.m8n8k1.f32.f16"}
func.func @small(%A: memref<64x64xf16>, %C: memref<64x64xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x32xf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<32x16xf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<16x16xf32, acc>
  %d = tessera.mma %a, %b, %c : !tessera.fragment<16x32xf16, a>, !tessera.fragment<32x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  tessera.store %d, %C[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<64x64xf32>
  %e = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<8x16xf16, a>
  %f = tessera.load %A[%c0, %c0] : memref<64x64xf16> -> !tessera.fragment<16x8xf16, b>
  %g = tessera.load %C[%c0, %c0] : memref<64x64xf32> -> !tessera.fragment<8x8xf32, acc>
  %h = tessera.mma %e, %f, %g : !tessera.fragment<8x16xf16, a>, !tessera.fragment<16x8xf16, b> -> !tessera.fragment<8x8xf32, acc>
  tessera.store %h, %C[%c0, %c0] : !tessera.fragment<8x8xf32, acc>, memref<64x64xf32>
  return
}
