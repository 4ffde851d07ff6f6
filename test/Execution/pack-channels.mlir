// Convolutions whose images and filters are copied to channels last, with zeros
// where channels are not whole rows, and whose output is copied back, in odd
// sizes, lane by lane.
//
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --explain --entry=first 2>&1 | FileCheck %s --check-prefixes=COPIED,VERIFIED
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --explain --entry=small 2>&1 | FileCheck %s --check-prefixes=GROUP,COPIED,BACK,VERIFIED
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --explain --entry=odd 2>&1 | FileCheck %s --check-prefixes=GROUP,ODD,VERIFIED
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --explain --entry=point 2>&1 | FileCheck %s --check-prefixes=POINT,VERIFIED
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --explain --entry=narrow 2>&1 | FileCheck %s --check-prefixes=GROUP,NARROW,VERIFIED
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --explain --entry=groups 2>&1 | FileCheck %s --check-prefixes=COPIED,VERIFIED
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --explain --entry=front 2>&1 | FileCheck %s --check-prefixes=FRONT,VERIFIED
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --explain --entry=fronts 2>&1 | FileCheck %s --check-prefixes=FRONTS,BACK,VERIFIED
// GROUP-DAG:  wgmma{{.*}}, emulated by its lane maps
// COPIED-DAG: copies the image of a convolution, {{.*}} channels in the last dimension
// COPIED-DAG: copies the filters of a convolution, {{.*}}, to rows of
// BACK-DAG:   copies the result of a convolution, which has its channels last
// ODD-DAG:    copies the image of a convolution, 1x15x17x27xbf16, to 32 channels in the last dimension
// POINT-DAG:  copies the image of a convolution, 2x13x11x325xf16, to 352 channels in the last dimension
// NARROW-DAG: copies the image of a convolution, 2x9x8x7xf16, to 16 channels in the last dimension
// FRONT-DAG:  copies the image of a convolution, 1x21x19x3xf16, to 4 channels and a border
// FRONTS-DAG: copies the image of a convolution, 2x13x12x5xf16, to 8 channels and a border
// VERIFIED-DAG: {{^}}verified

// Zeros around the image, a bias and a maximum in the epilogue.
func.func @first(%a: tensor<1x40x9x11xf16>, %b: tensor<67x40x3x3xf16>, %bias: tensor<67xf32>) -> tensor<1x67x9x11xf16> {
  %none = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %image = tensor.pad %a low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %none : f16
  } : tensor<1x40x9x11xf16> to tensor<1x40x11x13xf16>
  %empty = tensor.empty() : tensor<1x67x9x11xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x67x9x11xf32>) -> tensor<1x67x9x11xf32>
  %sums = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %b : tensor<1x40x11x13xf16>, tensor<67x40x3x3xf16>) outs(%init : tensor<1x67x9x11xf32>) -> tensor<1x67x9x11xf32>
  %half = tensor.empty() : tensor<1x67x9x11xf16>
  %result = linalg.generic {
      indexing_maps = [affine_map<(n, f, h, w) -> (n, f, h, w)>, affine_map<(n, f, h, w) -> (f)>, affine_map<(n, f, h, w) -> (n, f, h, w)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sums, %bias : tensor<1x67x9x11xf32>, tensor<67xf32>) outs(%half : tensor<1x67x9x11xf16>) {
  ^bb0(%x: f32, %y: f32, %o: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<1x67x9x11xf16>
  return %result : tensor<1x67x9x11xf16>
}

// Small images, of which a tile has several.
func.func @small(%a: tensor<8x704x5x5xf16>, %b: tensor<72x704x3x3xf16>) -> tensor<8x72x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8x72x3x3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<8x72x3x3xf32>) -> tensor<8x72x3x3xf32>
  %sums = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %b : tensor<8x704x5x5xf16>, tensor<72x704x3x3xf16>) outs(%init : tensor<8x72x3x3xf32>) -> tensor<8x72x3x3xf32>
  return %sums : tensor<8x72x3x3xf32>
}

func.func @odd(%a: tensor<1x15x17x27xbf16>, %b: tensor<5x5x27x45xbf16>) -> tensor<1x4x5x45xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x4x5x45xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4x5x45xf32>) -> tensor<1x4x5x45xf32>
  %sums = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<2> : tensor<2xi64>}
      ins(%a, %b : tensor<1x15x17x27xbf16>, tensor<5x5x27x45xbf16>) outs(%init : tensor<1x4x5x45xf32>) -> tensor<1x4x5x45xf32>
  return %sums : tensor<1x4x5x45xf32>
}

func.func @point(%a: tensor<2x13x11x325xf16>, %b: tensor<1x1x325x64xf16>) -> tensor<2x7x6x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x7x6x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x7x6x64xf32>) -> tensor<2x7x6x64xf32>
  %sums = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %b : tensor<2x13x11x325xf16>, tensor<1x1x325x64xf16>) outs(%init : tensor<2x7x6x64xf32>) -> tensor<2x7x6x64xf32>
  return %sums : tensor<2x7x6x64xf32>
}

// Too few filters for an instruction of several subgroups.
func.func @narrow(%a: tensor<2x9x8x7xf16>, %b: tensor<7x7x7x10xf16>) -> tensor<2x3x2x10xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x3x2x10xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x3x2x10xf32>) -> tensor<2x3x2x10xf32>
  %sums = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %b : tensor<2x9x8x7xf16>, tensor<7x7x7x10xf16>) outs(%init : tensor<2x3x2x10xf32>) -> tensor<2x3x2x10xf32>
  return %sums : tensor<2x3x2x10xf32>
}

func.func @groups(%a: tensor<4x34x16x5x5xf16>, %b: tensor<34x8x16x3x3xf16>) -> tensor<4x34x8x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x34x8x3x3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x34x8x3x3xf32>) -> tensor<4x34x8x3x3xf32>
  %sums = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %b : tensor<4x34x16x5x5xf16>, tensor<34x8x16x3x3xf16>) outs(%init : tensor<4x34x8x3x3xf32>) -> tensor<4x34x8x3x3xf32>
  return %sums : tensor<4x34x8x3x3xf32>
}

// Three channels in front, of one image and of two.
func.func @front(%a: tensor<1x3x21x19xf16>, %b: tensor<64x3x7x7xf16>) -> tensor<1x64x8x7xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<1x64x8x7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x64x8x7xf32>) -> tensor<1x64x8x7xf32>
  %sums = linalg.conv_2d_nchw_fchw {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %b : tensor<1x3x21x19xf16>, tensor<64x3x7x7xf16>) outs(%init : tensor<1x64x8x7xf32>) -> tensor<1x64x8x7xf32>
  return %sums : tensor<1x64x8x7xf32>
}

func.func @fronts(%a: tensor<2x5x13x12xf16>, %b: tensor<64x5x9x9xf16>) -> tensor<2x64x5x4xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x64x5x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x64x5x4xf32>) -> tensor<2x64x5x4xf32>
  %sums = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %b : tensor<2x5x13x12xf16>, tensor<64x5x9x9xf16>) outs(%init : tensor<2x64x5x4xf32>) -> tensor<2x64x5x4xf32>
  return %sums : tensor<2x64x5x4xf32>
}
