// RUN: gpu-opt %s --tessera-name-kernels | FileCheck %s

// CHECK: module attributes {tessera.packings = {copied_repack = "copies it"}}

// A name that nothing else has: neither a symbol nor another kernel.
func.func private @main_kernel_1()

// CHECK-LABEL: func @main
// CHECK:         gpu.launch {{.*}} module(@main_kernel) function(@main_kernel)
// CHECK:         gpu.launch {{.*}} module(@main_kernel_2) function(@main_kernel_2)
// CHECK:         gpu.launch {{.*}} module(@main_kernel_4) function(@main_kernel_4)
func.func @main(%n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  }
  return
}

// A kernel that has a name keeps it.
// CHECK-LABEL: func @named
// CHECK:         gpu.launch {{.*}} module(@mine) function(@main_kernel_3)
func.func @named(%n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) module(@mine) function(@main_kernel_3) {
    gpu.terminator
  }
  return
}

// The name of a kernel that copies an operand ends in _repack, and the module describes the copy.
// CHECK-LABEL: func @copied
// CHECK:         gpu.launch {{.*}} module(@copied_repack) function(@copied_repack)
// CHECK:         gpu.launch {{.*}} module(@copied_kernel) function(@copied_kernel)
func.func @copied(%n: index) {
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  } {tessera.packing = "copies it"}
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    gpu.terminator
  }
  return
}
