// Convolutions with padding, strides, dilations, groups and zero points, a
// pooling and a softmax, whatever they are compiled to; and that the reference
// sees an element that is wrong.
//
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=quantized | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=groups | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=depthwise --arg=int:1:2x10x9x5 --arg=int:2:3x3x5 --arg=int:3:2x8x7x5 | FileCheck %s --check-prefix=EXACT
// RUN: gpu-runner %s --target=cpu --verify --entry=pool | FileCheck %s --check-prefix=EXACT
// EXACT: max abs err 0, {{.*}}, exact{{[,)]}}
// EXACT: {{^}}verified
//
// RUN: gpu-runner %s --target=cpu --verify --entry=softmax | FileCheck %s --check-prefix=CLOSE
// CLOSE: checked 231, within {{[1-9](.[0-9])?}}e-07{{[,)]}}
// CLOSE: {{^}}verified
//
// RUN: not gpu-runner %s --target=cpu --verify --entry=quantized --debug-corrupt-output=0 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not gpu-runner %s --target=cpu --verify --entry=softmax --debug-corrupt-output=0 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: 1 of {{[0-9]+}} elements are wrong

func.func @main(%x: tensor<2x15x14x8xf16>, %w: tensor<3x3x8x16xf16>) -> tensor<2x8x7x16xf32> {
  %z = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %z : f16
  } : tensor<2x15x14x8xf16> to tensor<2x17x16x8xf16>
  %e = tensor.empty() : tensor<2x8x7x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x7x16xf32>) -> tensor<2x8x7x16xf32>
  %y = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<2x17x16x8xf16>, tensor<3x3x8x16xf16>)
      outs(%i : tensor<2x8x7x16xf32>) -> tensor<2x8x7x16xf32>
  return %y : tensor<2x8x7x16xf32>
}

func.func @quantized(%x: memref<1x12x12x4xi8>, %w: memref<3x3x4x8xi8>, %y: memref<1x8x10x8xi32>) {
  %zx = arith.constant 5 : i32
  %zw = arith.constant -3 : i32
  linalg.conv_2d_nhwc_hwcf_q {strides = dense<1> : tensor<2xi64>, dilations = dense<[2, 1]> : tensor<2xi64>}
      ins(%x, %w, %zx, %zw : memref<1x12x12x4xi8>, memref<3x3x4x8xi8>, i32, i32)
      outs(%y : memref<1x8x10x8xi32>)
  return
}

func.func @groups(%x: memref<2x3x4x9x9xf32>, %w: memref<3x5x4x2x2xf32>, %y: memref<2x3x5x8x8xf32>) {
  linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : memref<2x3x4x9x9xf32>, memref<3x5x4x2x2xf32>) outs(%y : memref<2x3x5x8x8xf32>)
  return
}

func.func @depthwise(%x: memref<?x?x?x?xf32>, %w: memref<3x3x?xf32>, %y: memref<?x?x?x?xf32>) {
  linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : memref<?x?x?x?xf32>, memref<3x3x?xf32>) outs(%y : memref<?x?x?x?xf32>)
  return
}

func.func @pool(%x: memref<2x9x9x5xf32>, %k: memref<3x3xf32>, %y: memref<2x4x4x5xf32>) {
  linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %k : memref<2x9x9x5xf32>, memref<3x3xf32>) outs(%y : memref<2x4x4x5xf32>)
  return
}

func.func @softmax(%x: tensor<7x33xf32>) -> tensor<7x33xf32> {
  %e = tensor.empty() : tensor<7x33xf32>
  %y = linalg.softmax dimension(1) ins(%x : tensor<7x33xf32>) outs(%e : tensor<7x33xf32>) -> tensor<7x33xf32>
  return %y : tensor<7x33xf32>
}

// A window of one position that reads part of an image of dynamic size: the
// position must not be used to infer an image as small as the filter.
// RUN: gpu-runner %s --target=cpu --entry=one_place --verify --arg=int:1:1x8x3x16 --arg=int:2:7x3x16x4 | FileCheck %s --check-prefix=POSITION
// POSITION: {{^}}verified
func.func @one_place(%image: tensor<?x?x?x?xf16>, %filter: tensor<?x?x?x?xf16>) -> tensor<1x1x1x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x1x1x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>}
      ins(%image, %filter : tensor<?x?x?x?xf16>, tensor<?x?x?x?xf16>) outs(%init : tensor<1x1x1x4xf32>) -> tensor<1x1x1x4xf32>
  return %r : tensor<1x1x1x4xf32>
}
