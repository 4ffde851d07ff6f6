// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_75},gpu.module(convert-tessera-to-nvvm))" --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @portable(%x: f32) kernel {
    // expected-error @+1 {{'!tessera.fragment<16x16xf32, acc>' is not legalized for sm_75: run tessera-legalize-fragments first}}
    %f = tessera.fill %x : !tessera.fragment<16x16xf32, acc>
    gpu.return
  }
}

// -----

// For another chip.
gpu.module @m {
  gpu.func @other(%x: f32) kernel {
    // expected-error @+1 {{'!tessera.fragment<16x16xf32, acc, "mma.m16n8k16.f32.f16">' is not legalized for sm_75}}
    %f = tessera.fill %x : !tessera.fragment<16x16xf32, acc, "mma.m16n8k16.f32.f16">
    gpu.return
  }
}

// -----

// Not a multiple of the instruction's tile.
gpu.module @m {
  gpu.func @shape(%x: f32) kernel {
    // expected-error @+1 {{'!tessera.fragment<12x16xf32, acc, "mma.m16n8k8.f32.f16">' is not legalized for sm_75}}
    %f = tessera.fill %x : !tessera.fragment<12x16xf32, acc, "mma.m16n8k8.f32.f16">
    gpu.return
  }
}

// -----

// Functions that PTX supports for f32 only.
gpu.module @m {
  gpu.func @function(%x: f64, %m: memref<f64>) kernel {
    // expected-error @+1 {{target cuda does not support math.tanh of f64; compute it in f32}}
    %f = math.tanh %x : f64
    memref.store %f, %m[] : memref<f64>
    gpu.return
  }
}
