// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=x86-64-avx512},func.func(tessera-propagate-layout,canonicalize))" -split-input-file | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-propagate-layout,canonicalize))" -split-input-file | FileCheck %s --check-prefix=GPU
// RUN: gpu-opt %s --pass-pipeline="builtin.module(func.func(tessera-propagate-layout{groups=false},canonicalize))" -split-input-file | FileCheck %s --check-prefix=ALL
// RUN: gpu-runner %S/Inputs/windows.mlir --target=cpu --verify --entry=chain | FileCheck %s --check-prefix=VERIFIED
// RUN: gpu-runner %S/Inputs/windows.mlir --target=cpu --verify --entry=shuffle | FileCheck %s --check-prefix=VERIFIED
// RUN: gpu-runner %S/Inputs/windows.mlir --target=cpu --verify --entry=dynamic --arg=int:3x4x6x6 --arg=int | FileCheck %s --check-prefix=VERIFIED
// VERIFIED: {{^}}verified

// One transposed copy where the image enters, one where the result leaves.
// CHECK-LABEL: func.func @chain
// CHECK-SAME:      %[[IMAGE:.+]]: tensor<1x4x8x8xf32>, %[[FILTER:.+]]: tensor<8x4x3x3xf32>
// CHECK:         %[[LAST:.+]] = linalg.transpose ins(%[[IMAGE]] : tensor<1x4x8x8xf32>) {{.*}} permutation = [0, 2, 3, 1]
// CHECK:         tensor.pad %[[LAST]] low[0, 1, 1, 0] high[0, 1, 1, 0]
// CHECK:         %[[TURNED:.+]] = linalg.transpose ins(%[[FILTER]] : tensor<8x4x3x3xf32>) {{.*}} permutation = [2, 3, 1, 0]
// CHECK:         linalg.conv_2d_nhwc_hwcf {{.*}} ins(%{{.+}}, %[[TURNED]] : tensor<1x10x10x4xf32>, tensor<3x3x4x8xf32>)
// CHECK:         %[[RELU:.+]] = linalg.generic {{.*}} outs(%{{.+}} : tensor<1x8x8x8xf32>)
// CHECK:         linalg.pooling_nhwc_max {{.*}} -> tensor<1x4x4x8xf32>
// CHECK:         tensor.concat dim(3)
// CHECK:         %[[RESULT:.+]] = linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
// CHECK-NOT:     linalg.transpose
// CHECK:         return %[[RESULT]]
func.func @chain(%image: tensor<1x4x8x8xf32>, %filter: tensor<8x4x3x3xf32>) -> tensor<1x16x4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %image low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<1x4x8x8xf32> to tensor<1x4x10x10xf32>
  %e = tensor.empty() : tensor<1x8x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %c = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded, %filter : tensor<1x4x10x10xf32>, tensor<8x4x3x3xf32>) outs(%f : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c : tensor<1x8x8x8xf32>) outs(%e : tensor<1x8x8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %max = arith.maximumf %in, %zero : f32
    linalg.yield %max : f32
  } -> tensor<1x8x8x8xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %pe = tensor.empty() : tensor<1x8x4x4xf32>
  %low = arith.constant 0xFF800000 : f32
  %pf = linalg.fill ins(%low : f32) outs(%pe : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %p = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%r, %window : tensor<1x8x8x8xf32>, tensor<2x2xf32>) outs(%pf : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %both = tensor.concat dim(1) %p, %p : (tensor<1x8x4x4xf32>, tensor<1x8x4x4xf32>) -> tensor<1x16x4x4xf32>
  return %both : tensor<1x16x4x4xf32>
}

// -----

