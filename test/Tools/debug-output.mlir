// With --debug-only, a pass prints what it did and what it left alone, with the reason.
// REQUIRES: asserts

// RUN: gpu-opt %s --tessera-inline-kernels --debug-only=tessera-inline-kernels -o /dev/null 2>&1 | FileCheck %s
// CHECK: [tessera-inline-kernels InlineKernels.cpp:{{[0-9]+}} 1] loc({{.+}}debug-output.mlir":[[#@LINE+21]]:5){{.*}}: not inlined: its kernel is not a gpu.func
// CHECK: [tessera-inline-kernels InlineKernels.cpp:{{[0-9]+}} 1] loc({{.+}}debug-output.mlir":[[#@LINE+19]]:5){{.*}}: inlines fill

// Other types are silent.
// RUN: gpu-opt %s --tessera-inline-kernels --debug-only=tessera-name-kernels,tessera-promote-tiles -o /dev/null 2>&1 | count 0

// Statistics of all passes, after the report of the pass manager.
// RUN: gpu-opt %s --tessera-inline-kernels --tessera-name-kernels --mlir-pass-statistics -o /dev/null 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: gpu-opt %s --tessera-inline-kernels -o /dev/null 2>&1 | count 0
// COUNT:     Statistics Collected
// COUNT-DAG: 1 tessera-inline-kernels - Number of launches of kernels inlined
// COUNT-DAG: 1 tessera-name-kernels {{ *}}- Number of kernels named

module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @fill(%a: memref<64xf32>) kernel { gpu.return }
  }
  gpu.binary @elsewhere [#gpu.object<#nvvm.target, "">]
  func.func @main(%a: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @kernels::@fill blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<64xf32>)
    gpu.launch_func @elsewhere::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<64xf32>)
    return
  }
}
