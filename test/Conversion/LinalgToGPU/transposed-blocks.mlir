// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=generic" --tessera-map-linalg-to-simt --canonicalize --cse --split-input-file | FileCheck %s

// A thread of a CPU reads vectors along one dimension, transposes as many as
// each has elements, and stores vectors along the other: four of f32 here, in
// pieces of 16 by 256 points.

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: func @transpose
// CHECK-DAG:     %[[c2:.*]] = arith.constant 2 : index
// CHECK-DAG:     %[[c6:.*]] = arith.constant 6 : index
// CHECK:         gpu.launch blocks({{.*}}) in (%{{.*}} = %[[c6]], %{{.*}} = %[[c2]],
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK-COUNT-4:       vector.load %{{.*}} : memref<512x96xf32>, vector<4xf32>
// CHECK-COUNT-8:       vector.shuffle
// CHECK-COUNT-4:       vector.store %{{.*}} : memref<96x512xf32>, vector<4xf32>
// All blocks are whole.
// CHECK-NOT:         memref.load
// CHECK:         return
func.func @transpose(%a: memref<512x96xf32>, %out: memref<96x512xf32>) {
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<512x96xf32>) outs(%out : memref<96x512xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// Parts of blocks are computed element by element.

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: func @parts
// CHECK:         vector.shuffle
// CHECK:         memref.load
// CHECK:         memref.load
// CHECK-NOT:     vector.
// CHECK:         return
func.func @parts(%a: memref<510x97xf32>, %out: memref<97x510xf32>) {
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<510x97xf32>) outs(%out : memref<97x510xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}

// -----

// Neither are few columns transposed so, nor a body that has no vectors.

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>

// CHECK-LABEL: func @few_columns
// CHECK-NOT:     vector.shuffle
// CHECK-LABEL: func @branch
// CHECK-NOT:     vector.shuffle
func.func @few_columns(%a: memref<512x3xf32>, %out: memref<3x512xf32>) {
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<512x3xf32>) outs(%out : memref<3x512xf32>) {
  ^bb0(%x: f32, %old: f32):
    linalg.yield %x : f32
  }
  return
}
func.func @branch(%a: memref<512x96xf32>, %out: memref<96x512xf32>) {
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<512x96xf32>) outs(%out : memref<96x512xf32>) {
  ^bb0(%x: f32, %old: f32):
    %positive = arith.cmpf ogt, %x, %zero : f32
    %y = scf.if %positive -> f32 {
      %root = math.sqrt %x : f32
      scf.yield %root : f32
    } else {
      scf.yield %zero : f32
    }
    linalg.yield %y : f32
  }
  return
}
