// RUN: gpu-opt %s --tessera-inline-kernels --split-input-file --verify-diagnostics

module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%m: memref<64xf32>) kernel {
      gpu.return
    }
  }
  func.func @function(%m: memref<64xf32>) {
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    // expected-error @+1 {{launches in clusters are not supported: remove the cluster size and the reads of cluster ids}}
    gpu.launch_func @m::@k clusters in (%c2, %c1, %c1) blocks in (%c2, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<64xf32>)
    return
  }
}

// -----

func.func @launch() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  // expected-error @+1 {{launches in clusters are not supported: remove the cluster size and the reads of cluster ids}}
  gpu.launch clusters(%cx, %cy, %cz) in (%clx = %c2, %cly = %c1, %clz = %c1)
             blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    gpu.terminator
  }
  return
}
