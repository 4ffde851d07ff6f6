// RUN: gpu-opt %s --convert-launch-to-runtime="separate-memory planned" --split-input-file --verify-diagnostics

func.func @load(%m: memref<16xf32>, %i: index) -> f32 {
  // expected-error @+1 {{host code accesses a buffer or prints, which a bundle does not support: do so in a kernel, or run the program from its source}}
  %x = memref.load %m[%i] : memref<16xf32>
  return %x : f32
}

// -----

func.func @store(%m: memref<16xf32>, %i: index, %x: f32) {
  // expected-error @+1 {{host code accesses a buffer or prints, which a bundle does not support: do so in a kernel, or run the program from its source}}
  memref.store %x, %m[%i] : memref<16xf32>
  return
}

// -----

func.func @copy(%m: memref<16xf32>, %n: memref<16xf32>) {
  // expected-error @+1 {{host code accesses a buffer or prints, which a bundle does not support: do so in a kernel, or run the program from its source}}
  memref.copy %m, %n : memref<16xf32> to memref<16xf32>
  return
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @asynchronous() {
    %c1 = arith.constant 1 : index
    // expected-error @+2 {{asynchronous launches are not supported: remove the token (launches run in order)}}
    // expected-error @+1 {{failed to legalize operation 'gpu.launch_func'}}
    %t1 = gpu.launch_func async @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @clusters() {
    %c1 = arith.constant 1 : index
    // expected-error @+2 {{launches in clusters are not supported: remove the cluster size}}
    // expected-error @+1 {{failed to legalize operation 'gpu.launch_func'}}
    gpu.launch_func @m::@k clusters in (%c1, %c1, %c1) blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}
