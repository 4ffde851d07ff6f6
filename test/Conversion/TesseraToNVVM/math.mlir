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
