// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --linalg-to-tessera-pipeline | FileCheck %s

// TOSA goes the same way: one kernel, with the bias and the clamp in it.

// CHECK-LABEL: func @matmul_bias_relu
// CHECK:         gpu.launch
// CHECK:           tessera.mma
// CHECK:           tessera.broadcast
// CHECK:           tessera.map
// CHECK-NOT:     gpu.launch
func.func @matmul_bias_relu(%a: tensor<1x64x32xf32>, %b: tensor<1x32x48xf32>, %bias: tensor<1x1x48xf32>)
    -> tensor<1x64x48xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %a, %b, %zero, %zero
      : (tensor<1x64x32xf32>, tensor<1x32x48xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x64x48xf32>
  %1 = tosa.add %0, %bias : (tensor<1x64x48xf32>, tensor<1x1x48xf32>) -> tensor<1x64x48xf32>
  %2 = tosa.clamp %1 {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<1x64x48xf32>) -> tensor<1x64x48xf32>
  return %2 : tensor<1x64x48xf32>
}
