// amdgpu.raw_buffer_load and raw_buffer_store, whose elements out of bounds are zero or not stored, and
// barriers of amdgpu: on AMD's chips as they are, elsewhere as portable code.

// DEFINE: %{args} = --arg=iota:5x7 --arg=iota:6 --arg=iota:40 --arg=iota:6
// RUN: gpu-runner %s %{args} --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s %{args} --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: gpu-runner %s %{args} --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --target=hip:gfx942 --emit=amdgcn | FileCheck %s --check-prefix=HIP
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=ptx | FileCheck %s --check-prefix=PTX

// CHECK: {{^}}verified
// HIP-DAG: buffer_load
// HIP-DAG: buffer_store
// PTX: ld.global
// PTX: bar.sync

func.func @main(%a: memref<5x7xf32>, %b: memref<?xf16>, %c: memref<40xf32>, %d: memref<?xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %c9 = arith.constant 9 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c10, %sy = %c1, %sz = %c1)
             workgroup(%s : memref<10x4xf32, #gpu.address_space<workgroup>>) {
    %t = arith.index_cast %tx : index to i32
    %two = arith.constant 2 : i32
    %half = arith.divsi %t, %two : i32
    %odd = arith.remsi %t, %two : i32
    %four = arith.constant 4 : i32
    %col = arith.muli %odd, %four : i32
    // The last thread has elements 32 to 35 of 35, and a later row one more.
    %x = amdgpu.raw_buffer_load {boundsCheck = true, indexOffset = 1 : i32} %a[%half, %col] : memref<5x7xf32>, i32, i32 -> vector<4xf32>
    amdgpu.sched_barrier allow = <none>
    vector.store %x, %s[%tx, %c0] : memref<10x4xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    amdgpu.lds_barrier
    %other = arith.subi %c9, %tx : index
    %y = vector.load %s[%other, %c0] : memref<10x4xf32, #gpu.address_space<workgroup>>, vector<4xf32>
    %at = arith.muli %t, %four : i32
    amdgpu.raw_buffer_store {boundsCheck = true} %y -> %c[%at] sgprOffset %two : vector<4xf32> -> memref<40xf32>, i32
    // Thread 0 is before the first element.
    %minus = arith.constant -1 : i32
    %from = arith.addi %t, %minus : i32
    %z = amdgpu.raw_buffer_load %b[%from] : memref<?xf16>, i32 -> f16
    amdgpu.raw_buffer_store %z -> %d[%t] : f16 -> memref<?xf16>, i32
    gpu.terminator
  }
  return
}
