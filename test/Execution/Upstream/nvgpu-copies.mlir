// nvgpu.device_async_copy: elements that are not read are zero, groups complete in order, and tokens
// pass through loops.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: sed 's/numGroups = 1/numGroups = 2/' %s > %t.mlir
// RUN: %exits 3 gpu-runner %t.mlir --target=cpu --verify | FileCheck %s --check-prefix=EARLY

// CHECK: {{^}}verified
// PTX: cp.async.ca.shared.global {{.*}}, 16, %r{{[0-9]+}};
// PTX: cp.async.wait_group {{ *}}1;
// EARLY: FAILED

!shared = memref<3x32x4xf32, #gpu.address_space<workgroup>>

func.func @main(%a: memref<96x4xf32>, %c: memref<32x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%s : !shared) {
    %few = arith.remui %tx, %c3 : index
    %t0 = nvgpu.device_async_copy %a[%tx, %c0], %s[%c0, %tx, %c0], 4, %few
        : memref<96x4xf32> to !shared
    %g0 = nvgpu.device_async_create_group %t0
    %first = arith.constant dense<0.0> : vector<4xf32>
    %sum, %last = scf.for %i = %c1 to %c3 step %c1
        iter_args(%acc = %first, %token = %g0) -> (vector<4xf32>, !nvgpu.device.async.token) {
      %row = affine.apply affine_map<(d0)[s0] -> (d0 * 32 + s0)>(%i)[%tx]
      %t = nvgpu.device_async_copy %a[%row, %c0], %s[%i, %tx, %c0], 4 : memref<96x4xf32> to !shared
      %g = nvgpu.device_async_create_group %t
      nvgpu.device_async_wait %token {numGroups = 1 : i32}
      %before = arith.subi %i, %c1 : index
      %v = vector.load %s[%before, %tx, %c0] : !shared, vector<4xf32>
      %next = arith.addf %acc, %v : vector<4xf32>
      scf.yield %next, %g : vector<4xf32>, !nvgpu.device.async.token
    }
    nvgpu.device_async_wait %last
    %v = vector.load %s[%c2, %tx, %c0] : !shared, vector<4xf32>
    %all = arith.addf %sum, %v : vector<4xf32>
    vector.store %all, %c[%tx, %c0] : memref<32x4xf32>, vector<4xf32>
    gpu.terminator
  }
  return
}
