// Matmuls on the CPU whose rhs has K along its rows, as the weights of a linear
// layer have: few rows and many, parts of tiles and of vectors, several types,
// matrices of a batch, an epilogue, and rows whose number is not known. And one
// whose rhs has rows two pages apart.
//
// RUN: gpu-runner %s --target=cpu --verify --entry=few --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=many --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:generic --verify --entry=many --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=short --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=halves --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=bytes | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=doubles --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=batch --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=both --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=unknown --arg=random:19x70 --arg=random:45x70 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=copied --arg=random --explain 2>&1 | FileCheck %s --check-prefixes=CHECK,COPIED
// COPIED: copies rhs of a matmul, 150x300xf32, to rows that are aligned to {{[0-9]+}} bytes, with N contiguous
// RUN: gpu-runner %s --target=cpu --verify --entry=pages --arg=random --explain 2>&1 | FileCheck %s --check-prefixes=CHECK,PAGES
// PAGES: copies rhs of a matmul, 160x2048xf32, to rows that are aligned to {{[0-9]+}} bytes, and not to pages
// CHECK: {{^}}verified

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @few(%a: tensor<5x70xf32>, %b: tensor<37x70xf32>) -> tensor<5x37xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x37xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<5x37xf32>) -> tensor<5x37xf32>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<5x70xf32>, tensor<37x70xf32>) outs(%init : tensor<5x37xf32>) -> tensor<5x37xf32>
  return %c : tensor<5x37xf32>
}

func.func @many(%a: tensor<100x123xf32>, %b: tensor<45x123xf32>, %bias: tensor<45xf32>) -> tensor<100x45xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<100x45xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<100x45xf32>) -> tensor<100x45xf32>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<100x123xf32>, tensor<45x123xf32>) outs(%init : tensor<100x45xf32>) -> tensor<100x45xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%c, %bias : tensor<100x45xf32>, tensor<45xf32>) outs(%e : tensor<100x45xf32>) {
  ^bb0(%x: f32, %of: f32, %out: f32):
    %sum = arith.addf %x, %of : f32
    %positive = arith.maximumf %sum, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<100x45xf32>
  return %y : tensor<100x45xf32>
}

func.func @short(%a: tensor<20x3xf32>, %b: tensor<33x3xf32>) -> tensor<20x33xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<20x33xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<20x33xf32>) -> tensor<20x33xf32>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<20x3xf32>, tensor<33x3xf32>) outs(%init : tensor<20x33xf32>) -> tensor<20x33xf32>
  return %c : tensor<20x33xf32>
}

func.func @halves(%a: tensor<67x50xf16>, %b: tensor<40x50xf16>) -> tensor<67x40xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<67x40xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<67x40xf32>) -> tensor<67x40xf32>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<67x50xf16>, tensor<40x50xf16>) outs(%init : tensor<67x40xf32>) -> tensor<67x40xf32>
  return %c : tensor<67x40xf32>
}

func.func @bytes(%a: tensor<7x90xi8>, %b: tensor<40x90xi8>) -> tensor<7x40xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<7x40xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<7x40xi32>) -> tensor<7x40xi32>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<7x90xi8>, tensor<40x90xi8>) outs(%init : tensor<7x40xi32>) -> tensor<7x40xi32>
  return %c : tensor<7x40xi32>
}

func.func @doubles(%a: tensor<70x41xf64>, %b: tensor<35x41xf64>) -> tensor<70x35xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<70x35xf64>
  %init = linalg.fill ins(%zero : f64) outs(%e : tensor<70x35xf64>) -> tensor<70x35xf64>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<70x41xf64>, tensor<35x41xf64>) outs(%init : tensor<70x35xf64>) -> tensor<70x35xf64>
  return %c : tensor<70x35xf64>
}

func.func @batch(%a: tensor<3x17x33xf32>, %b: tensor<3x50x33xf32>) -> tensor<3x17x50xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x17x50xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<3x17x50xf32>) -> tensor<3x17x50xf32>
  %c = linalg.batch_matmul indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>, affine_map<(b, m, n, k) -> (b, m, n)>]
      ins(%a, %b : tensor<3x17x33xf32>, tensor<3x50x33xf32>) outs(%init : tensor<3x17x50xf32>) -> tensor<3x17x50xf32>
  return %c : tensor<3x17x50xf32>
}

func.func @both(%a: tensor<65x29xf32>, %b: tensor<44x65xf32>) -> tensor<29x44xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<29x44xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<29x44xf32>) -> tensor<29x44xf32>
  %c = linalg.matmul indexing_maps = [#km, #nk, #mn] ins(%a, %b : tensor<65x29xf32>, tensor<44x65xf32>) outs(%init : tensor<29x44xf32>) -> tensor<29x44xf32>
  return %c : tensor<29x44xf32>
}

func.func @unknown(%a: tensor<?x70xf32>, %b: tensor<45x70xf32>) -> tensor<?x45xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %rows = tensor.dim %a, %c0 : tensor<?x70xf32>
  %e = tensor.empty(%rows) : tensor<?x45xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<?x45xf32>) -> tensor<?x45xf32>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<?x70xf32>, tensor<45x70xf32>) outs(%init : tensor<?x45xf32>) -> tensor<?x45xf32>
  return %c : tensor<?x45xf32>
}

// So many rows that a copy of rhs pays.
func.func @copied(%a: tensor<200x300xf32>, %b: tensor<150x300xf32>) -> tensor<200x150xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<200x150xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<200x150xf32>) -> tensor<200x150xf32>
  %c = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<200x300xf32>, tensor<150x300xf32>) outs(%init : tensor<200x150xf32>) -> tensor<200x150xf32>
  return %c : tensor<200x150xf32>
}

func.func @pages(%a: tensor<300x160xf32>, %b: tensor<160x2048xf32>) -> tensor<300x2048xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x2048xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<300x2048xf32>) -> tensor<300x2048xf32>
  %c = linalg.matmul ins(%a, %b : tensor<300x160xf32>, tensor<160x2048xf32>) outs(%init : tensor<300x2048xf32>) -> tensor<300x2048xf32>
  return %c : tensor<300x2048xf32>
}
