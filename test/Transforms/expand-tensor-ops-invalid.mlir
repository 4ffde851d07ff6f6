// RUN: gpu-opt %s --pass-pipeline='builtin.module(func.func(tessera-expand-tensor-ops))' --split-input-file --verify-diagnostics

func.func @custom(%a: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @+1 {{operator 'foo' of domain 'd' is not supported: TOSA does not define it}}
  %r = tosa.custom %a {domain_name = "d", operator_name = "foo", implementation_attrs = ""} : (tensor<16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

func.func @block_scaled(%a: tensor<4x32xf32>) -> (tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>) {
  // expected-error @+1 {{'tosa.cast_to_block_scaled' op is not supported: block-scaled types have no lowering}}
  %0, %1 = tosa.cast_to_block_scaled %a {block_size = #tosa.block_size<BLOCK_SIZE_32> : i32} : (tensor<4x32xf32>) -> (tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>)
  return %0, %1 : tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>
}

// -----

func.func @shift(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'tosa.arithmetic_right_shift' op is not supported for 'f32': it is defined for integers; cast the operands}}
  %0 = tosa.arithmetic_right_shift %a, %a {round = false} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @zero_point(%a: tensor<1x2x3xi8>, %b: tensor<1x3x4xi8>, %z: tensor<1xi8>) -> tensor<1x2x4xi32> {
  %zero = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  // expected-error @+1 {{'tosa.matmul' op is not supported with a zero point (operand 3) that is not a constant: subtract it from the operand, or make it a tosa.const}}
  %0 = tosa.matmul %a, %b, %zero, %z : (tensor<1x2x3xi8>, tensor<1x3x4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x4xi32>
  return %0 : tensor<1x2x4xi32>
}

// -----

func.func @rescale(%a: tensor<4xi32>, %shift: tensor<1xi8>) -> tensor<4xi32> {
  %z = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %m = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  // expected-error @+1 {{'tosa.rescale' op is not supported with an operand (2) that is not a constant: make it a tosa.const, or use tosa.apply_scale}}
  %0 = tosa.rescale %a, %m, %shift, %z, %z {rounding_mode = SINGLE_ROUND, per_channel = false, scale32 = true, input_unsigned = false, output_unsigned = false} : (tensor<4xi32>, tensor<1xi32>, tensor<1xi8>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xi32>
  return %0 : tensor<4xi32>
}