// A constant filter is transposed by the compiler.
// CHECK-LABEL: func.func @constant
// CHECK:         arith.constant dense<{{\[\[\[\[}}1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]]]> : tensor<1x1x2x2xf32>
// CHECK:         linalg.conv_2d_nhwc_hwcf
func.func @constant(%image: tensor<1x2x5x5xf32>, %init: tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> {
  %filter = arith.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : tensor<2x2x1x1xf32>
  %c = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x2x5x5xf32>, tensor<2x2x1x1xf32>) outs(%init : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  return %c : tensor<1x2x5x5xf32>
}

// -----

// Channels move as groups: a shuffle between convolutions is one transposed
// copy in which the channels stay last.
// CHECK-LABEL: func.func @shuffle
// CHECK:         linalg.conv_2d_nhwgc_gfhwc
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.transpose {{.*}} permutation = [0, 1, 2, 4, 3]
// CHECK:         tensor.collapse_shape {{.*}} : tensor<1x6x6x4x2xf32> into tensor<1x6x6x8xf32>
// CHECK:         linalg.depthwise_conv_2d_nhwc_hwc
func.func @shuffle(%image: tensor<1x2x4x6x6xf32>, %filter: tensor<2x4x4x1x1xf32>, %points: tensor<8x3x3xf32>,
                   %i0: tensor<1x2x4x6x6xf32>, %i1: tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32> {
  %c = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x2x4x6x6xf32>, tensor<2x4x4x1x1xf32>) outs(%i0 : tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
  %e = tensor.empty() : tensor<1x4x2x6x6xf32>
  %t = linalg.transpose ins(%c : tensor<1x2x4x6x6xf32>) outs(%e : tensor<1x4x2x6x6xf32>) permutation = [0, 2, 1, 3, 4]
  %r = tensor.collapse_shape %t [[0], [1, 2], [3], [4]] : tensor<1x4x2x6x6xf32> into tensor<1x8x6x6xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%r, %points : tensor<1x8x6x6xf32>, tensor<8x3x3xf32>) outs(%i1 : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  return %d : tensor<1x8x4x4xf32>
}

// -----

// The mean of each channel needs no copy.
// CHECK-LABEL: func.func @mean
// CHECK:         %[[C:.+]] = linalg.conv_2d_nhwc_hwcf
// CHECK:         linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%[[C]] :
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @mean(%image: tensor<1x2x5x5xf32>, %filter: tensor<2x2x1x1xf32>, %init: tensor<1x2xf32>) -> tensor<1x2xf32> {
  %e = tensor.empty() : tensor<1x2x5x5xf32>
  %zero = arith.constant 0.0 : f32
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %c = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x2x5x5xf32>, tensor<2x2x1x1xf32>) outs(%f : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%c : tensor<1x2x5x5xf32>) outs(%init : tensor<1x2xf32>) {
  ^bb0(%in: f32, %out: f32):
    %sum = arith.addf %in, %out : f32
    linalg.yield %sum : f32
  } -> tensor<1x2xf32>
  return %m : tensor<1x2xf32>
}

// -----

// Sums over neighboring channels have the channels last as well, so that they
// are computed in one kernel with what reads them (local response
// normalization).
// CHECK-LABEL: func.func @windows_of_channels
// CHECK:         linalg.conv_2d_nhwc_hwcf
// CHECK:         %[[SUMS:.+]] = linalg.generic {{.*}} outs({{.*}} : tensor<1x5x5x2xf32>)
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.generic {{.*}} ins({{.*}}%[[SUMS]] :
// CHECK:         linalg.transpose {{.*}} permutation = [0, 3, 1, 2]
// CHECK-NEXT:    return
func.func @windows_of_channels(%image: tensor<1x2x5x5xf32>, %filter: tensor<2x2x1x1xf32>, %init: tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> {
  %c = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x2x5x5xf32>, tensor<2x2x1x1xf32>) outs(%init : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %c low[0, 1, 0, 0] high[0, 1, 0, 0] {
  ^bb0(%n: index, %d: index, %h: index, %w: index):
    tensor.yield %zero : f32
  } : tensor<1x2x5x5xf32> to tensor<1x4x5x5xf32>
  %window = tensor.empty() : tensor<3xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, c, h, w, k) -> (n, c + k, h, w)>, affine_map<(n, c, h, w, k) -> (k)>, affine_map<(n, c, h, w, k) -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%p, %window : tensor<1x4x5x5xf32>, tensor<3xf32>) outs(%init : tensor<1x2x5x5xf32>) {
  ^bb0(%in: f32, %unused: f32, %out: f32):
    %square = arith.mulf %in, %in : f32
    %sum = arith.addf %square, %out : f32
    linalg.yield %sum : f32
  } -> tensor<1x2x5x5xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c, %s : tensor<1x2x5x5xf32>, tensor<1x2x5x5xf32>) outs(%init : tensor<1x2x5x5xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %product = arith.mulf %in, %sum : f32
    linalg.yield %product : f32
  } -> tensor<1x2x5x5xf32>
  return %r : tensor<1x2x5x5xf32>
}

