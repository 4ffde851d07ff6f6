// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Weights of 8 and 4 bits with scales for groups of K, stored along K (as PyTorch does) or along N (as ONNX does).
func.func @token_i8(%a: tensor<1x512xf16>, %w: tensor<96x512xi8>, %s: tensor<96x4xf16>) -> tensor<1x96xf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [96, 4, 128] : tensor<96x512xi8> into tensor<96x4x128xi8>
  %e = tensor.empty() : tensor<96x4x128xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<96x4x128xi8>, tensor<96x4xf16>) outs(%e : tensor<96x4x128xf16>) {
  ^bb0(%x: i8, %scale: f16, %o: f16):
    %f = arith.sitofp %x : i8 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<96x4x128xf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<96x4x128xf16> into tensor<96x512xf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<1x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<1x96xf32>) -> tensor<1x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<1x512xf16>, tensor<96x512xf16>) outs(%init : tensor<1x96xf32>) -> tensor<1x96xf32>
  %r = arith.truncf %c : tensor<1x96xf32> to tensor<1x96xf16>
  return %r : tensor<1x96xf16>
}

func.func @token_i4(%a: tensor<1x512xf16>, %w: tensor<96x512xi4>, %s: tensor<96x4xf16>) -> tensor<1x96xf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [96, 4, 128] : tensor<96x512xi4> into tensor<96x4x128xi4>
  %e = tensor.empty() : tensor<96x4x128xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<96x4x128xi4>, tensor<96x4xf16>) outs(%e : tensor<96x4x128xf16>) {
  ^bb0(%x: i4, %scale: f16, %o: f16):
    %f = arith.sitofp %x : i4 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<96x4x128xf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<96x4x128xf16> into tensor<96x512xf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<1x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<1x96xf32>) -> tensor<1x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<1x512xf16>, tensor<96x512xf16>) outs(%init : tensor<1x96xf32>) -> tensor<1x96xf32>
  %r = arith.truncf %c : tensor<1x96xf32> to tensor<1x96xf16>
  return %r : tensor<1x96xf16>
}

func.func @rows_i8(%a: tensor<5x512xf16>, %w: tensor<72x512xi8>, %s: tensor<72x16xf16>) -> tensor<5x72xf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [72, 16, 32] : tensor<72x512xi8> into tensor<72x16x32xi8>
  %e = tensor.empty() : tensor<72x16x32xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<72x16x32xi8>, tensor<72x16xf16>) outs(%e : tensor<72x16x32xf16>) {
  ^bb0(%x: i8, %scale: f16, %o: f16):
    %f = arith.sitofp %x : i8 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<72x16x32xf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<72x16x32xf16> into tensor<72x512xf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<5x72xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<5x72xf32>) -> tensor<5x72xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<5x512xf16>, tensor<72x512xf16>) outs(%init : tensor<5x72xf32>) -> tensor<5x72xf32>
  %r = arith.truncf %c : tensor<5x72xf32> to tensor<5x72xf16>
  return %r : tensor<5x72xf16>
}

func.func @rows_i4(%a: tensor<16x512xf16>, %w: tensor<96x512xi4>, %s: tensor<96x16xf16>) -> tensor<16x96xf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [96, 16, 32] : tensor<96x512xi4> into tensor<96x16x32xi4>
  %e = tensor.empty() : tensor<96x16x32xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<96x16x32xi4>, tensor<96x16xf16>) outs(%e : tensor<96x16x32xf16>) {
  ^bb0(%x: i4, %scale: f16, %o: f16):
    %f = arith.sitofp %x : i4 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<96x16x32xf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<96x16x32xf16> into tensor<96x512xf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<16x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<16x96xf32>) -> tensor<16x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<16x512xf16>, tensor<96x512xf16>) outs(%init : tensor<16x96xf32>) -> tensor<16x96xf32>
  %r = arith.truncf %c : tensor<16x96xf32> to tensor<16x96xf16>
  return %r : tensor<16x96xf16>
}

