// A global in workgroup memory is another one in each workgroup.

// RUN: gpu-runner %s --target=cpu --verify --repeat=3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --repeat=3 -e launch | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify -e launch | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --verify | FileCheck %s
// CHECK: {{^}}verified

module attributes {gpu.container_module} {
  gpu.module @kernels {
    memref.global "private" @tile : memref<64xf32, #gpu.address_space<workgroup>>
    gpu.func @k(%out: memref<8x64xf32>) kernel {
      %tile = memref.get_global @tile : memref<64xf32, #gpu.address_space<workgroup>>
      %b = gpu.block_id x
      %t = gpu.thread_id x
      %c63 = arith.constant 63 : index
      %c64 = arith.constant 64 : index
      %base = arith.muli %b, %c64 : index
      %v = arith.addi %base, %t : index
      %i = arith.index_cast %v : index to i32
      %f = arith.sitofp %i : i32 to f32
      memref.store %f, %tile[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %r = arith.subi %c63, %t : index
      %g = memref.load %tile[%r] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %g, %out[%b, %t] : memref<8x64xf32>
      gpu.return
    }
  }
  func.func @main(%out: memref<8x64xf32>) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@k blocks in (%c8, %c1, %c1) threads in (%c64, %c1, %c1) args(%out : memref<8x64xf32>)
    return
  }
  memref.global "private" @place : memref<64xf32, #gpu.address_space<workgroup>>
  func.func @launch(%out: memref<8x64xf32>) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c63 = arith.constant 63 : index
    %c64 = arith.constant 64 : index
    gpu.launch blocks(%b, %by, %bz) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%t, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
      %tile = memref.get_global @place : memref<64xf32, #gpu.address_space<workgroup>>
      %base = arith.muli %b, %c64 : index
      %v = arith.addi %base, %t : index
      %i = arith.index_cast %v : index to i32
      %f = arith.sitofp %i : i32 to f32
      memref.store %f, %tile[%t] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %r = arith.subi %c63, %t : index
      %g = memref.load %tile[%r] : memref<64xf32, #gpu.address_space<workgroup>>
      memref.store %g, %out[%b, %t] : memref<8x64xf32>
      gpu.terminator
    }
    return
  }
}
