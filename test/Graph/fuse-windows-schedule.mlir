// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-fuse-windows))" -split-input-file -verify-diagnostics | FileCheck %s

// The schedule of a window moves to its loops, which keep it through fusion.
// CHECK-LABEL: func.func @pooling
// CHECK:         linalg.generic {indexing_maps = [{{[^]]*}}], iterator_types = [{{[^]]*}}]} outs
// CHECK:         } {tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 2, threads = 128>}
// CHECK:       } {tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 2, threads = 128>}
func.func @pooling(%in: tensor<1x10x10x16xf16>) -> tensor<1x8x8x16xf16> {
  %zero = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<1x8x8x16xf16>
  %w = tensor.empty() : tensor<3x3xf16>
  %z = linalg.fill ins(%zero : f16) outs(%e : tensor<1x8x8x16xf16>) -> tensor<1x8x8x16xf16>
  %r = linalg.pooling_nhwc_max {tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 2, threads = 128>}
      ins(%in, %w : tensor<1x10x10x16xf16>, tensor<3x3xf16>) outs(%z : tensor<1x8x8x16xf16>) -> tensor<1x8x8x16xf16>
  return %r : tensor<1x8x8x16xf16>
}

// -----

// A convolution of groups with a schedule is computed by threads, however few of them there are.
// CHECK-LABEL: func.func @grouped
// CHECK:         linalg.transpose
// CHECK:         scf.for
// CHECK:         tessera.window_schedule = #tessera.window_schedule<points = 8, rows = 1, threads = 64>
// CHECK-LABEL: func.func @without
// CHECK-NOT:     scf.for
#image = affine_map<(n, h, w, g, f, y, x, c) -> (n, h + y, w + x, g, c)>
#filter = affine_map<(n, h, w, g, f, y, x, c) -> (g, f, y, x, c)>
#out = affine_map<(n, h, w, g, f, y, x, c) -> (n, h, w, g, f)>
func.func @grouped(%in: tensor<1x10x10x4x8xf16>, %f: tensor<4x8x3x3x8xf16>, %o: tensor<1x8x8x4x8xf32>) -> tensor<1x8x8x4x8xf32> {
  %r = linalg.generic {indexing_maps = [#image, #filter, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%in, %f : tensor<1x10x10x4x8xf16>, tensor<4x8x3x3x8xf16>) outs(%o : tensor<1x8x8x4x8xf32>)
      attrs = {tessera.window_schedule = #tessera.window_schedule<points = 8, rows = 1, threads = 64>} {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %aa = arith.extf %a : f16 to f32
    %bb = arith.extf %b : f16 to f32
    %p = arith.mulf %aa, %bb : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x8x8x4x8xf32>
  return %r : tensor<1x8x8x4x8xf32>
}
func.func @without(%in: tensor<1x10x10x4x8xf16>, %f: tensor<4x8x3x3x8xf16>, %o: tensor<1x8x8x4x8xf32>) -> tensor<1x8x8x4x8xf32> {
  %r = linalg.generic {indexing_maps = [#image, #filter, #out],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%in, %f : tensor<1x10x10x4x8xf16>, tensor<4x8x3x3x8xf16>) outs(%o : tensor<1x8x8x4x8xf32>) {
  ^bb0(%a: f16, %b: f16, %s: f32):
    %aa = arith.extf %a : f16 to f32
    %bb = arith.extf %b : f16 to f32
    %p = arith.mulf %aa, %bb : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<1x8x8x4x8xf32>
  return %r : tensor<1x8x8x4x8xf32>
}

// -----

// A dense convolution becomes a matmul.
func.func @dense(%in: tensor<1x10x10x16xf16>, %f: tensor<3x3x16x32xf16>, %o: tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32> {
  // expected-warning @+1 {{window_schedule has no effect: elements of the result share what they read}}
  %r = linalg.conv_2d_nhwc_hwcf {tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 2, threads = 128>}
      ins(%in, %f : tensor<1x10x10x16xf16>, tensor<3x3x16x32xf16>) outs(%o : tensor<1x8x8x32xf32>) -> tensor<1x8x8x32xf32>
  return %r : tensor<1x8x8x32xf32>
}
