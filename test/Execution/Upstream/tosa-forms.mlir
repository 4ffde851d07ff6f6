// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// TOSA in forms that upstream's lowering rejects as they stand: zero points and shifts that are not
// constants, quantized types, and a function next to the entry that cannot be lowered.

// RUN: gpu-runner %s --target=cpu -e conv --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e pool --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e matmul --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e mul --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e quantized --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e sparse --verify | FileCheck %s
// CHECK: {{^}}verified

func.func @conv(%a: tensor<1x4x4x4xf32>, %w: tensor<1x1x4x2xf32>, %b: tensor<8xf32>, %za: tensor<1xf32>, %zw: tensor<1xf32>) -> tensor<1x4x4x8xf32> {
  %0 = tosa.depthwise_conv2d %a, %w, %b, %za, %zw {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<1x1x4x2xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x8xf32>
  return %0 : tensor<1x4x4x8xf32>
}

func.func @pool(%a: tensor<1x6x6x3xf32>, %za: tensor<1xf32>, %zo: tensor<1xf32>) -> tensor<1x5x5x3xf32> {
  %0 = tosa.avg_pool2d %a, %za, %zo {acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x5x5x3xf32>
  return %0 : tensor<1x5x5x3xf32>
}

func.func @matmul(%a: tensor<1x2x3xf32>, %b: tensor<1x3x4xf32>, %z: tensor<1xf32>) -> tensor<1x2x4xf32> {
  %u = tosa.cast %z : (tensor<1xf32>) -> tensor<*xf32>
  %0 = tosa.matmul %a, %b, %u, %z : (tensor<1x2x3xf32>, tensor<1x3x4xf32>, tensor<*xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
  return %0 : tensor<1x2x4xf32>
}

func.func @mul(%a: tensor<5x7xi8>, %b: tensor<5x1xi8>, %s: tensor<1xi8>) -> tensor<5x7xi16> {
  %0 = tosa.mul %a, %b, %s : (tensor<5x7xi8>, tensor<5x1xi8>, tensor<1xi8>) -> tensor<5x7xi16>
  return %0 : tensor<5x7xi16>
}

func.func @quantized(%a: tensor<6xi32>) -> tensor<6xi32> {
  %0 = "tosa.const"() {values = dense<[-128, -3, 0, 1, 5, 127]> : tensor<6xi8>} : () -> tensor<6x!quant.uniform<i8:f32, 0.25:-128>>
  %s = tosa.const_shape {values = dense<[6]> : tensor<1xindex>} : () -> !tosa.shape<1>
  %1 = tosa.reshape %0, %s : (tensor<6x!quant.uniform<i8:f32, 0.25:-128>>, !tosa.shape<1>) -> tensor<6x!quant.uniform<i8:f32, 0.25:-128>>
  %multiplier = "tosa.const"() {values = dense<1073741824> : tensor<1xi32>} : () -> tensor<1xi32>
  %shift = "tosa.const"() {values = dense<30> : tensor<1xi8>} : () -> tensor<1xi8>
  %zin = "tosa.const"() {values = dense<-128> : tensor<1xi8>} : () -> tensor<1xi8>
  %zout = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %2 = tosa.rescale %1, %multiplier, %shift, %zin, %zout {rounding_mode = DOUBLE_ROUND, scale32 = true, per_channel = false, input_unsigned = false, output_unsigned = false} : (tensor<6x!quant.uniform<i8:f32, 0.25:-128>>, tensor<1xi32>, tensor<1xi8>, tensor<1xi8>, tensor<1xi32>) -> tensor<6xi32>
  %3 = tosa.add %2, %a : (tensor<6xi32>, tensor<6xi32>) -> tensor<6xi32>
  return %3 : tensor<6xi32>
}

func.func @sparse(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "tosa.const"() {values = sparse<[[0], [3], [7]], [1.0, 2.0, 3.0]> : tensor<8xf32>} : () -> tensor<8xf32>
  %1 = tosa.add %0, %a : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Not reached from the entries above.
func.func @other(%a: tensor<4x32xf32>) -> (tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>) {
  %0, %1 = tosa.cast_to_block_scaled %a {block_size = #tosa.block_size<BLOCK_SIZE_32> : i32} : (tensor<4x32xf32>) -> (tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>)
  return %0, %1 : tensor<4x32xf8E4M3FN>, tensor<4x1xf8E8M0FNU>
}
