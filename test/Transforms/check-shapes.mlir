// RUN: gpu-opt %s --pass-pipeline="builtin.module(func.func(tessera-check-shapes))" --split-input-file | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>

// CHECK-LABEL: func.func @add
// CHECK-SAME:    %[[A:.*]]: tensor<?x8xf32>, %[[B:.*]]: tensor<?x8xf32>
func.func @add(%a: tensor<?x8xf32>, %b: tensor<?x8xf32>) -> tensor<?x8xf32> {
  // CHECK:      %[[M:.*]] = tensor.dim %[[A]]
  // CHECK:      %[[N:.*]] = tensor.dim %[[B]]
  // CHECK:      %[[SAME:.*]] = arith.cmpi eq, %[[M]], %[[N]]
  // CHECK-NEXT: cf.assert %[[SAME]], "{{.*}}check-shapes.mlir:{{[0-9]+}}:{{[0-9]+}}: linalg.add: dimension 0 of operand 0 and dimension 0 of operand 1 must have the same size"
  // CHECK-NOT:  cf.assert
  // CHECK:      linalg.add
  %r = linalg.add ins(%a, %b : tensor<?x8xf32>, tensor<?x8xf32>) outs(%a : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// A static size and a dynamic one. The sizes of a result are those of its destination, and no op
// has a further use.

// CHECK-LABEL: func.func @matmul
// CHECK-SAME:    %[[A:.*]]: tensor<4x16xf32>, %[[B:.*]]: tensor<?x?xf32>, %[[N:.*]]: index
func.func @matmul(%a: tensor<4x16xf32>, %b: tensor<?x?xf32>, %n: index) -> tensor<4x?xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK:     linalg.fill
  // CHECK:     %[[K:.*]] = tensor.dim %[[B]], %{{.*}}
  // CHECK:     %[[SIXTEEN:.*]] = arith.constant 16 : index
  // CHECK:     %[[SAME:.*]] = arith.cmpi eq, %[[SIXTEEN]], %[[K]]
  // CHECK:     cf.assert %[[SAME]], "{{.*}}linalg.matmul: dimension 1 of operand 0 and dimension 0 of operand 1 must have the same size"
  // CHECK:     %[[COLUMNS:.*]] = tensor.dim %[[B]], %{{.*}}
  // CHECK-NOT: cf.assert
  // CHECK:     %[[EQUAL:.*]] = arith.cmpi eq, %[[COLUMNS]], %[[N]]
  // CHECK:     cf.assert %[[EQUAL]], "{{.*}}linalg.matmul: dimension 1 of operand 1 and dimension 1 of operand 2 must have the same size"
  // CHECK:     linalg.matmul
  %r = linalg.matmul ins(%a, %b : tensor<4x16xf32>, tensor<?x?xf32>) outs(%f : tensor<4x?xf32>) -> tensor<4x?xf32>
  // CHECK-NOT: tensor.dim
  // CHECK-NOT: cf.assert
  // CHECK:     return
  %s = linalg.exp ins(%r : tensor<4x?xf32>) outs(%e : tensor<4x?xf32>) -> tensor<4x?xf32>
  return %s : tensor<4x?xf32>
}

// Static sizes, and ops in a launch.

// CHECK-LABEL: func.func @none
// CHECK-NOT: cf.assert
func.func @none(%a: memref<8xf32>, %b: memref<?xf32>, %c: memref<?xf32>) {
  %c1 = arith.constant 1 : index
  linalg.exp ins(%a : memref<8xf32>) outs(%a : memref<8xf32>)
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    linalg.exp ins(%b : memref<?xf32>) outs(%c : memref<?xf32>)
    gpu.terminator
  }
  return
}
