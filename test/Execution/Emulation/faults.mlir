// Faults that a host forgives, and a GPU does not.
//
// An asynchronous copy without a wait has not been performed.
// RUN: gpu-runner %s --entry=no_wait --target=cpu --verify | FileCheck %s
// RUN: %exits 3 gpu-runner %s --entry=no_wait --target=cpu:emulate=sm_80 --verify 2>&1 | FileCheck %s --check-prefix=WAIT
// RUN: gpu-runner %s --entry=wait --target=cpu:emulate=sm_80 --verify | FileCheck %s
// CHECK: {{^}}verified
// WAIT: out 0: FAILED
// WAIT: 256 of 256 elements are wrong
//
// A missing barrier between writes of some threads and reads of others.
// RUN: gpu-runner %s --entry=no_barrier --target=cpu --verify | FileCheck %s
// RUN: %exits 3 gpu-runner %s --entry=no_barrier --target=cpu:emulate=gfx942 --verify 2>&1 | FileCheck %s --check-prefix=BARRIER
// BARRIER: out 0: FAILED
//
// A promised alignment that is not so.
// RUN: gpu-runner %s --entry=misaligned --target=cpu --verify | FileCheck %s
// RUN: %exits 1 gpu-runner %s --entry=misaligned --target=cpu:emulate=gfx942 --verify 2>&1 | FileCheck %s --check-prefix=ALIGN
// ALIGN: error: kernel 'misaligned_kernel', workgroup (0, 0, 0): the load at {{.*}}faults.mlir:[[#ALIGN:]]:{{[0-9]+}} accesses 16 bytes that are aligned to 2 instead of 16
//
// A tile beyond the end of workgroup memory.
// RUN: %exits 1 gpu-runner %s --entry=beyond --arg=int:1 --arg=int:2 --arg=8 --target=cpu:emulate=gfx1100 --verify 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: gpu-runner %s --entry=beyond --arg=int:1 --arg=int:2 --arg=0 --target=cpu:emulate=gfx1100 --verify | FileCheck %s
// BEYOND: error: kernel 'beyond_kernel', workgroup (0, 0, 0): the load at {{.*}}faults.mlir:{{[0-9:]+}} accesses {{[0-9]+}} bytes at byte {{[0-9]+}} of the 512 bytes of workgroup memory

func.func @no_wait(%a: memref<16x16xf16>, %c: memref<16x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1)
             workgroup(%tile : memref<16x16xf16, #gpu.address_space<workgroup>>) {
    %t = tessera.async_copy %a[%c0, %c0], %tile[%c0, %c0] shape [16, 16]
        : memref<16x16xf16>, memref<16x16xf16, #gpu.address_space<workgroup>>
    gpu.barrier
    %f = tessera.load %tile[%c0, %c0]
        : memref<16x16xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, acc>
    tessera.store %f, %c[%c0, %c0] : !tessera.fragment<16x16xf16, acc>, memref<16x16xf16>
    gpu.terminator
  }
  return
}

func.func @wait(%a: memref<16x16xf16>, %c: memref<16x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1)
             workgroup(%tile : memref<16x16xf16, #gpu.address_space<workgroup>>) {
    %t = tessera.async_copy %a[%c0, %c0], %tile[%c0, %c0] shape [16, 16]
        : memref<16x16xf16>, memref<16x16xf16, #gpu.address_space<workgroup>>
    tessera.wait pending 0
    gpu.barrier
    %f = tessera.load %tile[%c0, %c0]
        : memref<16x16xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, acc>
    tessera.store %f, %c[%c0, %c0] : !tessera.fragment<16x16xf16, acc>, memref<16x16xf16>
    gpu.terminator
  }
  return
}

func.func @no_barrier(%a: memref<16x16xf16>, %c: memref<16x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1)
             workgroup(%tile : memref<16x16xf16, #gpu.address_space<workgroup>>) {
    tessera.copy %a[%c0, %c0], %tile[%c0, %c0] shape [16, 16]
        : memref<16x16xf16>, memref<16x16xf16, #gpu.address_space<workgroup>>
    %f = tessera.load %tile[%c0, %c0]
        : memref<16x16xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, acc>
    tessera.store %f, %c[%c0, %c0] : !tessera.fragment<16x16xf16, acc>, memref<16x16xf16>
    gpu.terminator
  }
  return
}

func.func @misaligned(%a: memref<16x64xf16>, %c: memref<16x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1)
             workgroup(%tile : memref<16x16xf16, #gpu.address_space<workgroup>>) {
    tessera.copy %a[%c0, %c1], %tile[%c0, %c0] shape [16, 16] alignment 16
        : memref<16x64xf16>, memref<16x16xf16, #gpu.address_space<workgroup>>
    gpu.barrier
    %f = tessera.load %tile[%c0, %c0]
        : memref<16x16xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, acc>
    tessera.store %f, %c[%c0, %c0] : !tessera.fragment<16x16xf16, acc>, memref<16x16xf16>
    gpu.terminator
  }
  return
}

func.func @beyond(%a: memref<16x16xf16>, %c: memref<16x16xf16>, %row: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1)
             workgroup(%tile : memref<16x16xf16, #gpu.address_space<workgroup>>) {
    tessera.copy %a[%c0, %c0], %tile[%c0, %c0] shape [16, 16]
        : memref<16x16xf16>, memref<16x16xf16, #gpu.address_space<workgroup>>
    gpu.barrier
    %f = tessera.load %tile[%row, %c0] in_bounds
        : memref<16x16xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, acc>
    tessera.store %f, %c[%c0, %c0] : !tessera.fragment<16x16xf16, acc>, memref<16x16xf16>
    gpu.terminator
  }
  return
}
