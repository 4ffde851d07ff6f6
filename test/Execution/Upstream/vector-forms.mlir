// Vectors of several dimensions in a kernel, and what --verify evaluates of them.

// RUN: gpu-runner %s --target=cpu --arg=random --verify -e arithmetic | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --arg=random --verify -e arithmetic | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --arg=random --verify -e arithmetic | FileCheck %s
// RUN: gpu-runner %s --target=cpu --arg=random --verify -e rearrange | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --arg=random --verify -e rearrange | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --arg=random --verify -e rearrange | FileCheck %s
// RUN: gpu-runner %s --target=cpu --arg=random --verify -e integers | FileCheck %s
// RUN: gpu-runner %s --target=cpu --arg=random --verify -e memory | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --arg=random --verify -e memory | FileCheck %s
// CHECK: {{^}}verified

// Code is generated for each target.
// RUN: gpu-runner %s --target=cuda:sm_90a -e arithmetic --emit=ptx -o %t.ptx
// RUN: gpu-runner %s --target=cuda:sm_90a -e rearrange --emit=ptx -o %t.ptx
// RUN: gpu-runner %s --target=hip:gfx942 -e rearrange --emit=hsaco -o %t.hsaco
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper -e arithmetic --emit=spirv -o %t.spv
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper -e rearrange --emit=spirv -o %t.spv
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper -e integers --emit=spirv -o %t.spv
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper -e memory --emit=spirv -o %t.spv

func.func @arithmetic(%a: memref<8x16xf32>, %b: memref<16x8xf32>, %c: memref<8x8xf32>, %d: memref<8xf32>, %e: memref<8x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%t, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %va = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : memref<8x16xf32>, vector<8x16xf32>
    %vb = vector.transfer_read %b[%c0, %c0], %z {in_bounds = [true, true]} : memref<16x8xf32>, vector<16x8xf32>
    %old = vector.transfer_read %c[%c0, %c0], %z {in_bounds = [true, true]} : memref<8x8xf32>, vector<8x8xf32>
    %r = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                          iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %va, %vb, %old : vector<8x16xf32>, vector<16x8xf32> into vector<8x8xf32>
    vector.transfer_write %r, %c[%c0, %c0] {in_bounds = [true, true]} : vector<8x8xf32>, memref<8x8xf32>
    %z8 = arith.constant dense<0.0> : vector<8xf32>
    %m = vector.multi_reduction <add>, %va, %z8 [1] : vector<8x16xf32> to vector<8xf32>
    %largest = vector.reduction <maximumf>, %m : vector<8xf32> into f32
    %splat = vector.broadcast %largest : f32 to vector<8xf32>
    %shifted = arith.subf %m, %splat : vector<8xf32>
    vector.transfer_write %shifted, %d[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
    %row = vector.extract %va[3] : vector<16xf32> from vector<8x16xf32>
    %outer = vector.outerproduct %m, %row, %va {kind = #vector.kind<add>} : vector<8xf32>, vector<16xf32>
    vector.transfer_write %outer, %e[%c0, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, memref<8x16xf32>
    gpu.terminator
  }
  return
}

func.func @rearrange(%a: memref<4x8xf32>, %t: memref<8x4xf32>, %s: memref<2x8xf32>, %i: memref<16xf32>, %x: memref<4x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %va = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : memref<4x8xf32>, vector<4x8xf32>
    %transposed = vector.transpose %va, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
    vector.transfer_write %transposed, %t[%c0, %c0] {in_bounds = [true, true]} : vector<8x4xf32>, memref<8x4xf32>
    %cast = vector.shape_cast %transposed : vector<8x4xf32> to vector<4x8xf32>
    %rows = vector.shuffle %va, %cast [2, 5] : vector<4x8xf32>, vector<4x8xf32>
    vector.transfer_write %rows, %s[%c0, %c0] {in_bounds = [true, true]} : vector<2x8xf32>, memref<2x8xf32>
    %first = vector.extract %va[0] : vector<8xf32> from vector<4x8xf32>
    %second = vector.extract %va[1] : vector<8xf32> from vector<4x8xf32>
    %both = vector.interleave %first, %second : vector<8xf32> -> vector<16xf32>
    %even, %odd = vector.deinterleave %both : vector<16xf32> -> vector<8xf32>
    %sum = arith.subf %even, %odd : vector<8xf32>
    %again = vector.interleave %sum, %odd : vector<8xf32> -> vector<16xf32>
    vector.transfer_write %again, %i[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
    %slice = vector.extract_strided_slice %va {offsets = [1, 2], sizes = [2, 4], strides = [1, 1]} : vector<4x8xf32> to vector<2x4xf32>
    %inserted = vector.insert_strided_slice %slice, %va {offsets = [2, 4], strides = [1, 1]} : vector<2x4xf32> into vector<4x8xf32>
    vector.transfer_write %inserted, %x[%c0, %c0] {in_bounds = [true, true]} : vector<4x8xf32>, memref<4x8xf32>
    gpu.terminator
  }
  return
}

func.func @integers(%a: memref<4x6xi32>, %out: memref<4xi32>, %all: memref<1xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %va = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : memref<4x6xi32>, vector<4x6xi32>
    %init = arith.constant dense<[3, -2, 5, 1]> : vector<4xi32>
    %least = vector.multi_reduction <minsi>, %va, %init [1] : vector<4x6xi32> to vector<4xi32>
    vector.transfer_write %least, %out[%c0] {in_bounds = [true]} : vector<4xi32>, memref<4xi32>
    %bits = vector.reduction <xor>, %least : vector<4xi32> into i32
    memref.store %bits, %all[%c0] : memref<1xi32>
    gpu.terminator
  }
  return
}

func.func @memory(%a: memref<8x4x2xf32>, %c: memref<8x4x2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {
    %x = vector.load %a[%tx, %c0, %c0] : memref<8x4x2xf32>, vector<4x2xf32>
    %y = arith.addf %x, %x : vector<4x2xf32>
    vector.store %y, %c[%tx, %c0, %c0] : memref<8x4x2xf32>, vector<4x2xf32>
    gpu.terminator
  }
  return
}
