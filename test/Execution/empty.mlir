// Operands without elements: the accumulated output does not change.
//
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=chain | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=insert | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=pad | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=concat | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=concat_all_empty | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=ptx -o %t.ptx
// CHECK: {{^}}verified

func.func @main(%image: tensor<1x39x8x0xbf16>, %filter: tensor<1x3x0x2xbf16>, %out: tensor<1x13x2x2xf32>) -> tensor<1x13x2x2xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {dilations = dense<[1, 2]> : tensor<2xi64>, strides = dense<[3, 3]> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x39x8x0xbf16>, tensor<1x3x0x2xbf16>)
      outs(%out : tensor<1x13x2x2xf32>) -> tensor<1x13x2x2xf32>
  return %r : tensor<1x13x2x2xf32>
}

func.func @chain(%a: tensor<8x104x1xf32>, %b: tensor<8x1x0xf32>, %c: tensor<8x104x0xf32>, %d: tensor<8x0x3xf32>,
                 %e: tensor<8x104x3xf32>) -> tensor<8x104x3xf32> {
  %p = linalg.batch_matmul ins(%a, %b : tensor<8x104x1xf32>, tensor<8x1x0xf32>)
                           outs(%c : tensor<8x104x0xf32>) -> tensor<8x104x0xf32>
  %r = linalg.batch_matmul ins(%p, %d : tensor<8x104x0xf32>, tensor<8x0x3xf32>)
                           outs(%e : tensor<8x104x3xf32>) -> tensor<8x104x3xf32>
  return %r : tensor<8x104x3xf32>
}

func.func @pad(%x: tensor<88x0xi32>) -> tensor<93x2xi32> {
  %seven = arith.constant 7 : i32
  %r = tensor.pad %x low[2, 2] high[3, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %seven : i32
  } : tensor<88x0xi32> to tensor<93x2xi32>
  return %r : tensor<93x2xi32>
}

func.func @insert(%x: tensor<0xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %r = tensor.insert_slice %x into %y[1] [0] [1] : tensor<0xf32> into tensor<2xf32>
  return %r : tensor<2xf32>
}

func.func @concat(%x: tensor<3x2xf32>, %y: tensor<0x2xf32>, %z: tensor<4x2xf32>) -> (tensor<3x2xf32>, tensor<7x2xf32>) {
  // The operand at the end and the operand in the middle are empty.
  %r = tensor.concat dim(0) %x, %y : (tensor<3x2xf32>, tensor<0x2xf32>) -> tensor<3x2xf32>
  %s = tensor.concat dim(0) %x, %y, %z : (tensor<3x2xf32>, tensor<0x2xf32>, tensor<4x2xf32>) -> tensor<7x2xf32>
  return %r, %s : tensor<3x2xf32>, tensor<7x2xf32>
}

func.func @concat_all_empty(%x: tensor<2x0xf32>, %y: tensor<2x0xf32>, %z: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %e = tensor.concat dim(1) %x, %y : (tensor<2x0xf32>, tensor<2x0xf32>) -> tensor<2x0xf32>
  %r = tensor.concat dim(1) %e, %z : (tensor<2x0xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}
