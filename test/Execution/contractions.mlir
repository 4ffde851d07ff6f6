// Contractions converted from linalg, computed and verified: several K, padding
// in the map of the image, quantized weights as producers, reshapes before the
// epilogue.
//
// RUN: gpu-runner %s --target=cpu --verify --entry=conv | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=shared_padding | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=pointwise | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=grouped | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=blocked | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=per_channel | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=per_group | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=reshaped | FileCheck %s
// CHECK: max abs err 0, {{.*}}, exact{{[,)]}}
// CHECK: {{^}}verified
//
// Each of them is one kernel, and a matmul.
//
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --linalg-to-tessera-pipeline | FileCheck %s --check-prefix=KERNELS
// KERNELS-LABEL: func @conv(
// KERNELS-COUNT-1: gpu.launch blocks
// KERNELS-NOT:   gpu.launch blocks
// KERNELS-LABEL: func @shared_padding
// KERNELS-COUNT-2: gpu.launch blocks
// KERNELS-NOT:   gpu.launch blocks
// KERNELS-LABEL: func @pointwise
// KERNELS-COUNT-1: gpu.launch blocks
// KERNELS-NOT:   gpu.launch blocks
// KERNELS-LABEL: func @grouped
// KERNELS-COUNT-1: gpu.launch blocks
// KERNELS-NOT:   gpu.launch blocks
// KERNELS-LABEL: func @blocked
// KERNELS-COUNT-1: gpu.launch blocks
// KERNELS-NOT:   gpu.launch blocks
// KERNELS-LABEL: func @per_channel
// KERNELS-COUNT-1: gpu.launch blocks
// KERNELS-NOT:   gpu.launch blocks
// KERNELS-LABEL: func @per_group
// KERNELS-COUNT-1: gpu.launch blocks
// KERNELS-NOT:   gpu.launch blocks
// KERNELS-LABEL: func @reshaped
// KERNELS-COUNT-1: gpu.launch blocks
// KERNELS-NOT:   gpu.launch blocks

func.func @conv(%x: tensor<2x15x14x8xf16>, %w: tensor<3x3x8x16xf16>) -> tensor<2x8x7x16xf32> {
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

func.func @shared_padding(%x: tensor<2x8x20xf32>, %w: tensor<16x8x5xf32>, %v: tensor<12x8x5xf32>,
                          %c: tensor<2x16x20xf32>, %d: tensor<2x12x20xf32>)
    -> (tensor<2x16x20xf32>, tensor<2x12x20xf32>) {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 2] high[0, 0, 2] {
  ^bb0(%0: index, %1: index, %2: index):
    tensor.yield %z : f32
  } : tensor<2x8x20xf32> to tensor<2x8x24xf32>
  %y = linalg.conv_1d_ncw_fcw ins(%p, %w : tensor<2x8x24xf32>, tensor<16x8x5xf32>)
      outs(%c : tensor<2x16x20xf32>) -> tensor<2x16x20xf32>
  %u = linalg.conv_1d_ncw_fcw ins(%p, %v : tensor<2x8x24xf32>, tensor<12x8x5xf32>)
      outs(%d : tensor<2x12x20xf32>) -> tensor<2x12x20xf32>
  return %y, %u : tensor<2x16x20xf32>, tensor<2x12x20xf32>
}

func.func @pointwise(%x: tensor<1x9x11x16xi8>, %w: tensor<24x1x1x16xi8>, %c: tensor<1x5x6x24xi32>) -> tensor<1x5x6x24xi32> {
  %y = linalg.conv_2d_nhwc_fhwc {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : tensor<1x9x11x16xi8>, tensor<24x1x1x16xi8>)
      outs(%c : tensor<1x5x6x24xi32>) -> tensor<1x5x6x24xi32>
  return %y : tensor<1x5x6x24xi32>
}

