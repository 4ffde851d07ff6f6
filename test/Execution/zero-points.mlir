// Integer matmuls minus zero points: the correcting sums, of operands with
// other types, more dimensions, windows and padding.
//
// RUN: gpu-runner %s --target=cpu --verify --entry=constants | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=arguments --arg=random --arg=random --arg=-128 --arg=127 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=batches --arg=int --arg=int --arg=3 --arg=-4 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic --arg=int:21x34 --arg=int:34x19 --arg=3 --arg=-4 --arg=zeros:21x19 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=columns | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=image --arg=int --arg=int --arg=3 --arg=-4 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=padded | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=depthwise --arg=int --arg=int --arg=3 --arg=-4 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=row --arg=int --arg=int --arg=3 --arg=-4 | FileCheck %s
// RUN: not gpu-runner %s --target=cpu --verify --entry=constants --debug-corrupt-output=0 2>&1 | FileCheck %s --check-prefix=WRONG
// CHECK: verified
// WRONG: FAILED

func.func @constants(%a: tensor<33x70xi8>, %b: tensor<70x41xi8>, %c: tensor<33x41xi32>) -> tensor<33x41xi32> {
  %za = arith.constant 3 : i32
  %zb = arith.constant -5 : i32
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<33x70xi8>, tensor<70x41xi8>, i32, i32)
      outs(%c : tensor<33x41xi32>) -> tensor<33x41xi32>
  return %r : tensor<33x41xi32>
}
func.func @arguments(%a: tensor<33x70xi8>, %b: tensor<70x41xi8>, %za: i32, %zb: i32) -> tensor<33x41xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<33x41xi32>
  %c = linalg.fill ins(%zero : i32) outs(%e : tensor<33x41xi32>) -> tensor<33x41xi32>
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<33x70xi8>, tensor<70x41xi8>, i32, i32)
      outs(%c : tensor<33x41xi32>) -> tensor<33x41xi32>
  return %r : tensor<33x41xi32>
}
func.func @batches(%a: tensor<3x13x30xi8>, %b: tensor<3x30x21xi8>, %za: i32, %zb: i32,
                   %c: tensor<3x13x21xi32>) -> tensor<3x13x21xi32> {
  %r = linalg.quantized_batch_matmul ins(%a, %b, %za, %zb : tensor<3x13x30xi8>, tensor<3x30x21xi8>, i32, i32)
      outs(%c : tensor<3x13x21xi32>) -> tensor<3x13x21xi32>
  return %r : tensor<3x13x21xi32>
}
func.func @dynamic(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %za: i32, %zb: i32, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<?x?xi8>, tensor<?x?xi8>, i32, i32)
      outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// A zero point for each column of unsigned weights; none of the activations.
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @columns(%a: tensor<17x40xi8>, %b: tensor<40x23xi8>, %z: tensor<23xi8>, %c: tensor<17x23xi32>) -> tensor<17x23xi32> {
  %r = linalg.generic {indexing_maps = [#mk, #kn, affine_map<(m, n, k) -> (n)>, #mn],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b, %z : tensor<17x40xi8>, tensor<40x23xi8>, tensor<23xi8>) outs(%c : tensor<17x23xi32>) {
  ^bb0(%x: i8, %y: i8, %zero: i8, %acc: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extui %y : i8 to i32
    %zw = arith.extui %zero : i8 to i32
    %d = arith.subi %yw, %zw : i32
    %p = arith.muli %xw, %d : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  } -> tensor<17x23xi32>
  return %r : tensor<17x23xi32>
}

func.func @image(%x: tensor<2x11x12x4xi8>, %w: tensor<3x2x4x8xi8>, %za: i32, %zb: i32,
                 %y: tensor<2x5x11x8xi32>) -> tensor<2x5x11x8xi32> {
  %r = linalg.conv_2d_nhwc_hwcf_q {strides = dense<[2, 1]> : tensor<2xi64>}
      ins(%x, %w, %za, %zb : tensor<2x11x12x4xi8>, tensor<3x2x4x8xi8>, i32, i32)
      outs(%y : tensor<2x5x11x8xi32>) -> tensor<2x5x11x8xi32>
  return %r : tensor<2x5x11x8xi32>
}
// Padding with the zero point counts as zero.
func.func @padded(%x: tensor<1x12x12x4xi8>, %w: tensor<3x3x4x8xi8>, %y: tensor<1x12x12x8xi32>) -> tensor<1x12x12x8xi32> {
  %pad = arith.constant 7 : i8
  %za = arith.constant 7 : i32
  %zb = arith.constant -2 : i32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %v: index, %c: index):
    tensor.yield %pad : i8
  } : tensor<1x12x12x4xi8> to tensor<1x14x14x4xi8>
  %r = linalg.conv_2d_nhwc_hwcf_q ins(%p, %w, %za, %zb : tensor<1x14x14x4xi8>, tensor<3x3x4x8xi8>, i32, i32)
      outs(%y : tensor<1x12x12x8xi32>) -> tensor<1x12x12x8xi32>
  return %r : tensor<1x12x12x8xi32>
}

// Not a matmul, or one of a single row: SIMT kernels.
func.func @depthwise(%x: tensor<1x12x12x4xi8>, %w: tensor<3x3x4xi8>, %za: i32, %zb: i32,
                     %y: tensor<1x10x10x4xi32>) -> tensor<1x10x10x4xi32> {
  %r = linalg.depthwise_conv_2d_nhwc_hwc_q ins(%x, %w, %za, %zb : tensor<1x12x12x4xi8>, tensor<3x3x4xi8>, i32, i32)
      outs(%y : tensor<1x10x10x4xi32>) -> tensor<1x10x10x4xi32>
  return %r : tensor<1x10x10x4xi32>
}
func.func @row(%a: tensor<1x70xi8>, %b: tensor<70x41xi8>, %za: i32, %zb: i32, %c: tensor<1x41xi32>) -> tensor<1x41xi32> {
  %r = linalg.quantized_matmul ins(%a, %b, %za, %zb : tensor<1x70xi8>, tensor<70x41xi8>, i32, i32)
      outs(%c : tensor<1x41xi32>) -> tensor<1x41xi32>
  return %r : tensor<1x41xi32>
}
