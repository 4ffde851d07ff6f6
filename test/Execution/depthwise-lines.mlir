// Threads with several lines of a depthwise convolution or a pooling: borders, strides, dilations, windows larger than
// the lines, an epilogue with an operand.

// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=padded --arg=random --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=strided --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=dilated --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=large --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=pool --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=padded --arg=random --arg=random --arg=random --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=strided --arg=random --arg=random --verify | FileCheck %s
// CHECK: {{^}}verified

// All of them have the schedule of the program.
// RUN: gpu-runner %s --target=cuda:sm_90a --entry=padded --emit=schedule | FileCheck %s --check-prefix=PADDED
// PADDED: gpu.launch
// PADDED: tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 4, lines = 4, threads = 64>
// RUN: gpu-runner %s --target=cuda:sm_90a --entry=strided --emit=schedule | FileCheck %s --check-prefix=STRIDED
// STRIDED: gpu.launch
// STRIDED: tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 3, lines = 5, threads = 64>
// RUN: gpu-runner %s --target=cuda:sm_90a --entry=dilated --emit=schedule | FileCheck %s --check-prefix=DILATED
// DILATED: gpu.launch
// DILATED: tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 1, lines = 3, threads = 32>
// RUN: gpu-runner %s --target=cuda:sm_90a --entry=large --emit=schedule | FileCheck %s --check-prefix=LARGE
// LARGE: gpu.launch
// LARGE: tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 2, lines = 2, threads = 64>
// RUN: gpu-runner %s --target=cuda:sm_90a --entry=pool --emit=schedule | FileCheck %s --check-prefix=POOL
// POOL: gpu.launch
// POOL: tessera.window_schedule = #tessera.window_schedule<points = 8, rows = 2, lines = 3, threads = 32>

// Each element of the image that a thread needs is loaded once: 6 rows of 6 columns, 9 elements of the filter, and the
// operand of the epilogue.
// RUN: gpu-runner %s --target=cuda:sm_90a --entry=padded --emit=ptx | FileCheck %s --check-prefix=PTX
// PTX-LABEL:    .entry padded_kernel
// PTX-COUNT-46: ld.global.v2.b16
// PTX-NOT:      ld.global
// PTX-COUNT-16: st.global.b32
// PTX-NOT:      st.global
// PTX-LABEL:    .entry

func.func @padded(%x: tensor<2x8x12x24xf16>, %f: tensor<3x3x24xf16>, %bias: tensor<24xf16>) -> tensor<2x8x12x24xf16> {
  %z = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f16
  } : tensor<2x8x12x24xf16> to tensor<2x10x14x24xf16>
  %e = tensor.empty() : tensor<2x8x12x24xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x12x24xf32>) -> tensor<2x8x12x24xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 4, lines = 4, threads = 64>}
      ins(%p, %f : tensor<2x10x14x24xf16>, tensor<3x3x24xf16>) outs(%i : tensor<2x8x12x24xf32>) -> tensor<2x8x12x24xf32>
  %e2 = tensor.empty() : tensor<2x8x12x24xf16>
  %t = linalg.generic {indexing_maps = [affine_map<(a, b, c, d) -> (a, b, c, d)>, affine_map<(a, b, c, d) -> (d)>, affine_map<(a, b, c, d) -> (a, b, c, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r, %bias : tensor<2x8x12x24xf32>, tensor<24xf16>) outs(%e2 : tensor<2x8x12x24xf16>) {
  ^bb0(%v: f32, %w: f16, %o: f16):
    %add = arith.extf %w : f16 to f32
    %s = arith.addf %v, %add : f32
    %m = arith.truncf %s : f32 to f16
    linalg.yield %m : f16
  } -> tensor<2x8x12x24xf16>
  return %t : tensor<2x8x12x24xf16>
}

func.func @strided(%x: tensor<2x21x13x24xf32>, %f: tensor<3x3x24xf32>) -> tensor<2x10x6x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x10x6x24xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x10x6x24xf32>) -> tensor<2x10x6x24xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 3, lines = 5, threads = 64>, strides = dense<2> : tensor<2xi64>}
      ins(%x, %f : tensor<2x21x13x24xf32>, tensor<3x3x24xf32>) outs(%i : tensor<2x10x6x24xf32>) -> tensor<2x10x6x24xf32>
  return %r : tensor<2x10x6x24xf32>
}

func.func @dilated(%x: tensor<1x10x9x16xf16>, %f: tensor<3x3x16xf16>) -> tensor<1x6x5x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x6x5x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x6x5x16xf32>) -> tensor<1x6x5x16xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 1, lines = 3, threads = 32>, dilations = dense<2> : tensor<2xi64>}
      ins(%x, %f : tensor<1x10x9x16xf16>, tensor<3x3x16xf16>) outs(%i : tensor<1x6x5x16xf32>) -> tensor<1x6x5x16xf32>
  return %r : tensor<1x6x5x16xf32>
}

func.func @large(%x: tensor<2x14x14x8xf16>, %f: tensor<7x7x8xf16>) -> tensor<2x8x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x8x8x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 2, lines = 2, threads = 64>}
      ins(%x, %f : tensor<2x14x14x8xf16>, tensor<7x7x8xf16>) outs(%i : tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32>
  return %r : tensor<2x8x8x8xf32>
}

func.func @pool(%x: tensor<2x11x8x32xf16>) -> tensor<2x9x6x32xf16> {
  %low = arith.constant 0xFC00 : f16
  %window = tensor.empty() : tensor<3x3xf16>
  %e = tensor.empty() : tensor<2x9x6x32xf16>
  %i = linalg.fill ins(%low : f16) outs(%e : tensor<2x9x6x32xf16>) -> tensor<2x9x6x32xf16>
  %r = linalg.pooling_nhwc_max {tessera.window_schedule = #tessera.window_schedule<points = 8, rows = 2, lines = 3, threads = 32>}
      ins(%x, %window : tensor<2x11x8x32xf16>, tensor<3x3xf16>) outs(%i : tensor<2x9x6x32xf16>) -> tensor<2x9x6x32xf16>
  return %r : tensor<2x9x6x32xf16>
}
