// gpu.lane_id in a kernel with ops of nvgpu: the threads of the host's chips are subgroups of one, but
// the lanes of such an op.

// RUN: %exits 1 gpu-runner %s --target=cpu 2>&1 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify | FileCheck %s --check-prefix=EMULATED

// EMULATED: {{^}}verified

func.func @main(%a: memref<8x8xf16>, %c: memref<32xindex>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%s : memref<8x8xf16, #gpu.address_space<workgroup>>) {
    // CHECK: [[@LINE+1]]:{{[0-9]+}}: error: gpu.lane_id next to nvgpu.device_async_copy is not supported on a chip with subgroups of one thread
    %lane = gpu.lane_id
    memref.store %lane, %c[%tx] : memref<32xindex>
    %token = nvgpu.device_async_copy %a[%c0, %c0], %s[%c0, %c0], 8
        : memref<8x8xf16> to memref<8x8xf16, #gpu.address_space<workgroup>>
    gpu.terminator
  }
  return
}