func.func @more_rows_i4(%a: tensor<40x512xf16>, %w: tensor<96x512xi4>, %s: tensor<96x8xf16>) -> tensor<40x96xf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [96, 8, 64] : tensor<96x512xi4> into tensor<96x8x64xi4>
  %e = tensor.empty() : tensor<96x8x64xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<96x8x64xi4>, tensor<96x8xf16>) outs(%e : tensor<96x8x64xf16>) {
  ^bb0(%x: i4, %scale: f16, %o: f16):
    %f = arith.sitofp %x : i4 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<96x8x64xf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<96x8x64xf16> into tensor<96x512xf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<40x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<40x96xf32>) -> tensor<40x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<40x512xf16>, tensor<96x512xf16>) outs(%init : tensor<40x96xf32>) -> tensor<40x96xf32>
  %r = arith.truncf %c : tensor<40x96xf32> to tensor<40x96xf16>
  return %r : tensor<40x96xf16>
}

func.func @columns_i8(%a: tensor<7x256xbf16>, %w: tensor<96x256xi8>, %s: tensor<96x1xbf16>) -> tensor<7x96xbf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [96, 1, 256] : tensor<96x256xi8> into tensor<96x1x256xi8>
  %e = tensor.empty() : tensor<96x1x256xbf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<96x1x256xi8>, tensor<96x1xbf16>) outs(%e : tensor<96x1x256xbf16>) {
  ^bb0(%x: i8, %scale: bf16, %o: bf16):
    %f = arith.sitofp %x : i8 to bf16
    %p = arith.mulf %f, %scale : bf16
    linalg.yield %p : bf16
  } -> tensor<96x1x256xbf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<96x1x256xbf16> into tensor<96x256xbf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<7x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<7x96xf32>) -> tensor<7x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<7x256xbf16>, tensor<96x256xbf16>) outs(%init : tensor<7x96xf32>) -> tensor<7x96xf32>
  %r = arith.truncf %c : tensor<7x96xf32> to tensor<7x96xbf16>
  return %r : tensor<7x96xbf16>
}

func.func @columns_i4(%a: tensor<7x256xbf16>, %w: tensor<96x256xi4>, %s: tensor<96x1xbf16>) -> tensor<7x96xbf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [96, 1, 256] : tensor<96x256xi4> into tensor<96x1x256xi4>
  %e = tensor.empty() : tensor<96x1x256xbf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<96x1x256xi4>, tensor<96x1xbf16>) outs(%e : tensor<96x1x256xbf16>) {
  ^bb0(%x: i4, %scale: bf16, %o: bf16):
    %f = arith.sitofp %x : i4 to bf16
    %p = arith.mulf %f, %scale : bf16
    linalg.yield %p : bf16
  } -> tensor<96x1x256xbf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<96x1x256xbf16> into tensor<96x256xbf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<7x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<7x96xf32>) -> tensor<7x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<7x256xbf16>, tensor<96x256xbf16>) outs(%init : tensor<7x96xf32>) -> tensor<7x96xf32>
  %r = arith.truncf %c : tensor<7x96xf32> to tensor<7x96xbf16>
  return %r : tensor<7x96xbf16>
}

func.func @zero_points_i4(%a: tensor<16x512xf16>, %w: tensor<96x512xi4>, %s: tensor<96x8xf16>, %z: tensor<96x8xi4>) -> tensor<16x96xf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [96, 8, 64] : tensor<96x512xi4> into tensor<96x8x64xi4>
  %e = tensor.empty() : tensor<96x8x64xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s, %z : tensor<96x8x64xi4>, tensor<96x8xf16>, tensor<96x8xi4>) outs(%e : tensor<96x8x64xf16>) {
  ^bb0(%x: i4, %scale: f16, %zero: i4, %o: f16):
    %x8 = arith.extui %x : i4 to i32
    %z8 = arith.extui %zero : i4 to i32
    %d8 = arith.subi %x8, %z8 : i32
    %f = arith.sitofp %d8 : i32 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<96x8x64xf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<96x8x64xf16> into tensor<96x512xf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<16x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<16x96xf32>) -> tensor<16x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<16x512xf16>, tensor<96x512xf16>) outs(%init : tensor<16x96xf32>) -> tensor<16x96xf32>
  %r = arith.truncf %c : tensor<16x96xf32> to tensor<16x96xf16>
  return %r : tensor<16x96xf16>
}

