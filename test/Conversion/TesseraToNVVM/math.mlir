// Functions that PTX lacks are made of those that it has.
//
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s
// CHECK: .visible .entry single_kernel(
// CHECK-NOT: call
// CHECK: ret;

func.func @single(%a: tensor<37xf32>) -> tensor<37xf32> {
  %e = tensor.empty() : tensor<37xf32>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xf32>) (%v: f32, %o: f32) {
    %0 = math.sinh %v : f32
    %1 = math.cosh %0 : f32
    %2 = math.tan %1 : f32
    %3 = math.asinh %2 : f32
    %4 = math.acosh %1 : f32
    %5 = math.atanh %3 : f32
    %6 = math.trunc %4 : f32
    %7 = math.log10 %6 : f32
    %8 = arith.addf %5, %7 : f32
    linalg.yield %8 : f32
  }
  return %x : tensor<37xf32>
}

// A power of 2 that may be approximate is one instruction, which takes denormals for zero; for another, LLVM
// decides.

// CHECK: .visible .entry powers_kernel(
// CHECK-DAG: ex2.approx.ftz.f32
// CHECK-DAG: ex2.approx.f32
// CHECK: ret;

func.func @powers(%a: tensor<37xf32>) -> tensor<37xf32> {
  %e = tensor.empty() : tensor<37xf32>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xf32>) (%v: f32, %o: f32) {
    %0 = math.exp2 %v fastmath<afn> : f32
    %1 = math.exp2 %0 : f32
    linalg.yield %1 : f32
  }
  return %x : tensor<37xf32>
}

// e^x has eight instructions, one of them a power of 2 between 1 and 2. A quotient that is rounded to
// 16 bits at once has no branch; another one is rounded correctly.

// CHECK: .visible .entry exponential_kernel(
// CHECK:     fma.rn.sat.f32
// CHECK:     fma.rm.f32
// CHECK:     ex2.approx.ftz.f32
// CHECK:     div.full.f32
// CHECK:     cvt.rn.bf16.f32
// CHECK:     div.rn.f32
// CHECK-NOT: ex2.approx.f32
// CHECK: ret;

func.func @exponential(%a: tensor<37xf32>) -> (tensor<37xbf16>, tensor<37xf32>) {
  %e = tensor.empty() : tensor<37xbf16>
  %f = tensor.empty() : tensor<37xf32>
  %x:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]}
      ins(%a : tensor<37xf32>) outs(%e, %f : tensor<37xbf16>, tensor<37xf32>) {
  ^bb0(%v: f32, %o: bf16, %p: f32):
    %0 = math.exp %v : f32
    %1 = arith.divf %0, %v : f32
    %2 = arith.truncf %1 : f32 to bf16
    %3 = arith.divf %v, %0 : f32
    linalg.yield %2, %3 : bf16, f32
  } -> (tensor<37xbf16>, tensor<37xf32>)
  return %x#0, %x#1 : tensor<37xbf16>, tensor<37xf32>
}

// In a logistic function that is rounded to f16 at once, e^x is a multiplication and a power of 2, and the quotient a
// reciprocal. So is e^x itself if it is rounded to f16.

// CHECK: .visible .entry logistic_kernel(
// CHECK-NOT: div.
// CHECK-NOT: fma.rm
// CHECK:     ex2.approx.ftz.f32
// CHECK-NOT: div.
// CHECK:     rcp.approx.ftz.f32
// CHECK-NOT: div.
// CHECK-NOT: fma.rm
// CHECK: .visible .entry silu_kernel(
// CHECK-NOT: div.
// CHECK-NOT: fma.rm
// CHECK:     ex2.approx.ftz.f32
// CHECK-NOT: div.
// CHECK:     rcp.approx.ftz.f32
// CHECK-NOT: div.
// CHECK-NOT: fma.rm
// CHECK: .visible .entry wide_silu_kernel(
// CHECK-NOT: div.
// CHECK-NOT: fma.rm
// CHECK:     ex2.approx.ftz.f32
// CHECK-NOT: div.
// CHECK:     rcp.approx.ftz.f32
// CHECK-NOT: div.
// CHECK-NOT: fma.rm
// CHECK: .visible .entry scaled_silu_kernel(
// CHECK-NOT: div.
// CHECK-NOT: fma.rm
// CHECK:     ex2.approx.ftz.f32
// CHECK-NOT: div.
// CHECK:     rcp.approx.ftz.f32
// CHECK-NOT: div.
// CHECK-NOT: fma.rm
// CHECK: .visible .entry rounded_kernel(
// CHECK-NOT: fma.rm
// CHECK:     ex2.approx.ftz.f32
// CHECK-NOT: fma.rm

func.func @logistic(%a: tensor<37xf32>) -> tensor<37xf16> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<37xf16>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xf16>) (%v: f32, %o: f16) {
    %0 = arith.negf %v : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %one, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  }
  return %x : tensor<37xf16>
}

func.func @silu(%a: tensor<37xf16>) -> tensor<37xf16> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<37xf16>
  %x = linalg.map ins(%a : tensor<37xf16>) outs(%e : tensor<37xf16>) (%v: f16, %o: f16) {
    %w = arith.extf %v : f16 to f32
    %0 = arith.negf %w : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %one, %1 : f32
    %3 = arith.divf %w, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  }
  return %x : tensor<37xf16>
}

