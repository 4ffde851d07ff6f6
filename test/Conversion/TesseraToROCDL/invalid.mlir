// RUN: not gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(convert-tessera-to-rocdl))" 2>&1 | FileCheck %s
// RUN: not gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx940},gpu.module(convert-tessera-to-rocdl))" 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: unknown chip 'gfx940' of target 'hip': known are, nearest first: gfx942

gpu.module @kernels {
  gpu.func @wide(%x: memref<f64>) kernel {
    %v = memref.load %x[] : memref<f64>
    // CHECK: :[[@LINE+1]]:{{.+}}: error: target hip does not support math.exp of f64; compute it in f32
    %e = math.exp %v : f64
    memref.store %e, %x[] : memref<f64>
    gpu.return
  }
}