func.func @zero_points_i8(%a: tensor<3x512xf16>, %w: tensor<96x512xi8>, %s: tensor<96x4xf16>, %z: tensor<96x4xi8>) -> tensor<3x96xf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [96, 4, 128] : tensor<96x512xi8> into tensor<96x4x128xi8>
  %e = tensor.empty() : tensor<96x4x128xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s, %z : tensor<96x4x128xi8>, tensor<96x4xf16>, tensor<96x4xi8>) outs(%e : tensor<96x4x128xf16>) {
  ^bb0(%x: i8, %scale: f16, %zero: i8, %o: f16):
    %x8 = arith.extui %x : i8 to i32
    %z8 = arith.extui %zero : i8 to i32
    %d8 = arith.subi %x8, %z8 : i32
    %f = arith.sitofp %d8 : i32 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<96x4x128xf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<96x4x128xf16> into tensor<96x512xf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<3x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<3x96xf32>) -> tensor<3x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<3x512xf16>, tensor<96x512xf16>) outs(%init : tensor<3x96xf32>) -> tensor<3x96xf32>
  %r = arith.truncf %c : tensor<3x96xf32> to tensor<3x96xf16>
  return %r : tensor<3x96xf16>
}

func.func @along_n_i4(%a: tensor<1x256xf16>, %w: tensor<256x96xi4>, %s: tensor<8x96xf16>) -> tensor<1x96xf16> {
  %wg = tensor.expand_shape %w [[0, 1], [2]] output_shape [8, 32, 96] : tensor<256x96xi4> into tensor<8x32x96xi4>
  %e = tensor.empty() : tensor<8x32x96xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(g, i, n) -> (g, i, n)>, affine_map<(g, i, n) -> (g, n)>, affine_map<(g, i, n) -> (g, i, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<8x32x96xi4>, tensor<8x96xf16>) outs(%e : tensor<8x32x96xf16>) {
  ^bb0(%x: i4, %scale: f16, %o: f16):
    %f = arith.sitofp %x : i4 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<8x32x96xf16>
  %b = tensor.collapse_shape %d [[0, 1], [2]] : tensor<8x32x96xf16> into tensor<256x96xf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<1x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<1x96xf32>) -> tensor<1x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<1x256xf16>, tensor<256x96xf16>) outs(%init : tensor<1x96xf32>) -> tensor<1x96xf32>
  %r = arith.truncf %c : tensor<1x96xf32> to tensor<1x96xf16>
  return %r : tensor<1x96xf16>
}

func.func @along_n_i8(%a: tensor<16x256xf16>, %w: tensor<256x96xi8>, %s: tensor<4x96xf16>) -> tensor<16x96xf16> {
  %wg = tensor.expand_shape %w [[0, 1], [2]] output_shape [4, 64, 96] : tensor<256x96xi8> into tensor<4x64x96xi8>
  %e = tensor.empty() : tensor<4x64x96xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(g, i, n) -> (g, i, n)>, affine_map<(g, i, n) -> (g, n)>, affine_map<(g, i, n) -> (g, i, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<4x64x96xi8>, tensor<4x96xf16>) outs(%e : tensor<4x64x96xf16>) {
  ^bb0(%x: i8, %scale: f16, %o: f16):
    %f = arith.sitofp %x : i8 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<4x64x96xf16>
  %b = tensor.collapse_shape %d [[0, 1], [2]] : tensor<4x64x96xf16> into tensor<256x96xf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<16x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<16x96xf32>) -> tensor<16x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<16x256xf16>, tensor<256x96xf16>) outs(%init : tensor<16x96xf32>) -> tensor<16x96xf32>
  %r = arith.truncf %c : tensor<16x96xf32> to tensor<16x96xf16>
  return %r : tensor<16x96xf16>
}

func.func @float8(%a: tensor<5x256xf16>, %w: tensor<96x256xf8E4M3FN>, %s: tensor<96xf16>) -> tensor<5x96xf16> {
  %e = tensor.empty() : tensor<96x256xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, k) -> (n, k)>, affine_map<(n, k) -> (n)>, affine_map<(n, k) -> (n, k)>], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<96x256xf8E4M3FN>, tensor<96xf16>) outs(%e : tensor<96x256xf16>) {
  ^bb0(%x: f8E4M3FN, %scale: f16, %o: f16):
    %f = arith.extf %x : f8E4M3FN to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<96x256xf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<5x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<5x96xf32>) -> tensor<5x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %d : tensor<5x256xf16>, tensor<96x256xf16>) outs(%init : tensor<5x96xf32>) -> tensor<5x96xf32>
  %r = arith.truncf %c : tensor<5x96xf32> to tensor<5x96xf16>
  return %r : tensor<5x96xf16>
}

