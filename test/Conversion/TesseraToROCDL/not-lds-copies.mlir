// Asynchronous copies that go through registers although gfx950 has loads to workgroup memory, and why.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx950},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl{flags=direct-copies=always}))" --verify-diagnostics | FileCheck %s
// CHECK-NOT: amdgpu.gather_to_lds
// CHECK-NOT: amdgpu.memory_counter_wait
// RUN: not gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx90a},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl{flags=direct-copies=always}))" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: --direct-copies=always: hip:gfx90a has no load that writes workgroup memory directly; remove the option

#shared = #gpu.address_space<workgroup>
gpu.module @copies {
  // Partly out of bounds.
  gpu.func @bounds(%a: memref<?x?xf16>, %i: index)
      workgroup(%A: memref<64x32xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-remark@+1 {{copy goes through registers: part of it may be out of bounds}}
    %t = tessera.async_copy %a[%i, %c0], %A[%c0, %c0] shape [64, 32] alignment 16
        : memref<?x?xf16>, memref<64x32xf16, #shared>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }
  // Smaller than one load of each thread.
  gpu.func @small(%a: memref<256x256xf16>, %i: index)
      workgroup(%A: memref<16x8xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-remark@+1 {{copy goes through registers: it is not a whole number of loads for each thread}}
    %t = tessera.async_copy %a[%i, %c0], %A[%c0, %c0] shape [16, 8] in_bounds alignment 16
        : memref<256x256xf16>, memref<16x8xf16, #shared>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }
  // A workgroup that is not a whole number of subgroups.
  gpu.func @threads(%a: memref<256x256xf16>, %i: index)
      workgroup(%A: memref<64x24xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 96, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-remark@+1 {{copy goes through registers: it is not shared by all threads of whole subgroups}}
    %t = tessera.async_copy %a[%i, %c0], %A[%c0, %c0] shape [64, 24] in_bounds alignment 16
        : memref<256x256xf16>, memref<64x24xf16, #shared>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }
  // Elements smaller than a byte.
  gpu.func @packed(%a: memref<256x256xi4>, %i: index)
      workgroup(%A: memref<64x64xi4, #shared>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-remark@+1 {{copy goes through registers: its elements are smaller than a byte}}
    %t = tessera.async_copy %a[%i, %c0], %A[%c0, %c0] shape [64, 64] in_bounds alignment 16
        : memref<256x256xi4>, memref<64x64xi4, #shared>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }
  // To a tile whose rows are padded.
  gpu.func @padded(%a: memref<256x256xf16>, %i: index)
      workgroup(%A: memref<64x40xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-remark@+1 {{copy goes through registers: its rows are not contiguous in workgroup memory: they are padded, or part of a larger tile}}
    %t = tessera.async_copy %a[%i, %c0], %A[%c0, %c0] shape [64, 32] in_bounds alignment 16
        : memref<256x256xf16>, memref<64x40xf16, #shared>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }
  // Rows that are aligned to two bytes.
  gpu.func @aligned(%a: memref<256x257xf16>, %i: index, %k: index)
      workgroup(%A: memref<64x32xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    // expected-remark@+1 {{copy goes through registers: the chip has no load to workgroup memory that is at least one element wide and within the known alignment of its rows}}
    %t = tessera.async_copy %a[%i, %k], %A[%c0, %c0] shape [64, 32] in_bounds
        : memref<256x257xf16>, memref<64x32xf16, #shared>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }
}