// -----

// The user's schedule is about this form.
// CHECK-LABEL: func.func @scheduled
// CHECK:         linalg.conv_2d_nchw_fchw
func.func @scheduled(%image: tensor<1x2x5x5xf32>, %filter: tensor<2x2x1x1xf32>, %init: tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32> {
  %c = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>, tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 16], k = 16, stages = 1, vthread = [1, 1]>}
      ins(%image, %filter : tensor<1x2x5x5xf32>, tensor<2x2x1x1xf32>) outs(%init : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  return %c : tensor<1x2x5x5xf32>
}

// -----

// Ops that the pass does not know, and nested ones, get the order of the type.
// CHECK-LABEL: func.func @nested
// CHECK:         %[[C:.+]] = linalg.conv_2d_nhwc_hwcf
// CHECK:         %[[BACK:.+]] = linalg.transpose ins(%[[C]] : {{.*}} permutation = [0, 3, 1, 2]
// CHECK:         scf.if
// CHECK:           tensor.extract %[[BACK]]
func.func @nested(%image: tensor<1x2x5x5xf32>, %filter: tensor<2x2x1x1xf32>, %init: tensor<1x2x5x5xf32>, %is: i1) -> f32 {
  %c = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x2x5x5xf32>, tensor<2x2x1x1xf32>) outs(%init : tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  %zero = arith.constant 0 : index
  %none = arith.constant 0.0 : f32
  %r = scf.if %is -> f32 {
    %v = tensor.extract %c[%zero, %zero, %zero, %zero] : tensor<1x2x5x5xf32>
    scf.yield %v : f32
  } else {
    scf.yield %none : f32
  }
  return %r : f32
}

// -----

// The zeros around a grouped convolution come after the split of its channels,
// where they are bounds of its loads. Zeros of channels stay ahead of it.
// CHECK-LABEL: func.func @padded_groups
// CHECK:         %[[FIRST:.+]] = linalg.conv_2d_nhwc_hwcf
// CHECK:         %[[SPLIT:.+]] = tensor.expand_shape %[[FIRST]] {{.*}} : tensor<1x6x6x8xf32> into tensor<1x6x6x2x4xf32>
// CHECK:         %[[PADDED:.+]] = tensor.pad %[[SPLIT]] low[0, 1, 1, 0, 0] high[0, 1, 1, 0, 0]
// CHECK:         linalg.conv_2d_nhwgc_gfhwc {{.*}} ins(%[[PADDED]],
// CHECK:         %[[CHANNELS:.+]] = tensor.pad {{.*}} low[0, 0, 0, 2] high[0, 0, 0, 0]
// CHECK:         tensor.expand_shape %[[CHANNELS]]
func.func @padded_groups(%image: tensor<1x3x6x6xf32>, %first: tensor<8x3x1x1xf32>, %filter: tensor<2x4x4x3x3xf32>,
                         %second: tensor<2x4x5x1x1xf32>) -> (tensor<1x2x4x6x6xf32>, tensor<1x2x4x6x6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x8x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %x = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %first : tensor<1x3x6x6xf32>, tensor<8x3x1x1xf32>) outs(%f : tensor<1x8x6x6xf32>) -> tensor<1x8x6x6xf32>
  %ge = tensor.empty() : tensor<1x2x4x6x6xf32>
  %gf = linalg.fill ins(%zero : f32) outs(%ge : tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
  %padded = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<1x8x6x6xf32> to tensor<1x8x8x8xf32>
  %groups = tensor.expand_shape %padded [[0], [1, 2], [3], [4]] output_shape [1, 2, 4, 8, 8] : tensor<1x8x8x8xf32> into tensor<1x2x4x8x8xf32>
  %a = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%groups, %filter : tensor<1x2x4x8x8xf32>, tensor<2x4x4x3x3xf32>) outs(%gf : tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
  %more = tensor.pad %x low[0, 2, 0, 0] high[0, 0, 0, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<1x8x6x6xf32> to tensor<1x10x6x6xf32>
  %fives = tensor.expand_shape %more [[0], [1, 2], [3], [4]] output_shape [1, 2, 5, 6, 6] : tensor<1x10x6x6xf32> into tensor<1x2x5x6x6xf32>
  %b = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%fives, %second : tensor<1x2x5x6x6xf32>, tensor<2x4x5x1x1xf32>) outs(%gf : tensor<1x2x4x6x6xf32>) -> tensor<1x2x4x6x6xf32>
  return %a, %b : tensor<1x2x4x6x6xf32>, tensor<1x2x4x6x6xf32>
}

