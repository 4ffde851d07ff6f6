// gpu-opt knows upstream's dialects and Tessera's.
// RUN: gpu-opt --show-dialects | FileCheck %s --check-prefix=DIALECTS
// DIALECTS-DAG: gpu
// DIALECTS-DAG: linalg
// DIALECTS-DAG: nvvm
// DIALECTS-DAG: tessera

// And it can take a kernel down to PTX, as mlir-opt does.
// RUN: gpu-opt %s --gpu-module-to-binary=format=isa | FileCheck %s --check-prefix=PTX
// PTX: gpu.binary @kernels
// PTX-SAME: .target sm_80
// PTX-SAME: .visible .entry copy

module attributes {gpu.container_module} {
  gpu.module @kernels [#nvvm.target<chip = "sm_80">] {
    llvm.func @copy(%from: !llvm.ptr<1>, %to: !llvm.ptr<1>) attributes {nvvm.kernel} {
      %0 = llvm.load %from : !llvm.ptr<1> -> f32
      llvm.store %0, %to : f32, !llvm.ptr<1>
      llvm.return
    }
  }
}
