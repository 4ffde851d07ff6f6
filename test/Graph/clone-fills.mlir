// RUN: gpu-opt %s --pass-pipeline="builtin.module(func.func(tessera-clone-fills))" | FileCheck %s

// A fill for each destination; a use as an input keeps the first.
// CHECK-LABEL: func.func @two
// CHECK:         %[[ZEROS:.+]] = linalg.fill
// CHECK:         %[[A:.+]] = linalg.fill
// CHECK:         linalg.reduce {{.*}} outs(%[[A]] :
// CHECK:         %[[B:.+]] = linalg.fill
// CHECK:         linalg.reduce {{.*}} outs(%[[B]] :
// CHECK:         linalg.exp ins(%[[ZEROS]] :
// CHECK-NOT:     linalg.fill
// CHECK:         return
func.func @two(%x: tensor<8x4xf32>, %y: tensor<8x4xf32>, %e: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<8xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
  %b = linalg.reduce { arith.addf } ins(%y : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
  %c = linalg.exp ins(%zeros : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %a, %b, %c : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// One use, and a destination that is not empty, stay.
// CHECK-LABEL: func.func @one
// CHECK-COUNT-1: linalg.fill
// CHECK-NOT:     linalg.fill
func.func @one(%x: tensor<8x4xf32>, %e: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = arith.constant 0.0 : f32
  %zeros = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %a = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
  %b = linalg.reduce { arith.addf } ins(%x : tensor<8x4xf32>) outs(%zeros : tensor<8xf32>) dimensions = [1]
  return %a, %b : tensor<8xf32>, tensor<8xf32>
}
