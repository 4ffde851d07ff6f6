// Asynchronous copies whose loads write workgroup memory, and their waits.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx950},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl),cse)" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx950},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl),canonicalize,cse)" | python3 %S/Inputs/lds_loads.py plain:plain:128:0:0 panels:swizzled:256:384:256 words_of_rows:swizzled:256:2:192 short_rows:swizzled:128:0:0 | FileCheck %s --check-prefix=LANES
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl{flags=direct-copies=always}),canonicalize,cse)" > %t.words
// RUN: FileCheck %s --check-prefix=WORDS < %t.words
// RUN: python3 %S/Inputs/lds_loads.py plain:plain:128:0:0 short_rows:swizzled:128:0:0 < %t.words | FileCheck %s --check-prefix=EIGHTH
// EIGHTH: plain: 2048 elements by 8 loads
// EIGHTH: short_rows: 2048 elements by 8 loads
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl))" | FileCheck %s --check-prefix=REGISTERS
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx950},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl{flags=direct-copies=never}))" | FileCheck %s --check-prefix=REGISTERS
// REGISTERS-NOT: {{gather_to_lds|load.lds}}
// REGISTERS-NOT: amdgpu.memory_counter_wait

#shared = #gpu.address_space<workgroup>
gpu.module @copies {
  // The memory is the buffer: its base is the same in all steps, and a thread's offset differs from that of the
  // second of two loads by a constant. A subgroup writes 1024 contiguous bytes by each load. The distance of sixteen
  // rows in the source is 8192 bytes, of which the immediate offset, which both addresses get, is 1024.
  // CHECK-LABEL: gpu.func @plain(
  // CHECK-SAME:      %[[A:[^:]+]]: memref<256x256xf16>, %[[I:[^:]+]]: index, %[[S:[^:]+]]: index
  // CHECK:         %[[SUBGROUP:.+]] = rocdl.readfirstlane
  // CHECK:         %[[ROW:.+]] = memref.collapse_shape %{{.+}} {{\[\[}}0, 1, 2]]
  // CHECK-DAG:     %[[MATRIX:.+]] = memref.extract_aligned_pointer_as_index %[[A]]
  // CHECK-DAG:     %[[BASE:.+]] = llvm.inttoptr %{{.+}} : i64 to !llvm.ptr<1>
  // CHECK:         %[[BUFFER:.+]] = rocdl.make.buffer.rsrc %[[BASE]], %c0_i16, %c2147483647_i64, %c159744_i32
  // CHECK:         rocdl.raw.ptr.buffer.load.lds %[[BUFFER]], %{{.+}}, %c16_i32, %[[OFFSET:.+]], %c0_i32, %c0_i32, %c0_i32
  // CHECK:         rocdl.raw.ptr.buffer.load.lds %[[BUFFER]], %{{.+}}, %c16_i32, %[[OFFSET]], %c7168_i32, %c1024_i32, %c0_i32
  // CHECK-NOT:     load.lds
  // CHECK:         amdgpu.sched_barrier allow = <none>
  // CHECK:         amdgpu.memory_counter_wait load(0)
  // CHECK-NEXT:    amdgpu.lds_barrier
  // WORDS-LABEL: gpu.func @plain(
  // WORDS-COUNT-8: rocdl.raw.ptr.buffer.load.lds %{{.+}}, %{{.+}}, %c4_i32,
  // WORDS-NOT:     load.lds
  // WORDS:         amdgpu.memory_counter_wait load(0)
  gpu.func @plain(%a: memref<256x256xf16>, %i: index, %slot: index)
      workgroup(%A: memref<2x64x32xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %a[%i, %c0], %A[%slot, %c0, %c0] shape [64, 32] in_bounds alignment 16
        : memref<256x256xf16>, memref<2x64x32xf16, #shared>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }

  // Two copies of two loads each may be in flight: the barrier does not wait for them either.
  // CHECK-LABEL: gpu.func @pending(
  // CHECK-COUNT-6: rocdl.raw.ptr.buffer.load.lds
  // CHECK:         amdgpu.memory_counter_wait load(4) ds(0)
  // CHECK-NEXT:    rocdl.s.barrier
  // CHECK-NOT:     barrier
  // CHECK:         gpu.return
  gpu.func @pending(%a: memref<256x256xf16>, %i: index)
      workgroup(%A: memref<3x64x32xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %t = tessera.async_copy %a[%i, %c0], %A[%c0, %c0, %c0] shape [64, 32] in_bounds alignment 16
        : memref<256x256xf16>, memref<3x64x32xf16, #shared>
    %u = tessera.async_copy %a[%i, %c0], %A[%c1, %c0, %c0] shape [64, 32] in_bounds alignment 16
        : memref<256x256xf16>, memref<3x64x32xf16, #shared>
    %v = tessera.async_copy %a[%i, %c0], %A[%c2, %c0, %c0] shape [64, 32] in_bounds alignment 16
        : memref<256x256xf16>, memref<3x64x32xf16, #shared>
    tessera.wait for %t pending 2
    gpu.barrier
    gpu.return
  }

  // One of two copies goes through registers. Its number of loads is unknown: all are waited for.
  // CHECK-LABEL: gpu.func @mixed(
  // CHECK-COUNT-2: rocdl.raw.ptr.buffer.load.lds
  // CHECK:         amdgpu.raw_buffer_load
  // CHECK:         amdgpu.memory_counter_wait load(0)
  // CHECK-NEXT:    amdgpu.lds_barrier
  gpu.func @mixed(%a: memref<256x256xf16>, %i: index)
      workgroup(%A: memref<64x32xf16, #shared>, %B: memref<64x40xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %a[%i, %c0], %A[%c0, %c0] shape [64, 32] in_bounds alignment 16
        : memref<256x256xf16>, memref<64x32xf16, #shared>
    %u = tessera.async_copy %a[%i, %c0], %B[%c0, %c0] shape [64, 32] in_bounds alignment 16
        : memref<256x256xf16>, memref<64x40xf16, #shared>
    tessera.wait for %t pending 1
    gpu.barrier
    gpu.return
  }

  // A position that differs between threads: the sum of the two, without a buffer.
  // CHECK-LABEL: gpu.func @divergent(
  // CHECK-NOT:     buffer
  // CHECK-COUNT-2: amdgpu.gather_to_lds %{{.+}}[%{{.+}}, %{{.+}}], {{.+}} : vector<8xf16>, memref<256x256xf16>
  gpu.func @divergent(%a: memref<256x256xf16>)
      workgroup(%A: memref<64x32xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %t = tessera.async_copy %a[%x, %c0], %A[%c0, %c0] shape [64, 32] in_bounds alignment 16
        : memref<256x256xf16>, memref<64x32xf16, #shared>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }

  // A swizzled tile of two panels, each subgroup's loads in one of them, from the middle of a matrix.
  // The addresses are evaluated.
  // LANES: plain: 2048 elements by 2 loads
  // LANES: panels: 32768 elements by 8 loads
  // LANES: words_of_rows: 8192 elements by 4 loads
  // LANES: short_rows: 2048 elements by 2 loads
  gpu.func @panels(%a: memref<512x1024xi8>, %i: index)
      workgroup(%A: memref<128x256xi8, #shared>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %c384 = arith.constant 384 : index
    %t = tessera.async_copy %a[%c384, %c256], %A[%c0, %c0] shape [128, 256] in_bounds alignment 16 swizzled
        : memref<512x1024xi8>, memref<128x256xi8, #shared>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }

  // Four loads that write 4 KiB share a pointer; the constant of the step is part of the scalar offset.
  // CHECK-LABEL: gpu.func @words_of_rows(
  // CHECK:         rocdl.raw.ptr.buffer.load.lds %[[R:.+]], %{{.+}}, %c16_i32, %[[V:.+]], %c128_i32, %c0_i32, %c0_i32
  // CHECK:         rocdl.raw.ptr.buffer.load.lds %[[R]], %{{.+}}, %c16_i32, %[[V]], %c15488_i32, %c1024_i32, %c0_i32
  // CHECK:         rocdl.raw.ptr.buffer.load.lds %[[R]], %{{.+}}, %c16_i32, %[[V]], %c30848_i32, %c2048_i32, %c0_i32
  // CHECK:         rocdl.raw.ptr.buffer.load.lds %[[R]], %{{.+}}, %c16_i32, %[[V]], %c46208_i32, %c3072_i32, %c0_i32
  gpu.func @words_of_rows(%a: memref<512x1024xf16>, %i: index)
      workgroup(%A: memref<128x64xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    %next = arith.addi %i, %c1 : index
    %at = arith.muli %next, %c64 : index
    %t = tessera.async_copy %a[%i, %at], %A[%c0, %c0] shape [128, 64] in_bounds alignment 16 swizzled
        : memref<512x1024xf16>, memref<128x64xf16, #shared>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }

  // On gfx942 a load covers two rows, a quarter of the period of the swizzle: loads permute columns in different ways.
  gpu.func @short_rows(%a: memref<256x256xf16>, %i: index)
      workgroup(%A: memref<32x64xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %a[%i, %c0], %A[%c0, %c0] shape [32, 64] in_bounds alignment 16 swizzled
        : memref<256x256xf16>, memref<32x64xf16, #shared>
    tessera.wait for %t
    gpu.barrier
    gpu.return
  }
}
