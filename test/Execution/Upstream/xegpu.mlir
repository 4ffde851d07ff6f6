// xegpu at subgroup level and at workgroup level, raised to fragments: the same result on every target,
// and as linalg.matmul gives it.

// RUN: gpu-runner %s --target=cpu --verify 2>&1 | FileCheck %s --check-prefixes=REMARK,CHECK
// RUN: gpu-runner %s --target=cpu:emulate=pvc --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=linalg --target=cpu | FileCheck %s --check-prefix=LINALG
// RUN: gpu-runner %s --entry=moved --target=cpu --verify | FileCheck %s --check-prefix=MOVED
// RUN: gpu-runner %s --entry=moved --target=cpu:emulate=pvc --verify | FileCheck %s --check-prefix=MOVED
// RUN: gpu-runner %s --entry=moved --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefix=MOVED
// RUN: gpu-runner %s --entry=workgroup --target=cpu --verify | FileCheck %s --check-prefix=WORKGROUP
// RUN: gpu-runner %s --entry=workgroup --target=cpu:emulate=pvc --verify | FileCheck %s --check-prefix=WORKGROUP
// RUN: gpu-runner %s --entry=workgroup --target=cpu:emulate=sm_80 --verify | FileCheck %s --check-prefix=WORKGROUP
// RUN: gpu-runner %s --target=opencl:pvc --emit=spirv-asm | FileCheck %s --check-prefix=DPAS

// REMARK: xegpu.mlir:{{[0-9]+}}:3: remark: raised to fragments: 1 xegpu.prefetch_nd, 2 xegpu.load_nd, 1 xegpu.dpas, 1 xegpu.store_nd
// CHECK: argument 2: {{.*}} checksum bcaf23c0
// CHECK: {{^}}verified
// LINALG: checksum bcaf23c0
// WORKGROUP: checksum bcaf23c0
// WORKGROUP: {{^}}verified
// MOVED: argument 2: {{.*}} checksum 4a2abc5a
// MOVED: {{^}}verified
// DPAS: OpSubgroupMatrixMultiplyAccumulateINTEL

func.func @main(%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %subgroup = gpu.subgroup_id : index
    %i = arith.muli %bx, %c8 : index
    %j = arith.muli %subgroup, %c16 : index
    %ta = xegpu.create_nd_tdesc %a : memref<32x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %tb = xegpu.create_nd_tdesc %b : memref<64x32xf16> -> !xegpu.tensor_desc<16x16xf16>
    %tc = xegpu.create_nd_tdesc %c[%i, %j] : memref<32x32xf32> -> !xegpu.tensor_desc<8x16xf32>
    %zero = arith.constant dense<0.0> : vector<8x16xf32>
    %d = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc = %zero) -> (vector<8x16xf32>) {
      xegpu.prefetch_nd %ta[%i, %k] : !xegpu.tensor_desc<8x16xf16>
      %x = xegpu.load_nd %ta[%i, %k] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
      %y = xegpu.load_nd %tb[%k, %j] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
      %next = xegpu.dpas %x, %y, %acc : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
      scf.yield %next : vector<8x16xf32>
    }
    xegpu.store_nd %d, %tc : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.terminator
  }
  return
}

func.func @linalg(%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%c : memref<32x32xf32>)
  linalg.matmul ins(%a, %b : memref<32x64xf16>, memref<64x32xf16>) outs(%c : memref<32x32xf32>)
  return
}

