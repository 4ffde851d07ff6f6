// A kernel that does not return on a device: the process ends, though the driver still waits for it.
// REQUIRES: can-run-vulkan-lavapipe
// RUN: not %software lavapipe gpu-runner --target=vulkan %s --timeout=4 2>&1 | FileCheck %s
// CHECK: error: the program has not returned after 4 s (--timeout); the last kernel launched is 'main_kernel'

func.func @main(%a: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %x = arith.constant 7.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    scf.while : () -> () {
      %old = memref.atomic_rmw addf %x, %a[%c0] : (f32, memref<4xf32>) -> f32
      %is = arith.cmpf une, %old, %old : f32
      %not = arith.cmpi eq, %is, %is : i1
      scf.condition(%not)
    } do {
      scf.yield
    }
    gpu.terminator
  }
  return
}
