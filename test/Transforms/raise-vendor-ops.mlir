// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --tessera-raise-vendor-ops --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Each lane writes two words of a and one of b, and computes the elements of two rows and two columns.
// CHECK-LABEL: func @mma
// CHECK:         gpu.launch {{.*}} threads(%[[X:.+]], %{{.+}}, %{{.+}}) in
// CHECK-SAME:      workgroup(%[[A:.+]] : memref<1x128xf16, #gpu.address_space<workgroup>>, %[[B:.+]] : memref<1x64xf16, #gpu.address_space<workgroup>>)
// CHECK-COUNT-2:   vector.store %{{.+}}, %[[A]][%c0, %{{.+}}] : {{.*}}, vector<2xf16>
// CHECK-NOT:       vector.store
// CHECK:           vector.store %{{.+}}, %[[B]][%c0, %{{.+}}] : {{.*}}, vector<2xf16>
// CHECK-NEXT:      gpu.barrier
// CHECK:           vector.load %[[A]]{{.*}}, vector<8xf16>
// CHECK:           arith.extf {{.*}} : vector<8xf16> to vector<8xf32>
// CHECK:           vector.load %[[B]]
// CHECK:           math.fma
// CHECK:           gpu.barrier
// CHECK-NOT:       nvgpu
func.func @mma(%a: vector<2x2xf16>, %b: vector<1x2xf16>, %c: memref<32x2x2xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  // expected-remark@+1 {{raised to portable code, through workgroup memory: 1 nvgpu.mma.sync; hip:gfx942 does not have such instructions}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %d = nvgpu.mma.sync(%a, %b, %zero) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %c0 = arith.constant 0 : index
    vector.store %d, %c[%tx, %c0, %c0] : memref<32x2x2xf32>, vector<2x2xf32>
    gpu.terminator
  }
  return
}

// -----

// An outlined kernel. One lane of each pair of RDNA3 stores its operand.
// CHECK-LABEL: gpu.func @wmma
// CHECK-SAME:    workgroup(%{{.+}} : memref<2x256xf16, #gpu.address_space<workgroup>>, %{{.+}} : memref<2x256xf16, #gpu.address_space<workgroup>>)
// CHECK:         arith.cmpi eq
// CHECK:         scf.if
// CHECK:         gpu.barrier
// CHECK:         scf.for
// CHECK:         gpu.barrier
// CHECK-NOT:     amdgpu
gpu.module @kernels {
  // expected-remark@+1 {{raised to portable code}}
  gpu.func @wmma(%a: vector<16xf16>, %c: memref<64x8xf32>, %n: index) kernel attributes {known_block_size = array<i32: 32, 2, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant dense<0.0> : vector<8xf32>
    // All threads run the loops equally often.
    %d = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (vector<8xf32>) {
      %m = arith.addi %i, %n : index
      %inner = scf.for %j = %i to %m step %c1 iter_args(%sum = %acc) -> (vector<8xf32>) {
        %isLess = arith.cmpi ult, %j, %n : index
        %next = scf.if %isLess -> (vector<8xf32>) {
          %e = amdgpu.wmma 16x16x16 %a * %a + %sum : vector<16xf16>, vector<16xf16>, vector<8xf32>
          scf.yield %e : vector<8xf32>
        } else {
          scf.yield %sum : vector<8xf32>
        }
        scf.yield %next : vector<8xf32>
      }
      scf.yield %inner : vector<8xf32>
    }
    %y = gpu.thread_id y
    vector.store %d, %c[%y, %c0] : memref<64x8xf32>, vector<8xf32>
    gpu.return
  }
}

// -----

// An op that the chip has is not changed.
// CHECK-LABEL: func @own
// CHECK:         amdgpu.mfma
func.func @own(%a: f32, %c: memref<64x4xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %z = arith.constant dense<0.0> : vector<4xf32>
    %d = amdgpu.mfma 16x16x4 %a * %a + %z blgp = none : f32, f32, vector<4xf32>
    %c0 = arith.constant 0 : index
    vector.store %d, %c[%tx, %c0] : memref<64x4xf32>, vector<4xf32>
    gpu.terminator
  }
  return
}

