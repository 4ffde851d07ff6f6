// A convolution without input channels is legal, and its result has the initial value: no slice of the filters drops
// their unit dimensions, since a slice has to begin at an element.
// RUN: gpu-runner %s --target=cpu --arg=int:1:1x1x0x34x34 --arg=int:2 --verify | FileCheck %s
// CHECK: result 0: 1x1x3x15x11xi32, min 7, max 7
// CHECK: verified
func.func @main(%images: tensor<?x?x?x?x?xi8>, %filters: tensor<1x3x0x5x1xi8>) -> tensor<1x1x3x15x11xi32> {
  %seven = arith.constant 7 : i32
  %empty = tensor.empty() : tensor<1x1x3x15x11xi32>
  %initial = linalg.fill ins(%seven : i32) outs(%empty : tensor<1x1x3x15x11xi32>) -> tensor<1x1x3x15x11xi32>
  %result = linalg.conv_2d_ngchw_gfchw {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[2, 3]> : tensor<2xi64>}
      ins(%images, %filters : tensor<?x?x?x?x?xi8>, tensor<1x3x0x5x1xi8>)
      outs(%initial : tensor<1x1x3x15x11xi32>) -> tensor<1x1x3x15x11xi32>
  return %result : tensor<1x1x3x15x11xi32>
}
