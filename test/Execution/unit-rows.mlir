// A matrix of one row. Its operand has more dimensions of size 1 and dynamic
// strides, so sizes and strides do not determine which dimensions a view drops.
//
// RUN: gpu-runner %s --target=cpu --arg=int:1:128x64x2 --arg=int:2:1x128x64x2 --arg=int:3:2x64x1 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=ptx -o %t.ptx
// CHECK: {{^}}verified

func.func @main(%arg0: tensor<128x64x?xbf16>, %arg1: tensor<1x128x?x?xbf16>, %arg2: tensor<?x64x1xf32>) -> (tensor<?x64x1xf32>) {
  %v7 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d3, d2, d0)>],
      iterator_types = ["parallel", "reduction", "parallel", "parallel"]}
      ins(%arg0, %arg1 : tensor<128x64x?xbf16>, tensor<1x128x?x?xbf16>) outs(%arg2 : tensor<?x64x1xf32>) attrs = {tessera.schedule = #tessera.schedule<workgroup = [64, 16], subgroup = [16, 8], k = 32, kFragment = 16, stages = 3, vthread = [1, 1]>} {
  ^bb0(%v0: bf16, %v1: bf16, %v2: f32):
    %v3 = arith.extf %v0 : bf16 to f32
    %v4 = arith.extf %v1 : bf16 to f32
    %v5 = arith.mulf %v3, %v4 : f32
    %v6 = arith.addf %v5, %v2 : f32
    linalg.yield %v6 : f32
  } -> tensor<?x64x1xf32>
  return %v7 : tensor<?x64x1xf32>
}
