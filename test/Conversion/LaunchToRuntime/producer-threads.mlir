// RUN: gpu-opt %s --convert-launch-to-runtime | FileCheck %s

// A launch adds the threads of a subgroup that only copies.
// CHECK-LABEL: llvm.func @main(
// CHECK:         %[[THREADS:.+]] = llvm.mlir.constant(256 : index) : i64
// CHECK:         %[[MORE:.+]] = llvm.mlir.constant(32 : i64)
// CHECK:         %[[ALL:.+]] = llvm.add %[[THREADS]], %[[MORE]]
// CHECK:         llvm.call @tessera_rt_launch(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[ALL]],

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%x: f32) kernel attributes {tessera.producer_threads = 32 : i64} {
      gpu.return
    }
  }
  func.func @main(%x: f32) {
    %c1 = arith.constant 1 : index
    %c256 = arith.constant 256 : index
    gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c256, %c1, %c1) args(%x : f32)
    return
  }
}
