// nvgpu.device_async_copy, ldmatrix and mma.sync: on NVIDIA's chips as they are, on the CPU and on an
// emulated chip lane by lane, and elsewhere as fragments.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=linalg --target=cpu | FileCheck %s --check-prefix=SUM
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify 2>&1 | FileCheck %s --check-prefixes=GFX942,CHECK
// RUN: gpu-runner %s --target=cpu:emulate=sm_75 --verify 2>&1 | FileCheck %s --check-prefixes=SM75,CHECK
// RUN: gpu-runner %s --target=cuda:sm_75 --emit=ptx | FileCheck %s --check-prefix=SM75PTX
// RUN: gpu-runner %s --target=hip:gfx942 --emit=amdgcn | FileCheck %s --check-prefix=HIP
// RUN: gpu-runner %s --target=opencl:pvc --emit=spirv -o %t.spv

// GFX942: remark: 'nvgpu.mma.sync' op is raised to fragments: 16x8x16 'f16' x 'f16' -> 'f32'; cpu:emulate=gfx942 multiplies them by fma64.m8n8k1.f32.f16, not a matrix unit
// SM75: remark: 'nvgpu.mma.sync' op is raised to fragments: 16x8x16 'f16' x 'f16' -> 'f32'; cpu:emulate=sm_75 multiplies them by mma.m16n8k8.f32.f16
// CHECK: checksum fa1b8357
// CHECK: {{^}}verified
// SUM: checksum fa1b8357
// PTX: cp.async.ca.shared.global {{.*}}, 16;
// PTX: cp.async.commit_group;
// PTX: cp.async.wait_group {{ *}}0;
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// SM75PTX-NOT: cp.async
// SM75PTX: ldmatrix.sync.aligned.m8n8.{{x[124]}}.shared.b16
// SM75PTX: mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32
// SM75PTX-NOT: m16n8k16
// HIP: ds_write
// HIP: v_fma

func.func @main(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %c: memref<16x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%as : memref<16x16xf16, #gpu.address_space<workgroup>>, %bs : memref<16x8xf16, #gpu.address_space<workgroup>>) {
    // Copy.
    %r = arith.divui %tx, %c2 : index
    %h = arith.remui %tx, %c2 : index
    %col = arith.muli %h, %c8 : index
    %t0 = nvgpu.device_async_copy %a[%r, %col], %as[%r, %col], 8 : memref<16x16xf16> to memref<16x16xf16, #gpu.address_space<workgroup>>
    %h4 = arith.muli %h, %c4 : index
    %t1 = nvgpu.device_async_copy %b[%r, %h4], %bs[%r, %h4], 4 : memref<16x8xf16> to memref<16x8xf16, #gpu.address_space<workgroup>>
    %g0 = nvgpu.device_async_create_group %t0, %t1
    nvgpu.device_async_wait %g0
    gpu.barrier
    %row = arith.remui %tx, %c16 : index
    %half = arith.divui %tx, %c16 : index
    %k = arith.muli %half, %c8 : index
    %fa = nvgpu.ldmatrix %as[%row, %k] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
    %fb = nvgpu.ldmatrix %bs[%row, %c0] {numTiles = 2 : i32, transpose = true} : memref<16x8xf16, #gpu.address_space<workgroup>> -> vector<2x2xf16>
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %d = nvgpu.mma.sync(%fa, %fb, %zero) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %g = arith.divui %tx, %c4 : index
    %t = arith.remui %tx, %c4 : index
    %t2 = arith.muli %t, %c2 : index
    %g8 = arith.addi %g, %c8 : index
    %d0 = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    %d1 = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %d0, %c[%g, %t2] : memref<16x8xf32>, vector<2xf32>
    vector.store %d1, %c[%g8, %t2] : memref<16x8xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}

func.func @linalg(%a: memref<16x16xf16>, %b: memref<16x8xf16>, %c: memref<16x8xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<16x8xf32>)
  linalg.matmul ins(%a, %b : memref<16x16xf16>, memref<16x8xf16>) outs(%c : memref<16x8xf32>)
  return
}
