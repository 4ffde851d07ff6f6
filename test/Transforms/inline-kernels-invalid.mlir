// RUN: gpu-opt %s --tessera-inline-kernels --verify-diagnostics

// expected-error @below {{is in workgroup memory, which has no contents when a kernel begins: declare it 'uninitialized', and store to it}}
memref.global "private" @place : memref<2xf32, #gpu.address_space<workgroup>> = dense<[1.0, 2.0]>
func.func @main(%out: memref<2xf32>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%b, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1) threads(%t, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %place = memref.get_global @place : memref<2xf32, #gpu.address_space<workgroup>>
    %g = memref.load %place[%t] : memref<2xf32, #gpu.address_space<workgroup>>
    memref.store %g, %out[%t] : memref<2xf32>
    gpu.terminator
  }
  return
}