// -----

// Filters of bytes have their channels last, as matrix units read them. A convolution that has no named
// op, of bytes without signs and with signs, is turned as well.
// CHECK-LABEL: func.func @bytes
// CHECK:         linalg.conv_2d_nhwc_fhwc {{.*}} ins(%{{.+}}, %{{.+}} : tensor<1x10x10x16xi8>, tensor<8x3x3x16xi8>) outs(%{{.+}} : tensor<1x8x8x8xi32>)
// CHECK:         arith.trunci
// CHECK:         } -> tensor<1x8x8x8xi8>
// CHECK:         linalg.generic {{.*}} ins(%{{.+}}, %{{.+}} : tensor<1x8x8x8xi8>, tensor<4x3x3x8xi8>) outs(%{{.+}} : tensor<1x6x6x4xi32>)
// CHECK-NEXT:    ^bb0
// CHECK-NEXT:      arith.extui
// CHECK-NEXT:      arith.extsi
#image = affine_map<(n, f, y, x, c, i, j) -> (n, c, y + i, x + j)>
#filter = affine_map<(n, f, y, x, c, i, j) -> (f, c, i, j)>
#result = affine_map<(n, f, y, x, c, i, j) -> (n, f, y, x)>
#same = affine_map<(n, c, h, w) -> (n, c, h, w)>
func.func @bytes(%image: tensor<1x16x10x10xi8>, %filter: tensor<8x16x3x3xi8>, %next: tensor<4x8x3x3xi8>) -> tensor<1x4x6x6xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<1x8x8x8xi32>
  %f = linalg.fill ins(%zero : i32) outs(%e : tensor<1x8x8x8xi32>) -> tensor<1x8x8x8xi32>
  %c = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x16x10x10xi8>, tensor<8x16x3x3xi8>) outs(%f : tensor<1x8x8x8xi32>) -> tensor<1x8x8x8xi32>
  %eq = tensor.empty() : tensor<1x8x8x8xi8>
  %q = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%c : tensor<1x8x8x8xi32>) outs(%eq : tensor<1x8x8x8xi8>) {
  ^bb0(%in: i32, %out: i8):
    %t = arith.trunci %in : i32 to i8
    linalg.yield %t : i8
  } -> tensor<1x8x8x8xi8>
  %er = tensor.empty() : tensor<1x4x6x6xi32>
  %fr = linalg.fill ins(%zero : i32) outs(%er : tensor<1x4x6x6xi32>) -> tensor<1x4x6x6xi32>
  %r = linalg.generic {indexing_maps = [#image, #filter, #result],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%q, %next : tensor<1x8x8x8xi8>, tensor<4x8x3x3xi8>) outs(%fr : tensor<1x4x6x6xi32>) {
  ^bb0(%a: i8, %b: i8, %out: i32):
    %wa = arith.extui %a : i8 to i32
    %wb = arith.extsi %b : i8 to i32
    %p = arith.muli %wa, %wb : i32
    %s = arith.addi %out, %p : i32
    linalg.yield %s : i32
  } -> tensor<1x4x6x6xi32>
  return %r : tensor<1x4x6x6xi32>
}

// -----

// A depthwise convolution between tensors with the channels first stays there.
// CHECK-LABEL: func.func @depthwise_alone
// CHECK-NOT:     linalg.transpose
// CHECK:         linalg.depthwise_conv_2d_nchw_chw
// CHECK-NOT:     linalg.transpose
// CHECK:         return
func.func @depthwise_alone(%image: tensor<1x8x8x8xf32>, %filter: tensor<8x3x3xf32>, %init: tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %image low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x8xf32> to tensor<1x8x10x10xf32>
  %d = linalg.depthwise_conv_2d_nchw_chw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%p, %filter : tensor<1x8x10x10xf32>, tensor<8x3x3xf32>) outs(%init : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  return %d : tensor<1x8x8x8xf32>
}