func.func @grouped(%x: memref<2x3x4x9x9xf32>, %w: memref<3x5x4x2x2xf32>, %y: memref<2x3x5x8x8xf32>) {
  linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %w : memref<2x3x4x9x9xf32>, memref<3x5x4x2x2xf32>) outs(%y : memref<2x3x5x8x8xf32>)
  return
}

func.func @blocked(%a: tensor<3x5x8x4xf16>, %b: tensor<2x5x16x4xf16>, %c: tensor<3x2x8x16xf32>) -> tensor<3x2x8x16xf32> {
  %r = linalg.mmt4d ins(%a, %b : tensor<3x5x8x4xf16>, tensor<2x5x16x4xf16>)
      outs(%c : tensor<3x2x8x16xf32>) -> tensor<3x2x8x16xf32>
  return %r : tensor<3x2x8x16xf32>
}

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @per_channel(%a: tensor<33x70xf32>, %w: tensor<70x40xi8>, %scale: tensor<40xf32>, %zp: tensor<40xi8>,
                       %c: tensor<33x40xf32>) -> tensor<33x40xf32> {
  %e = tensor.empty() : tensor<70x40xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %scale, %zp : tensor<70x40xi8>, tensor<40xf32>, tensor<40xi8>) outs(%e : tensor<70x40xf32>) {
  ^bb0(%x: i8, %s: f32, %z: i8, %out: f32):
    %xw = arith.extsi %x : i8 to i32
    %zw = arith.extsi %z : i8 to i32
    %t = arith.subi %xw, %zw : i32
    %f = arith.sitofp %t : i32 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<70x40xf32>
  %r = linalg.matmul ins(%a, %d : tensor<33x70xf32>, tensor<70x40xf32>)
      outs(%c : tensor<33x40xf32>) -> tensor<33x40xf32>
  return %r : tensor<33x40xf32>
}

#id3 = affine_map<(g, i, j) -> (g, i, j)>
#group = affine_map<(g, i, j) -> (g, j)>
func.func @per_group(%a: tensor<33x64xf32>, %w: tensor<64x40xi8>, %scale: tensor<4x40xf32>,
                     %c: tensor<33x40xf32>) -> tensor<33x40xf32> {
  %wg = tensor.expand_shape %w [[0, 1], [2]] output_shape [4, 16, 40] : tensor<64x40xi8> into tensor<4x16x40xi8>
  %e = tensor.empty() : tensor<4x16x40xf32>
  %d = linalg.generic {indexing_maps = [#id3, #group, #id3], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %scale : tensor<4x16x40xi8>, tensor<4x40xf32>) outs(%e : tensor<4x16x40xf32>) {
  ^bb0(%x: i8, %s: f32, %out: f32):
    %f = arith.sitofp %x : i8 to f32
    %p = arith.mulf %f, %s : f32
    linalg.yield %p : f32
  } -> tensor<4x16x40xf32>
  %k = tensor.collapse_shape %d [[0, 1], [2]] : tensor<4x16x40xf32> into tensor<64x40xf32>
  %r = linalg.matmul ins(%a, %k : tensor<33x64xf32>, tensor<64x40xf32>)
      outs(%c : tensor<33x40xf32>) -> tensor<33x40xf32>
  return %r : tensor<33x40xf32>
}

func.func @reshaped(%x: tensor<4x16x48xf32>, %a: tensor<64x32xf32>, %b: tensor<32x48xf32>) -> tensor<4x16x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x48xf32>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p3 = tensor.expand_shape %p [[0, 1], [2]] output_shape [4, 16, 48] : tensor<64x48xf32> into tensor<4x16x48xf32>
  %e3 = tensor.empty() : tensor<4x16x48xf32>
  %s = linalg.add ins(%p3, %x : tensor<4x16x48xf32>, tensor<4x16x48xf32>)
      outs(%e3 : tensor<4x16x48xf32>) -> tensor<4x16x48xf32>
  return %s : tensor<4x16x48xf32>
}
