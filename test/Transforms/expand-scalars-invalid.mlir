// RUN: gpu-opt %s --tessera-expand-scalars --verify-diagnostics --split-input-file

func.func @narrow(%a: f4E2M1FN) -> f32 {
  // expected-error @below {{'arith.extf' op is not supported for 'f4E2M1FN'; use f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ or a wider float}}
  %0 = arith.extf %a : f4E2M1FN to f32
  return %0 : f32
}

// -----

func.func @vectors(%a: vector<4xf8E3M4>) -> vector<4xf8E3M4> {
  // expected-error @below {{'arith.addf' op is not supported for 'f8E3M4'}}
  %0 = arith.addf %a, %a : vector<4xf8E3M4>
  return %0 : vector<4xf8E3M4>
}
