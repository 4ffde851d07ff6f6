// RUN: gpu-opt %s --convert-xegpu-to-tessera --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// The number of threads follows from the chip's subgroups. Roles follow from uses, also through loops
// and element-wise ops.
// CHECK-LABEL: func @gemm
// CHECK-SAME:    %[[A:.+]]: memref<32x64xf16>, %[[B:.+]]: memref<64x32xbf16>, %[[C:.+]]: memref<32x32xf32>
// CHECK:         %[[SIZE:.+]] = gpu.subgroup_size
// CHECK:         gpu.launch blocks(%[[X:.+]], %{{.+}}, %{{.+}}) in {{.*}} threads({{.*}}) in (%{{.+}} = %[[SIZE]],
// CHECK:           %[[ZERO:.+]] = tessera.fill %{{.+}} : !tessera.fragment<8x16xf32, acc>
// CHECK:           %[[R:.+]]:2 = scf.for %{{.+}} = %{{.+}} iter_args(%[[ACC:.+]] = %[[ZERO]], %[[K:.+]] = %c0) -> (!tessera.fragment<8x16xf32, acc>, index)
// CHECK:             %[[L:.+]] = tessera.load %[[A]][%[[X]], %[[K]]] : memref<32x64xf16> -> <8x16xf16, a>
// CHECK:             %[[F:.+]] = tessera.load %[[B]]{{.*}} in_bounds : memref<64x32xbf16> -> <16x16xbf16, b>
// CHECK:             tessera.map %[[F]]
// CHECK:             arith.extf
// CHECK:             tessera.map
// CHECK:             arith.truncf {{.*}} : f32 to f16
// CHECK:             tessera.mma
// CHECK:             arith.addi %[[K]], %c16
// CHECK:           tessera.store %[[R]]#0, %[[C]][%[[X]], %c0]
// CHECK-NOT:       xegpu
func.func @gemm(%a: memref<32x64xf16>, %b: memref<64x32xbf16>, %c: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  // expected-remark@+1 {{raised to fragments: 1 xegpu.prefetch_nd, 2 xegpu.load_nd, 1 xegpu.dpas, 1 xegpu.store_nd}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %ta = xegpu.create_nd_tdesc %a[%bx, 0] : memref<32x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %tb = xegpu.create_nd_tdesc %b : memref<64x32xbf16> -> !xegpu.tensor_desc<16x16xbf16, #xegpu.block_tdesc_attr<boundary_check = false>>
    %tc = xegpu.create_nd_tdesc %c[%bx, 0] : memref<32x32xf32> -> !xegpu.tensor_desc<8x16xf32>
    %zero = arith.constant dense<0.0> : vector<8x16xf32>
    %d, %ua = scf.for %k = %c0 to %c4 step %c1 iter_args(%acc = %zero, %pa = %ta) -> (vector<8x16xf32>, !xegpu.tensor_desc<8x16xf16>) {
      xegpu.prefetch_nd %pa : !xegpu.tensor_desc<8x16xf16>
      %x = xegpu.load_nd %pa : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
      %y = xegpu.load_nd %tb[%k, 0] : !xegpu.tensor_desc<16x16xbf16, #xegpu.block_tdesc_attr<boundary_check = false>> -> vector<16x16xbf16>
      %e = arith.extf %y : vector<16x16xbf16> to vector<16x16xf32>
      %t = arith.truncf %e : vector<16x16xf32> to vector<16x16xf16>
      %next = xegpu.dpas %x, %t, %acc : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32> -> vector<8x16xf32>
      %qa = xegpu.update_nd_offset %pa, [0, 16] : !xegpu.tensor_desc<8x16xf16>
      scf.yield %next, %qa : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf16>
    }
    xegpu.store_nd %d, %tc : vector<8x16xf32>, !xegpu.tensor_desc<8x16xf32>
    gpu.terminator
  }
  return
}

// -----

func.func @gather(%a: memref<256xf32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    // expected-error@+1 {{'xegpu.fence' op is not supported on any target: it has no portable form}}
    xegpu.fence memory_kind = global, fence_scope = workgroup
    gpu.terminator
  }
  return
}

