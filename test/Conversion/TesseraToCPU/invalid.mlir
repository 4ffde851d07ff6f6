// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=generic},gpu.module(convert-tessera-to-cpu))" --split-input-file --verify-diagnostics

gpu.module @m {
  // expected-error @+1 {{attributions must be packed first: run tessera-pack-workgroup-memory}}
  gpu.func @attribution() workgroup(%w: memref<16xf32, #gpu.address_space<workgroup>>) kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @rotate(%x: f32) kernel {
    // expected-error @+1 {{target cpu does not support gpu.rotate}}
    %y, %p = gpu.rotate %x, 1, 16 : f32
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

// -----

gpu.module @m {
  gpu.func @prefetch(%a: !llvm.ptr) kernel {
    // expected-error @+1 {{'nvvm.prefetch' op is supported by target cuda only; the CPU does not execute it}}
    nvvm.prefetch tensormap, %a : !llvm.ptr
    gpu.return
  }
}
