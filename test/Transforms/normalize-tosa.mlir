// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: gpu-opt %s --tessera-normalize-tosa --split-input-file | FileCheck %s

// Zero points of floats can only be zero; ops that only compute them are erased.
// CHECK-LABEL: func @float_zero_points
// CHECK-NOT:     tosa.cast
// CHECK-DAG:     %[[A:.+]] = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}>
// CHECK-DAG:     %[[B:.+]] = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1xf32>}>
// CHECK:         tosa.matmul %arg0, %arg1, %[[A]], %[[B]]
func.func @float_zero_points(%a: tensor<1x2x3xf32>, %b: tensor<1x3x4xf32>, %z: tensor<1xf32>) -> tensor<1x2x4xf32> {
  %u = tosa.cast %z : (tensor<1xf32>) -> tensor<*xf32>
  %0 = tosa.matmul %a, %b, %u, %z : (tensor<1x2x3xf32>, tensor<1x3x4xf32>, tensor<*xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

// Those of integers stay.
// CHECK-LABEL: func @integer_zero_points
// CHECK:         tosa.matmul %arg0, %arg1, %arg2, %arg2
func.func @integer_zero_points(%a: tensor<1x2x3xi8>, %b: tensor<1x3x4xi8>, %z: tensor<1xi8>) -> tensor<1x2x4xi32> {
  %0 = tosa.matmul %a, %b, %z, %z : (tensor<1x2x3xi8>, tensor<1x3x4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x2x4xi32>
  return %0 : tensor<1x2x4xi32>
}

// The result for i8 is not shifted, that for i32 is.
// CHECK-LABEL: func @shifts
// CHECK:         %[[ZERO:.+]] = "tosa.const"() <{values = dense<0> : tensor<1xi8>}>
// CHECK-NEXT:    tosa.mul %arg0, %arg0, %[[ZERO]]
// CHECK-NEXT:    tosa.mul %arg1, %arg1, %arg2
func.func @shifts(%a: tensor<4xi8>, %b: tensor<4xi32>, %s: tensor<1xi8>) -> (tensor<4xi16>, tensor<4xi32>) {
  %0 = tosa.mul %a, %a, %s : (tensor<4xi8>, tensor<4xi8>, tensor<1xi8>) -> tensor<4xi16>
  %1 = tosa.mul %b, %b, %s : (tensor<4xi32>, tensor<4xi32>, tensor<1xi8>) -> tensor<4xi32>
  return %0, %1 : tensor<4xi16>, tensor<4xi32>
}

// -----

// CHECK-LABEL: func @storage
// CHECK-SAME:    (%{{.+}}: tensor<2x2xi8>) -> tensor<4xi8>
// CHECK:         tosa.reshape %{{.+}} : (tensor<2x2xi8>, !tosa.shape<1>) -> tensor<4xi8>
func.func @storage(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5:-128>>) -> tensor<4x!quant.uniform<i8:f32, 0.5:-128>> {
  %s = tosa.const_shape {values = dense<4> : tensor<1xindex>} : () -> !tosa.shape<1>
  %0 = tosa.reshape %a, %s : (tensor<2x2x!quant.uniform<i8:f32, 0.5:-128>>, !tosa.shape<1>) -> tensor<4x!quant.uniform<i8:f32, 0.5:-128>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.5:-128>>
}

// -----

// Ops of the dialect quant need the scale.
// CHECK-LABEL: func @computes
// CHECK:         quant.dcast %{{.+}} : tensor<4x!quant.uniform<i8:f32, 5.000000e-01>> to tensor<4xf32>
func.func @computes(%a: tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4xf32> {
  %0 = quant.dcast %a : tensor<4x!quant.uniform<i8:f32, 0.5>> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
