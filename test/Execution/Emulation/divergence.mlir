// Collective operations of lanes must not depend on the lane: if some lanes of a subgroup
// do not reach one, this is an error that states which lanes wait where, and not a hang.
//
// RUN: not gpu-runner %s --entry=ended --target=cpu:emulate=sm_80 2>&1 | FileCheck %s --check-prefix=ENDED
// RUN: not gpu-runner %s --entry=elsewhere --target=cpu:emulate=sm_80 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not gpu-runner %s --entry=product --target=cpu:emulate=gfx942 2>&1 | FileCheck %s --check-prefix=PRODUCT
// RUN: not gpu-runner %s --entry=few --target=cpu:emulate=gfx942 2>&1 | FileCheck %s --check-prefix=FEW
// RUN: gpu-runner %s --entry=together --target=cpu:emulate=sm_80 --verify | FileCheck %s
// CHECK: {{^}}verified

// ENDED: error: kernel 'ended_kernel', workgroup (0, 0, 0), subgroup 0: lanes 0 to 15 wait at the exchange between lanes at {{.*}}divergence.mlir:[[#@LINE+12]]:{{[0-9]+}}, and lanes 16 to 31 have ended: collective operations of a subgroup must not depend on the lane
func.func @ended(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %width = arith.constant 32 : i32
  %value = arith.constant 2.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %low = arith.cmpi ult, %tx, %c16 : index
    scf.if %low {
      %other, %valid = gpu.shuffle xor %value, %one, %width : f32
      memref.store %other, %out[%tx] : memref<64xf32>
    }
    gpu.terminator
  }
  return
}

// ELSEWHERE: subgroup 1: lanes 0, 2, 4, 6, ... wait at the exchange between lanes at {{.*}}, and lanes 1, 3, 5, 7, ... wait at a barrier: collective
func.func @elsewhere(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %width = arith.constant 32 : i32
  %value = arith.constant 2.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %bit = arith.andi %tx, %c1 : index
    %odd = arith.cmpi eq, %bit, %c1 : index
    %first = arith.cmpi ult, %tx, %c32 : index
    %waits = arith.ori %odd, %first : i1
    scf.if %waits {
      gpu.barrier
    } else {
      %other, %valid = gpu.shuffle xor %value, %one, %width : f32
      memref.store %other, %out[%tx] : memref<64xf32>
      gpu.barrier
    }
    gpu.terminator
  }
  return
}

// PRODUCT: subgroup 0: lane 0 waits at the matrix instruction mfma.{{.*}} at {{.*}}, and lanes 1 to 63 have ended: collective
func.func @product(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %first = arith.cmpi eq, %tx, %c0 : index
    scf.if %first {
      %l = tessera.load %a[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
      %r = tessera.load %b[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
      %z = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %p = tessera.mma %l, %r, %z : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
      tessera.store %p, %c[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    }
    gpu.terminator
  }
  return
}

// A workgroup of 32 threads has no subgroup of 64.
// FEW: subgroup 0: the matrix instruction mfma.{{.*}} requires 64 lanes, but this subgroup of the workgroup has 32
func.func @few(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %l = tessera.load %a[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
    %r = tessera.load %b[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
    %z = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
    %p = tessera.mma %l, %r, %z : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %p, %c[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.terminator
  }
  return
}

func.func @together(%out: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1 : i32
  %width = arith.constant 32 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %number = arith.index_cast %tx : index to i32
    %value = arith.sitofp %number : i32 to f32
    %other, %valid = gpu.shuffle xor %value, %one, %width : f32
    memref.store %other, %out[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}
