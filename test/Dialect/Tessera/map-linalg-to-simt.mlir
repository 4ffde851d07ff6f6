// RUN: gpu-opt %s --tessera-map-linalg-to-simt="target=cuda chip=sm_80" --canonicalize --cse --split-input-file | FileCheck %s
// RUN: gpu-opt %s --tessera-map-linalg-to-simt="target=cpu chip=generic" --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=CPU

// A thread for each element, and a check for the last workgroup. On the CPU a
// workgroup walks through rows, or through a part of a long one.

// CHECK-LABEL: func @fill
// CHECK-SAME:    %[[X:.+]]: f32, %[[M:.+]]: memref<?x48xf32>
// CHECK-DAG:     %[[ROWS:.+]] = memref.dim %[[M]], %c0
// CHECK-DAG:     %[[TOTAL:.+]] = arith.muli %[[ROWS]], %c48
// CHECK:         %[[UP:.+]] = arith.addi %[[TOTAL]], %c255
// CHECK:         %[[GRID:.+]] = arith.divui %[[UP]], %c256
// CHECK:         gpu.launch blocks(%[[B:.+]], %{{.+}}, %{{.+}}) in (%{{.+}} = %[[GRID]], {{.*}}) threads(%[[T:.+]], %{{.+}}, %{{.+}}) in (%{{.+}} = %c256
// CHECK:           %[[FIRST:.+]] = arith.muli %[[B]], %c256
// CHECK:           %[[L:.+]] = arith.addi %[[FIRST]], %[[T]]
// CHECK:           %[[IN:.+]] = arith.cmpi ult, %[[L]], %[[TOTAL]]
// CHECK:           scf.if %[[IN]] {
// CHECK-DAG:         %[[J:.+]] = arith.remui %[[L]], %c48
// CHECK-DAG:         %[[I:.+]] = arith.divui %[[L]], %c48
// CHECK:             memref.store %[[X]], %[[M]][%[[I]], %[[J]]]
// CHECK-NOT:     linalg.fill

// CPU-LABEL: func @fill
// CPU-DAG:     %[[ROWS:.+]] = memref.dim
// CPU-DAG:     %[[UP:.+]] = arith.addi %[[ROWS]], %c84
// CPU-DAG:     %[[GRID:.+]] = arith.divui %[[UP]], %c85
// CPU:         gpu.launch blocks(%[[B:.+]], %{{.+}}, %{{.+}}) in (%{{.+}} = %[[GRID]], {{.*}}) threads(%{{.+}}, %{{.+}}, %{{.+}}) in (%{{.+}} = %c1
// CPU:           %[[BEGIN:.+]] = arith.muli %[[B]], %c85
// CPU:           %[[STOP:.+]] = arith.addi %[[BEGIN]], %c85
// CPU:           %[[END:.+]] = arith.minui %[[STOP]], %[[ROWS]]
// CPU:           scf.for %[[I:.+]] = %[[BEGIN]] to %[[END]] step %c1
// CPU:             scf.for %[[J:.+]] = %{{.+}} to %{{.+}} step %c1
// CPU:               memref.store %{{.+}}, %{{.+}}[%[[I]], %[[J]]]
func.func @fill(%x: f32, %m: memref<?x48xf32>) {
  linalg.fill ins(%x : f32) outs(%m : memref<?x48xf32>)
  return
}

// -----

// CHECK-LABEL: func @copy
// CHECK-SAME:    %[[A:.+]]: memref<6x5xi8, strided<[?, 2], offset: ?>>, %[[B:.+]]: memref<6x5xi8>
// CHECK:         gpu.launch
// CHECK:           %[[X:.+]] = memref.load %[[A]]
// CHECK:           memref.store %[[X]], %[[B]]
// CHECK-NOT:     memref.copy
func.func @copy(%a: memref<6x5xi8, strided<[?, 2], offset: ?>>, %b: memref<6x5xi8>) {
  memref.copy %a, %b : memref<6x5xi8, strided<[?, 2], offset: ?>> to memref<6x5xi8>
  return
}

