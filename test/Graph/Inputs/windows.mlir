// Programs of windows, with the channels first.

#id = affine_map<(n, c, h, w) -> (n, c, h, w)>

func.func @chain(%image: tensor<2x4x9x8xf32>, %filter: tensor<8x4x3x3xf32>, %bias: tensor<8xf32>) -> (tensor<2x16x4x4xf32>, tensor<2x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %image low[0, 0, 1, 1] high[0, 0, 0, 1] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<2x4x9x8xf32> to tensor<2x4x10x10xf32>
  %e = tensor.empty() : tensor<2x8x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32>
  %c = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded, %filter : tensor<2x4x10x10xf32>, tensor<8x4x3x3xf32>) outs(%f : tensor<2x8x8x8xf32>) -> tensor<2x8x8x8xf32>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(n, c, h, w) -> (c)>, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %bias : tensor<2x8x8x8xf32>, tensor<8xf32>) outs(%e : tensor<2x8x8x8xf32>) {
  ^bb0(%in: f32, %b: f32, %out: f32):
    %sum = arith.addf %in, %b : f32
    %max = arith.maximumf %sum, %zero : f32
    linalg.yield %max : f32
  } -> tensor<2x8x8x8xf32>
  %low = arith.constant 0xFF800000 : f32
  %bordered = tensor.pad %r low[0, 0, 1, 1] high[0, 0, 0, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %low : f32
  } : tensor<2x8x8x8xf32> to tensor<2x8x9x9xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %pair = tensor.empty() : tensor<2x2xf32>
  %pe = tensor.empty() : tensor<2x8x4x4xf32>
  %pf = linalg.fill ins(%low : f32) outs(%pe : tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
  %p = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%bordered, %window : tensor<2x8x9x9xf32>, tensor<3x3xf32>) outs(%pf : tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
  %sums = linalg.pooling_nchw_sum {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%r, %pair : tensor<2x8x8x8xf32>, tensor<2x2xf32>) outs(%p : tensor<2x8x4x4xf32>) -> tensor<2x8x4x4xf32>
  %slice = tensor.extract_slice %r[0, 0, 2, 3] [2, 8, 4, 4] [1, 1, 1, 1] : tensor<2x8x8x8xf32> to tensor<2x8x4x4xf32>
  %both = tensor.concat dim(1) %sums, %slice : (tensor<2x8x4x4xf32>, tensor<2x8x4x4xf32>) -> tensor<2x16x4x4xf32>
  %me = tensor.empty() : tensor<2x8xf32>
  %mf = linalg.fill ins(%zero : f32) outs(%me : tensor<2x8xf32>) -> tensor<2x8xf32>
  %m = linalg.generic {indexing_maps = [#id, affine_map<(n, c, h, w) -> (n, c)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%r : tensor<2x8x8x8xf32>) outs(%mf : tensor<2x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<2x8xf32>
  return %both, %m : tensor<2x16x4x4xf32>, tensor<2x8xf32>
}

func.func @shuffle(%image: tensor<1x8x6x6xf32>, %filter: tensor<2x4x4x1x1xf32>, %points: tensor<8x3x3xf32>, %start: tensor<1x8x3x3xf32>)
    -> tensor<1x8x3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %groups = tensor.expand_shape %image [[0], [1, 2], [3], [4]] output_shape [1, 2, 4, 6, 6] : tensor<1x8x6x6xf32> into tensor<1x2x4x6x6xf32>
  %e = tensor.empty() : tensor<1x2x4x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
  %c = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%groups, %filter : tensor<1x2x4x6x6xf32>, tensor<2x4x4x1x1xf32>) outs(%f : tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
  %te = tensor.empty() : tensor<1x4x2x6x6xf32>
  %t = linalg.transpose ins(%c : tensor<1x2x4x6x6xf32>) outs(%te : tensor<1x4x2x6x6xf32>) permutation = [0, 2, 1, 3, 4]
  %r = tensor.collapse_shape %t [[0], [1, 2], [3], [4]] : tensor<1x4x2x6x6xf32> into tensor<1x8x6x6xf32>
  %padded = tensor.pad %r low[0, 0, 1, 0] high[0, 0, 0, 1] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<1x8x6x6xf32> to tensor<1x8x7x7xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded, %points : tensor<1x8x7x7xf32>, tensor<8x3x3xf32>) outs(%start : tensor<1x8x3x3xf32>) -> tensor<1x8x3x3xf32>
  return %d : tensor<1x8x3x3xf32>
}

