// 05: batches, transpositions, odd sizes and sizes known only at run time.
//
// No shape needs padding, and no layout a copy. Tiles that extend beyond a matrix
// read zeros there and write nothing; a transposed operand is read in its memory
// layout, because a transposition that feeds a matmul becomes part of the
// matmul's indexing maps. The batch is one more dimension of the grid.
//
//     gpu-runner examples/05-batched-unaligned.mlir --verify
//     gpu-runner examples/05-batched-unaligned.mlir --verify --entry=transposed
//     gpu-runner examples/05-batched-unaligned.mlir --verify --entry=dynamic \
//         --arg=int:77x45 --arg=int:45x131 --arg=int:131x
//     gpu-runner examples/05-batched-unaligned.mlir --verify --entry=vector
//
// RUN: gpu-runner %s --verify | FileCheck %s
// RUN: gpu-runner %s --verify --entry=transposed | FileCheck %s
// RUN: gpu-runner %s --verify --entry=dynamic --arg=int:77x45 --arg=int:45x131 --arg=int:131x | FileCheck %s
// RUN: gpu-runner %s --verify --entry=vector | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=transposed | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic --arg=int:77x45 --arg=int:45x131 --arg=int:131x | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=vector | FileCheck %s
// CHECK: {{^}}verified

// No size here is a multiple of a tile's.
func.func @main(%a: tensor<3x67x45xf16>, %b: tensor<3x45x131xf16>) -> tensor<3x67x131xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3x67x131xf32>
  %init = linalg.fill ins(%zero : f32)
      outs(%empty : tensor<3x67x131xf32>) -> tensor<3x67x131xf32>
  %c = linalg.batch_matmul ins(%a, %b : tensor<3x67x45xf16>, tensor<3x45x131xf16>)
      outs(%init : tensor<3x67x131xf32>) -> tensor<3x67x131xf32>
  return %c : tensor<3x67x131xf32>
}

// A is stored by columns, a separate op transposes B, and another one the
// result.
func.func @transposed(%a: tensor<48x80xf16>, %b: tensor<112x48xf16>) -> tensor<112x80xf32> {
  %zero = arith.constant 0.0 : f32
  %empty_bt = tensor.empty() : tensor<48x112xf16>
  %bt = linalg.transpose ins(%b : tensor<112x48xf16>)
      outs(%empty_bt : tensor<48x112xf16>) permutation = [1, 0]
  %empty = tensor.empty() : tensor<80x112xf32>
  %init = linalg.fill ins(%zero : f32)
      outs(%empty : tensor<80x112xf32>) -> tensor<80x112xf32>
  %c = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>,
                       affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %bt : tensor<48x80xf16>, tensor<48x112xf16>)
      outs(%init : tensor<80x112xf32>) -> tensor<80x112xf32>
  %empty_ct = tensor.empty() : tensor<112x80xf32>
  %ct = linalg.transpose ins(%c : tensor<80x112xf32>)
      outs(%empty_ct : tensor<112x80xf32>) permutation = [1, 0]
  return %ct : tensor<112x80xf32>
}

// The arguments define the sizes. The bias and relu become part of the kernel.
func.func @dynamic(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %bias: tensor<?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %c = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>)
      outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                       affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%c, %bias : tensor<?x?xf32>, tensor<?xf32>) outs(%empty : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %sum = arith.addf %x, %y : f32
    %relu = arith.maximumf %sum, %zero : f32
    linalg.yield %relu : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// A matrix and a vector: a matmul without N.
func.func @vector(%a: tensor<61x77xf32>, %x: tensor<77xf32>, %y: tensor<61xf32>) -> tensor<61xf32> {
  %r = linalg.matvec ins(%a, %x : tensor<61x77xf32>, tensor<77xf32>)
      outs(%y : tensor<61xf32>) -> tensor<61xf32>
  return %r : tensor<61xf32>
}
