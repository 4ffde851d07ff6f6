// A matmul in nvgpu by four subgroups of 32 threads: each loads its lanes' elements by gpu.lane_id and
// gpu.subgroup_id, the tiles of the next step are copied while one is computed, and the tokens of the
// copies pass through the loop. Chips with subgroups of other sizes, or without such instructions, give
// the same result, as does linalg.matmul.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify 2>&1 | FileCheck %s --implicit-check-not=remark:
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify 2>&1 | FileCheck %s --check-prefixes=GFX942,CHECK
// RUN: gpu-runner %s --target=cpu:emulate=sm_75 --verify 2>&1 | FileCheck %s --check-prefixes=SM75,CHECK
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --verify | FileCheck %s
// RUN: gpu-runner %s --entry=linalg --target=cpu | FileCheck %s --check-prefix=LINALG
// RUN: gpu-runner %s --entry=lanes --target=cpu --verify | FileCheck %s --check-prefix=LANES
// RUN: gpu-runner %s --entry=lanes --target=cpu:emulate=sm_80 --verify | FileCheck %s --check-prefix=LANES
// RUN: gpu-runner %s --entry=lanes --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefix=LANES
// RUN: gpu-runner %s --entry=lanes --target=cpu:emulate=pvc --verify | FileCheck %s --check-prefix=LANES
// RUN: gpu-runner %s --entry=chained --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefix=CHAINED
// RUN: gpu-runner %s --entry=chained --target=cpu:emulate=pvc --verify | FileCheck %s --check-prefix=CHAINED
// The remark names the ops, and what the chip has is not raised.
// GFX942: remark: 'nvgpu.mma.sync' op is not raised to fragments: 'nvgpu.device_async_copy' op copies a number of elements that is not constant
// GFX942: remark: raised to portable code, through workgroup memory: 4 nvgpu.device_async_copy, 2 nvgpu.device_async_create_group, 2 nvgpu.device_async_wait, 2 nvgpu.ldmatrix, 1 nvgpu.mma.sync; cpu:emulate=gfx942 does not have such instructions
// SM75: remark: raised to portable code, through workgroup memory: 4 nvgpu.device_async_copy, 2 nvgpu.device_async_create_group, 2 nvgpu.device_async_wait, 1 nvgpu.mma.sync; cpu:emulate=sm_75 does not have such instructions
// CHECK: checksum 4ea8e524
// LINALG: checksum 4ea8e524
// CHECK: {{^}}verified
// LANES: checksum ea4c02a7
// LANES: {{^}}verified

#wg = #gpu.address_space<workgroup>

func.func @main(%a: memref<32x64xf16>, %b: memref<64x16xf16>, %c: memref<32x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c2, %sz = %c1)
             workgroup(%as : memref<2x32x16xf16, #wg>, %bs : memref<2x16x16xf16, #wg>) {
    %lane = gpu.lane_id
    %subgroup = gpu.subgroup_id : index
    %size = gpu.subgroup_size : index
    %base = arith.muli %subgroup, %size : index
    %thread = arith.addi %base, %lane : index
    // Four elements of a, two of b.
    %ar = arith.divui %thread, %c4 : index
    %a4 = arith.remui %thread, %c4 : index
    %ac = arith.muli %a4, %c4 : index
    %br = arith.divui %thread, %c8 : index
    %b8 = arith.remui %thread, %c8 : index
    %bc = arith.muli %b8, %c2 : index
    %ta = nvgpu.device_async_copy %a[%ar, %ac], %as[%c0, %ar, %ac], 4 : memref<32x64xf16> to memref<2x32x16xf16, #wg>
    %tb = nvgpu.device_async_copy %b[%br, %bc], %bs[%c0, %br, %bc], 2 : memref<64x16xf16> to memref<2x16x16xf16, #wg>
    %first = nvgpu.device_async_create_group %ta, %tb
    // The subgroup's tile of c.
    %half = arith.divui %subgroup, %c2 : index
    %row = arith.muli %half, %c16 : index
    %parity = arith.remui %subgroup, %c2 : index
    %col = arith.muli %parity, %c8 : index
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %d, %last = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero, %token = %first)
        -> (vector<2x2xf32>, !nvgpu.device.async.token) {
      %step = arith.divui %k, %c16 : index
      %slot = arith.remui %step, %c2 : index
      %other = arith.subi %c1, %slot : index
      %after = arith.addi %k, %c16 : index
      nvgpu.device_async_wait %token {numGroups = 0 : i32}
      gpu.barrier
      %more = arith.cmpi ult, %after, %c64 : index
      // Beyond the last step, nothing is read.
      %na = arith.select %more, %c4, %c0 : index
      %nb = arith.select %more, %c2, %c0 : index
      %from = arith.select %more, %after, %c0 : index
      %nc = arith.addi %from, %ac : index
      %nr = arith.addi %from, %br : index
      %ua = nvgpu.device_async_copy %a[%ar, %nc], %as[%other, %ar, %ac], 4, %na : memref<32x64xf16> to memref<2x32x16xf16, #wg>
      %ub = nvgpu.device_async_copy %b[%nr, %bc], %bs[%other, %br, %bc], 2, %nb : memref<64x16xf16> to memref<2x16x16xf16, #wg>
      %next = nvgpu.device_async_create_group %ua, %ub
      %r16 = arith.remui %lane, %c16 : index
      %l16 = arith.divui %lane, %c16 : index
      %fr = arith.addi %row, %r16 : index
      %fc = arith.muli %l16, %c8 : index
      %fa = nvgpu.ldmatrix %as[%slot, %fr, %fc] {numTiles = 4 : i32, transpose = false} : memref<2x32x16xf16, #wg> -> vector<4x2xf16>
      %fb = nvgpu.ldmatrix %bs[%slot, %r16, %col] {numTiles = 2 : i32, transpose = true} : memref<2x16x16xf16, #wg> -> vector<2x2xf16>
      %sum = nvgpu.mma.sync(%fa, %fb, %acc) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      scf.yield %sum, %next : vector<2x2xf32>, !nvgpu.device.async.token
    }
    nvgpu.device_async_wait %last
    %g = arith.divui %lane, %c4 : index
    %t = arith.remui %lane, %c4 : index
    %t2 = arith.muli %t, %c2 : index
    %g0 = arith.addi %row, %g : index
    %g8 = arith.addi %g0, %c8 : index
    %cc = arith.addi %col, %t2 : index
    %d0 = vector.extract %d[0] : vector<2xf32> from vector<2x2xf32>
    %d1 = vector.extract %d[1] : vector<2xf32> from vector<2x2xf32>
    vector.store %d0, %c[%g0, %cc] : memref<32x16xf32>, vector<2xf32>
    vector.store %d1, %c[%g8, %cc] : memref<32x16xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}

