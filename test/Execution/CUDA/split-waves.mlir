// A matmul of a few tiles more than one for each SM is two kernels, on views of lhs, of the output and of the operands
// of the epilogue.
//
// REQUIRES: can-run-cuda-sm_90a
// RUN: gpu-runner %s --target=cuda --arg=random --verify=sample --explain > %t.txt 2>&1
// RUN: FileCheck %s --input-file=%t.txt
// CHECK-DAG: schedule: rows 0 to 2047 of 2176: whole waves of tiles
// CHECK-DAG: schedule: rows 2048 to 2175 of 2176: the rest, beyond whole waves of tiles
// CHECK-DAG: {{^}}verified
#id = affine_map<(m, n) -> (m, n)>
func.func @main(%a: tensor<2176x2816xf16>, %b: tensor<2816x1984xf16>, %r: tensor<2176x1984xf16>, %col: tensor<1984xf32>, %row: tensor<2176xf32>) -> tensor<2176x1984xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2176x1984xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<2176x1984xf32>) -> tensor<2176x1984xf32>
  %c = linalg.matmul ins(%a, %b : tensor<2176x2816xf16>, tensor<2816x1984xf16>) outs(%init : tensor<2176x1984xf32>) -> tensor<2176x1984xf32>
  %o = tensor.empty() : tensor<2176x1984xf16>
  %y = linalg.generic {indexing_maps = [#id, #id, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %r, %col, %row : tensor<2176x1984xf32>, tensor<2176x1984xf16>, tensor<1984xf32>, tensor<2176xf32>) outs(%o : tensor<2176x1984xf16>) {
  ^bb0(%acc: f32, %old: f16, %bias: f32, %scale: f32, %out: f16):
    %0 = arith.mulf %acc, %scale : f32
    %1 = arith.addf %0, %bias : f32
    %2 = arith.extf %old : f16 to f32
    %3 = arith.addf %1, %2 : f32
    %v = arith.truncf %3 : f32 to f16
    linalg.yield %v : f16
  } -> tensor<2176x1984xf16>
  return %y : tensor<2176x1984xf16>
}
