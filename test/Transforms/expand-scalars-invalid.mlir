// RUN: gpu-opt %s --tessera-expand-scalars --verify-diagnostics --split-input-file

func.func @narrow(%a: f6E2M3FN) -> f32 {
  // expected-error @below {{'arith.extf' op is not supported for 'f6E2M3FN'; use f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ, f8E8M0FNU, f4E2M1FN or a wider float}}
  %0 = arith.extf %a : f6E2M3FN to f32
  return %0 : f32
}

// -----

func.func @vectors(%a: vector<4xf8E3M4>) -> vector<4xf8E3M4> {
  // expected-error @below {{'arith.addf' op is not supported for 'f8E3M4'}}
  %0 = arith.addf %a, %a : vector<4xf8E3M4>
  return %0 : vector<4xf8E3M4>
}

// -----

func.func @memory(%m: memref<4xf4E2M1FN>, %i: index) -> f32 {
  // expected-error @below {{'memref.load' op is not supported for memory of 'f4E2M1FN'; keep pairs of elements in bytes}}
  %0 = memref.load %m[%i] : memref<4xf4E2M1FN>
  %1 = arith.extf %0 : f4E2M1FN to f32
  return %1 : f32
}

// -----

gpu.module @kernels {
  gpu.func @complex(%m: memref<4xcomplex<f32>>, %n: memref<4xf32>, %i: index) kernel {
    %0 = memref.load %m[%i] : memref<4xcomplex<f32>>
    // expected-error @below {{'complex.re' op is not supported for complex numbers in the memory of a kernel: keep the real and the imaginary parts in two arrays}}
    %1 = complex.re %0 : complex<f32>
    memref.store %1, %n[%i] : memref<4xf32>
    gpu.return
  }
}
