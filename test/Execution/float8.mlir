// The conversions to and from 8-bit floats, which no CPU here supports: every
// rounding, subnormals, zeros of both signs, infinities and NaN.
//
// RUN: gpu-runner %s --target=cpu --verify --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --arg=iota --entry=all | FileCheck %s
// CHECK: {{^}}verified

#id = affine_map<(d0, d1) -> (d0, d1)>

func.func @main(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  %scale = arith.constant 256.0 : f32
  %small = arith.constant 0.015625 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %a, %b, %c = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%e, %e, %e : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) {
  ^bb0(%v: f32, %o0: f32, %o1: f32, %o2: f32):
    %large = arith.mulf %v, %scale : f32
    %p = arith.truncf %large : f32 to f8E4M3FN
    %q = arith.extf %p : f8E4M3FN to f32
    %r = arith.truncf %large : f32 to f8E5M2
    %s = arith.extf %r : f8E5M2 to f32
    // Down where numbers are subnormal.
    %tiny = arith.mulf %v, %small : f32
    %t = arith.truncf %tiny : f32 to f8E4M3FN
    %u = arith.extf %t : f8E4M3FN to f32
    linalg.yield %q, %s, %u : f32, f32, f32
  } -> (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>)
  return %a, %b, %c : tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>
}

// All 256 bit patterns of each format, widened.
func.func @all(%unused: tensor<1xi8>) -> (tensor<256xf32>, tensor<256xf32>) {
  %e = tensor.empty() : tensor<256xf32>
  %a, %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%e, %e : tensor<256xf32>, tensor<256xf32>) {
  ^bb0(%o0: f32, %o1: f32):
    %i = linalg.index 0 : index
    %bits = arith.index_cast %i : index to i8
    %x = arith.bitcast %bits : i8 to f8E4M3FN
    %y = arith.bitcast %bits : i8 to f8E5M2
    %p = arith.extf %x : f8E4M3FN to f32
    %q = arith.extf %y : f8E5M2 to f32
    linalg.yield %p, %q : f32, f32
  } -> (tensor<256xf32>, tensor<256xf32>)
  return %a, %b : tensor<256xf32>, tensor<256xf32>
}
