// 64 lanes and a tile of 32 rows and few columns: half of the lanes replicate the other
// half, instead of each lane holding all of it, for which there are no registers.
//
// RUN: gpu-runner %s --target=cpu:emulate=gfx906 --verify --explain | FileCheck %s
// RUN: gpu-runner %s --entry=wide --target=cpu:emulate=gfx906 --verify --explain | FileCheck %s --check-prefix=WIDE
// CHECK: fma64.m32n1k1.f64.f64
// CHECK: subgroup = [32, 4]
// CHECK: {{^}}verified
// WIDE: fma64.m1n32k1.f64.f64
// WIDE: {{^}}verified
func.func @main(%a: tensor<32x24xf64>, %b: tensor<24x4xf64>) -> tensor<32x4xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<32x4xf64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<32x4xf64>) -> tensor<32x4xf64>
  %r = linalg.matmul ins(%a, %b : tensor<32x24xf64>, tensor<24x4xf64>) outs(%i : tensor<32x4xf64>) -> tensor<32x4xf64>
  return %r : tensor<32x4xf64>
}

func.func @wide(%a: tensor<4x24xf64>, %b: tensor<24x32xf64>) -> tensor<4x32xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<4x32xf64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<4x32xf64>) -> tensor<4x32xf64>
  %r = linalg.matmul ins(%a, %b : tensor<4x24xf64>, tensor<24x32xf64>) outs(%i : tensor<4x32xf64>) -> tensor<4x32xf64>
  return %r : tensor<4x32xf64>
}
