// RUN: gpu-opt %s --allow-unregistered-dialect --pass-pipeline="builtin.module(gpu.module(tessera-pack-workgroup-memory))" --split-input-file --verify-diagnostics

gpu.module @m {
  gpu.func @nested(%n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {
      // expected-error @+1 {{workgroup memory must be allocated at the top level of the kernel}}
      %a = memref.alloc() : memref<16xf32, #gpu.address_space<workgroup>>
      "use"(%a) : (memref<16xf32, #gpu.address_space<workgroup>>) -> ()
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @dynamic(%n: index) kernel {
    // expected-error @+1 {{workgroup memory must have a static shape and the identity layout, not 'memref<?xf32, #gpu.address_space<workgroup>>'}}
    %a = memref.alloc(%n) : memref<?xf32, #gpu.address_space<workgroup>>
    "use"(%a) : (memref<?xf32, #gpu.address_space<workgroup>>) -> ()
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @layout() kernel {
    // expected-error @+1 {{workgroup memory must have a static shape and the identity layout, not 'memref<4x4xf32, strided<[8, 1]>, #gpu.address_space<workgroup>>'}}
    %a = memref.alloc() : memref<4x4xf32, strided<[8, 1]>, #gpu.address_space<workgroup>>
    "use"(%a) : (memref<4x4xf32, strided<[8, 1]>, #gpu.address_space<workgroup>>) -> ()
    gpu.return
  }
}