func.func @wide_silu(%a: tensor<37xf32>) -> tensor<37xf16> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<37xf16>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xf16>) (%v: f32, %o: f16) {
    %0 = arith.negf %v : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %one, %1 : f32
    %3 = arith.divf %v, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  }
  return %x : tensor<37xf16>
}

func.func @scaled_silu(%a: tensor<37xf32>) -> tensor<37xf16> {
  %one = arith.constant 1.0 : f32
  %factor = arith.constant -1.702 : f32
  %e = tensor.empty() : tensor<37xf16>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xf16>) (%v: f32, %o: f16) {
    %0 = arith.mulf %v, %factor : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %one, %1 : f32
    %3 = arith.divf %one, %2 : f32
    %4 = arith.mulf %3, %v : f32
    %5 = arith.truncf %4 : f32 to f16
    linalg.yield %5 : f16
  }
  return %x : tensor<37xf16>
}

func.func @rounded(%a: tensor<37xf32>) -> tensor<37xf16> {
  %e = tensor.empty() : tensor<37xf16>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xf16>) (%v: f32, %o: f16) {
    %0 = math.exp %v : f32
    %1 = arith.truncf %0 : f32 to f16
    linalg.yield %1 : f16
  }
  return %x : tensor<37xf16>
}

// Not so for other types, for a numerator that may be as large as the divisor and is not the power's, for a sum that is used elsewhere as
// well, or for one that may be close to zero.

// CHECK: .visible .entry logistic_bf16_kernel(
// CHECK:     fma.rm
// CHECK:     div.full
// CHECK: .visible .entry large_kernel(
// CHECK:     fma.rm
// CHECK:     div.full
// CHECK: .visible .entry shared_kernel(
// CHECK:     fma.rm
// CHECK:     rcp.approx.ftz.f32
// CHECK: .visible .entry difference_kernel(
// CHECK:     fma.rm
// CHECK:     div.full

func.func @logistic_bf16(%a: tensor<37xf32>) -> tensor<37xbf16> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<37xbf16>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xbf16>) (%v: f32, %o: bf16) {
    %1 = math.exp %v : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %one, %2 : f32
    %4 = arith.truncf %3 : f32 to bf16
    linalg.yield %4 : bf16
  }
  return %x : tensor<37xbf16>
}

func.func @large(%a: tensor<37xf32>, %b: tensor<37xf32>) -> tensor<37xf16> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<37xf16>
  %x = linalg.map ins(%a, %b : tensor<37xf32>, tensor<37xf32>) outs(%e : tensor<37xf16>) (%v: f32, %w: f32, %o: f16) {
    %1 = math.exp %v : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %w, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  }
  return %x : tensor<37xf16>
}

func.func @shared(%a: tensor<37xf32>) -> (tensor<37xf16>, tensor<37xf32>) {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<37xf16>
  %f = tensor.empty() : tensor<37xf32>
  %x:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]}
      ins(%a : tensor<37xf32>) outs(%e, %f : tensor<37xf16>, tensor<37xf32>) {
  ^bb0(%v: f32, %o: f16, %p: f32):
    %1 = math.exp %v : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %one, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4, %2 : f16, f32
  } -> (tensor<37xf16>, tensor<37xf32>)
  return %x#0, %x#1 : tensor<37xf16>, tensor<37xf32>
}

func.func @difference(%a: tensor<37xf32>) -> tensor<37xf16> {
  %one = arith.constant 1.0 : f32
  %less = arith.constant -1.0 : f32
  %e = tensor.empty() : tensor<37xf16>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xf16>) (%v: f32, %o: f16) {
    %1 = math.exp %v : f32
    %2 = arith.addf %1, %less : f32
    %3 = arith.divf %one, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  }
  return %x : tensor<37xf16>
}

// A reciprocal square root is an instruction. A square root is one that is not rounded correctly if it only matters to
// 16 bits. A quotient by a constant is a multiplication then.

// CHECK: .visible .entry roots_kernel(
// CHECK-NOT: sqrt.rn
// CHECK-NOT: div.
// CHECK:     rsqrt.approx.f32
// CHECK-NOT: sqrt.rn
// CHECK-NOT: div.
// CHECK:     sqrt.approx.f32
// CHECK-NOT: sqrt.rn
// CHECK-NOT: div.
// CHECK: .visible .entry exact_root_kernel(
// CHECK-NOT: sqrt.approx
// CHECK:     sqrt.rn.f32
// CHECK-NOT: sqrt.approx

func.func @roots(%a: tensor<37xf32>) -> tensor<37xf16> {
  %five = arith.constant 5.0 : f32
  %e = tensor.empty() : tensor<37xf16>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xf16>) (%v: f32, %o: f16) {
    %0 = math.rsqrt %v : f32
    %1 = math.sqrt %0 : f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.divf %2, %five : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  }
  return %x : tensor<37xf16>
}

func.func @exact_root(%a: tensor<37xf32>) -> tensor<37xf32> {
  %e = tensor.empty() : tensor<37xf32>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xf32>) (%v: f32, %o: f32) {
    %0 = math.sqrt %v : f32
    linalg.yield %0 : f32
  }
  return %x : tensor<37xf32>
}
