// The program that breaks elsewhere, C[v] = A[v] @ B, for 2, 3, 4 and 2x2 virtual
// threads, f16 and i8, with A shared, B shared and neither; around loops, and
// depth first.
//
// RUN: gpu-runner %s --target=cpu --verify --entry=v2_f16_A | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v2_f16_B | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v2_f16_none | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v2_i8_A | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v2_i8_B | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v2_i8_none | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v3_f16_A | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v3_f16_B | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v3_f16_none | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v3_i8_A | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v3_i8_B | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v3_i8_none | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v4_f16_A | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v4_f16_B | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v4_f16_none | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v4_i8_A | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v4_i8_B | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v4_i8_none | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v2x2_f16_A | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v2x2_f16_B | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v2x2_f16_none | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v2x2_i8_A | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v2x2_i8_B | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=v2x2_i8_none | FileCheck %s
// CHECK: {{^}}verified

func.func @v2_f16_A(%A: memref<1x16x48xf16>, %B: memref<2x48x16xf16>, %C: memref<2x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 48 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (2) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xf32, acc> {
        %a = tessera.load %A[%c0, %c0, %k] : memref<1x16x48xf16> -> !tessera.fragment<16x16xf16, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<2x48x16xf16> -> !tessera.fragment<16x16xf16, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
        scf.yield %n : !tessera.fragment<16x16xf32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<2x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v2_f16_B(%A: memref<2x16x16xf16>, %B: memref<1x16x16xf16>, %C: memref<2x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %b = tessera.load %B[%c0, %c0, %c0] : memref<1x16x16xf16> -> !tessera.fragment<16x16xf16, b>
    tessera.vthread (%v0) in (2) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %a = tessera.load %A[%v0, %c0, %c0] : memref<2x16x16xf16> -> !tessera.fragment<16x16xf16, a>
      %c = tessera.mma %a, %b, %init : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<2x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v2_f16_none(%A: memref<2x16x48xf16>, %B: memref<2x48x16xf16>, %C: memref<2x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 48 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (2) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xf32, acc> {
        %a = tessera.load %A[%v0, %c0, %k] : memref<2x16x48xf16> -> !tessera.fragment<16x16xf16, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<2x48x16xf16> -> !tessera.fragment<16x16xf16, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
        scf.yield %n : !tessera.fragment<16x16xf32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<2x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v2_i8_A(%A: memref<1x16x96xi8>, %B: memref<2x96x16xi8>, %C: memref<2x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 96 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (2) order depth_first {
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xi32, acc> {
        %a = tessera.load %A[%c0, %c0, %k] : memref<1x16x96xi8> -> !tessera.fragment<16x32xi8, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<2x96x16xi8> -> !tessera.fragment<32x16xi8, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
        scf.yield %n : !tessera.fragment<16x16xi32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<2x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v2_i8_B(%A: memref<2x16x32xi8>, %B: memref<1x32x16xi8>, %C: memref<2x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %b = tessera.load %B[%c0, %c0, %c0] : memref<1x32x16xi8> -> !tessera.fragment<32x16xi8, b>
    tessera.vthread (%v0) in (2) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %a = tessera.load %A[%v0, %c0, %c0] : memref<2x16x32xi8> -> !tessera.fragment<16x32xi8, a>
      %c = tessera.mma %a, %b, %init : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<2x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v2_i8_none(%A: memref<2x16x96xi8>, %B: memref<2x96x16xi8>, %C: memref<2x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 96 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (2) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xi32, acc> {
        %a = tessera.load %A[%v0, %c0, %k] : memref<2x16x96xi8> -> !tessera.fragment<16x32xi8, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<2x96x16xi8> -> !tessera.fragment<32x16xi8, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
        scf.yield %n : !tessera.fragment<16x16xi32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<2x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v3_f16_A(%A: memref<1x16x48xf16>, %B: memref<3x48x16xf16>, %C: memref<3x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 48 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (3) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xf32, acc> {
        %a = tessera.load %A[%c0, %c0, %k] : memref<1x16x48xf16> -> !tessera.fragment<16x16xf16, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<3x48x16xf16> -> !tessera.fragment<16x16xf16, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
        scf.yield %n : !tessera.fragment<16x16xf32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<3x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v3_f16_B(%A: memref<3x16x16xf16>, %B: memref<1x16x16xf16>, %C: memref<3x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %b = tessera.load %B[%c0, %c0, %c0] : memref<1x16x16xf16> -> !tessera.fragment<16x16xf16, b>
    tessera.vthread (%v0) in (3) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %a = tessera.load %A[%v0, %c0, %c0] : memref<3x16x16xf16> -> !tessera.fragment<16x16xf16, a>
      %c = tessera.mma %a, %b, %init : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<3x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v3_f16_none(%A: memref<3x16x48xf16>, %B: memref<3x48x16xf16>, %C: memref<3x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 48 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (3) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xf32, acc> {
        %a = tessera.load %A[%v0, %c0, %k] : memref<3x16x48xf16> -> !tessera.fragment<16x16xf16, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<3x48x16xf16> -> !tessera.fragment<16x16xf16, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
        scf.yield %n : !tessera.fragment<16x16xf32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<3x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v3_i8_A(%A: memref<1x16x96xi8>, %B: memref<3x96x16xi8>, %C: memref<3x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 96 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (3) order depth_first {
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xi32, acc> {
        %a = tessera.load %A[%c0, %c0, %k] : memref<1x16x96xi8> -> !tessera.fragment<16x32xi8, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<3x96x16xi8> -> !tessera.fragment<32x16xi8, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
        scf.yield %n : !tessera.fragment<16x16xi32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<3x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v3_i8_B(%A: memref<3x16x32xi8>, %B: memref<1x32x16xi8>, %C: memref<3x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %b = tessera.load %B[%c0, %c0, %c0] : memref<1x32x16xi8> -> !tessera.fragment<32x16xi8, b>
    tessera.vthread (%v0) in (3) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %a = tessera.load %A[%v0, %c0, %c0] : memref<3x16x32xi8> -> !tessera.fragment<16x32xi8, a>
      %c = tessera.mma %a, %b, %init : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<3x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v3_i8_none(%A: memref<3x16x96xi8>, %B: memref<3x96x16xi8>, %C: memref<3x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 96 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (3) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xi32, acc> {
        %a = tessera.load %A[%v0, %c0, %k] : memref<3x16x96xi8> -> !tessera.fragment<16x32xi8, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<3x96x16xi8> -> !tessera.fragment<32x16xi8, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
        scf.yield %n : !tessera.fragment<16x16xi32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<3x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v4_f16_A(%A: memref<1x16x48xf16>, %B: memref<4x48x16xf16>, %C: memref<4x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 48 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (4) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xf32, acc> {
        %a = tessera.load %A[%c0, %c0, %k] : memref<1x16x48xf16> -> !tessera.fragment<16x16xf16, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<4x48x16xf16> -> !tessera.fragment<16x16xf16, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
        scf.yield %n : !tessera.fragment<16x16xf32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<4x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v4_f16_B(%A: memref<4x16x16xf16>, %B: memref<1x16x16xf16>, %C: memref<4x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %b = tessera.load %B[%c0, %c0, %c0] : memref<1x16x16xf16> -> !tessera.fragment<16x16xf16, b>
    tessera.vthread (%v0) in (4) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %a = tessera.load %A[%v0, %c0, %c0] : memref<4x16x16xf16> -> !tessera.fragment<16x16xf16, a>
      %c = tessera.mma %a, %b, %init : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<4x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v4_f16_none(%A: memref<4x16x48xf16>, %B: memref<4x48x16xf16>, %C: memref<4x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 48 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (4) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xf32, acc> {
        %a = tessera.load %A[%v0, %c0, %k] : memref<4x16x48xf16> -> !tessera.fragment<16x16xf16, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<4x48x16xf16> -> !tessera.fragment<16x16xf16, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
        scf.yield %n : !tessera.fragment<16x16xf32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<4x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v4_i8_A(%A: memref<1x16x96xi8>, %B: memref<4x96x16xi8>, %C: memref<4x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 96 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (4) order depth_first {
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xi32, acc> {
        %a = tessera.load %A[%c0, %c0, %k] : memref<1x16x96xi8> -> !tessera.fragment<16x32xi8, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<4x96x16xi8> -> !tessera.fragment<32x16xi8, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
        scf.yield %n : !tessera.fragment<16x16xi32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<4x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v4_i8_B(%A: memref<4x16x32xi8>, %B: memref<1x32x16xi8>, %C: memref<4x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %b = tessera.load %B[%c0, %c0, %c0] : memref<1x32x16xi8> -> !tessera.fragment<32x16xi8, b>
    tessera.vthread (%v0) in (4) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %a = tessera.load %A[%v0, %c0, %c0] : memref<4x16x32xi8> -> !tessera.fragment<16x32xi8, a>
      %c = tessera.mma %a, %b, %init : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<4x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v4_i8_none(%A: memref<4x16x96xi8>, %B: memref<4x96x16xi8>, %C: memref<4x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 96 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0) in (4) {
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xi32, acc> {
        %a = tessera.load %A[%v0, %c0, %k] : memref<4x16x96xi8> -> !tessera.fragment<16x32xi8, a>
        %b = tessera.load %B[%v0, %k, %c0] : memref<4x96x16xi8> -> !tessera.fragment<32x16xi8, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
        scf.yield %n : !tessera.fragment<16x16xi32, acc>
      }
      tessera.store %c, %C[%v0, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<4x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v2x2_f16_A(%A: memref<1x16x48xf16>, %B: memref<4x48x16xf16>, %C: memref<4x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 48 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0, %v1) in (2, 2) {
      %m = arith.muli %v0, %c2 : index
      %lin = arith.addi %m, %v1 : index
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xf32, acc> {
        %a = tessera.load %A[%c0, %c0, %k] : memref<1x16x48xf16> -> !tessera.fragment<16x16xf16, a>
        %b = tessera.load %B[%lin, %k, %c0] : memref<4x48x16xf16> -> !tessera.fragment<16x16xf16, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
        scf.yield %n : !tessera.fragment<16x16xf32, acc>
      }
      tessera.store %c, %C[%lin, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<4x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v2x2_f16_B(%A: memref<4x16x16xf16>, %B: memref<1x16x16xf16>, %C: memref<4x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %b = tessera.load %B[%c0, %c0, %c0] : memref<1x16x16xf16> -> !tessera.fragment<16x16xf16, b>
    tessera.vthread (%v0, %v1) in (2, 2) {
      %m = arith.muli %v0, %c2 : index
      %lin = arith.addi %m, %v1 : index
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %a = tessera.load %A[%lin, %c0, %c0] : memref<4x16x16xf16> -> !tessera.fragment<16x16xf16, a>
      %c = tessera.mma %a, %b, %init : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
      tessera.store %c, %C[%lin, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<4x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v2x2_f16_none(%A: memref<4x16x48xf16>, %B: memref<4x48x16xf16>, %C: memref<4x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 16 : index
  %cK = arith.constant 48 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0, %v1) in (2, 2) {
      %m = arith.muli %v0, %c2 : index
      %lin = arith.addi %m, %v1 : index
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xf32, acc> {
        %a = tessera.load %A[%lin, %c0, %k] : memref<4x16x48xf16> -> !tessera.fragment<16x16xf16, a>
        %b = tessera.load %B[%lin, %k, %c0] : memref<4x48x16xf16> -> !tessera.fragment<16x16xf16, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
        scf.yield %n : !tessera.fragment<16x16xf32, acc>
      }
      tessera.store %c, %C[%lin, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<4x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v2x2_i8_A(%A: memref<1x16x96xi8>, %B: memref<4x96x16xi8>, %C: memref<4x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 96 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0, %v1) in (2, 2) order depth_first {
      %m = arith.muli %v0, %c2 : index
      %lin = arith.addi %m, %v1 : index
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xi32, acc> {
        %a = tessera.load %A[%c0, %c0, %k] : memref<1x16x96xi8> -> !tessera.fragment<16x32xi8, a>
        %b = tessera.load %B[%lin, %k, %c0] : memref<4x96x16xi8> -> !tessera.fragment<32x16xi8, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
        scf.yield %n : !tessera.fragment<16x16xi32, acc>
      }
      tessera.store %c, %C[%lin, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<4x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v2x2_i8_B(%A: memref<4x16x32xi8>, %B: memref<1x32x16xi8>, %C: memref<4x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 32 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %b = tessera.load %B[%c0, %c0, %c0] : memref<1x32x16xi8> -> !tessera.fragment<32x16xi8, b>
    tessera.vthread (%v0, %v1) in (2, 2) {
      %m = arith.muli %v0, %c2 : index
      %lin = arith.addi %m, %v1 : index
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %a = tessera.load %A[%lin, %c0, %c0] : memref<4x16x32xi8> -> !tessera.fragment<16x32xi8, a>
      %c = tessera.mma %a, %b, %init : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
      tessera.store %c, %C[%lin, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<4x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}

func.func @v2x2_i8_none(%A: memref<4x16x96xi8>, %B: memref<4x96x16xi8>, %C: memref<4x16x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %ck = arith.constant 32 : index
  %cK = arith.constant 96 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v0, %v1) in (2, 2) {
      %m = arith.muli %v0, %c2 : index
      %lin = arith.addi %m, %v1 : index
      %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
      %c = scf.for %k = %c0 to %cK step %ck iter_args(%acc = %init) -> !tessera.fragment<16x16xi32, acc> {
        %a = tessera.load %A[%lin, %c0, %k] : memref<4x16x96xi8> -> !tessera.fragment<16x32xi8, a>
        %b = tessera.load %B[%lin, %k, %c0] : memref<4x96x16xi8> -> !tessera.fragment<32x16xi8, b>
        %n = tessera.mma %a, %b, %acc : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
        scf.yield %n : !tessera.fragment<16x16xi32, acc>
      }
      tessera.store %c, %C[%lin, %c0, %c0] : !tessera.fragment<16x16xi32, acc>, memref<4x16x16xi32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}
