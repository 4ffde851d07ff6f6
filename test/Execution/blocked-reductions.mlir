// RUN: gpu-runner %s --entry=relu --target=cpu --arg=random:1 --arg=random:2 --verify=sample --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --entry=residual --target=cpu:generic --arg=random:1 --arg=random:2 --arg=random:3 --arg=random:4 --verify=sample --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --entry=rounded --target=cpu --arg=random:1 --arg=random:2 --verify=sample --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --entry=continued --target=cpu:generic --arg=random:1 --arg=random:2 --arg=random:3 --verify=sample --explain 2>&1 | FileCheck %s

// K in two blocks: the sums pass from the first to the second one in the output, or in a buffer where the epilogue
// reads memory or rounds the sums.

// CHECK: terms 0 to {{[0-9]+}} of {{[0-9]+}} along K
// CHECK: terms {{[0-9]+}} to {{[0-9]+}} of {{[0-9]+}} along K
// CHECK: {{^}}verified{{$}}

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(m, n) -> (n)>
#id = affine_map<(m, n) -> (m, n)>

func.func @relu(%a: tensor<170x1601xf32>, %b: tensor<1601x1801xf32>) -> tensor<170x1801xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<170x1801xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<170x1801xf32>) -> tensor<170x1801xf32>
  %s = linalg.matmul ins(%a, %b : tensor<170x1601xf32>, tensor<1601x1801xf32>) outs(%f : tensor<170x1801xf32>) -> tensor<170x1801xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<170x1801xf32>) outs(%e : tensor<170x1801xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.maximumf %x, %zero : f32
    linalg.yield %y : f32
  } -> tensor<170x1801xf32>
  return %r : tensor<170x1801xf32>
}

func.func @residual(%a: tensor<200x1600xf32>, %b: tensor<1800x1600xf32>, %bias: tensor<1800xf32>, %old: tensor<200x1800xf32>) -> tensor<200x1800xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x1800xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<200x1800xf32>) -> tensor<200x1800xf32>
  %s = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<200x1600xf32>, tensor<1800x1600xf32>) outs(%f : tensor<200x1800xf32>) -> tensor<200x1800xf32>
  %r = linalg.generic {indexing_maps = [#id, #n, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s, %bias : tensor<200x1800xf32>, tensor<1800xf32>) outs(%old : tensor<200x1800xf32>) {
  ^bb0(%x: f32, %c: f32, %o: f32):
    %0 = arith.addf %x, %c : f32
    %y = arith.addf %0, %o : f32
    linalg.yield %y : f32
  } -> tensor<200x1800xf32>
  return %r : tensor<200x1800xf32>
}

func.func @rounded(%a: tensor<100x2100xf64>, %b: tensor<2100x700xf64>) -> tensor<100x700xf32> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<100x700xf64>
  %f = linalg.fill ins(%zero : f64) outs(%e : tensor<100x700xf64>) -> tensor<100x700xf64>
  %s = linalg.matmul ins(%a, %b : tensor<100x2100xf64>, tensor<2100x700xf64>) outs(%f : tensor<100x700xf64>) -> tensor<100x700xf64>
  %h = tensor.empty() : tensor<100x700xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%s : tensor<100x700xf64>) outs(%h : tensor<100x700xf32>) {
  ^bb0(%x: f64, %o: f32):
    %y = arith.truncf %x : f64 to f32
    linalg.yield %y : f32
  } -> tensor<100x700xf32>
  return %r : tensor<100x700xf32>
}

// The sum starts from the output's old value.
func.func @continued(%a: tensor<180x1600xf32>, %b: tensor<1600x1800xf32>, %old: tensor<180x1800xf32>) -> tensor<180x1800xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<180x1600xf32>, tensor<1600x1800xf32>) outs(%old : tensor<180x1800xf32>) -> tensor<180x1800xf32>
  return %r : tensor<180x1800xf32>
}
