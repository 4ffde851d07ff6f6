// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --convert-lane-matmul-to-tessera --split-input-file --verify-diagnostics | FileCheck %s

// Kernels that are not recognized are not changed. The remark names the first reason.
// CHECK-LABEL: func @base
// CHECK:         tessera.mma
// CHECK-NOT:     tessera.mma
// CHECK-COUNT-15: nvgpu.mma.sync
// CHECK-NOT:     nvgpu.mma.sync

// The kernel that the following ones change.
func.func @base(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is raised to fragments: 8x8x4 'f64' x 'f64' -> 'f64'}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

// The last lanes read another row.
func.func @other_lane(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %five = arith.constant 5 : index
    %lanes = affine.apply affine_map<(d0) -> (d0 floordiv 20)>(%tx)
    %wrong = affine.apply affine_map<(d0, d1) -> (d0 + d1)>(%g, %lanes)
    // expected-note@+1 {{here}}
    %av = memref.load %a[%wrong, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'memref.load' op does not access rows and columns as the lane map of the instruction has them}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

// Two registers are stored in the other order.
func.func @swapped(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'vector.store' op does not access rows and columns}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e0 = vector.extract %d[0, 0] : f64 from vector<1x2xf64>
    %e1 = vector.extract %d[0, 1] : f64 from vector<1x2xf64>
    %e = vector.from_elements %e1, %e0 : vector<2xf64>
    // expected-note@+1 {{here}}
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

func.func @half(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'memref.store' op stores a part of a matrix without the rest}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e0 = vector.extract %d[0, 0] : f64 from vector<1x2xf64>
    // expected-note@+1 {{here}}
    memref.store %e0, %c[%g, %p] : memref<16x8xf64>
    gpu.terminator
  }
  return
}

// -----

func.func @mixed(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %one = arith.constant dense<[[0.0, 1.0]]> : vector<1x2xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: it has different constants or scalars in the registers of the accumulator}}
    %d = nvgpu.mma.sync(%x, %y, %one) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

func.func @threads(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 48 : index
  // expected-note@+1 {{here}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'gpu.launch' op has a block size along x that is not a constant multiple of 32}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

func.func @shuffle(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'gpu.shuffle' op cannot be next to fragments}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %w = arith.constant 32 : i32
    %i = arith.constant 1 : i32
    %f = vector.extract %d[0, 0] : f64 from vector<1x2xf64>
    // expected-note@+1 {{here}}
    %s, %ok = gpu.shuffle xor %f, %i, %w : f64
    %e = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

func.func @condition(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'scf.if' op depends on the lane}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %isFirst = arith.cmpi eq, %tx, %c0 : index
    // expected-note@+1 {{here}}
    scf.if %isFirst {
      gpu.barrier
    }
    %e = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

func.func @between(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'memref.store' op stores an element of a matrix twice before the others are stored}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e0 = vector.extract %d[0, 0] : f64 from vector<1x2xf64>
    %e1 = vector.extract %d[0, 1] : f64 from vector<1x2xf64>
    %p1 = arith.addi %p, %c1 : index
    memref.store %e0, %c[%g, %p] : memref<16x8xf64>
    // expected-note@+1 {{here}}
    memref.store %e0, %c[%g, %n] : memref<16x8xf64>
    memref.store %e1, %c[%g, %p1] : memref<16x8xf64>
    gpu.terminator
  }
  return
}

// -----

func.func @between_loads(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %zs = arith.constant dense<0.0> : vector<2xf64>
    %i0 = memref.load %c[%g, %p] : memref<16x8xf64>
    %p1 = arith.addi %p, %c1 : index
    // expected-note@+1 {{here}}
    vector.store %zs, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    %i1 = memref.load %c[%g, %p1] : memref<16x8xf64>
    %i = vector.from_elements %i0, %i1 : vector<1x2xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'vector.store' op is between the accesses of a matrix, and may access the same elements}}
    %d = nvgpu.mma.sync(%x, %y, %i) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

func.func @carried(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    // expected-note@+1 {{here}}
    %row = scf.for %i = %c0 to %c1 step %c1 iter_args(%r = %g) -> (index) {
      %next = arith.addi %r, %c1 : index
      scf.yield %next : index
    }
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'scf.for' op carries a value of each lane that is not a matrix}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

func.func @scaled(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'arith.mulf' op computes an element of a matrix otherwise than the other ones are}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e0 = vector.extract %d[0, 0] : f64 from vector<1x2xf64>
    %e1 = vector.extract %d[0, 1] : f64 from vector<1x2xf64>
    %f0 = arith.addf %e0, %e0 : f64
    // expected-note@+1 {{here}}
    %f1 = arith.mulf %e1, %e1 : f64
    %e = vector.from_elements %f0, %f1 : vector<2xf64>
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

func.func @large(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 1024 : index
  // expected-note@+1 {{here}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'gpu.launch' op has more subgroups than fit into a workgroup of hip:gfx942}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

// Other lanes store the elements than those that load them.
func.func @exchanged(%a: memref<16x4xf64>, %b: memref<8x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %av = memref.load %a[%g, %t] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<8x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'vector.store' op stores to a memory from which another matrix is loaded, without a gpu.barrier in between}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    // expected-note@+1 {{here}}
    vector.store %e, %b[%g, %p] : memref<8x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

// The sum of 32 bits may wrap between lanes.
func.func @wrapped(%a: memref<16x4xf64>, %b: memref<4x8xf64>, %c: memref<16x8xf64>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %g = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %t = affine.apply affine_map<(d0) -> (d0 mod 4)>(%tx)
    %p = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    %za = arith.constant dense<0.0> : vector<1x1xf64>
    %wide = arith.index_cast %n : index to i32
    %narrow = arith.index_cast %t : index to i32
    %sum = arith.addi %wide, %narrow : i32
    %at = arith.index_cast %sum : i32 to index
    // expected-note@+1 {{here}}
    %av = memref.load %a[%g, %at] : memref<16x4xf64>
    %x = vector.insert %av, %za [0, 0] : f64 into vector<1x1xf64>
    %bv = memref.load %b[%t, %g] : memref<4x8xf64>
    %y = vector.insert %bv, %za [0, 0] : f64 into vector<1x1xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'memref.load' op has indices of an unknown form}}
    %d = nvgpu.mma.sync(%x, %y, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    %e = vector.extract %d[0] : vector<2xf64> from vector<1x2xf64>
    vector.store %e, %c[%g, %p] : memref<16x8xf64>, vector<2xf64>
    gpu.terminator
  }
  return
}

// -----

gpu.module @kernels {
  gpu.func @outlined(%x: vector<1x1xf64>, %c: memref<8x8xf64>) kernel {
    %zero = arith.constant dense<0.0> : vector<1x2xf64>
    // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: its kernel is not launched in the program, so that its block size is fixed}}
    %d = nvgpu.mma.sync(%x, %x, %zero) {mmaShape = [8, 8, 4]} : (vector<1x1xf64>, vector<1x1xf64>, vector<1x2xf64>) -> vector<1x2xf64>
    gpu.return
  }
}