func.func @dynamic(%image: tensor<?x4x6x6xf32>, %filter: tensor<4x3x3xf32>) -> tensor<?x4x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %image, %c0 : tensor<?x4x6x6xf32>
  %e = tensor.empty(%n) : tensor<?x4x4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<?x4x6x6xf32>, tensor<4x3x3xf32>) outs(%f : tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32>
  return %d : tensor<?x4x4x4xf32>
}

// Parts that are written in place, in another order than they are computed,
// one with a reshape, one that something else uses, and two results of one op.
func.func @concat(%x: tensor<1x16x8xf32>, %y: tensor<8x6xf32>, %z: tensor<1x4x4x3xf32>) -> (tensor<1x4x4x23xf32>, tensor<1x4x4x5xf32>) {
  %zero = arith.constant 0.0 : f32
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x16x8xf32> into tensor<16x8xf32>
  %e0 = tensor.empty() : tensor<16x6xf32>
  %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<16x6xf32>) -> tensor<16x6xf32>
  %m = linalg.matmul ins(%flat, %y : tensor<16x8xf32>, tensor<8x6xf32>) outs(%f0 : tensor<16x6xf32>) -> tensor<16x6xf32>
  %m4 = tensor.expand_shape %m [[0, 1, 2], [3]] output_shape [1, 4, 4, 6] : tensor<16x6xf32> into tensor<1x4x4x6xf32>
  %e1 = tensor.empty() : tensor<1x4x4x3xf32>
  %g:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%z : tensor<1x4x4x3xf32>) outs(%e1, %e1 : tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) {
  ^bb0(%in: f32, %o0: f32, %o1: f32):
    %a = arith.addf %in, %in : f32
    %b = arith.mulf %in, %in : f32
    linalg.yield %a, %b : f32, f32
  } -> (tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>)
  %e2 = tensor.empty() : tensor<1x4x4x5xf32>
  %shared = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(%e2 : tensor<1x4x4x5xf32>) {
  ^bb0(%o0: f32):
    %i = linalg.index 3 : index
    %j = arith.index_cast %i : index to i32
    %v = arith.sitofp %j : i32 to f32
    linalg.yield %v : f32
  } -> tensor<1x4x4x5xf32>
  %e3 = tensor.empty() : tensor<1x4x4x3xf32>
  %other = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%z : tensor<1x4x4x3xf32>) outs(%e3 : tensor<1x4x4x3xf32>) {
  ^bb0(%in: f32, %o0: f32):
    %b = arith.negf %in : f32
    linalg.yield %b : f32
  } -> tensor<1x4x4x3xf32>
  %r = tensor.concat dim(3) %other, %shared, %g#1, %m4, %g#0, %other : (tensor<1x4x4x3xf32>, tensor<1x4x4x5xf32>, tensor<1x4x4x3xf32>, tensor<1x4x4x6xf32>, tensor<1x4x4x3xf32>, tensor<1x4x4x3xf32>) -> tensor<1x4x4x23xf32>
  return %r, %shared : tensor<1x4x4x23xf32>, tensor<1x4x4x5xf32>
}

// Concatenations of concatenations, as in DenseNet.
func.func @dense(%image: tensor<1x4x6x6xf32>, %first: tensor<4x4x1x1xf32>, %narrow8: tensor<4x8x1x1xf32>,
    %wide: tensor<4x4x3x3xf32>) -> tensor<1x12x6x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %a = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %first : tensor<1x4x6x6xf32>, tensor<4x4x1x1xf32>) outs(%f : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %m = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %first : tensor<1x4x6x6xf32>, tensor<4x4x1x1xf32>) outs(%f : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %mp = tensor.pad %m low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<1x4x6x6xf32> to tensor<1x4x8x8xf32>
  %b = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%mp, %wide : tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) outs(%f : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %ab = tensor.concat dim(1) %a, %b : (tensor<1x4x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x8x6x6xf32>
  %n = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%ab, %narrow8 : tensor<1x8x6x6xf32>, tensor<4x8x1x1xf32>) outs(%f : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %np = tensor.pad %n low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<1x4x6x6xf32> to tensor<1x4x8x8xf32>
  %c = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%np, %wide : tensor<1x4x8x8xf32>, tensor<4x4x3x3xf32>) outs(%f : tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %abc = tensor.concat dim(1) %ab, %c : (tensor<1x8x6x6xf32>, tensor<1x4x6x6xf32>) -> tensor<1x12x6x6xf32>
  return %abc : tensor<1x12x6x6xf32>
}
