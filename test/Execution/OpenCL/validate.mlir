// Validation by spirv-val, for OpenCL 2.2 where no lanes exchange values and for SPIR-V 1.3 where
// they do; and numbers: elements of every type, f16 with infinities and numbers below its normal
// ones, a sum over rows by lanes, scalars by value, and a buffer that begins within another.
//
// REQUIRES: can-run-opencl-pocl, can-run-opencl-rusticl, can-validate-spirv
// DEFINE: %{entry} =
// DEFINE: %{args} =
// DEFINE: %{check} = gpu-runner %s --target=opencl --verify --validate --entry=%{entry} %{args}
// DEFINE: %{both} = %software pocl %{check} | FileCheck %s && %software rusticl %{check} | FileCheck %s
// REDEFINE: %{entry} = half
// REDEFINE: %{args} = --arg=random
// RUN: %{both}
// REDEFINE: %{entry} = rows
// REDEFINE: %{args} = --arg=iota
// RUN: %{both}
// REDEFINE: %{entry} = scaled
// REDEFINE: %{args} = --arg=int --arg=3 --arg=0.5
// RUN: %{both}
// REDEFINE: %{entry} = brain
// REDEFINE: %{args} = --arg=random
// RUN: %{both}
// REDEFINE: %{entry} = powers
// REDEFINE: %{args} = --arg=iota
// RUN: %{both}
// CHECK: {{^}}verified

// Squares reach beyond f16, and those of the small ones below its least.
func.func @half(%a: tensor<64x32xf16>) -> tensor<64x32xf16> {
  %big = arith.constant 40000.0 : f16
  %e = tensor.empty() : tensor<64x32xf16>
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<64x32xf16>) outs(%e : tensor<64x32xf16>) {
    ^bb0(%x: f16, %y: f16):
      %s = arith.mulf %x, %big : f16
      %i = arith.divf %x, %big : f16
      %c = arith.cmpf ogt, %x, %i : f16
      %t = arith.select %c, %s, %i : f16
      linalg.yield %t : f16
  } -> tensor<64x32xf16>
  return %r : tensor<64x32xf16>
}

func.func @rows(%s: tensor<4x133xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.reduce ins(%s : tensor<4x133xf32>) outs(%i : tensor<4xf32>) dimensions = [1]
    (%x: f32, %y: f32) {
      %z = arith.addf %x, %y : f32
      linalg.yield %z : f32
    }
  return %r : tensor<4xf32>
}

func.func @scaled(%a: tensor<16x40xf32>, %n: i32, %f: f32) -> tensor<8x40xf32> {
  %v = tensor.extract_slice %a[5, 0] [8, 40] [1, 1] : tensor<16x40xf32> to tensor<8x40xf32>
  %e = tensor.empty() : tensor<8x40xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<8x40xf32>) outs(%e : tensor<8x40xf32>) {
    ^bb0(%x: f32, %y: f32):
      %k = arith.sitofp %n : i32 to f32
      %s = arith.mulf %x, %k : f32
      %t = arith.addf %s, %f : f32
      linalg.yield %t : f32
  } -> tensor<8x40xf32>
  return %r : tensor<8x40xf32>
}

func.func @brain(%a: tensor<32x32xbf16>) -> tensor<32x32xf16> {
  %e = tensor.empty() : tensor<32x32xf16>
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<32x32xbf16>) outs(%e : tensor<32x32xf16>) {
    ^bb0(%x: bf16, %y: f16):
      %s = arith.extf %x : bf16 to f32
      %t = arith.truncf %s : f32 to f16
      linalg.yield %t : f16
  } -> tensor<32x32xf16>
  return %r : tensor<32x32xf16>
}

// From 2^-160 to 2^95, including the values in between.
func.func @powers(%a: tensor<512xf32>) -> tensor<512xf32> {
  %half = arith.constant 0.5 : f32
  %least = arith.constant 160.0 : f32
  %e = tensor.empty() : tensor<512xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(n) -> (n)>, affine_map<(n) -> (n)>],
      iterator_types = ["parallel"]}
      ins(%a : tensor<512xf32>) outs(%e : tensor<512xf32>) {
    ^bb0(%x: f32, %y: f32):
      %h = arith.mulf %x, %half : f32
      %p = arith.subf %h, %least : f32
      %t = math.exp2 %p : f32
      linalg.yield %t : f32
  } -> tensor<512xf32>
  return %r : tensor<512xf32>
}
