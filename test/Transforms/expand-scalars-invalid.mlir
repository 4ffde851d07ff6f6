// RUN: gpu-opt %s --tessera-expand-scalars --verify-diagnostics --split-input-file

func.func @narrow(%a: f4E2M1FN) -> f32 {
  // expected-error @below {{'arith.extf' op of 'f4E2M1FN' is not supported; of the floats below 16 bits, f8E4M3FN, f8E5M2, f8E4M3FNUZ and f8E5M2FNUZ are}}
  %0 = arith.extf %a : f4E2M1FN to f32
  return %0 : f32
}

// -----

func.func @vectors(%a: vector<4xf8E3M4>) -> vector<4xf8E3M4> {
  // expected-error @below {{'arith.addf' op of 'f8E3M4' is not supported}}
  %0 = arith.addf %a, %a : vector<4xf8E3M4>
  return %0 : vector<4xf8E3M4>
}
