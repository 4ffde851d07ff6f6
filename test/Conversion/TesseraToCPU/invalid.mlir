// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=generic},gpu.module(convert-tessera-to-cpu))" --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error @+1 {{attributions must be packed first: run tessera-pack-workgroup-memory}}
  gpu.func @attribution() workgroup(%w: memref<16xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @shuffle(%x: f32, %o: i32, %w: i32) kernel {
    // expected-error @+1 {{target cpu does not support gpu.shuffle}}
    %y, %p = gpu.shuffle xor %x, %o, %w : f32
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @portable(%x: f32) kernel {
    // expected-error @+1 {{'!tessera.fragment<16x16xf32, acc>' is not legalized for generic: run tessera-legalize-fragments first}}
    %f = tessera.fill %x : !tessera.fragment<16x16xf32, acc>
    gpu.return
  }
}
