// Asynchronous copies whose loads write workgroup memory, and their waits.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx950},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl),cse)" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl{flags=direct-copies=always}))" | FileCheck %s --check-prefix=WORDS
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl))" | FileCheck %s --check-prefix=REGISTERS
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx950},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl{flags=direct-copies=never}))" | FileCheck %s --check-prefix=REGISTERS
// REGISTERS-NOT: amdgpu.gather_to_lds
// REGISTERS-NOT: amdgpu.memory_counter_wait

#shared = #gpu.address_space<workgroup>
gpu.module @copies {
  // A thread's position in the tile is constant; the tile's origin is the buffer's base. A subgroup writes
  // 64 contiguous chunks of eight elements, and the second of two loads the chunks 128 further on.
  // CHECK-LABEL: gpu.func @plain(
  // CHECK-SAME:      %[[A:[^:]+]]: memref<256x256xf16>, %[[I:[^:]+]]: index, %[[S:[^:]+]]: index
  // CHECK:         %[[ROW:.+]] = memref.collapse_shape %{{.+}} {{\[\[}}0, 1, 2]]
  // CHECK:         %[[MATRIX:.+]] = arith.muli %[[S]], %{{.+}}#0
  // CHECK:         %[[TILE:.+]] = memref.subview %[[A]][%[[I]], %{{.+}}] [64, 32] [1, 1]
  // CHECK:         %[[BUFFER:.+]] = amdgpu.fat_raw_buffer_cast %[[TILE]] validBytes(%c2147483647_i64) boundsCheck(false) resetOffset
  // CHECK:         %[[SUBGROUP:.+]] = rocdl.readfirstlane
  // CHECK:         %[[NUMBER:.+]] = arith.index_cast %[[SUBGROUP]] : i32 to index
  // CHECK:         %[[CHUNKS:.+]] = arith.muli %[[NUMBER]], %c512
  // CHECK:         %[[FIRST:.+]] = arith.addi %[[CHUNKS]], %[[MATRIX]]
  // CHECK:         amdgpu.gather_to_lds %[[BUFFER]][%{{.+}}, %{{.+}}], %[[ROW]][%[[FIRST]]] : vector<8xf16>
  // CHECK:         %[[SECOND:.+]] = arith.addi %[[MATRIX]], %c1024
  // CHECK:         %[[AT:.+]] = arith.addi %{{.+}}, %[[SECOND]]
  // CHECK:         amdgpu.gather_to_lds %{{.+}}[%{{.+}}, %{{.+}}], %[[ROW]][%[[AT]]] : vector<8xf16>
  // CHECK-NOT:     amdgpu.gather_to_lds
  // CHECK:         amdgpu.sched_barrier allow = <none>
  // CHECK:         amdgpu.memory_counter_wait load(0)
  // CHECK-NEXT:    amdgpu.lds_barrier
  // WORDS-LABEL: gpu.func @plain(
  // WORDS-COUNT-8: amdgpu.gather_to_lds {{.+}} : vector<2xf16>
  // WORDS-NOT:     amdgpu.gather_to_lds
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
  // CHECK-COUNT-6: amdgpu.gather_to_lds
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
  // CHECK-COUNT-2: amdgpu.gather_to_lds
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
  // CHECK-NOT:     fat_raw_buffer_cast
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
}
