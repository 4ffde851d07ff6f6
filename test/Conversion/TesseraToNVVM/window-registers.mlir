// An SM can have 512 threads of a window's kernel: threads with many points do not take more registers than that leaves.
//
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s
// CHECK: .entry four_kernel(
// CHECK: .maxntid 128, 1, 1
// CHECK: .minnctapersm 4
// CHECK: .entry one_kernel(
// CHECK: .maxntid 512, 1, 1
// CHECK-NOT: .minnctapersm
// CHECK: .entry scaled_kernel(
// CHECK-NOT: .minnctapersm

func.func @four(%x: tensor<2x8x12x24xf16>, %f: tensor<3x3x24xf16>) -> tensor<2x6x10x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x10x24xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x10x24xf32>) -> tensor<2x6x10x24xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 2, lines = 2, threads = 128>}
      ins(%x, %f : tensor<2x8x12x24xf16>, tensor<3x3x24xf16>) outs(%i : tensor<2x6x10x24xf32>) -> tensor<2x6x10x24xf32>
  return %r : tensor<2x6x10x24xf32>
}

func.func @one(%x: tensor<2x8x12x24xf16>, %f: tensor<3x3x24xf16>) -> tensor<2x6x10x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x6x10x24xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x6x10x24xf32>) -> tensor<2x6x10x24xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc {tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 1, threads = 512>}
      ins(%x, %f : tensor<2x8x12x24xf16>, tensor<3x3x24xf16>) outs(%i : tensor<2x6x10x24xf32>) -> tensor<2x6x10x24xf32>
  return %r : tensor<2x6x10x24xf32>
}

func.func @scaled(%x: tensor<128xf32>) -> tensor<128xf32> {
  %e = tensor.empty() : tensor<128xf32>
  %r = linalg.map ins(%x : tensor<128xf32>) outs(%e : tensor<128xf32>) (%v: f32, %o: f32) {
    %0 = arith.addf %v, %v : f32
    linalg.yield %0 : f32
  }
  return %r : tensor<128xf32>
}
