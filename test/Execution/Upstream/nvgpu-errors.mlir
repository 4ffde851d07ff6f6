// The runtime creates no tensor maps of programs: an error names the op, on each target.

// RUN: %exits 1 gpu-runner %s --target=cpu 2>&1 | FileCheck %s
// RUN: %exits 1 gpu-runner %s --target=cuda:sm_90a --emit=ptx 2>&1 | FileCheck %s
// CHECK: nvgpu-errors.mlir:[[@LINE+10]]:{{[0-9]+}}: error: 'nvgpu.tma.create.descriptor' op is not supported: the runtime creates no tensor maps of programs; copy tiles by nvgpu.device_async_copy, or write the kernel with linalg, for which TMA is used
// CHECK-NOT: error:

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = none, l2promo = none, oob = zero, interleave = none>

func.func @main(%m: memref<64x64xf16>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %u = memref.cast %m : memref<64x64xf16> to memref<*xf16>
  %map = nvgpu.tma.create.descriptor %u box[%c64, %c64] : memref<*xf16> -> !map
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c128, %ny = %c1, %nz = %c1) {
    nvgpu.tma.prefetch.descriptor %map : !map
    gpu.terminator
  }
  return
}