// -----

func.func @line(%a: memref<16x16xf32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %t = xegpu.create_nd_tdesc %a : memref<16x16xf32> -> !xegpu.tensor_desc<16xf32>
    // expected-error@+1 {{'xegpu.load_nd' op is not supported on any target: it must load a vector of two dimensions that is not packed, for a subgroup}}
    %x = xegpu.load_nd %t[0] : !xegpu.tensor_desc<16xf32> -> vector<16xf32>
    gpu.terminator
  }
  return
}

// -----

func.func @dynamic(%a: memref<?x?xf32>, %n: index) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    // expected-error@+1 {{'xegpu.create_nd_tdesc' op is not supported on any target: its source must be a memref of two static dimensions}}
    %t = xegpu.create_nd_tdesc %a, shape : [%n, %n], strides : [%n, 1] : memref<?x?xf32> -> !xegpu.tensor_desc<8x16xf32>
    %x = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf32> -> vector<8x16xf32>
    gpu.terminator
  }
  return
}

// -----

func.func @several(%a: memref<32x64xf16>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %t = xegpu.create_nd_tdesc %a : memref<32x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %x = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    // expected-error@+1 {{'vector.transpose' op is not supported on any target: it uses a vector of two dimensions in a kernel of xegpu}}
    %y = vector.transpose %x, [1, 0] : vector<8x16xf16> to vector<16x8xf16>
    gpu.terminator
  }
  return
}

// -----

func.func @roles(%a: memref<32x64xf16>, %c: memref<16x16xf16>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %t = xegpu.create_nd_tdesc %a : memref<32x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    %x = xegpu.load_nd %t[0, 0] : !xegpu.tensor_desc<16x16xf16> -> vector<16x16xf16>
    %d = xegpu.dpas %x, %x : vector<16x16xf16>, vector<16x16xf16> -> vector<16x16xf32>
    %y = arith.truncf %d : vector<16x16xf32> to vector<16x16xf16>
    // expected-error@+1 {{'xegpu.dpas' op is not supported on any target: a value is an operand of xegpu.dpas and an accumulator, or both operands}}
    %e = xegpu.dpas %y, %x : vector<16x16xf16>, vector<16x16xf16> -> vector<16x16xf32>
    gpu.terminator
  }
  return
}

// -----

func.func @threads(%a: memref<32x64xf16>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  // expected-error@+1 {{xegpu ops need whole subgroups: the block size along x must be a constant multiple of 16}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c8, %sy = %c1, %sz = %c1) {
    %t = xegpu.create_nd_tdesc %a : memref<32x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    xegpu.prefetch_nd %t[0, 0] : !xegpu.tensor_desc<16x16xf16>
    gpu.terminator
  }
  return
}

// -----

func.func @memories(%a: memref<32x64xf16>, %b: memref<32x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %t = xegpu.create_nd_tdesc %a : memref<32x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    %u = xegpu.create_nd_tdesc %b : memref<32x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    // expected-error@+1 {{'scf.for' op carries a descriptor of xegpu of different memories}}
    %last = scf.for %i = %c0 to %c16 step %c1 iter_args(%v = %t) -> (!xegpu.tensor_desc<16x16xf16>) {
      xegpu.prefetch_nd %v[0, 0] : !xegpu.tensor_desc<16x16xf16>
      scf.yield %u : !xegpu.tensor_desc<16x16xf16>
    }
    gpu.terminator
  }
  return
}

// -----

gpu.module @kernels {
  gpu.func @outlined(%a: memref<32x64xf16>) kernel {
    // expected-error@+1 {{'xegpu.create_nd_tdesc' op is supported in a kernel that is launched in the program only}}
    %t = xegpu.create_nd_tdesc %a : memref<32x64xf16> -> !xegpu.tensor_desc<16x16xf16>
    xegpu.prefetch_nd %t[0, 0] : !xegpu.tensor_desc<16x16xf16>
    gpu.return
  }
}
