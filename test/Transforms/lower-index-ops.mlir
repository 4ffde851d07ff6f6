// RUN: gpu-opt %s --tessera-lower-index-ops | FileCheck %s

// CHECK-LABEL: func @arithmetic
// CHECK-SAME:      %[[A:[^:]+]]: index, %[[B:[^:]+]]: index
// CHECK-DAG:     %[[C:.+]] = arith.constant 3 : index
// CHECK-DAG:     %[[SIZE:.+]] = arith.constant 64 : index
// CHECK-DAG:     %[[TRUE:.+]] = arith.constant true
// CHECK:         %[[V0:.+]] = arith.addi %[[A]], %[[B]] : index
// CHECK-NEXT:    %[[V1:.+]] = arith.ceildivsi %[[V0]], %[[C]] : index
// CHECK-NEXT:    %[[V2:.+]] = arith.floordivsi %[[V1]], %[[B]] : index
// CHECK-NEXT:    %[[V3:.+]] = arith.shrui %[[V2]], %[[SIZE]] : index
// CHECK-NEXT:    %[[V4:.+]] = arith.maxui %[[V3]], %[[A]] : index
// CHECK-NEXT:    %[[V5:.+]] = arith.cmpi slt, %[[V4]], %[[C]] : index
// CHECK-NEXT:    %[[V6:.+]] = arith.index_castui %[[V4]] : index to i32
// CHECK-NEXT:    return %[[V5]], %[[V6]], %[[TRUE]]
func.func @arithmetic(%a: index, %b: index) -> (i1, i32, i1) {
  %c = index.constant 3
  %size = index.sizeof
  %true = index.bool.constant true
  %0 = index.add %a, %b
  %1 = index.ceildivs %0, %c
  %2 = index.floordivs %1, %b
  %3 = index.shru %2, %size
  %4 = index.maxu %3, %a
  %5 = index.cmp slt(%4, %c)
  %6 = index.castu %4 : index to i32
  return %5, %6, %true : i1, i32, i1
}

// CHECK-LABEL: func @affine
// CHECK-NOT:     affine.delinearize_index
// CHECK-NOT:     affine.linearize_index
// CHECK-NOT:     affine.vector_load
// CHECK:         vector.load
// CHECK:         return
func.func @affine(%i: index, %m: memref<64xf32>) -> (index, vector<4xf32>) {
  %0:2 = affine.delinearize_index %i into (4, 16) : index, index
  %1 = affine.linearize_index [%0#1, %0#0] by (16, 4) : index
  %2 = affine.vector_load %m[%i + 3] : memref<64xf32>, vector<4xf32>
  return %1, %2 : index, vector<4xf32>
}
