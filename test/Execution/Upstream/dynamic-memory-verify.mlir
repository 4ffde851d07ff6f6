// The reference evaluates kernels with dynamic workgroup memory: two views of different types, and
// static memory beside them.

// RUN: gpu-runner --target=cpu --verify %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=sm_90a --verify %s | FileCheck %s
// RUN: gpu-runner --target=cpu:emulate=gfx942 --verify %s | FileCheck %s
// RUN: %exits 3 gpu-runner --target=cpu --verify --debug-corrupt-output=0 %s
// RUN: %exits 1 gpu-runner --target=cpu --verify -e punned %s 2>&1 | FileCheck %s --check-prefix=PUNNED
// RUN: %exits 1 gpu-runner --target=cpu --verify -e beyond %s 2>&1 | FileCheck %s --check-prefix=BEYOND

// CHECK: {{^}}verified
// PUNNED: error: elements of two types share bytes of the dynamic workgroup memory, which the reference does not support
// BEYOND: error: bytes 64 to 320 are not whole elements of the 256 bytes of dynamic workgroup memory

#workgroup = #gpu.address_space<workgroup>

func.func @main(%a: memref<4x32xf32>, %sums: memref<4x32xf32>, %counts: memref<4x32xi16>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 192 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
      dynamic_shared_memory_size %bytes
      workgroup(%static : memref<32xf32, #workgroup>) {
    %c0 = arith.constant 0 : index
    %c31 = arith.constant 31 : index
    %c128 = arith.constant 128 : index
    %all = gpu.dynamic_shared_memory : memref<?xi8, #workgroup>
    %floats = memref.view %all[%c0][] : memref<?xi8, #workgroup> to memref<32xf32, #workgroup>
    %shorts = memref.view %all[%c128][%c32] : memref<?xi8, #workgroup> to memref<?xi16, #workgroup>
    %x = memref.load %a[%bx, %tx] : memref<4x32xf32>
    %y = arith.addf %x, %x : f32
    %n = arith.index_cast %tx : index to i16
    memref.store %x, %floats[%tx] : memref<32xf32, #workgroup>
    memref.store %y, %static[%tx] : memref<32xf32, #workgroup>
    memref.store %n, %shorts[%tx] : memref<?xi16, #workgroup>
    gpu.barrier
    %other = arith.subi %c31, %tx : index
    %f = memref.load %floats[%other] : memref<32xf32, #workgroup>
    %s = memref.load %static[%other] : memref<32xf32, #workgroup>
    %h = memref.load %shorts[%other] : memref<?xi16, #workgroup>
    %sum = arith.addf %f, %s : f32
    memref.store %sum, %sums[%bx, %tx] : memref<4x32xf32>
    memref.store %h, %counts[%bx, %tx] : memref<4x32xi16>
    gpu.terminator
  }
  return
}

func.func @punned(%r: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %bytes = arith.constant 16 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c4, %sy = %c1, %sz = %c1)
      dynamic_shared_memory_size %bytes {
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %all = gpu.dynamic_shared_memory : memref<?xi8, #workgroup>
    %floats = memref.view %all[%c0][] : memref<?xi8, #workgroup> to memref<4xf32, #workgroup>
    %words = memref.view %all[%c0][] : memref<?xi8, #workgroup> to memref<4xi32, #workgroup>
    memref.store %one, %floats[%tx] : memref<4xf32, #workgroup>
    %x = memref.load %words[%tx] : memref<4xi32, #workgroup>
    memref.store %x, %r[%tx] : memref<4xi32>
    gpu.terminator
  }
  return
}

func.func @beyond(%r: memref<64xi32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 256 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
      dynamic_shared_memory_size %bytes {
    %x = arith.constant 1 : i32
    %all = gpu.dynamic_shared_memory : memref<?xi8, #workgroup>
    %words = memref.view %all[%c64][] : memref<?xi8, #workgroup> to memref<64xi32, #workgroup>
    memref.store %x, %words[%tx] : memref<64xi32, #workgroup>
    memref.store %x, %r[%tx] : memref<64xi32>
    gpu.terminator
  }
  return
}
