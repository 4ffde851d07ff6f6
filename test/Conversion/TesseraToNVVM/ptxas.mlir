// A kernel for each matmul assembles for every generation, without spills. Each
// stages its operands asynchronously, at the edges of dynamic memory.
// REQUIRES: long_tests
// REQUIRES: can-compile-ptx
// RUN: gpu-runner %s --target=cuda:sm_75 --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=SM75 --input-file=%t.ptx
// RUN: %ptxas -v -arch=sm_75 %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=SM80 --input-file=%t.ptx
// RUN: %ptxas -v -arch=sm_80 %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: gpu-runner %s --target=cuda:sm_86 --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=SM80 --input-file=%t.ptx
// RUN: %ptxas -v -arch=sm_86 %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: gpu-runner %s --target=cuda:sm_89 --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=SM89 --input-file=%t.ptx
// RUN: %ptxas -v -arch=sm_89 %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=SM90 --input-file=%t.ptx
// RUN: %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: gpu-runner %s --target=cuda:sm_100a --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=SM90 --input-file=%t.ptx
// RUN: %ptxas -v -arch=sm_100a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: gpu-runner %s --target=cuda:sm_120 --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=SM90 --input-file=%t.ptx
// RUN: %ptxas -v -arch=sm_120 %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
//
// PTXAS-COUNT-10: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: bytes spill
//
// SM75-NOT: cp.async
// SM75: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// SM75: mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16
// SM75: mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32
// SM75: mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32
//
// SM80: cp.async.cg.shared.global
// SM80: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// SM80: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16
// SM80: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// SM80: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// SM80: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// SM80: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// SM80: mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32
//
// SM89: cp.async.cg.shared.global
// SM89: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// SM89: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16
// SM89: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// SM89: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// SM89: mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64
// SM89: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// SM89: mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32
// SM89: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
// SM89: mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32
//
// SM90: cp.async.cg.shared.global
// SM90: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// SM90: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16
// SM90: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// SM90: mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32
// SM90: mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64
// SM90: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// SM90: mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32
// SM90: mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32
// SM90: mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32