func.func @linalg(%a: memref<32x64xf16>, %b: memref<64x16xf16>, %c: memref<32x16xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<32x16xf32>)
  linalg.matmul ins(%a, %b : memref<32x64xf16>, memref<64x16xf16>) outs(%c : memref<32x16xf32>)
  return
}

// Sums over the rows of an accumulator by shuffles, and over a subgroup. The second subgroup starts at
// thread 32 on every chip.
func.func @lanes(%a: memref<16x8xf16>, %c: memref<64x6xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %lane = gpu.lane_id
    %subgroup = gpu.subgroup_id : index
    %count = gpu.num_subgroups : index
    %g = arith.divui %lane, %c4 : index
    %t = arith.remui %lane, %c4 : index
    %t2 = arith.muli %t, %c2 : index
    %c8 = arith.constant 8 : index
    %g8 = arith.addi %g, %c8 : index
    %zero = arith.constant dense<0.0> : vector<2x2xf16>
    %v0 = vector.load %a[%g, %t2] : memref<16x8xf16>, vector<2xf16>
    %v1 = vector.load %a[%g8, %t2] : memref<16x8xf16>, vector<2xf16>
    %x = vector.insert %v0, %zero [0] : vector<2xf16> into vector<2x2xf16>
    %fa = vector.insert %v1, %x [1] : vector<2xf16> into vector<2x2xf16>
    %fb = vector.extract_strided_slice %fa {offsets = [0, 0], sizes = [1, 2], strides = [1, 1]} : vector<2x2xf16> to vector<1x2xf16>
    %acc = arith.constant dense<1.0> : vector<2x2xf32>
    %d = nvgpu.mma.sync(%fa, %fb, %acc) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %y0 = vector.extract %d[0, 0] : f32 from vector<2x2xf32>
    %y1 = vector.extract %d[0, 1] : f32 from vector<2x2xf32>
    %y = arith.addf %y0, %y1 : f32
    %w = arith.constant 32 : i32
    %one = arith.constant 1 : i32
    %two = arith.constant 2 : i32
    %s0, %ok0 = gpu.shuffle xor %y, %one, %w : f32
    %y2 = arith.addf %y, %s0 : f32
    %s1, %ok1 = gpu.shuffle xor %y2, %two, %w : f32
    %y3 = arith.addf %y2, %s1 : f32
    memref.store %y3, %c[%tx, %c0] : memref<64x6xf32>
    %all = gpu.subgroup_reduce add %y : (f32) -> f32
    memref.store %all, %c[%tx, %c1] : memref<64x6xf32>
    %up, %okUp = gpu.shuffle up %y, %two, %w : f32
    %upOr = arith.select %okUp, %up, %y : f32
    memref.store %upOr, %c[%tx, %c2] : memref<64x6xf32>
    %down, %okDown = gpu.shuffle down %y, %one, %w : f32
    %downOr = arith.select %okDown, %down, %y : f32
    memref.store %downOr, %c[%tx, %c3] : memref<64x6xf32>
    %idx, %okIdx = gpu.shuffle idx %y, %two, %w : f32
    memref.store %idx, %c[%tx, %c4] : memref<64x6xf32>
    %n = arith.muli %subgroup, %count : index
    %i = arith.index_cast %n : index to i32
    %f = arith.sitofp %i : i32 to f32
    memref.store %f, %c[%tx, %c5] : memref<64x6xf32>
    gpu.terminator
  }
  return
}

// Instructions one after the other, of which each has the operands of the next step: a lane must not
// overwrite what another one is still to read.
func.func @chained(%a: memref<6x64x4xf16>, %b: memref<6x64x2xf16>, %c: memref<64x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %d = scf.for %k = %c0 to %c6 step %c1 iter_args(%acc = %zero) -> (vector<2x2xf32>) {
      %la = vector.load %a[%k, %tx, %c0] : memref<6x64x4xf16>, vector<4xf16>
      %lb = vector.load %b[%k, %tx, %c0] : memref<6x64x2xf16>, vector<2xf16>
      %x = vector.shape_cast %la : vector<4xf16> to vector<2x2xf16>
      %y = vector.shape_cast %lb : vector<2xf16> to vector<1x2xf16>
      %next = nvgpu.mma.sync(%x, %y, %acc) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      scf.yield %next : vector<2x2xf32>
    }
    %e = vector.shape_cast %d : vector<2x2xf32> to vector<4xf32>
    vector.store %e, %c[%tx, %c0] : memref<64x4xf32>, vector<4xf32>
    gpu.terminator
  }
  return
}
// CHAINED: {{^}}verified
