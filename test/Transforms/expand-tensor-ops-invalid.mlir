// RUN: gpu-opt %s --pass-pipeline='builtin.module(func.func(tessera-expand-tensor-ops))' --verify-diagnostics

func.func @custom(%a: tensor<16xf32>) -> tensor<16xf32> {
  // expected-error @+1 {{operator 'foo' of domain 'd' is not supported: TOSA does not define it}}
  %r = tosa.custom %a {domain_name = "d", operator_name = "foo", implementation_attrs = ""} : (tensor<16xf32>) -> tensor<16xf32>
  return %r : tensor<16xf32>
}
