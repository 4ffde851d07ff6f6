// Upstream's conversion runs for the chip that is attached to the module.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(tessera-convert-kernels-to-rocdl))" | FileCheck %s
// CHECK:      llvm.func @k({{.*}}rocdl.kernel
// CHECK:        rocdl.workitem.id.x : i32
// CHECK:        llvm.store

// RUN: not gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_80},gpu.module(tessera-convert-kernels-to-rocdl))" 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: a chip of target hip is required, but the module is compiled for cuda:sm_80
gpu.module @m {
  gpu.func @k(%m: memref<64xindex>) kernel {
    %x = gpu.thread_id x
    memref.store %x, %m[%x] : memref<64xindex>
    gpu.return
  }
}
