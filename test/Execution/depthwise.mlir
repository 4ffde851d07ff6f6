// Depthwise convolutions and pooling: threads with a vector of channels at several
// positions, channels that are not whole vectors, strides, dilations, pads.

// RUN: gpu-runner %s --target=cpu --entry=depthwise --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=strided --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=odd --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=pool --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=depthwise --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=odd --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=strided --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=strided --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=pool --arg=random --verify | FileCheck %s
// CHECK: {{^}}verified

// A thread computes two channels of four lines of two columns: it loads six rows
// of four columns, and the filter. An FMA multiplies and adds.
// RUN: gpu-runner %s --target=cuda:sm_90a --entry=depthwise --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=FMA --input-file=%t.ptx
// PTX-LABEL:     .entry depthwise_kernel
// PTX-COUNT-33:  ld.global.v2.b16
// PTX-NOT:       ld.global
// PTX-COUNT-8:   st.global.b32
// PTX-NOT:       st.global
// PTX-LABEL:     .entry
// FMA-LABEL:     .entry depthwise_kernel
// FMA-COUNT-144: fma.rn.f32
// FMA-NOT:       {{fma|mul|add}}.rn.f32
// FMA-LABEL:     .entry

func.func @depthwise(%x: tensor<33x16x64x32xf16>, %f: tensor<3x3x32xf16>) -> tensor<33x16x64x32xf16> {
  %z = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f16
  } : tensor<33x16x64x32xf16> to tensor<33x18x66x32xf16>
  %e = tensor.empty() : tensor<33x16x64x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<33x16x64x32xf32>) -> tensor<33x16x64x32xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%p, %f : tensor<33x18x66x32xf16>, tensor<3x3x32xf16>) outs(%i : tensor<33x16x64x32xf32>) -> tensor<33x16x64x32xf32>
  %e2 = tensor.empty() : tensor<33x16x64x32xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<33x16x64x32xf32>) outs(%e2 : tensor<33x16x64x32xf16>) {
  ^bb0(%v: f32, %o: f16):
    %m = arith.maximumf %v, %zero : f32
    %w = arith.truncf %m : f32 to f16
    linalg.yield %w : f16
  } -> tensor<33x16x64x32xf16>
  return %t : tensor<33x16x64x32xf16>
}

func.func @strided(%x: tensor<2x13x15x24xf32>, %f: tensor<3x3x24xf32>) -> tensor<2x5x6x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x6x24xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x5x6x24xf32>) -> tensor<2x5x6x24xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<2> : tensor<2xi64>, dilations = dense<[2, 1]> : tensor<2xi64>}
      ins(%x, %f : tensor<2x13x15x24xf32>, tensor<3x3x24xf32>) outs(%i : tensor<2x5x6x24xf32>) -> tensor<2x5x6x24xf32>
  return %r : tensor<2x5x6x24xf32>
}

func.func @odd(%x: tensor<2x9x9x21xf16>, %f: tensor<3x3x21xf16>) -> tensor<2x7x7x21xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x7x7x21xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x7x7x21xf32>) -> tensor<2x7x7x21xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc ins(%x, %f : tensor<2x9x9x21xf16>, tensor<3x3x21xf16>) outs(%i : tensor<2x7x7x21xf32>) -> tensor<2x7x7x21xf32>
  return %r : tensor<2x7x7x21xf32>
}

func.func @pool(%x: tensor<2x8x8x40xf16>) -> tensor<2x4x4x40xf16> {
  %low = arith.constant 0xFC00 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 0, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %low : f16
  } : tensor<2x8x8x40xf16> to tensor<2x9x9x40xf16>
  %window = tensor.empty() : tensor<3x3xf16>
  %e = tensor.empty() : tensor<2x4x4x40xf16>
  %i = linalg.fill ins(%low : f16) outs(%e : tensor<2x4x4x40xf16>) -> tensor<2x4x4x40xf16>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %window : tensor<2x9x9x40xf16>, tensor<3x3xf16>) outs(%i : tensor<2x4x4x40xf16>) -> tensor<2x4x4x40xf16>
  return %r : tensor<2x4x4x40xf16>
}
