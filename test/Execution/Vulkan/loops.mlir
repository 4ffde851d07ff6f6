// A sum over rows whose length is not a multiple of the threads: some threads
// have no iterations in the loop over the rest of a row.
//
// REQUIRES: can-run-vulkan-lavapipe, can-validate-spirv
// RUN: %software lavapipe gpu-runner %s --target=vulkan --verify --arg=iota --validate | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%s: tensor<4x133xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.reduce ins(%s : tensor<4x133xf32>) outs(%i : tensor<4xf32>) dimensions = [1]
    (%x: f32, %y: f32) {
      %z = arith.addf %x, %y : f32
      linalg.yield %z : f32
    }
  return %r : tensor<4xf32>
}