// -----

func.func @threads(%a: vector<2x2xf16>, %b: vector<1x2xf16>, %n: index) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %c1, %sz = %c1) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    // expected-error@+1 {{'nvgpu.mma.sync' op cannot be raised to portable code, and hip:gfx942 does not have it: the workgroup must have a constant number of threads, a multiple of 32}}
    %d = nvgpu.mma.sync(%a, %b, %zero) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    gpu.terminator
  }
  return
}

// -----

func.func @control(%a: vector<2x2xf16>, %b: vector<1x2xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %subgroup = arith.divui %tx, %c32 : index
    scf.for %i = %c0 to %subgroup step %c1 {
      // expected-error@+1 {{does not have it: the control flow around it may differ between the subgroups of a workgroup}}
      %d = nvgpu.mma.sync(%a, %b, %zero) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    }
    gpu.terminator
  }
  return
}

// -----

// The bound of the second iteration depends on the thread.
func.func @carried(%a: vector<2x2xf16>, %b: vector<1x2xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %last = scf.for %i = %c0 to %c64 step %c1 iter_args(%bound = %c1) -> (index) {
      scf.for %j = %c0 to %bound step %c1 {
        // expected-error@+1 {{the control flow around it may differ}}
        %d = nvgpu.mma.sync(%a, %b, %zero) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      }
      scf.yield %tx : index
    }
    gpu.terminator
  }
  return
}

// -----

func.func @shape(%a: vector<2x2xf16>, %b: vector<2x2xf16>, %c: vector<4x2xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %z = arith.constant dense<0> : vector<2x2xi32>
    %x = arith.constant dense<0> : vector<2x8xi4>
    %y = arith.constant dense<0> : vector<1x8xi4>
    // expected-error@+1 {{no chip in the tables has an instruction of this shape and these types}}
    %d = nvgpu.mma.sync(%x, %y, %z) {mmaShape = [16, 8, 32]} : (vector<2x8xi4>, vector<1x8xi4>, vector<2x2xi32>) -> vector<2x2xi32>
    gpu.terminator
  }
  return
}

// -----

func.func @sizes(%a: vector<2x2xf16>, %b: vector<1x2xf16>, %f: f32) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %z = arith.constant dense<0.0> : vector<4xf32>
    %d = nvgpu.mma.sync(%a, %b, %zero) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    // expected-error@+1 {{'amdgpu.mfma' op is for subgroups of 64 lanes, and next to nvgpu.mma.sync, which is for subgroups of 32}}
    %e = amdgpu.mfma 16x16x4 %f * %f + %z blgp = none : f32, f32, vector<4xf32>
    gpu.terminator
  }
  return
}

// -----

func.func @width(%a: vector<2x2xf16>, %b: vector<1x2xf16>, %f: f32) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %d = nvgpu.mma.sync(%a, %b, %zero) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    %i = arith.constant 1 : i32
    %w = arith.constant 16 : i32
    // expected-error@+1 {{'gpu.shuffle' op is next to nvgpu.mma.sync, an op for subgroups of 32 lanes, and hip:gfx942 has subgroups of 64: its width must be 32}}
    %x, %ok = gpu.shuffle xor %f, %i, %w : f32
    gpu.terminator
  }
  return
}

// -----

func.func @broadcast(%a: vector<2x2xf16>, %b: vector<1x2xf16>, %f: f32) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %d = nvgpu.mma.sync(%a, %b, %zero) {mmaShape = [16, 8, 8]} : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    // expected-error@+1 {{'gpu.subgroup_broadcast' op is next to nvgpu.mma.sync, an op for subgroups of 32 lanes, and hip:gfx942 has subgroups of 64: it cannot be raised}}
    %x = gpu.subgroup_broadcast %f, first_active_lane : f32
    gpu.terminator
  }
  return
}
