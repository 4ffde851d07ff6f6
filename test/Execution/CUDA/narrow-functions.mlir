// REQUIRES: can-run-cuda

// Functions that need not be exact where they are rounded to f16, for all numbers of f16: the logistic function, swish,
// powers of e, and x^-0.75 by roots.

// RUN: gpu-runner %s --target=cuda --entry=logistic --arg=iota --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda --entry=silu --arg=iota --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda --entry=wide_silu --arg=iota --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda --entry=scaled_silu --arg=iota --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda --entry=power --arg=iota --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda --entry=roots --arg=iota --verify | FileCheck %s
// CHECK: checked 65536
// CHECK: {{^}}verified

#id = affine_map<(i) -> (i)>

func.func @logistic(%a: tensor<65536xi16>) -> tensor<65536xf16> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<65536xf16>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<65536xi16>) outs(%e : tensor<65536xf16>) {
  ^bb0(%bits: i16, %o: f16):
    %v = arith.bitcast %bits : i16 to f16
    %w = arith.extf %v : f16 to f32
    %n = arith.negf %w : f32
    %p = math.exp %n : f32
    %d = arith.addf %p, %one : f32
    %q = arith.divf %one, %d : f32
    %r = arith.truncf %q : f32 to f16
    linalg.yield %r : f16
  } -> tensor<65536xf16>
  return %x : tensor<65536xf16>
}

func.func @silu(%a: tensor<65536xi16>) -> tensor<65536xf16> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<65536xf16>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<65536xi16>) outs(%e : tensor<65536xf16>) {
  ^bb0(%bits: i16, %o: f16):
    %v = arith.bitcast %bits : i16 to f16
    %w = arith.extf %v : f16 to f32
    %n = arith.negf %w : f32
    %p = math.exp %n : f32
    %d = arith.addf %p, %one : f32
    %q = arith.divf %w, %d : f32
    %r = arith.truncf %q : f32 to f16
    linalg.yield %r : f16
  } -> tensor<65536xf16>
  return %x : tensor<65536xf16>
}

// Numbers of all magnitudes of f32: the high half of each is arbitrary.

func.func @wide_silu(%a: tensor<65536xi16>) -> tensor<65536xf16> {
  %one = arith.constant 1.0 : f32
  %high = arith.constant 16 : i32
  %low = arith.constant 4660 : i32
  %e = tensor.empty() : tensor<65536xf16>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<65536xi16>) outs(%e : tensor<65536xf16>) {
  ^bb0(%bits: i16, %o: f16):
    %0 = arith.extui %bits : i16 to i32
    %1 = arith.shli %0, %high : i32
    %2 = arith.ori %1, %low : i32
    %w = arith.bitcast %2 : i32 to f32
    %n = arith.negf %w : f32
    %p = math.exp %n : f32
    %d = arith.addf %p, %one : f32
    %q = arith.divf %w, %d : f32
    %r = arith.truncf %q : f32 to f16
    linalg.yield %r : f16
  } -> tensor<65536xf16>
  return %x : tensor<65536xf16>
}

func.func @scaled_silu(%a: tensor<65536xi16>) -> tensor<65536xf16> {
  %one = arith.constant 1.0 : f32
  %factor = arith.constant -1.702 : f32
  %high = arith.constant 16 : i32
  %low = arith.constant 4660 : i32
  %e = tensor.empty() : tensor<65536xf16>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<65536xi16>) outs(%e : tensor<65536xf16>) {
  ^bb0(%bits: i16, %o: f16):
    %0 = arith.extui %bits : i16 to i32
    %1 = arith.shli %0, %high : i32
    %2 = arith.ori %1, %low : i32
    %w = arith.bitcast %2 : i32 to f32
    %n = arith.mulf %w, %factor : f32
    %p = math.exp %n : f32
    %d = arith.addf %p, %one : f32
    %q = arith.divf %one, %d : f32
    %s = arith.mulf %q, %w : f32
    %r = arith.truncf %s : f32 to f16
    linalg.yield %r : f16
  } -> tensor<65536xf16>
  return %x : tensor<65536xf16>
}

func.func @power(%a: tensor<65536xi16>) -> tensor<65536xf16> {
  %e = tensor.empty() : tensor<65536xf16>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<65536xi16>) outs(%e : tensor<65536xf16>) {
  ^bb0(%bits: i16, %o: f16):
    %v = arith.bitcast %bits : i16 to f16
    %w = arith.extf %v : f16 to f32
    %p = math.exp %w : f32
    %r = arith.truncf %p : f32 to f16
    linalg.yield %r : f16
  } -> tensor<65536xf16>
  return %x : tensor<65536xf16>
}

func.func @roots(%a: tensor<65536xi16>) -> tensor<65536xf16> {
  %e = tensor.empty() : tensor<65536xf16>
  %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%a : tensor<65536xi16>) outs(%e : tensor<65536xf16>) {
  ^bb0(%bits: i16, %o: f16):
    %v = arith.bitcast %bits : i16 to f16
    %w = arith.extf %v : f16 to f32
    %s = math.rsqrt %w : f32
    %t = math.sqrt %s : f32
    %q = arith.mulf %s, %t : f32
    %r = arith.truncf %q : f32 to f16
    linalg.yield %r : f16
  } -> tensor<65536xf16>
  return %x : tensor<65536xf16>
}
