#id = affine_map<(i, j) -> (i, j)>
func.func @bytes(%a: tensor<3x5xi8>) -> tensor<3x5xi8> {
  return %a : tensor<3x5xi8>
}
func.func @read(%a: tensor<3x5xi4>) -> tensor<3x5xi32> {
  %e = tensor.empty() : tensor<3x5xi32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<3x5xi4>) outs(%e : tensor<3x5xi32>) {
  ^bb0(%x: i4, %out: i32):
    %w = arith.extsi %x : i4 to i32
    linalg.yield %w : i32
  } -> tensor<3x5xi32>
  return %r : tensor<3x5xi32>
}
