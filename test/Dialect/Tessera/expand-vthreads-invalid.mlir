// RUN: gpu-opt %s --tessera-expand-vthreads --split-input-file --verify-diagnostics

func.func @barrier_in_loop(%n: index) {
  %c1 = arith.constant 1 : index
  // expected-note @+2 {{this differs between the vthreads}}
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    // expected-error @+1 {{vthreads do not reach this barrier together: the bounds or the condition depend on the vthread; make them uniform, or move the barrier out}}
    scf.for %i = %v to %n step %c1 {
      // expected-note @+1 {{the barrier is here}}
      gpu.barrier
    }
    tessera.yield
  }
  return
}

// -----

func.func @barrier_in_branch() {
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) order depth_first {
    // expected-note @+1 {{this differs between the vthreads}}
    %c = arith.cmpi eq, %v, %c1 : index
    // expected-error @+1 {{vthreads do not reach this barrier together: the bounds or the condition depend on the vthread; make them uniform, or move the barrier out}}
    scf.if %c {
      // expected-note @+1 {{the barrier is here}}
      gpu.barrier
    }
    tessera.yield
  }
  return
}

// -----

// However deep.
func.func @wait_in_nest(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    scf.for %i = %c0 to %n step %c1 {
      // expected-note @+1 {{this differs between the vthreads}}
      %c = arith.cmpi eq, %v, %i : index
      // expected-error @+1 {{vthreads do not reach this barrier together: the bounds or the condition depend on the vthread; make them uniform, or move the barrier out}}
      scf.if %c {
        // expected-note @+1 {{the barrier is here}}
        tessera.wait
      }
    }
    tessera.yield
  }
  return
}

// -----

// The condition may depend on the vthread through a value that the loop carries.
func.func @barrier_in_while(%p: i1) {
  %c0 = arith.constant 0 : index
  %c9 = arith.constant 9 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    // expected-error @+1 {{vthreads do not reach this barrier together: the bounds or the condition depend on the vthread; make them uniform, or move the barrier out}}
    scf.while (%i = %c0) : (index) -> () {
      // expected-note @+1 {{this differs between the vthreads}}
      %c = arith.cmpi ult, %i, %c9 : index
      scf.condition(%c)
    } do {
      // expected-note @+1 {{the barrier is here}}
      gpu.barrier
      scf.yield %v : index
    }
    tessera.yield
  }
  return
}

// -----

func.func @barrier_in_parallel(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    // expected-error @+1 {{vthreads do not reach this barrier together: 'scf.parallel' cannot be merged over all vthreads (scf.for, scf.while, scf.if and scf.index_switch can); move the barrier out of it}}
    scf.parallel (%i) = (%c0) to (%n) step (%c1) {
      // expected-note @+1 {{the barrier is here}}
      gpu.barrier
    }
    tessera.yield
  }
  return
}

// -----

// Different indices, and the same address.
func.func @vthread_c4_sum(%x: f32, %m: memref<4xf32>) {
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v, %w) in (2, 2) {
    %i = arith.addi %v, %w : index
    // expected-error @+1 {{'memref.store' op vthread_c4: vthreads 1 and 2 write the same address; index it so that their addresses differ, or allocate the memory in the region}}
    memref.store %x, %m[%i] : memref<4xf32>
    tessera.yield
  }
  return
}

// -----

// Tiles that overlap, in a loop, whatever else the address depends on.
func.func @vthread_c4_overlap(%f: !tessera.fragment<16x16xf32, acc>, %m: memref<?x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (3) {
    scf.for %i = %c0 to %n step %c1 {
      %row = affine.apply affine_map<(v, i) -> (v * 8 + i * 64)>(%v, %i)
      // expected-error @+1 {{'tessera.store' op vthread_c4: vthreads 0 and 1 write the same address; index it so that their addresses differ, or allocate the memory in the region}}
      tessera.store %f, %m[%row, %c0] : !tessera.fragment<16x16xf32, acc>, memref<?x16xf32>
    }
    tessera.yield
  }
  return
}

// -----

// Through views, and from private operands.
func.func @vthread_c4_view(%x: f32, %m: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) private(%p = [%c2, %c1] : index) {
    %view = memref.subview %m[%p, 0] [1, 16] [1, 1] : memref<16x16xf32> to memref<16xf32, strided<[1], offset: ?>>
    memref.store %x, %view[%v] : memref<16xf32, strided<[1], offset: ?>>
    %other = memref.subview %m[0, %p] [16, 2] [1, 1] : memref<16x16xf32> to memref<16x2xf32, strided<[16, 1], offset: ?>>
    // expected-error @+1 {{'memref.store' op vthread_c4: vthreads 0 and 1 write the same address; index it so that their addresses differ, or allocate the memory in the region}}
    memref.store %x, %other[%c0, %v] : memref<16x2xf32, strided<[16, 1], offset: ?>>
    tessera.yield
  }
  return
}

// -----

// The first row is vthread 0's, and all read it.
func.func @vthread_c5(%f: !tessera.fragment<16x16xf32, acc>, %m: memref<32x16xf32>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    %row = arith.muli %v, %c16 : index
    // expected-note @+1 {{the write is here}}
    tessera.store %f, %m[%row, %c0] : !tessera.fragment<16x16xf32, acc>, memref<32x16xf32>
    // expected-error @+1 {{'tessera.load' op vthread_c5: vthread 1 reads what vthread 0 writes, but vthreads are not ordered; put a gpu.barrier between the two}}
    %g = tessera.load %m[%c0, %c0] : memref<32x16xf32> -> !tessera.fragment<16x16xf32, acc>
    tessera.yield
  }
  return
}

// -----

// The neighbour's; the read comes first, and the barrier later.
func.func @vthread_c5_neighbour(%m: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (4) {
    scf.for %i = %c0 to %c4 step %c1 {
      %next = arith.addi %v, %c1 : index
      %n = arith.remui %next, %c4 : index
      // expected-error @+1 {{'memref.load' op vthread_c5: vthread 0 reads what vthread 1 writes}}
      %x = memref.load %m[%n] : memref<8xf32>
      // expected-note @+1 {{the write is here}}
      memref.store %x, %m[%v] : memref<8xf32>
      gpu.barrier
    }
    tessera.yield
  }
  return
}
