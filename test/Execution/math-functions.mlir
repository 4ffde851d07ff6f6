// Functions of the math dialect that LLVM has no intrinsic for, or that are a
// few digits short as polynomials.
//
// RUN: gpu-runner %s --target=cpu --verify --arg=random:3 --arg=random:4 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=above_one --arg=random:3 --arg=random:4 | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%a: tensor<37xf32>, %b: tensor<5xf64>) -> (tensor<37xf32>, tensor<5xf64>) {
  %e = tensor.empty() : tensor<37xf32>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xf32>) (%v: f32, %o: f32) {
    %0 = math.sin %v : f32
    %1 = math.acos %0 : f32
    %2 = math.atan %1 : f32
    %3 = math.asinh %2 : f32
    %4 = math.cosh %3 : f32
    %5 = math.cbrt %4 : f32
    %6 = math.erf %5 : f32
    %7 = math.trunc %6 : f32
    %8 = math.atanh %7 : f32
    %9 = math.log10 %4 : f32
    %10 = arith.addf %8, %9 : f32
    linalg.yield %10 : f32
  }
  %f = tensor.empty() : tensor<5xf64>
  %y = linalg.map ins(%b : tensor<5xf64>) outs(%f : tensor<5xf64>) (%v: f64, %o: f64) {
    %0 = math.erf %v : f64
    %1 = math.erfc %0 : f64
    %2 = math.cbrt %1 : f64
    %3 = math.asinh %2 : f64
    linalg.yield %3 : f64
  }
  return %x, %y : tensor<37xf32>, tensor<5xf64>
}

func.func @above_one(%a: tensor<37xf32>, %b: tensor<37xf64>) -> (tensor<37xf32>, tensor<37xf64>) {
  %e = tensor.empty() : tensor<37xf32>
  %x = linalg.map ins(%a : tensor<37xf32>) outs(%e : tensor<37xf32>) (%v: f32, %o: f32) {
    %0 = math.exp2 %v : f32
    %1 = math.cosh %0 : f32
    %2 = math.acosh %1 : f32
    linalg.yield %2 : f32
  }
  %f = tensor.empty() : tensor<37xf64>
  %y = linalg.map ins(%b : tensor<37xf64>) outs(%f : tensor<37xf64>) (%v: f64, %o: f64) {
    %0 = math.cosh %v : f64
    %1 = math.acosh %0 : f64
    linalg.yield %1 : f64
  }
  return %x, %y : tensor<37xf32>, tensor<37xf64>
}