// -----

// One whose result another convolution reads, after an element-wise op, does not.
// CHECK-LABEL: func.func @depthwise_before
// CHECK:         %[[D:.+]] = linalg.depthwise_conv_2d_nhwc_hwc
// CHECK:         %[[X:.+]] = linalg.generic {{.*}} ins(%[[D]] : tensor<1x8x8x8xf32>)
// CHECK:         linalg.conv_2d_nhwc_hwcf {{.*}} ins(%[[X]],
func.func @depthwise_before(%image: tensor<1x8x8x8xf32>, %points: tensor<8x1x1xf32>, %filter: tensor<4x8x1x1xf32>, %i0: tensor<1x8x8x8xf32>,
                            %i1: tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32> {
  %d = linalg.depthwise_conv_2d_nchw_chw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %points : tensor<1x8x8x8xf32>, tensor<8x1x1xf32>) outs(%i0 : tensor<1x8x8x8xf32>) -> tensor<1x8x8x8xf32>
  %e = tensor.empty() : tensor<1x8x8x8xf32>
  %x = linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>, affine_map<(n, c, h, w) -> (n, c, h, w)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%d : tensor<1x8x8x8xf32>) outs(%e : tensor<1x8x8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %n = arith.negf %in : f32
    linalg.yield %n : f32
  } -> tensor<1x8x8x8xf32>
  %c = linalg.conv_2d_nchw_fchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%x, %filter : tensor<1x8x8x8xf32>, tensor<4x8x1x1xf32>) outs(%i1 : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %c : tensor<1x4x8x8xf32>
}

// -----

// Small groups stay as well where threads compute them, in rows of an even length.
// CHECK-LABEL: func.func @groups_alone
// CHECK:         linalg.conv_2d_nhwgc_gfhwc
// GPU-LABEL:   func.func @groups_alone
// GPU-NOT:       linalg.transpose
// GPU:           linalg.conv_2d_ngchw_gfchw
// ALL-LABEL:   func.func @groups_alone
// ALL:           linalg.conv_2d_nhwgc_gfhwc
func.func @groups_alone(%image: tensor<1x2x4x8x8xf32>, %filter: tensor<2x8x4x3x3xf32>, %init: tensor<1x2x8x6x6xf32>) -> tensor<1x2x8x6x6xf32> {
  %c = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x2x4x8x8xf32>, tensor<2x8x4x3x3xf32>) outs(%init : tensor<1x2x8x6x6xf32>) -> tensor<1x2x8x6x6xf32>
  return %c : tensor<1x2x8x6x6xf32>
}

// -----

// CHECK-LABEL: func.func @others
// GPU-LABEL:   func.func @others
// GPU:           linalg.conv_2d_nhwgc_gfhwc {{.*}} tensor<1x8x8x2x16xf32>
// GPU:           linalg.conv_2d_nhwgc_gfhwc {{.*}} tensor<1x8x7x2x4xf32>
func.func @others(%wide: tensor<1x2x16x8x8xf32>, %odd: tensor<1x2x4x8x7xf32>, %f0: tensor<2x8x16x3x3xf32>, %f1: tensor<2x8x4x3x3xf32>,
                  %i0: tensor<1x2x8x6x6xf32>, %i1: tensor<1x2x8x6x5xf32>) -> (tensor<1x2x8x6x6xf32>, tensor<1x2x8x6x5xf32>) {
  %c0 = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%wide, %f0 : tensor<1x2x16x8x8xf32>, tensor<2x8x16x3x3xf32>) outs(%i0 : tensor<1x2x8x6x6xf32>) -> tensor<1x2x8x6x6xf32>
  %c1 = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%odd, %f1 : tensor<1x2x4x8x7xf32>, tensor<2x8x4x3x3xf32>) outs(%i1 : tensor<1x2x8x6x5xf32>) -> tensor<1x2x8x6x5xf32>
  return %c0, %c1 : tensor<1x2x8x6x6xf32>, tensor<1x2x8x6x5xf32>
}
