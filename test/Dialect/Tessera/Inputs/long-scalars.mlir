// A schedule of which a lane would have 4,096 multiply-adds of f8 in a step.
func.func @main(%a: tensor<70x300xf8E4M3FN>, %b: tensor<20x300xf8E4M3FN>, %c: tensor<70x20xf32>) -> tensor<70x20xf32> {
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {tessera.schedule = #tessera.schedule<workgroup = [64, 16], subgroup = [64, 16], k = 256, kFragment = 64, stages = 1>}
      ins(%a, %b : tensor<70x300xf8E4M3FN>, tensor<20x300xf8E4M3FN>) outs(%c : tensor<70x20xf32>) -> tensor<70x20xf32>
  return %r : tensor<70x20xf32>
}