func.func @main(%f16_a: memref<?x?xf16>, %f16_b: memref<?x?xf16>, %f16_c: memref<?x?xf32>,
                %f16_f16_a: memref<?x?xf16>, %f16_f16_b: memref<?x?xf16>, %f16_f16_c: memref<?x?xf16>,
                %bf16_a: memref<?x?xbf16>, %bf16_b: memref<?x?xbf16>, %bf16_c: memref<?x?xf32>,
                %f32_a: memref<?x?xf32>, %f32_b: memref<?x?xf32>, %f32_c: memref<?x?xf32>,
                %tf32_a: memref<?x?xf32>, %tf32_b: memref<?x?xf32>, %tf32_c: memref<?x?xf32>,
                %f64_a: memref<?x?xf64>, %f64_b: memref<?x?xf64>, %f64_c: memref<?x?xf64>,
                %s8_a: memref<?x?xi8>, %s8_b: memref<?x?xi8>, %s8_c: memref<?x?xi32>,
                %u8_s8_a: memref<?x?xi8>, %u8_s8_b: memref<?x?xi8>, %u8_s8_c: memref<?x?xi32>,
                %e4m3_e5m2_a: memref<?x?xf8E4M3FN>, %e4m3_e5m2_b: memref<?x?xf8E5M2>, %e4m3_e5m2_c: memref<?x?xf32>,
                %e5m2_e5m2_a: memref<?x?xf8E5M2>, %e5m2_e5m2_b: memref<?x?xf8E5M2>, %e5m2_e5m2_c: memref<?x?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %size = gpu.subgroup_size : index
  %threads = arith.muli %size, %c2 : index

  %f16_zero = arith.constant 0.0 : f32
  %f16_k = memref.dim %f16_a, %c1 : memref<?x?xf16>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%wa : memref<64x32xf16, #gpu.address_space<workgroup>>,
                       %wb : memref<32x32xf16, #gpu.address_space<workgroup>>) {
    %i = arith.muli %bx, %c64 : index
    %j = arith.muli %by, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %mine = arith.muli %subgroup, %c32 : index
    %init = tessera.fill %f16_zero : !tessera.fragment<32x32xf32, acc>
    %sum = scf.for %k = %c0 to %f16_k step %c32 iter_args(%acc = %init) -> (!tessera.fragment<32x32xf32, acc>) {
      %t0 = tessera.async_copy %f16_a[%i, %k], %wa[%c0, %c0] shape [64, 32] alignment 16
          : memref<?x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %f16_b[%k, %j], %wb[%c0, %c0] shape [32, 32] alignment 16
          : memref<?x?xf16>, memref<32x32xf16, #gpu.address_space<workgroup>>
      tessera.wait for %t0, %t1
      gpu.barrier
      %a = tessera.load %wa[%mine, %c0] in_bounds
          : memref<64x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf16, a>
      %b = tessera.load %wb[%c0, %c0]
          : memref<32x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf16, b>
      %next = tessera.mma %a, %b, %acc
          : !tessera.fragment<32x32xf16, a>, !tessera.fragment<32x32xf16, b> -> !tessera.fragment<32x32xf32, acc>
      gpu.barrier
      scf.yield %next : !tessera.fragment<32x32xf32, acc>
    }
    %row = arith.addi %i, %mine : index
    tessera.store %sum, %f16_c[%row, %j] : !tessera.fragment<32x32xf32, acc>, memref<?x?xf32>
    gpu.terminator
  }

  %f16_f16_zero = arith.constant 0.0 : f16
  %f16_f16_k = memref.dim %f16_f16_a, %c1 : memref<?x?xf16>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%wa : memref<64x32xf16, #gpu.address_space<workgroup>>,
                       %wb : memref<32x32xf16, #gpu.address_space<workgroup>>) {
    %i = arith.muli %bx, %c64 : index
    %j = arith.muli %by, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %mine = arith.muli %subgroup, %c32 : index
    %init = tessera.fill %f16_f16_zero : !tessera.fragment<32x32xf16, acc>
    %sum = scf.for %k = %c0 to %f16_f16_k step %c32 iter_args(%acc = %init) -> (!tessera.fragment<32x32xf16, acc>) {
      %t0 = tessera.async_copy %f16_f16_a[%i, %k], %wa[%c0, %c0] shape [64, 32] alignment 16
          : memref<?x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %f16_f16_b[%k, %j], %wb[%c0, %c0] shape [32, 32] alignment 16
          : memref<?x?xf16>, memref<32x32xf16, #gpu.address_space<workgroup>>
      tessera.wait for %t0, %t1
      gpu.barrier
      %a = tessera.load %wa[%mine, %c0] in_bounds
          : memref<64x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf16, a>
      %b = tessera.load %wb[%c0, %c0]
          : memref<32x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf16, b>
      %next = tessera.mma %a, %b, %acc
          : !tessera.fragment<32x32xf16, a>, !tessera.fragment<32x32xf16, b> -> !tessera.fragment<32x32xf16, acc>
      gpu.barrier
      scf.yield %next : !tessera.fragment<32x32xf16, acc>
    }
    %row = arith.addi %i, %mine : index
    tessera.store %sum, %f16_f16_c[%row, %j] : !tessera.fragment<32x32xf16, acc>, memref<?x?xf16>
    gpu.terminator
  }

  %bf16_zero = arith.constant 0.0 : f32
  %bf16_k = memref.dim %bf16_a, %c1 : memref<?x?xbf16>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%wa : memref<64x32xbf16, #gpu.address_space<workgroup>>,
                       %wb : memref<32x32xbf16, #gpu.address_space<workgroup>>) {
    %i = arith.muli %bx, %c64 : index
    %j = arith.muli %by, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %mine = arith.muli %subgroup, %c32 : index
    %init = tessera.fill %bf16_zero : !tessera.fragment<32x32xf32, acc>
    %sum = scf.for %k = %c0 to %bf16_k step %c32 iter_args(%acc = %init) -> (!tessera.fragment<32x32xf32, acc>) {
      %t0 = tessera.async_copy %bf16_a[%i, %k], %wa[%c0, %c0] shape [64, 32] alignment 16
          : memref<?x?xbf16>, memref<64x32xbf16, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %bf16_b[%k, %j], %wb[%c0, %c0] shape [32, 32] alignment 16
          : memref<?x?xbf16>, memref<32x32xbf16, #gpu.address_space<workgroup>>
      tessera.wait for %t0, %t1
      gpu.barrier
      %a = tessera.load %wa[%mine, %c0] in_bounds
          : memref<64x32xbf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xbf16, a>
      %b = tessera.load %wb[%c0, %c0]
          : memref<32x32xbf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xbf16, b>
      %next = tessera.mma %a, %b, %acc
          : !tessera.fragment<32x32xbf16, a>, !tessera.fragment<32x32xbf16, b> -> !tessera.fragment<32x32xf32, acc>
      gpu.barrier
      scf.yield %next : !tessera.fragment<32x32xf32, acc>
    }
    %row = arith.addi %i, %mine : index
    tessera.store %sum, %bf16_c[%row, %j] : !tessera.fragment<32x32xf32, acc>, memref<?x?xf32>
    gpu.terminator
  }

  %f32_zero = arith.constant 0.0 : f32
  %f32_k = memref.dim %f32_a, %c1 : memref<?x?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%wa : memref<64x32xf32, #gpu.address_space<workgroup>>,
                       %wb : memref<32x32xf32, #gpu.address_space<workgroup>>) {
    %i = arith.muli %bx, %c64 : index
    %j = arith.muli %by, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %mine = arith.muli %subgroup, %c32 : index
    %init = tessera.fill %f32_zero : !tessera.fragment<32x32xf32, acc>
    %sum = scf.for %k = %c0 to %f32_k step %c32 iter_args(%acc = %init) -> (!tessera.fragment<32x32xf32, acc>) {
      %t0 = tessera.async_copy %f32_a[%i, %k], %wa[%c0, %c0] shape [64, 32] alignment 16
          : memref<?x?xf32>, memref<64x32xf32, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %f32_b[%k, %j], %wb[%c0, %c0] shape [32, 32] alignment 16
          : memref<?x?xf32>, memref<32x32xf32, #gpu.address_space<workgroup>>
      tessera.wait for %t0, %t1
      gpu.barrier
      %a = tessera.load %wa[%mine, %c0] in_bounds
          : memref<64x32xf32, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf32, a>
      %b = tessera.load %wb[%c0, %c0]
          : memref<32x32xf32, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf32, b>
      %next = tessera.mma %a, %b, %acc
          : !tessera.fragment<32x32xf32, a>, !tessera.fragment<32x32xf32, b> -> !tessera.fragment<32x32xf32, acc>
      gpu.barrier
      scf.yield %next : !tessera.fragment<32x32xf32, acc>
    }
    %row = arith.addi %i, %mine : index
    tessera.store %sum, %f32_c[%row, %j] : !tessera.fragment<32x32xf32, acc>, memref<?x?xf32>
    gpu.terminator
  }

  %tf32_zero = arith.constant 0.0 : f32
  %tf32_k = memref.dim %tf32_a, %c1 : memref<?x?xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%wa : memref<64x32xf32, #gpu.address_space<workgroup>>,
                       %wb : memref<32x32xf32, #gpu.address_space<workgroup>>) {
    %i = arith.muli %bx, %c64 : index
    %j = arith.muli %by, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %mine = arith.muli %subgroup, %c32 : index
    %init = tessera.fill %tf32_zero : !tessera.fragment<32x32xf32, acc>
    %sum = scf.for %k = %c0 to %tf32_k step %c32 iter_args(%acc = %init) -> (!tessera.fragment<32x32xf32, acc>) {
      %t0 = tessera.async_copy %tf32_a[%i, %k], %wa[%c0, %c0] shape [64, 32] alignment 16
          : memref<?x?xf32>, memref<64x32xf32, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %tf32_b[%k, %j], %wb[%c0, %c0] shape [32, 32] alignment 16
          : memref<?x?xf32>, memref<32x32xf32, #gpu.address_space<workgroup>>
      tessera.wait for %t0, %t1
      gpu.barrier
      %a = tessera.load %wa[%mine, %c0] in_bounds
          : memref<64x32xf32, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf32, a>
      %b = tessera.load %wb[%c0, %c0]
          : memref<32x32xf32, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf32, b>
      %next = tessera.mma %a, %b, %acc precision tf32
          : !tessera.fragment<32x32xf32, a>, !tessera.fragment<32x32xf32, b> -> !tessera.fragment<32x32xf32, acc>
      gpu.barrier
      scf.yield %next : !tessera.fragment<32x32xf32, acc>
    }
    %row = arith.addi %i, %mine : index
    tessera.store %sum, %tf32_c[%row, %j] : !tessera.fragment<32x32xf32, acc>, memref<?x?xf32>
    gpu.terminator
  }

  %f64_zero = arith.constant 0.0 : f64
  %f64_k = memref.dim %f64_a, %c1 : memref<?x?xf64>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%wa : memref<64x32xf64, #gpu.address_space<workgroup>>,
                       %wb : memref<32x32xf64, #gpu.address_space<workgroup>>) {
    %i = arith.muli %bx, %c64 : index
    %j = arith.muli %by, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %mine = arith.muli %subgroup, %c32 : index
    %init = tessera.fill %f64_zero : !tessera.fragment<32x32xf64, acc>
    %sum = scf.for %k = %c0 to %f64_k step %c32 iter_args(%acc = %init) -> (!tessera.fragment<32x32xf64, acc>) {
      %t0 = tessera.async_copy %f64_a[%i, %k], %wa[%c0, %c0] shape [64, 32] alignment 16
          : memref<?x?xf64>, memref<64x32xf64, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %f64_b[%k, %j], %wb[%c0, %c0] shape [32, 32] alignment 16
          : memref<?x?xf64>, memref<32x32xf64, #gpu.address_space<workgroup>>
      tessera.wait for %t0, %t1
      gpu.barrier
      %a = tessera.load %wa[%mine, %c0] in_bounds
          : memref<64x32xf64, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf64, a>
      %b = tessera.load %wb[%c0, %c0]
          : memref<32x32xf64, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf64, b>
      %next = tessera.mma %a, %b, %acc
          : !tessera.fragment<32x32xf64, a>, !tessera.fragment<32x32xf64, b> -> !tessera.fragment<32x32xf64, acc>
      gpu.barrier
      scf.yield %next : !tessera.fragment<32x32xf64, acc>
    }
    %row = arith.addi %i, %mine : index
    tessera.store %sum, %f64_c[%row, %j] : !tessera.fragment<32x32xf64, acc>, memref<?x?xf64>
    gpu.terminator
  }

  %s8_zero = arith.constant 0 : i32
  %s8_k = memref.dim %s8_a, %c1 : memref<?x?xi8>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%wa : memref<64x32xi8, #gpu.address_space<workgroup>>,
                       %wb : memref<32x32xi8, #gpu.address_space<workgroup>>) {
    %i = arith.muli %bx, %c64 : index
    %j = arith.muli %by, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %mine = arith.muli %subgroup, %c32 : index
    %init = tessera.fill %s8_zero : !tessera.fragment<32x32xi32, acc>
    %sum = scf.for %k = %c0 to %s8_k step %c32 iter_args(%acc = %init) -> (!tessera.fragment<32x32xi32, acc>) {
      %t0 = tessera.async_copy %s8_a[%i, %k], %wa[%c0, %c0] shape [64, 32] alignment 16
          : memref<?x?xi8>, memref<64x32xi8, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %s8_b[%k, %j], %wb[%c0, %c0] shape [32, 32] alignment 16
          : memref<?x?xi8>, memref<32x32xi8, #gpu.address_space<workgroup>>
      tessera.wait for %t0, %t1
      gpu.barrier
      %a = tessera.load %wa[%mine, %c0] in_bounds
          : memref<64x32xi8, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xi8, a>
      %b = tessera.load %wb[%c0, %c0]
          : memref<32x32xi8, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xi8, b>
      %next = tessera.mma %a, %b, %acc
          : !tessera.fragment<32x32xi8, a>, !tessera.fragment<32x32xi8, b> -> !tessera.fragment<32x32xi32, acc>
      gpu.barrier
      scf.yield %next : !tessera.fragment<32x32xi32, acc>
    }
    %row = arith.addi %i, %mine : index
    tessera.store %sum, %s8_c[%row, %j] : !tessera.fragment<32x32xi32, acc>, memref<?x?xi32>
    gpu.terminator
  }

  %u8_s8_zero = arith.constant 0 : i32
  %u8_s8_k = memref.dim %u8_s8_a, %c1 : memref<?x?xi8>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%wa : memref<64x32xi8, #gpu.address_space<workgroup>>,
                       %wb : memref<32x32xi8, #gpu.address_space<workgroup>>) {
    %i = arith.muli %bx, %c64 : index
    %j = arith.muli %by, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %mine = arith.muli %subgroup, %c32 : index
    %init = tessera.fill %u8_s8_zero : !tessera.fragment<32x32xi32, acc>
    %sum = scf.for %k = %c0 to %u8_s8_k step %c32 iter_args(%acc = %init) -> (!tessera.fragment<32x32xi32, acc>) {
      %t0 = tessera.async_copy %u8_s8_a[%i, %k], %wa[%c0, %c0] shape [64, 32] alignment 16
          : memref<?x?xi8>, memref<64x32xi8, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %u8_s8_b[%k, %j], %wb[%c0, %c0] shape [32, 32] alignment 16
          : memref<?x?xi8>, memref<32x32xi8, #gpu.address_space<workgroup>>
      tessera.wait for %t0, %t1
      gpu.barrier
      %a = tessera.load %wa[%mine, %c0] in_bounds
          : memref<64x32xi8, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xi8, a>
      %b = tessera.load %wb[%c0, %c0]
          : memref<32x32xi8, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xi8, b>
      %next = tessera.mma %a, %b, %acc unsigned_a
          : !tessera.fragment<32x32xi8, a>, !tessera.fragment<32x32xi8, b> -> !tessera.fragment<32x32xi32, acc>
      gpu.barrier
      scf.yield %next : !tessera.fragment<32x32xi32, acc>
    }
    %row = arith.addi %i, %mine : index
    tessera.store %sum, %u8_s8_c[%row, %j] : !tessera.fragment<32x32xi32, acc>, memref<?x?xi32>
    gpu.terminator
  }

  %e4m3_e5m2_zero = arith.constant 0.0 : f32
  %e4m3_e5m2_k = memref.dim %e4m3_e5m2_a, %c1 : memref<?x?xf8E4M3FN>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%wa : memref<64x32xf8E4M3FN, #gpu.address_space<workgroup>>,
                       %wb : memref<32x32xf8E5M2, #gpu.address_space<workgroup>>) {
    %i = arith.muli %bx, %c64 : index
    %j = arith.muli %by, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %mine = arith.muli %subgroup, %c32 : index
    %init = tessera.fill %e4m3_e5m2_zero : !tessera.fragment<32x32xf32, acc>
    %sum = scf.for %k = %c0 to %e4m3_e5m2_k step %c32 iter_args(%acc = %init) -> (!tessera.fragment<32x32xf32, acc>) {
      %t0 = tessera.async_copy %e4m3_e5m2_a[%i, %k], %wa[%c0, %c0] shape [64, 32] alignment 16
          : memref<?x?xf8E4M3FN>, memref<64x32xf8E4M3FN, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %e4m3_e5m2_b[%k, %j], %wb[%c0, %c0] shape [32, 32] alignment 16
          : memref<?x?xf8E5M2>, memref<32x32xf8E5M2, #gpu.address_space<workgroup>>
      tessera.wait for %t0, %t1
      gpu.barrier
      %a = tessera.load %wa[%mine, %c0] in_bounds
          : memref<64x32xf8E4M3FN, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf8E4M3FN, a>
      %b = tessera.load %wb[%c0, %c0]
          : memref<32x32xf8E5M2, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf8E5M2, b>
      %next = tessera.mma %a, %b, %acc
          : !tessera.fragment<32x32xf8E4M3FN, a>, !tessera.fragment<32x32xf8E5M2, b> -> !tessera.fragment<32x32xf32, acc>
      gpu.barrier
      scf.yield %next : !tessera.fragment<32x32xf32, acc>
    }
    %row = arith.addi %i, %mine : index
    tessera.store %sum, %e4m3_e5m2_c[%row, %j] : !tessera.fragment<32x32xf32, acc>, memref<?x?xf32>
    gpu.terminator
  }

  %e5m2_e5m2_zero = arith.constant 0.0 : f32
  %e5m2_e5m2_k = memref.dim %e5m2_e5m2_a, %c1 : memref<?x?xf8E5M2>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%wa : memref<64x32xf8E5M2, #gpu.address_space<workgroup>>,
                       %wb : memref<32x32xf8E5M2, #gpu.address_space<workgroup>>) {
    %i = arith.muli %bx, %c64 : index
    %j = arith.muli %by, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %mine = arith.muli %subgroup, %c32 : index
    %init = tessera.fill %e5m2_e5m2_zero : !tessera.fragment<32x32xf32, acc>
    %sum = scf.for %k = %c0 to %e5m2_e5m2_k step %c32 iter_args(%acc = %init) -> (!tessera.fragment<32x32xf32, acc>) {
      %t0 = tessera.async_copy %e5m2_e5m2_a[%i, %k], %wa[%c0, %c0] shape [64, 32] alignment 16
          : memref<?x?xf8E5M2>, memref<64x32xf8E5M2, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %e5m2_e5m2_b[%k, %j], %wb[%c0, %c0] shape [32, 32] alignment 16
          : memref<?x?xf8E5M2>, memref<32x32xf8E5M2, #gpu.address_space<workgroup>>
      tessera.wait for %t0, %t1
      gpu.barrier
      %a = tessera.load %wa[%mine, %c0] in_bounds
          : memref<64x32xf8E5M2, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf8E5M2, a>
      %b = tessera.load %wb[%c0, %c0]
          : memref<32x32xf8E5M2, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf8E5M2, b>
      %next = tessera.mma %a, %b, %acc
          : !tessera.fragment<32x32xf8E5M2, a>, !tessera.fragment<32x32xf8E5M2, b> -> !tessera.fragment<32x32xf32, acc>
      gpu.barrier
      scf.yield %next : !tessera.fragment<32x32xf32, acc>
    }
    %row = arith.addi %i, %mine : index
    tessera.store %sum, %e5m2_e5m2_c[%row, %j] : !tessera.fragment<32x32xf32, acc>, memref<?x?xf32>
    gpu.terminator
  }
  return
}
