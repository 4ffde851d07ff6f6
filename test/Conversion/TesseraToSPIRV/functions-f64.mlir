// Functions that GLSL.std.450 has of 16 and 32 bits alone are rejected with the
// fix, where the program has them.

// RUN: split-file %s %t
// RUN: not gpu-runner %t/exp.mlir --target=vulkan:nvidia-hopper --emit=spirv -o %t.spv 2>&1 | FileCheck %s --check-prefix=EXP
// EXP: exp.mlir:2:8: error: SPIR-V does not support math.exp of f64; compute it in f32
// RUN: not gpu-runner %t/sine.mlir --target=vulkan:nvidia-hopper --emit=spirv -o %t.spv 2>&1 | FileCheck %s --check-prefix=SINE
// SINE: sine.mlir:2:8: error: SPIR-V does not support math.sin of f64; compute it in f32
// Powers and angles become arithmetic.
// RUN: gpu-runner %t/power.mlir --target=vulkan:nvidia-hopper --emit=spirv-asm | FileCheck %s --check-prefix=POWER --implicit-check-not=Pow --implicit-check-not=Atan2
// POWER: OpFDiv %double
// Supported functions of 64 bits are kept.
// RUN: gpu-runner %t/root.mlir --target=vulkan:nvidia-hopper --emit=llvm | FileCheck %s --check-prefix=ROOT
// ROOT: spirv.GL.Sqrt {{.*}} : f64

//--- exp.mlir
func.func @main(%a: tensor<64xf64>) -> tensor<64xf64> {
  %b = math.exp %a : tensor<64xf64>
  return %b : tensor<64xf64>
}
//--- sine.mlir
func.func @main(%a: tensor<64xf64>) -> tensor<64xf64> {
  %b = math.sin %a : tensor<64xf64>
  return %b : tensor<64xf64>
}
//--- power.mlir
func.func @main(%a: tensor<64xf64>) -> tensor<64xf64> {
  %b = math.powf %a, %a : tensor<64xf64>
  %c = math.atan2 %b, %a : tensor<64xf64>
  return %c : tensor<64xf64>
}
//--- root.mlir
func.func @main(%a: tensor<64xf64>) -> tensor<64xf64> {
  %b = math.sqrt %a : tensor<64xf64>
  return %b : tensor<64xf64>
}
