// gpu.lane_id in a kernel with ops of nvgpu: that of a subgroup of 32 threads, also where the chip has
// subgroups of another size.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%a: memref<8x8xf16>, %c: memref<64xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1)
             workgroup(%s : memref<8x8xf16, #gpu.address_space<workgroup>>) {
    %lane = gpu.lane_id
    memref.store %lane, %c[%tx] : memref<64xindex>
    %token = nvgpu.device_async_copy %a[%c0, %c0], %s[%c0, %c0], 8
        : memref<8x8xf16> to memref<8x8xf16, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}
