#id = affine_map<(i, j) -> (i, j)>
func.func @op(%a: tensor<32x64xi8>) -> tensor<32x64xi4> {
  %e = tensor.empty() : tensor<32x64xi4>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<32x64xi8>) outs(%e : tensor<32x64xi4>) {
  ^bb0(%x: i8, %o: i4):
    %t = arith.trunci %x : i8 to i4
    linalg.yield %t : i4
  } -> tensor<32x64xi4>
  return %r : tensor<32x64xi4>
}
