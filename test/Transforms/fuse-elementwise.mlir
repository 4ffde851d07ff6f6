// RUN: gpu-opt %s --tessera-fuse-elementwise | FileCheck %s

// CHECK-DAG: #[[IJ:.+]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[J:.+]] = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func @broadcast_add_relu
// CHECK-SAME:    %[[X:.+]]: tensor<64x48xf32>, %[[B:.+]]: tensor<48xf32>
// CHECK:         linalg.generic {indexing_maps = [#[[IJ]], #[[J]], #[[IJ]]]
// CHECK-SAME:      ins(%[[X]], %[[B]] : tensor<64x48xf32>, tensor<48xf32>)
// CHECK:           arith.addf
// CHECK:           arith.maximumf
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @broadcast_add_relu(%x: tensor<64x48xf32>, %bias: tensor<48xf32>) -> tensor<64x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %b = linalg.broadcast ins(%bias : tensor<48xf32>) outs(%e : tensor<64x48xf32>) dimensions = [0]
  %s = linalg.add ins(%x, %b : tensor<64x48xf32>, tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %r = linalg.max ins(%s, %zeros : tensor<64x48xf32>, tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// The matmul remains recognizable, and its operands are not fused into it.

// CHECK-LABEL: func @product
// CHECK:         linalg.generic
// CHECK:           math.exp
// CHECK:         linalg.matmul
// CHECK:         linalg.generic
// CHECK:           arith.addf
func.func @product(%a: tensor<64x32xf32>, %b: tensor<32x48xf32>, %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %ea = tensor.empty() : tensor<64x32xf32>
  %x = linalg.exp ins(%a : tensor<64x32xf32>) outs(%ea : tensor<64x32xf32>) -> tensor<64x32xf32>
  %p = linalg.matmul ins(%x, %b : tensor<64x32xf32>, tensor<32x48xf32>) outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  %e = tensor.empty() : tensor<64x48xf32>
  %r = linalg.add ins(%p, %c : tensor<64x48xf32>, tensor<64x48xf32>) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// CHECK-LABEL: func @softmax
// CHECK-NOT:     linalg.softmax
// CHECK:         math.exp
func.func @softmax(%a: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %r = linalg.softmax dimension(1) ins(%a : tensor<8x16xf32>) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// The epilogue of a contraction computes the sigmoid once; fused into its
// consumer, it would be computed for each pixel.

// CHECK-LABEL: func @excite
// CHECK:         %[[CONV:.+]] = linalg.conv_2d_nhwc_hwcf
// CHECK:         %[[GATE:.+]] = linalg.generic {{.*}} ins(%[[CONV]] :
// CHECK:           math.exp
// CHECK:         linalg.generic {{.*}} ins(%{{.+}}, %[[GATE]] :
// CHECK-NOT:       math.exp
// CHECK:         return
func.func @excite(%image: tensor<1x7x7x16xf32>, %x: tensor<1x1x1x4xf32>, %filter: tensor<1x1x4x16xf32>) -> tensor<1x7x7x16xf32> {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<1x1x1x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
  %c = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %filter : tensor<1x1x1x4xf32>, tensor<1x1x4x16xf32>) outs(%f : tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
  %n = linalg.exp ins(%c : tensor<1x1x1x16xf32>) outs(%e : tensor<1x1x1x16xf32>) -> tensor<1x1x1x16xf32>
  %g = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, h, w, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%n : tensor<1x1x1x16xf32>) outs(%e : tensor<1x1x1x16xf32>) {
  ^bb0(%in: f32, %out: f32):
    %s = arith.addf %in, %one : f32
    %r = arith.divf %one, %s : f32
    linalg.yield %r : f32
  } -> tensor<1x1x1x16xf32>
  %ie = tensor.empty() : tensor<1x7x7x16xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>, affine_map<(n, h, w, c) -> (n, 0, 0, c)>,
      affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%image, %g : tensor<1x7x7x16xf32>, tensor<1x1x1x16xf32>) outs(%ie : tensor<1x7x7x16xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    linalg.yield %p : f32
  } -> tensor<1x7x7x16xf32>
  return %m : tensor<1x7x7x16xf32>
}

// Quantized values are what is kept between a contraction and the sum with another tensor, and each use
// dequantizes them.

#nd = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func @quantized_sum
// CHECK:         linalg.matmul
// CHECK:         %[[Q:.+]] = linalg.generic
// CHECK:           arith.trunci
// CHECK:         } -> tensor<8x8xi8>
// CHECK:         linalg.generic {{.*}} ins(%[[Q]], %{{.+}} : tensor<8x8xi8>, tensor<8x8xf32>)
// CHECK:           arith.sitofp
// CHECK:           arith.addf
// CHECK:         linalg.generic {{.*}} ins(%[[Q]] : tensor<8x8xi8>)
// CHECK:           arith.sitofp
// CHECK:           math.exp
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @quantized_sum(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %e8 = tensor.empty() : tensor<8x8xi8>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %m = linalg.matmul ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %q = linalg.generic {indexing_maps = [#nd, #nd], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<8x8xf32>) outs(%e8 : tensor<8x8xi8>) {
  ^bb0(%x: f32, %o: i8):
    %i = arith.fptosi %x : f32 to i32
    %y = arith.trunci %i : i32 to i8
    linalg.yield %y : i8
  } -> tensor<8x8xi8>
  %d = linalg.generic {indexing_maps = [#nd, #nd], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<8x8xi8>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%x: i8, %o: f32):
    %i = arith.sitofp %x : i8 to f32
    %y = arith.mulf %i, %scale : f32
    linalg.yield %y : f32
  } -> tensor<8x8xf32>
  %s = linalg.add ins(%d, %c : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %x = linalg.exp ins(%d : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %s, %x : tensor<8x8xf32>, tensor<8x8xf32>
}

// The ops after the window of a convolution of groups, reshaped to channels, become a part of it: the bias has
// an element for each filter of each group.

#w5 = affine_map<(n, h, w, g, f) -> (n, h, w, g, f)>
#w4 = affine_map<(n, h, w, c) -> (n, h, w, c)>
#w1 = affine_map<(n, h, w, c) -> (c)>
// CHECK-LABEL: func @groups
// CHECK-SAME:    %[[BIAS:[a-z0-9]+]]: tensor<24xf32>
// CHECK:         %[[EACH:.+]] = tensor.expand_shape %[[BIAS]] {{.*}} : tensor<24xf32> into tensor<3x8xf32>
// CHECK:         %[[ALL:.+]] = linalg.generic {{.*}} ins(%[[EACH]] : tensor<3x8xf32>)
// CHECK:           scf.for
// CHECK:           arith.addf
// CHECK:           arith.maximumf
// CHECK-NOT:     linalg.generic
// CHECK:         tensor.collapse_shape %[[ALL]]
func.func @groups(%in: tensor<4x9x8x3x8xf32>, %bias: tensor<24xf32>) -> tensor<4x8x8x24xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x8x8x3x8xf32>
  %s = linalg.generic {indexing_maps = [#w5], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} outs(%e : tensor<4x8x8x3x8xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %g = linalg.index 3 : index
    %f = linalg.index 4 : index
    %sum = scf.for %y = %c0 to %c2 step %c1 iter_args(%part = %zero) -> f32 {
      %i = arith.addi %h, %y : index
      %x = tensor.extract %in[%n, %i, %w, %g, %f] : tensor<4x9x8x3x8xf32>
      %next = arith.addf %part, %x : f32
      scf.yield %next : f32
    }
    linalg.yield %sum : f32
  } -> tensor<4x8x8x3x8xf32>
  %r = tensor.collapse_shape %s [[0], [1], [2], [3, 4]] : tensor<4x8x8x3x8xf32> into tensor<4x8x8x24xf32>
  %e4 = tensor.empty() : tensor<4x8x8x24xf32>
  %b = linalg.generic {indexing_maps = [#w4, #w1, #w4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r, %bias : tensor<4x8x8x24xf32>, tensor<24xf32>) outs(%e4 : tensor<4x8x8x24xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %a = arith.addf %x, %y : f32
    linalg.yield %a : f32
  } -> tensor<4x8x8x24xf32>
  %m = linalg.generic {indexing_maps = [#w4, #w4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b : tensor<4x8x8x24xf32>) outs(%e4 : tensor<4x8x8x24xf32>) {
  ^bb0(%x: f32, %o: f32):
    %a = arith.maximumf %x, %zero : f32
    linalg.yield %a : f32
  } -> tensor<4x8x8x24xf32>
  return %m : tensor<4x8x8x24xf32>
}

// The result of a large window is not stored with another dimension running fastest, in which its threads would
// read no elements next to each other; that of a small one is.

// CHECK-LABEL: func @transposed_window
// CHECK:         scf.for
// CHECK:         linalg.generic
// CHECK:         return
// CHECK-LABEL: func @transposed_small_window
// CHECK:         linalg.generic
// CHECK:           scf.for
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @transposed_window(%in: tensor<9x4096x256xf32>) -> tensor<8x256x4096xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4096x256xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<8x4096x256xf32>) {
  ^bb0(%o: f32):
    %h = linalg.index 0 : index
    %w = linalg.index 1 : index
    %c = linalg.index 2 : index
    %sum = scf.for %y = %c0 to %c2 step %c1 iter_args(%part = %zero) -> f32 {
      %i = arith.addi %h, %y : index
      %x = tensor.extract %in[%i, %w, %c] : tensor<9x4096x256xf32>
      %next = arith.addf %part, %x : f32
      scf.yield %next : f32
    }
    linalg.yield %sum : f32
  } -> tensor<8x4096x256xf32>
  %et = tensor.empty() : tensor<8x256x4096xf32>
  %t = linalg.transpose ins(%s : tensor<8x4096x256xf32>) outs(%et : tensor<8x256x4096xf32>) permutation = [0, 2, 1]
  return %t : tensor<8x256x4096xf32>
}
func.func @transposed_small_window(%in: tensor<9x40x25xf32>) -> tensor<8x25x40xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x40x25xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<8x40x25xf32>) {
  ^bb0(%o: f32):
    %h = linalg.index 0 : index
    %w = linalg.index 1 : index
    %c = linalg.index 2 : index
    %sum = scf.for %y = %c0 to %c2 step %c1 iter_args(%part = %zero) -> f32 {
      %i = arith.addi %h, %y : index
      %x = tensor.extract %in[%i, %w, %c] : tensor<9x40x25xf32>
      %next = arith.addf %part, %x : f32
      scf.yield %next : f32
    }
    linalg.yield %sum : f32
  } -> tensor<8x40x25xf32>
  %et = tensor.empty() : tensor<8x25x40xf32>
  %t = linalg.transpose ins(%s : tensor<8x40x25xf32>) outs(%et : tensor<8x25x40xf32>) permutation = [0, 2, 1]
  return %t : tensor<8x25x40xf32>
}

// The rounded results of two matmuls are added: the second one computes the sum, and the first one rounds what it
// writes. Fused into the sum, the rounding would leave its f32 to be written.

// CHECK-LABEL: func @sum_of_matmuls
// CHECK:         %[[P:.+]] = linalg.matmul
// CHECK:         %[[Q:.+]] = linalg.matmul
// CHECK:         %[[ROUNDED:.+]] = linalg.generic {{.*}} ins(%[[P]], %{{.+}} : tensor<64x48xf32>, tensor<48xf32>) outs(%{{.+}} : tensor<64x48xf16>)
// CHECK:         linalg.generic {{.*}} ins(%[[ROUNDED]], %[[Q]], %{{.+}} : tensor<64x48xf16>, tensor<64x48xf32>, tensor<48xf32>)
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @sum_of_matmuls(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %c: tensor<64x32xf16>, %d: tensor<32x48xf16>,
                          %bias: tensor<48xf32>, %other: tensor<48xf32>) -> tensor<64x48xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x48xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>) outs(%f : tensor<64x48xf32>) -> tensor<64x48xf32>
  %q = linalg.matmul ins(%c, %d : tensor<64x32xf16>, tensor<32x48xf16>) outs(%f : tensor<64x48xf32>) -> tensor<64x48xf32>
  %h = tensor.empty() : tensor<64x48xf16>
  %x = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%p, %bias : tensor<64x48xf32>, tensor<48xf32>) outs(%h : tensor<64x48xf16>) {
  ^bb0(%s: f32, %t: f32, %out: f16):
    %1 = arith.addf %s, %t : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<64x48xf16>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]} ins(%q, %other : tensor<64x48xf32>, tensor<48xf32>) outs(%h : tensor<64x48xf16>) {
  ^bb0(%s: f32, %t: f32, %out: f16):
    %1 = arith.addf %s, %t : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<64x48xf16>
  %r = linalg.add ins(%x, %y : tensor<64x48xf16>, tensor<64x48xf16>) outs(%h : tensor<64x48xf16>) -> tensor<64x48xf16>
  return %r : tensor<64x48xf16>
}
