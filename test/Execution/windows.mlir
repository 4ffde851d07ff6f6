// Convolutions whose image is loaded by windows over it (im2col mode) if a chip
// has TMA: each kind of window, order of steps and end.
//
// RUN: gpu-runner %s --target=cpu --verify --entry=same | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=uneven | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dilated | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=narrow | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=single | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=points | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=line | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=volume | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=along | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=bytes | FileCheck %s
// CHECK: {{^}}verified

// Zeros around the image; the last tile ends beyond the last image.
func.func @same(%image: tensor<3x13x11x64xf16>, %filter: tensor<3x3x64x128xf16>) -> tensor<3x13x11x128xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<3x13x11x64xf16> to tensor<3x15x13x64xf16>
  %empty = tensor.empty() : tensor<3x13x11x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x13x11x128xf32>) -> tensor<3x13x11x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<3x15x13x64xf16>, tensor<3x3x64x128xf16>) outs(%init : tensor<3x13x11x128xf32>) -> tensor<3x13x11x128xf32>
  return %r : tensor<3x13x11x128xf32>
}

// Another window, step and border along each dimension.
func.func @uneven(%image: tensor<2x19x23x64xf16>, %filter: tensor<3x5x64x96xf16>) -> tensor<2x9x8x96xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 2, 0] high[0, 0, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<2x19x23x64xf16> to tensor<2x20x26x64xf16>
  %empty = tensor.empty() : tensor<2x9x8x96xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x9x8x96xf32>) -> tensor<2x9x8x96xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 3]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<2x20x26x64xf16>, tensor<3x5x64x96xf16>) outs(%init : tensor<2x9x8x96xf32>) -> tensor<2x9x8x96xf32>
  return %r : tensor<2x9x8x96xf32>
}

// Positions of a window that are not adjacent.
func.func @dilated(%image: tensor<2x18x15x64xf16>, %filter: tensor<3x3x64x64xf16>) -> tensor<2x18x8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 2, 0, 0] high[0, 2, 3, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<2x18x15x64xf16> to tensor<2x22x18x64xf16>
  %empty = tensor.empty() : tensor<2x18x8x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x18x8x64xf32>) -> tensor<2x18x8x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[1, 2]> : tensor<2xi64>, dilations = dense<[2, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<2x22x18x64xf16>, tensor<3x3x64x64xf16>) outs(%init : tensor<2x18x8x64xf32>) -> tensor<2x18x8x64xf32>
  return %r : tensor<2x18x8x64xf32>
}

// Steps of 32 channels.
func.func @narrow(%image: tensor<2x14x15x96xf16>, %filter: tensor<3x3x96x160xf16>) -> tensor<2x14x15x160xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<2x14x15x96xf16> to tensor<2x16x17x96xf16>
  %empty = tensor.empty() : tensor<2x14x15x160xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x14x15x160xf32>) -> tensor<2x14x15x160xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<2x16x17x96xf16>, tensor<3x3x96x160xf16>) outs(%init : tensor<2x14x15x160xf32>) -> tensor<2x14x15x160xf32>
  return %r : tensor<2x14x15x160xf32>
}

// Channels in panels: steps of 128 of them.
func.func @wide(%image: tensor<2x9x10x128xf16>, %filter: tensor<3x3x128x64xf16>) -> tensor<2x9x10x64xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<2x9x10x128xf16> to tensor<2x11x12x128xf16>
  %empty = tensor.empty() : tensor<2x9x10x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x9x10x64xf32>) -> tensor<2x9x10x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 128, stages = 3, swizzle = true, subgroupsPerFragment = 4>,
      strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<2x11x12x128xf16>, tensor<3x3x128x64xf16>) outs(%init : tensor<2x9x10x64xf32>) -> tensor<2x9x10x64xf32>
  return %r : tensor<2x9x10x64xf32>
}

// One image: the batch is not a dimension of the rows.
func.func @single(%image: tensor<1x20x21x64xf16>, %filter: tensor<3x3x64x64xf16>) -> tensor<1x20x21x64xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 0, 0] high[0, 1, 2, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<1x20x21x64xf16> to tensor<1x22x23x64xf16>
  %empty = tensor.empty() : tensor<1x20x21x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x20x21x64xf32>) -> tensor<1x20x21x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<1x22x23x64xf16>, tensor<3x3x64x64xf16>) outs(%init : tensor<1x20x21x64xf32>) -> tensor<1x20x21x64xf32>
  return %r : tensor<1x20x21x64xf32>
}

// A window of one position, in steps of two.
func.func @points(%image: tensor<3x15x16x64xf16>, %filter: tensor<1x1x64x128xf16>) -> tensor<3x8x8x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x8x8x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3x8x8x128xf32>) -> tensor<3x8x8x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 2]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%image, %filter : tensor<3x15x16x64xf16>, tensor<1x1x64x128xf16>) outs(%init : tensor<3x8x8x128xf32>) -> tensor<3x8x8x128xf32>
  return %r : tensor<3x8x8x128xf32>
}