// Descriptors that move in nested loops, tiles beyond the bounds of the memory, a transposed load, and
// element-wise ops on tiles, of which the accumulator is updated in place.
func.func @moved(%a: memref<13x40xf16>, %b: memref<30x40xf32>, %c: memref<13x30xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %c8 = arith.constant 8 : index
    %i = arith.muli %bx, %c8 : index
    %j = arith.muli %by, %c16 : index
    %ta = xegpu.create_nd_tdesc %a[%i, 0] : memref<13x40xf16> -> !xegpu.tensor_desc<8x16xf16>
    %tb = xegpu.create_nd_tdesc %b[%j, 0] : memref<30x40xf32> -> !xegpu.tensor_desc<16x16xf32>
    %tc = xegpu.create_nd_tdesc %c[%i, %j] : memref<13x30xf32> -> !xegpu.tensor_desc<8x16xf32>
    %old = xegpu.load_nd %tc : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    %d, %ua, %ub = scf.for %n = %c0 to %c2 step %c1 iter_args(%acc = %old, %pa = %ta, %pb = %tb)
        -> (vector<8x16xf32>, !xegpu.tensor_desc<8x16xf16>, !xegpu.tensor_desc<16x16xf32>) {
      %e, %va = scf.for %m = %c0 to %c2 step %c1 iter_args(%sum = %acc, %qa = %pa)
          -> (vector<8x16xf32>, !xegpu.tensor_desc<8x16xf16>) {
        %x = xegpu.load_nd %qa : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
        %f = xegpu.load_nd %pb[0, 0] <{transpose = array<i64: 1, 0>}> : !xegpu.tensor_desc<16x16xf32> -> vector<16x16xf32>
        %y = arith.truncf %f : vector<16x16xf32> to vector<16x16xf16>
        %next = xegpu.dpas %x, %y, %sum : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
        %ra = xegpu.update_nd_offset %qa, [0, %c16] : !xegpu.tensor_desc<8x16xf16>
        scf.yield %next, %ra : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf16>
      }
      %rb = xegpu.update_nd_offset %pb, [0, 16] : !xegpu.tensor_desc<16x16xf32>
      scf.yield %e, %va, %rb : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf16>, !xegpu.tensor_desc<16x16xf32>
    }
    // The descriptor after the loops is beyond the columns: zeros.
    %beyond = xegpu.load_nd %ua : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    %z = arith.extf %beyond : vector<8x16xf16> to vector<8x16xf32>
    %half = arith.constant dense<0.5> : vector<8x16xf32>
    %g = arith.addf %d, %z : vector<8x16xf32>
    %h = arith.mulf %g, %half : vector<8x16xf32>
    xegpu.store_nd %h, %tc : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.terminator
  }
  return
}

#la = #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 32]>
#lb = #xegpu.layout<sg_layout = [2, 2], sg_data = [32, 16]>
#lc = #xegpu.layout<sg_layout = [2, 2], sg_data = [16, 16]>

func.func @workgroup(%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %ta = xegpu.create_nd_tdesc %a : memref<32x64xf16> -> !xegpu.tensor_desc<32x32xf16, #la>
    %tb = xegpu.create_nd_tdesc %b : memref<64x32xf16> -> !xegpu.tensor_desc<32x32xf16, #lb>
    %tc = xegpu.create_nd_tdesc %c : memref<32x32xf32> -> !xegpu.tensor_desc<32x32xf32, #lc>
    %zero = arith.constant {layout_result_0 = #lc} dense<0.0> : vector<32x32xf32>
    %d = scf.for %k = %c0 to %c64 step %c32 iter_args(%acc = %zero) -> (vector<32x32xf32>) {
      %x = xegpu.load_nd %ta[%c0, %k] <{layout = #la}> : !xegpu.tensor_desc<32x32xf16, #la> -> vector<32x32xf16>
      %y = xegpu.load_nd %tb[%k, %c0] <{layout = #lb}> : !xegpu.tensor_desc<32x32xf16, #lb> -> vector<32x32xf16>
      %next = xegpu.dpas %x, %y, %acc {layout_a = #la, layout_b = #lb, layout_cd = #lc} : vector<32x32xf16>, vector<32x32xf16>, vector<32x32xf32> -> vector<32x32xf32>
      scf.yield %next : vector<32x32xf32>
    } {layout_result_0 = #lc}
    xegpu.store_nd %d, %tc[%c0, %c0] <{layout = #lc}> : vector<32x32xf32>, !xegpu.tensor_desc<32x32xf32, #lc>
    gpu.terminator
  }
  return
}
