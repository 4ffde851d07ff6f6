// Convolutions of groups with a few channels, which threads compute, with the
// channels last or the columns last; and depthwise ones with the columns last.

// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=last --arg=random --arg=random --verify --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=last --arg=random --arg=random --verify --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=last --arg=random --arg=random --verify --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=strided --arg=random --arg=random --verify --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=first --arg=random --arg=random --verify --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=first --arg=random --arg=random --verify --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=depthwise --arg=random --arg=random --verify --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=depthwise --arg=random --arg=random --verify --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=wide --arg=random --arg=random --verify --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=half --arg=random --arg=random --verify --explain 2>&1 | FileCheck %s
// CHECK: no matmuls
// CHECK: {{^}}verified

// With the flag require-mma, and on CPUs, they are matmuls.
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=last --arg=random --arg=random --require-mma --verify --explain 2>&1 | FileCheck %s --check-prefix=MATMUL
// RUN: gpu-runner %s --target=cpu --entry=first --arg=random --arg=random --verify --explain 2>&1 | FileCheck %s --check-prefix=MATMUL
// MATMUL: matmul
// MATMUL: {{^}}verified

// A strip of four columns in eight rows reads ten vectors, and twenty elements
// at their ends, besides nine of the filter. One kernel, without copies.
// RUN: gpu-runner %s --target=cuda:sm_90a --entry=depthwise --emit=ptx -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=COLUMNS --input-file=%t.ptx
// PTX-LABEL:        .entry depthwise_kernel
// PTX-COUNT-10:     ld.global.v4.b16
// PTX-NOT:          ld.global.v
// PTX-COUNT-8:      st.global.v2.b32
// PTX-NOT:          st.global
// PTX-LABEL:        .entry
// COLUMNS-LABEL:    .entry depthwise_kernel
// COLUMNS-COUNT-29: ld.global.b16
// COLUMNS-NOT:      ld.global.b16
// COLUMNS-LABEL:    .entry

func.func @last(%x: tensor<2x9x8x3x4xf16>, %f: tensor<3x8x3x3x4xf16>) -> tensor<2x9x8x3x8xf16> {
  %z = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0, 0] high[0, 1, 1, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index, %g: index):
    tensor.yield %z : f16
  } : tensor<2x9x8x3x4xf16> to tensor<2x11x10x3x4xf16>
  %e = tensor.empty() : tensor<2x9x8x3x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x9x8x3x8xf32>) -> tensor<2x9x8x3x8xf32>
  %r = linalg.conv_2d_nhwgc_gfhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %f : tensor<2x11x10x3x4xf16>, tensor<3x8x3x3x4xf16>) outs(%i : tensor<2x9x8x3x8xf32>) -> tensor<2x9x8x3x8xf32>
  %t = arith.truncf %r : tensor<2x9x8x3x8xf32> to tensor<2x9x8x3x8xf16>
  return %t : tensor<2x9x8x3x8xf16>
}

func.func @strided(%x: tensor<2x11x12x5x4xf32>, %f: tensor<5x2x3x2x4xf32>) -> tensor<2x5x5x5x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x5x5x5x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x5x5x5x2xf32>) -> tensor<2x5x5x5x2xf32>
  %r = linalg.conv_2d_nhwgc_gfhwc {strides = dense<2> : tensor<2xi64>, dilations = dense<[1, 3]> : tensor<2xi64>}
      ins(%x, %f : tensor<2x11x12x5x4xf32>, tensor<5x2x3x2x4xf32>) outs(%i : tensor<2x5x5x5x2xf32>) -> tensor<2x5x5x5x2xf32>
  return %r : tensor<2x5x5x5x2xf32>
}

func.func @first(%x: tensor<2x3x5x9x12xf16>, %f: tensor<3x6x5x3x3xf16>) -> tensor<2x3x6x9x12xf16> {
  %z = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 0, 1, 1] high[0, 0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index, %g: index):
    tensor.yield %z : f16
  } : tensor<2x3x5x9x12xf16> to tensor<2x3x5x11x14xf16>
  %e = tensor.empty() : tensor<2x3x6x9x12xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x6x9x12xf32>) -> tensor<2x3x6x9x12xf32>
  %r = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %f : tensor<2x3x5x11x14xf16>, tensor<3x6x5x3x3xf16>) outs(%i : tensor<2x3x6x9x12xf32>) -> tensor<2x3x6x9x12xf32>
  %t = arith.truncf %r : tensor<2x3x6x9x12xf32> to tensor<2x3x6x9x12xf16>
  return %t : tensor<2x3x6x9x12xf16>
}

func.func @depthwise(%x: tensor<33x24x64x64xf16>, %f: tensor<24x3x3xf16>) -> tensor<33x24x64x64xf16> {
  %z = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f16
  } : tensor<33x24x64x64xf16> to tensor<33x24x66x66xf16>
  %e = tensor.empty() : tensor<33x24x64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<33x24x64x64xf32>) -> tensor<33x24x64x64xf32>
  %r = linalg.depthwise_conv_2d_nchw_chw ins(%p, %f : tensor<33x24x66x66xf16>, tensor<24x3x3xf16>) outs(%i : tensor<33x24x64x64xf32>) -> tensor<33x24x64x64xf32>
  %t = arith.truncf %r : tensor<33x24x64x64xf32> to tensor<33x24x64x64xf16>
  return %t : tensor<33x24x64x64xf16>
}

// Windows of 5x5 over an image that is not padded, whose rows are longer than the result's.
func.func @wide(%x: tensor<2x3x12x20xf16>, %f: tensor<3x5x5xf16>) -> tensor<2x3x8x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x8x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x8x16xf32>) -> tensor<2x3x8x16xf32>
  %r = linalg.depthwise_conv_2d_nchw_chw ins(%x, %f : tensor<2x3x12x20xf16>, tensor<3x5x5xf16>) outs(%i : tensor<2x3x8x16xf32>) -> tensor<2x3x8x16xf32>
  return %r : tensor<2x3x8x16xf32>
}

// Strides of two and dilations of three, with a border at one end only.
func.func @half(%x: tensor<2x3x16x16xf16>, %f: tensor<3x3x3xf16>) -> tensor<2x3x6x8xf16> {
  %z = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 0, 0, 5] high[0, 0, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f16
  } : tensor<2x3x16x16xf16> to tensor<2x3x16x21xf16>
  %e = tensor.empty() : tensor<2x3x6x8xf16>
  %i = linalg.fill ins(%z : f16) outs(%e : tensor<2x3x6x8xf16>) -> tensor<2x3x6x8xf16>
  %r = linalg.depthwise_conv_2d_nchw_chw {strides = dense<2> : tensor<2xi64>, dilations = dense<[2, 3]> : tensor<2xi64>}
      ins(%p, %f : tensor<2x3x16x21xf16>, tensor<3x3x3xf16>) outs(%i : tensor<2x3x6x8xf16>) -> tensor<2x3x6x8xf16>
  return %r : tensor<2x3x6x8xf16>
}