// Parts of K with different numbers of steps.
func.func @uneven_i4(%a: tensor<5x2816xbf16>, %w: tensor<96x2816xi4>, %s: tensor<96x11xbf16>) -> tensor<5x96xbf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [96, 11, 256] : tensor<96x2816xi4> into tensor<96x11x256xi4>
  %e = tensor.empty() : tensor<96x11x256xbf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<96x11x256xi4>, tensor<96x11xbf16>) outs(%e : tensor<96x11x256xbf16>) {
  ^bb0(%x: i4, %scale: bf16, %o: bf16):
    %f = arith.sitofp %x : i4 to bf16
    %p = arith.mulf %f, %scale : bf16
    linalg.yield %p : bf16
  } -> tensor<96x11x256xbf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<96x11x256xbf16> into tensor<96x2816xbf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<5x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<5x96xf32>) -> tensor<5x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<5x2816xbf16>, tensor<96x2816xbf16>) outs(%init : tensor<5x96xf32>) -> tensor<5x96xf32>
  %r = arith.truncf %c : tensor<5x96xf32> to tensor<5x96xbf16>
  return %r : tensor<5x96xbf16>
}

func.func @uneven_i8(%a: tensor<20x2816xbf16>, %w: tensor<96x2816xi8>, %s: tensor<96x11xbf16>) -> tensor<20x96xbf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [96, 11, 256] : tensor<96x2816xi8> into tensor<96x11x256xi8>
  %e = tensor.empty() : tensor<96x11x256xbf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<96x11x256xi8>, tensor<96x11xbf16>) outs(%e : tensor<96x11x256xbf16>) {
  ^bb0(%x: i8, %scale: bf16, %o: bf16):
    %f = arith.sitofp %x : i8 to bf16
    %p = arith.mulf %f, %scale : bf16
    linalg.yield %p : bf16
  } -> tensor<96x11x256xbf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<96x11x256xbf16> into tensor<96x2816xbf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<20x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<20x96xf32>) -> tensor<20x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<20x2816xbf16>, tensor<96x2816xbf16>) outs(%init : tensor<20x96xf32>) -> tensor<20x96xf32>
  %r = arith.truncf %c : tensor<20x96xf32> to tensor<20x96xbf16>
  return %r : tensor<20x96xbf16>
}

// Many rows, for which weights are the rows of the instruction as well.
func.func @many_rows_i4(%a: tensor<100x512xbf16>, %w: tensor<96x512xi4>, %s: tensor<96x2xbf16>) -> tensor<100x96xbf16> {
  %wg = tensor.expand_shape %w [[0], [1, 2]] output_shape [96, 2, 256] : tensor<96x512xi4> into tensor<96x2x256xi4>
  %e = tensor.empty() : tensor<96x2x256xbf16>
  %d = linalg.generic {indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<96x2x256xi4>, tensor<96x2xbf16>) outs(%e : tensor<96x2x256xbf16>) {
  ^bb0(%x: i4, %scale: bf16, %o: bf16):
    %f = arith.sitofp %x : i4 to bf16
    %p = arith.mulf %f, %scale : bf16
    linalg.yield %p : bf16
  } -> tensor<96x2x256xbf16>
  %b = tensor.collapse_shape %d [[0], [1, 2]] : tensor<96x2x256xbf16> into tensor<96x512xbf16>
  %c0 = arith.constant 0.0 : f32
  %ec = tensor.empty() : tensor<100x96xf32>
  %init = linalg.fill ins(%c0 : f32) outs(%ec : tensor<100x96xf32>) -> tensor<100x96xf32>
  %c = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<100x512xbf16>, tensor<96x512xbf16>) outs(%init : tensor<100x96xf32>) -> tensor<100x96xf32>
  %r = arith.truncf %c : tensor<100x96xf32> to tensor<100x96xbf16>
  return %r : tensor<100x96xbf16>
}
