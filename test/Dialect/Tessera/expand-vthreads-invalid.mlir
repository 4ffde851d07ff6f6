// RUN: gpu-opt %s --tessera-expand-vthreads --split-input-file --verify-diagnostics

func.func @barrier_in_loop(%n: index) {
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the vthreads are these}}
  tessera.vthread (%v) in (2) {
    // expected-error @+1 {{the vthreads do not reach the barrier in here together: the bounds or the condition depend on the vthread}}
    scf.for %i = %v to %n step %c1 {
      gpu.barrier
    }
    tessera.yield
  }
  return
}

// -----

func.func @barrier_in_branch() {
  %c1 = arith.constant 1 : index
  // expected-note @+1 {{the vthreads are these}}
  tessera.vthread (%v) in (2) order depth_first {
    %c = arith.cmpi eq, %v, %c1 : index
    // expected-error @+1 {{the vthreads do not reach the barrier in here together}}
    scf.if %c {
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
  // expected-note @+1 {{the vthreads are these}}
  tessera.vthread (%v) in (2) {
    scf.for %i = %c0 to %n step %c1 {
      %c = arith.cmpi eq, %v, %i : index
      // expected-error @+1 {{the vthreads do not reach the barrier in here together}}
      scf.if %c {
        tessera.wait
      }
    }
    tessera.yield
  }
  return
}

// -----

func.func @barrier_in_while(%p: i1) {
  // expected-note @+1 {{the vthreads are these}}
  tessera.vthread (%v) in (2) {
    // expected-error @+1 {{the vthreads do not reach the barrier in here together}}
    scf.while (%c = %p) : (i1) -> () {
      scf.condition(%c)
    } do {
      gpu.barrier
      scf.yield %p : i1
    }
    tessera.yield
  }
  return
}
