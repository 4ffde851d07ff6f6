// Sizes of results are those of their outputs, and the patterns that make sizes come to an end.
//
// RUN: gpu-opt %s --tessera-fuse-elementwise | FileCheck %s

// CHECK-LABEL: func @main
// CHECK:         return
func.func @main(%arg0: tensor<?x7x9xi8>, %arg1: tensor<17x?x?xi8>, %arg2: tensor<i8>) -> (tensor<?x?xf32>) {
  %c0 = arith.constant 1 : index
  %c1 = arith.constant 2 : index
  %c2 = arith.constant 0 : i32
  %c3 = arith.constant 0 : index
  %c4 = arith.constant 0.0 : f32
  %c5 = arith.constant -19.0 : f32
  %c6 = arith.constant 20.0 : f32
  %v0 = tensor.dim %arg0, %c0 : tensor<?x7x9xi8>
  %v1 = tensor.dim %arg1, %c1 : tensor<17x?x?xi8>
  %v2 = tensor.empty(%v0, %v1) : tensor<?x?xi32>
  %v3 = linalg.fill ins(%c2 : i32) outs(%v2 : tensor<?x?xi32>) -> tensor<?x?xi32>
  %v11 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>, affine_map<(d0, d1, d2, d3) -> (d1, d2)>],
      iterator_types = ["reduction", "parallel", "parallel", "reduction"]}
      ins(%arg0, %arg1 : tensor<?x7x9xi8>, tensor<17x?x?xi8>) outs(%v3 : tensor<?x?xi32>) {
  ^bb0(%v4: i8, %v5: i8, %v6: i32):
    %v7 = arith.extsi %v4 : i8 to i32
    %v8 = arith.extui %v5 : i8 to i32
    %v9 = arith.muli %v7, %v8 : i32
    %v10 = arith.addi %v6, %v9 : i32
    linalg.yield %v10 : i32
  } -> tensor<?x?xi32>
  %v12 = tensor.dim %v11, %c3 : tensor<?x?xi32>
  %v13 = tensor.dim %v11, %c0 : tensor<?x?xi32>
  %v14 = tensor.empty(%v12, %v13) : tensor<?x?xf32>
  %v21 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%v11, %arg2 : tensor<?x?xi32>, tensor<i8>) outs(%v14 : tensor<?x?xf32>) {
  ^bb0(%v15: i32, %v16: i8, %v17: f32):
    %v18 = arith.extsi %v16 : i8 to i32
    %v19 = arith.subi %v15, %v18 : i32
    %v20 = arith.sitofp %v19 : i32 to f32
    linalg.yield %v20 : f32
  } -> tensor<?x?xf32>
  %v22 = tensor.dim %v21, %c3 : tensor<?x?xf32>
  %v23 = tensor.empty(%v22) : tensor<?xf32>
  %v24 = linalg.fill ins(%c4 : f32) outs(%v23 : tensor<?xf32>) -> tensor<?xf32>
  %v28 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%v21 : tensor<?x?xf32>) outs(%v24 : tensor<?xf32>) {
  ^bb0(%v25: f32, %v26: f32):
    %v27 = arith.addf %v26, %v25 : f32
    linalg.yield %v27 : f32
  } -> tensor<?xf32>
  %v29 = tensor.dim %v28, %c3 : tensor<?xf32>
  %v30 = tensor.empty(%v29) : tensor<?xf32>
  %v35 = linalg.generic {
      indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
      iterator_types = ["parallel"]}
      ins(%v28 : tensor<?xf32>) outs(%v30 : tensor<?xf32>) {
  ^bb0(%v31: f32, %v32: f32):
    %v33 = arith.maximumf %v31, %c5 : f32
    %v34 = arith.minimumf %v33, %c6 : f32
    linalg.yield %v34 : f32
  } -> tensor<?xf32>
  %v36 = tensor.dim %v21, %c3 : tensor<?x?xf32>
  %v37 = tensor.dim %v21, %c0 : tensor<?x?xf32>
  %v38 = tensor.empty(%v36, %v37) : tensor<?x?xf32>
  %v43 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%v21, %v35 : tensor<?x?xf32>, tensor<?xf32>) outs(%v38 : tensor<?x?xf32>) {
  ^bb0(%v39: f32, %v40: f32, %v41: f32):
    %v42 = arith.maximumf %v39, %v40 : f32
    linalg.yield %v42 : f32
  } -> tensor<?x?xf32>
  %v44 = tensor.dim %v43, %c3 : tensor<?x?xf32>
  %v45 = tensor.empty(%v44) : tensor<?xf32>
  %v46 = linalg.fill ins(%c4 : f32) outs(%v45 : tensor<?xf32>) -> tensor<?xf32>
  %v50 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%v43 : tensor<?x?xf32>) outs(%v46 : tensor<?xf32>) {
  ^bb0(%v47: f32, %v48: f32):
    %v49 = arith.addf %v48, %v47 : f32
    linalg.yield %v49 : f32
  } -> tensor<?xf32>
  %v51 = tensor.dim %v43, %c3 : tensor<?x?xf32>
  %v52 = tensor.dim %v43, %c0 : tensor<?x?xf32>
  %v53 = tensor.empty(%v51, %v52) : tensor<?x?xf32>
  %v58 = linalg.generic {
      indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%v43, %v50 : tensor<?x?xf32>, tensor<?xf32>) outs(%v53 : tensor<?x?xf32>) {
  ^bb0(%v54: f32, %v55: f32, %v56: f32):
    %v57 = arith.subf %v54, %v55 : f32
    linalg.yield %v57 : f32
  } -> tensor<?x?xf32>
  return %v58 : tensor<?x?xf32>
}

// CHECK-LABEL: func @known_size
// CHECK:         linalg.generic
// CHECK-NOT:     linalg.{{generic|transpose|broadcast}}
// CHECK:         return
func.func @known_size(%x: tensor<16xf16>) -> tensor<16x?xf16> {
  %size = arith.constant 6 : index
  %e = tensor.empty() : tensor<16xf16>
  %t = linalg.transpose ins(%x : tensor<16xf16>) outs(%e : tensor<16xf16>) permutation = [0]
  %f = tensor.empty(%size) : tensor<16x?xf16>
  %b = linalg.broadcast ins(%t : tensor<16xf16>) outs(%f : tensor<16x?xf16>) dimensions = [1]
  return %b : tensor<16x?xf16>
}
