// RUN: gpu-opt %s --pass-pipeline='builtin.module(func.func(tessera-expand-tensor-ops))' | FileCheck %s

// CHECK-LABEL: @gather
// CHECK-SAME: (%[[S:.+]]: tensor<6x8xf32>, %[[I:.+]]: tensor<?x1xi32>)
// CHECK: %[[E:.+]] = tensor.empty(%{{.+}}) : tensor<?x8xf32>
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: outs(%[[E]]
// CHECK: %[[D0:.+]] = linalg.index 0
// CHECK: %[[D1:.+]] = linalg.index 1
// CHECK: %[[C:.+]] = tensor.extract %[[I]][%[[D0]], %{{.+}}]
// CHECK: %[[AT:.+]] = arith.index_cast %[[C]] : i32 to index
// CHECK: tensor.extract %[[S]][%[[AT]], %[[D1]]]
func.func @gather(%s: tensor<6x8xf32>, %i: tensor<?x1xi32>) -> tensor<?x8xf32> {
  %r = tensor.gather %s[%i] gather_dims([0]) : (tensor<6x8xf32>, tensor<?x1xi32>) -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}

// Each element of the result looks for its update.
// CHECK-LABEL: @scatter
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: arith.cmpi eq
// CHECK: arith.select
func.func @scatter(%s: tensor<3x8xf32>, %d: tensor<6x8xf32>, %i: tensor<3x1xindex>) -> tensor<6x8xf32> {
  %r = tensor.scatter %s into %d[%i] scatter_dims([0]) unique : (tensor<3x8xf32>, tensor<6x8xf32>, tensor<3x1xindex>) -> tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}

// CHECK-LABEL: @tosa_scatter
// CHECK-NOT: tosa.scatter
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
func.func @tosa_scatter(%a: tensor<2x5x3xf32>, %i: tensor<2x4xi32>, %s: tensor<2x4x3xf32>) -> tensor<2x5x3xf32> {
  %r = tosa.scatter %a, %i, %s : (tensor<2x5x3xf32>, tensor<2x4xi32>, tensor<2x4x3xf32>) -> tensor<2x5x3xf32>
  return %r : tensor<2x5x3xf32>
}

// CHECK-LABEL: @negative_pad
// CHECK: tensor.extract_slice %{{.+}}[1, 0] [6, 3] [1, 1]
// CHECK: tensor.pad %{{.+}} low[0, 1] high[0, 3]
func.func @negative_pad(%a: tensor<8x3xf32>, %p: f32) -> tensor<6x7xf32> {
  %r = tensor.pad %a low[-1, 1] high[-1, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %p : f32
  } : tensor<8x3xf32> to tensor<6x7xf32>
  return %r : tensor<6x7xf32>
}

// A pad without a negative amount is not changed.
// CHECK-LABEL: @pad
// CHECK-NOT: extract_slice
// CHECK: tensor.pad %{{.+}} low[0, 1] high[0, 3]
func.func @pad(%a: tensor<8x3xf32>, %p: f32) -> tensor<8x7xf32> {
  %r = tensor.pad %a low[0, 1] high[0, 3] {
  ^bb0(%i: index, %j: index):
    tensor.yield %p : f32
  } : tensor<8x3xf32> to tensor<8x7xf32>
  return %r : tensor<8x7xf32>
}

// CHECK-LABEL: @winograd
// CHECK-NOT: linalg.winograd
// CHECK: scf.for
// CHECK: linalg.matmul
func.func @winograd(%f: tensor<4x3x3x5xf32>, %o: tensor<6x6x5x4xf32>) -> tensor<6x6x5x4xf32> {
  %r = linalg.winograd_filter_transform fmr(F_4_3) ins(%f : tensor<4x3x3x5xf32>) outs(%o : tensor<6x6x5x4xf32>) -> tensor<6x6x5x4xf32>
  return %r : tensor<6x6x5x4xf32>
}
