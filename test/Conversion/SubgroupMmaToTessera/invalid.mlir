// RUN: gpu-opt %s --convert-subgroup-mma-to-tessera --split-input-file --verify-diagnostics

!c = !gpu.mma_matrix<16x16xf32, "COp">

func.func @block_size(%x: f32) {
  %c1 = arith.constant 1 : index
  %c48 = arith.constant 48 : index
  // expected-error @+1 {{gpu.subgroup_mma ops need whole subgroups: the block size along x must be a constant multiple of 32}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c48, %sy = %c1, %sz = %c1) {
    %c = gpu.subgroup_mma_constant_matrix %x : !c
    gpu.terminator
  }
  return
}

// -----

!c = !gpu.mma_matrix<16x16xf32, "COp">

func.func @dynamic_block_size(%x: f32, %n: index) {
  // expected-error @+1 {{gpu.subgroup_mma ops need whole subgroups: the block size along x must be a constant multiple of 32}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n)
             threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    %c = gpu.subgroup_mma_constant_matrix %x : !c
    gpu.terminator
  }
  return
}

// -----

!c = !gpu.mma_matrix<16x16xf32, "COp">

func.func @lane(%x: f32) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = gpu.subgroup_mma_constant_matrix %x : !c
    // expected-error @+1 {{gpu.lane_id next to gpu.subgroup_mma ops is not portable: it depends on the subgroup size}}
    %l = gpu.lane_id
    gpu.terminator
  }
  return
}

// -----

!c = !gpu.mma_matrix<16x16xf32, "COp">

func.func @thread(%x: f32, %m: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  // expected-note @+1 {{gpu.subgroup_mma ops are used in this launch}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = gpu.subgroup_mma_constant_matrix %x : !c
    // expected-error @+1 {{this use of the thread id along x is not portable: only its quotient by the subgroup size, 32, is}}
    memref.store %x, %m[%tx] : memref<?xf32>
    gpu.terminator
  }
  return
}

// -----

!c = !gpu.mma_matrix<16x16xf32, "COp">

// A quotient by another number is another's.
func.func @quotient(%x: f32, %m: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  // expected-note @+1 {{gpu.subgroup_mma ops are used in this launch}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = gpu.subgroup_mma_constant_matrix %x : !c
    // expected-error @+1 {{this use of the thread id along x is not portable: only its quotient by the subgroup size, 32, is}}
    %q = arith.divui %tx, %c16 : index
    gpu.terminator
  }
  return
}

// -----

!c = !gpu.mma_matrix<16x16xf32, "COp">

func.func @rows(%x: f32, %m: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  // expected-error @+1 {{several subgroups along x require a block size of 1 along y and z}}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c2, %sz = %c1) {
    %c = gpu.subgroup_mma_constant_matrix %x : !c
    %q = arith.divui %tx, %c32 : index
    memref.store %x, %m[%q] : memref<?xf32>
    gpu.terminator
  }
  return
}

// -----

!c = !gpu.mma_matrix<16x16xf32, "COp">

func.func @size(%x: f32, %m: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = gpu.subgroup_mma_constant_matrix %x : !c
    // expected-error @+1 {{this use of the block size along x is not portable}}
    memref.store %x, %m[%sx] : memref<?xf32>
    gpu.terminator
  }
  return
}

// -----

!c = !gpu.mma_matrix<16x16xf32, "COp">

gpu.module @kernels {
  gpu.func @outlined(%x: f32) kernel {
    // expected-error @+1 {{cannot raise gpu.subgroup_mma ops in an outlined kernel, whose block size is fixed: write the kernel as a gpu.launch}}
    %c = gpu.subgroup_mma_constant_matrix %x : !c
    gpu.return
  }
}

// -----

!c = !gpu.mma_matrix<16x16xf32, "COp">

// Tied to one lane layout.
func.func @thread_local(%x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %c = gpu.subgroup_mma_constant_matrix %x : !c
    // expected-error @+1 {{failed to legalize operation 'gpu.subgroup_mma_extract_thread_local'}}
    %v = gpu.subgroup_mma_extract_thread_local %c[%c0] : !c -> f32
    gpu.terminator
  }
  return
}
