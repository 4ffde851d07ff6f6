// RUN: gpu-opt %s --tessera-lower-vectors --canonicalize | FileCheck %s

// CHECK-LABEL: func @inside
// CHECK-NOT:     vector.transfer
// CHECK-COUNT-2: vector.load %{{.+}} : memref<64x64xf32>, vector<4xf32>
// CHECK:         arith.addf %{{.+}} : vector<2x4xf32>
// CHECK-COUNT-2: vector.store %{{.+}} : memref<64x64xf32>, vector<4xf32>
// CHECK-NOT:     memref.alloca
func.func @inside(%m: memref<64x64xf32>, %i: index, %j: index) {
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%i, %j], %zero {in_bounds = [true, true]} : memref<64x64xf32>, vector<2x4xf32>
  %w = arith.addf %v, %v : vector<2x4xf32>
  vector.transfer_write %w, %m[%i, %j] {in_bounds = [true, true]} : vector<2x4xf32>, memref<64x64xf32>
  return
}

// CHECK-LABEL: func @outside
// CHECK-NOT:     vector.transfer
// CHECK-COUNT-2: vector.maskedload
// CHECK-COUNT-2: vector.maskedstore
func.func @outside(%m: memref<63x61xf32>, %i: index, %j: index) {
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %m[%i, %j], %zero : memref<63x61xf32>, vector<2x4xf32>
  vector.transfer_write %v, %m[%i, %j] : vector<2x4xf32>, memref<63x61xf32>
  return
}

// Nothing to lower: the IR does not change, including the positions of constants.
// CHECK-LABEL: func @none
// CHECK:         vector.load
// CHECK-NEXT:    vector.broadcast
// CHECK-NEXT:    arith.addf
// CHECK-NEXT:    vector.store
func.func @none(%m: memref<64xf32>, %i: index, %x: f32) {
  %v = vector.load %m[%i] : memref<64xf32>, vector<4xf32>
  %s = vector.broadcast %x : f32 to vector<4xf32>
  %w = arith.addf %v, %s : vector<4xf32>
  vector.store %w, %m[%i] : memref<64xf32>, vector<4xf32>
  return
}

// Loads and stores of several dimensions, one for each row.
// CHECK-LABEL: func @memory
// CHECK-SAME:    %[[M:.+]]: memref<4x8x4xf32>, %[[I:.+]]: index
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[ONE:.+]] = arith.constant 1 : index
// CHECK:         %[[A:.+]] = vector.load %[[M]][%[[ZERO]], %[[I]], %[[ZERO]]] : memref<4x8x4xf32>, vector<4xf32>
// CHECK:         %[[B:.+]] = arith.addi %[[I]], %[[ONE]]
// CHECK:         vector.load %[[M]][%[[ZERO]], %[[B]], %[[ZERO]]] : memref<4x8x4xf32>, vector<4xf32>
// CHECK:         vector.load %[[M]][%[[ONE]], %[[I]], %[[ZERO]]] : memref<4x8x4xf32>, vector<4xf32>
// CHECK:         vector.load
// CHECK-NOT:     vector.load
// CHECK-COUNT-4: vector.store %{{.+}} : memref<4x8x4xf32>, vector<4xf32>
// CHECK-NOT:     vector.store
func.func @memory(%m: memref<4x8x4xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %v = vector.load %m[%c0, %i, %c0] : memref<4x8x4xf32>, vector<2x2x4xf32>
  %w = arith.addf %v, %v : vector<2x2x4xf32>
  vector.store %w, %m[%c0, %i, %c0] : memref<4x8x4xf32>, vector<2x2x4xf32>
  return
}