// -----

// Reductions are loops in the thread, with the outputs in registers.

// CHECK-LABEL: func @reduction
// CHECK-SAME:    %[[A:.+]]: memref<64x48xf32>, %[[B:.+]]: memref<64xf32>
// CHECK:         gpu.launch
// CHECK:           %[[OLD:.+]] = memref.load %[[B]][%[[I:.+]]]
// CHECK:           %[[SUM:.+]] = scf.for %[[J:.+]] = %c0 to %c48 step %c1 iter_args(%[[ACC:.+]] = %[[OLD]])
// CHECK:             %[[X:.+]] = memref.load %[[A]][%[[I]], %[[J]]]
// CHECK:             %[[NEXT:.+]] = arith.addf %[[ACC]], %[[X]]
// CHECK:             scf.yield %[[NEXT]]
// CHECK:           memref.store %[[SUM]], %[[B]][%[[I]]]
func.func @reduction(%a: memref<64x48xf32>, %b: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<64x48xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %s = arith.addf %acc, %x : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// To a single value: one thread.

// CHECK-LABEL: func @everything
// CHECK:         gpu.launch
// CHECK:           arith.cmpi
// CHECK:           memref.load %{{.+}}[] : memref<f32>
// CHECK:           scf.for
// CHECK:             scf.for
// CHECK:           memref.store %{{.+}}, %{{.+}}[] : memref<f32>
// CPU-LABEL: func @everything
// CPU:         gpu.launch
// CPU-NEXT:      memref.load
func.func @everything(%a: memref<64x48xf32>, %b: memref<f32>) {
  linalg.reduce {arith.maximumf} ins(%a : memref<64x48xf32>) outs(%b : memref<f32>) dimensions = [0, 1]
  return
}

// -----

// Sums of indices, and indices in the body.

// CHECK-LABEL: func @convolution
// CHECK-SAME:    %[[A:.+]]: memref<66xf32>, %[[W:.+]]: memref<3xf32>, %[[C:.+]]: memref<64xf32>
// CHECK:         scf.for %[[K:.+]] = %c0 to %c3
// CHECK:           %[[AT:.+]] = arith.addi %[[I:.+]], %[[K]]
// CHECK:           memref.load %[[A]][%[[AT]]]
// CHECK:           memref.load %[[W]][%[[K]]]
// CHECK:         memref.store %{{.+}}, %[[C]][%[[I]]]
func.func @convolution(%a: memref<66xf32>, %w: memref<3xf32>, %c: memref<64xf32>) {
  linalg.conv_1d ins(%a, %w : memref<66xf32>, memref<3xf32>) outs(%c : memref<64xf32>)
  return
}

// -----

// CHECK-LABEL: func @coordinates
// CHECK-DAG:       %[[J:.+]] = arith.remui
// CHECK-DAG:       %[[I:.+]] = arith.divui
// CHECK:           %[[S:.+]] = arith.addi %[[I]], %[[J]]
// CHECK:           arith.index_cast %[[S]]
func.func @coordinates(%c: memref<64x48xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%c : memref<64x48xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %s = arith.addi %i, %j : index
    %v = arith.index_cast %s : index to i32
    linalg.yield %v : i32
  }
  return
}

// -----

// Several outputs.

// CHECK-LABEL: func @outputs
// CHECK:         memref.load %[[B:.+]][%[[I:.+]]]
// CHECK:         memref.load %[[C:.+]][%[[I]]]
// CHECK:         %[[R:.+]]:2 = scf.for
// CHECK:         memref.store %[[R]]#0
// CHECK:         memref.store %[[R]]#1
func.func @outputs(%a: memref<64x48xf32>, %b: memref<64xf32>, %c: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                   affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<64x48xf32>) outs(%b, %c : memref<64xf32>, memref<64xf32>) {
  ^bb0(%x: f32, %acc: f32, %max: f32):
    %s = arith.addf %acc, %x : f32
    %m = arith.maximumf %max, %x : f32
    linalg.yield %s, %m : f32, f32
  }
  return
}