// Workgroups that walk through several tiles each, while copies run ahead.
func.func @walk(%image: tensor<4x16x15x64xf16>, %filter: tensor<3x3x64x128xf16>) -> tensor<4x16x15x128xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<4x16x15x64xf16> to tensor<4x18x17x64xf16>
  %empty = tensor.empty() : tensor<4x16x15x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x16x15x128xf32>) -> tensor<4x16x15x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 64, stages = 4, swizzle = true, persistent = 7, subgroupsPerFragment = 4>,
      strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<4x18x17x64xf16>, tensor<3x3x64x128xf16>) outs(%init : tensor<4x16x15x128xf32>) -> tensor<4x16x15x128xf32>
  return %r : tensor<4x16x15x128xf32>
}

// Parts of the reduction that end within a window, the last of which ends beyond it.
func.func @parts(%image: tensor<2x7x7x64xf16>, %filter: tensor<3x3x64x64xf16>) -> tensor<2x7x7x64xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<2x7x7x64xf16> to tensor<2x9x9x64xf16>
  %empty = tensor.empty() : tensor<2x7x7x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x7x7x64xf32>) -> tensor<2x7x7x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, splitK = 4, subgroupsPerFragment = 4>,
      strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<2x9x9x64xf16>, tensor<3x3x64x64xf16>) outs(%init : tensor<2x7x7x64xf32>) -> tensor<2x7x7x64xf32>
  return %r : tensor<2x7x7x64xf32>
}

// Parts that are added up in a cluster.
func.func @cluster(%image: tensor<2x7x7x128xf16>, %filter: tensor<3x3x128x64xf16>) -> tensor<2x7x7x64xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<2x7x7x128xf16> to tensor<2x9x9x128xf16>
  %empty = tensor.empty() : tensor<2x7x7x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x7x7x64xf32>) -> tensor<2x7x7x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4>,
      strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<2x9x9x128xf16>, tensor<3x3x128x64xf16>) outs(%init : tensor<2x7x7x64xf32>) -> tensor<2x7x7x64xf32>
  return %r : tensor<2x7x7x64xf32>
}

// Over one dimension.
func.func @line(%image: tensor<5x77x64xf16>, %filter: tensor<5x64x128xf16>) -> tensor<5x38x128xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 2, 0] high[0, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index):
    tensor.yield %none : f16
  } : tensor<5x77x64xf16> to tensor<5x80x64xf16>
  %empty = tensor.empty() : tensor<5x38x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<5x38x128xf32>) -> tensor<5x38x128xf32>
  %r = linalg.conv_1d_nwc_wcf {strides = dense<[2]> : tensor<1xi64>, dilations = dense<[1]> : tensor<1xi64>}
      ins(%padded, %filter : tensor<5x80x64xf16>, tensor<5x64x128xf16>) outs(%init : tensor<5x38x128xf32>) -> tensor<5x38x128xf32>
  return %r : tensor<5x38x128xf32>
}

// Over three.
func.func @volume(%image: tensor<2x6x7x8x64xf16>, %filter: tensor<3x2x3x64x64xf16>) -> tensor<2x6x4x8x64xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 0, 2, 0] high[0, 1, 1, 2, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index, %4: index):
    tensor.yield %none : f16
  } : tensor<2x6x7x8x64xf16> to tensor<2x8x8x12x64xf16>
  %empty = tensor.empty() : tensor<2x6x4x8x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x6x4x8x64xf32>) -> tensor<2x6x4x8x64xf32>
  %r = linalg.conv_3d_ndhwc_dhwcf {strides = dense<[1, 2, 1]> : tensor<3xi64>, dilations = dense<[1, 1, 2]> : tensor<3xi64>}
      ins(%padded, %filter : tensor<2x8x8x12x64xf16>, tensor<3x2x3x64x64xf16>) outs(%init : tensor<2x6x4x8x64xf32>) -> tensor<2x6x4x8x64xf32>
  return %r : tensor<2x6x4x8x64xf32>
}

// Filters that run along K.
func.func @along(%image: tensor<2x14x13x64xf16>, %filter: tensor<128x3x3x64xf16>) -> tensor<2x14x13x128xf32> {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : f16
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : f16
  } : tensor<2x14x13x64xf16> to tensor<2x16x15x64xf16>
  %empty = tensor.empty() : tensor<2x14x13x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x14x13x128xf32>) -> tensor<2x14x13x128xf32>
  %r = linalg.conv_2d_nhwc_fhwc {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<2x16x15x64xf16>, tensor<128x3x3x64xf16>) outs(%init : tensor<2x14x13x128xf32>) -> tensor<2x14x13x128xf32>
  return %r : tensor<2x14x13x128xf32>
}

// Bytes, whose instructions read both along K.
func.func @bytes(%image: tensor<2x14x13x128xi8>, %filter: tensor<128x3x3x128xi8>) -> tensor<2x14x13x128xi32> {
  %zero = arith.constant 0 : i32
  %none = arith.constant 0 : i8
  %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %none : i8
  } : tensor<2x14x13x128xi8> to tensor<2x16x15x128xi8>
  %empty = tensor.empty() : tensor<2x14x13x128xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<2x14x13x128xi32>) -> tensor<2x14x13x128xi32>
  %r = linalg.conv_2d_nhwc_fhwc {strides = dense<[1, 1]> : tensor<2xi64>, dilations = dense<[1, 1]> : tensor<2xi64>}
      ins(%padded, %filter : tensor<2x16x15x128xi8>, tensor<128x3x3x128xi8>) outs(%init : tensor<2x14x13x128xi32>) -> tensor<2x14x13x128xi32>
  return %r : tensor<2x14x13x128xi32>
}
