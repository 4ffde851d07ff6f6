// RUN: gpu-runner %s --target=cpu --arg=random:1 --verify | FileCheck %s
// CHECK: {{^}}verified

// f64 to f16, for which CPUs call a function of the compiler's runtime library:
// a statically linked runner must contain it.
func.func @main(%a: tensor<37x11xf64>) -> tensor<37x11xf16> {
  %r = arith.truncf %a : tensor<37x11xf64> to tensor<37x11xf16>
  return %r : tensor<37x11xf16>
}
