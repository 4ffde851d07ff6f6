// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-map-linalg-to-simt --canonicalize --cse --split-input-file | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=generic" --tessera-map-linalg-to-simt --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=CPU

// Dimensions that lie one after the other are one. A thread for each vector of
// four, a check for the last workgroup, and one for the last vector. On the CPU a
// workgroup walks through a piece.

// CHECK-LABEL: func @fill
// CHECK-SAME:    %[[X:[a-z0-9]+]]: f32, %[[M:[a-z0-9]+]]: memref<?x48xf32>
// CHECK-DAG:     %[[C:.+]] = memref.collapse_shape %[[M]] {{\[}}[0, 1]] : memref<?x48xf32> into memref<?xf32>
// CHECK-DAG:     %[[SIZE:.+]] = memref.dim %[[C]], %c0
// CHECK:         %[[UP4:.+]] = arith.addi %[[SIZE]], %c3
// CHECK:         %[[TOTAL:.+]] = arith.divui %[[UP4]], %c4
// CHECK:         %[[UP:.+]] = arith.addi %[[TOTAL]], %c255
// CHECK:         %[[GRID:.+]] = arith.divui %[[UP]], %c256
// CHECK:         gpu.launch blocks(%[[B:.+]], %{{.+}}, %{{.+}}) in (%{{.+}} = %[[GRID]], {{.*}}) threads(%[[T:.+]], %{{.+}}, %{{.+}}) in (%{{.+}} = %c256
// CHECK:           %[[FIRST:.+]] = arith.muli %[[B]], %c256
// CHECK:           %[[L:.+]] = arith.addi %[[FIRST]], %[[T]]
// CHECK:           %[[IN:.+]] = arith.cmpi ult, %[[L]], %[[TOTAL]]
// CHECK:           scf.if %[[IN]] {
// CHECK:             %[[I:.+]] = arith.muli %[[L]], %c4
// CHECK:             %[[END:.+]] = arith.addi %[[I]], %c4
// CHECK:             %[[WHOLE:.+]] = arith.cmpi ule, %[[END]], %[[SIZE]]
// CHECK:             scf.if %[[WHOLE]]
// CHECK:               vector.store %{{.+}}, %[[C]][%[[I]]] {alignment = 16 : i64}
// CHECK:             else
// CHECK:               scf.for %[[J:.+]] = %[[I]] to %[[SIZE]]
// CHECK:                 memref.store %[[X]], %[[C]][%[[J]]]
// CHECK-NOT:     linalg.fill

// CPU-LABEL: func @fill
// CPU:         %[[C:.+]] = memref.collapse_shape
// CPU:         %[[SIZE:.+]] = memref.dim %[[C]]
// CPU:         %[[UP:.+]] = arith.addi %[[SIZE]], %c4095
// CPU:         %[[GRID:.+]] = arith.divui %[[UP]], %c4096
// CPU:         gpu.launch blocks(%{{.+}}, %[[B:.+]], %{{.+}}) in (%{{.+}} = %{{.+}}, %{{.+}} = %[[GRID]], {{.*}}) threads(%{{.+}}, %{{.+}}, %{{.+}}) in (%{{.+}} = %c1
// CPU:           %[[BEGIN:.+]] = arith.muli %[[B]], %c4096
// CPU:           %[[STOP:.+]] = arith.addi %[[BEGIN]], %c4096
// CPU:           %[[END:.+]] = arith.minui %[[STOP]], %[[SIZE]]
// CPU:           scf.for %[[I:.+]] = %[[BEGIN]] to %[[MIDDLE:.+]] step %c4
// CPU:             vector.store %{{.+}}, %[[C]][%[[I]]]
// CPU:           scf.for %[[I:.+]] = %[[MIDDLE]] to %[[END]] step %c1
// CPU:             memref.store %{{.+}}, %[[C]][%[[I]]]
func.func @fill(%x: f32, %m: memref<?x48xf32>) {
  linalg.fill ins(%x : f32) outs(%m : memref<?x48xf32>)
  return
}

// -----

// CHECK-LABEL: func @copy
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<6x5xi8, strided<[?, 2], offset: ?>>, %[[B:[a-z0-9]+]]: memref<6x5xi8>
// CHECK:         gpu.launch
// CHECK:           %[[X:.+]] = memref.load %[[A]]
// CHECK:           memref.store %[[X]], %[[B]]
// CHECK-NOT:     memref.copy
func.func @copy(%a: memref<6x5xi8, strided<[?, 2], offset: ?>>, %b: memref<6x5xi8>) {
  memref.copy %a, %b : memref<6x5xi8, strided<[?, 2], offset: ?>> to memref<6x5xi8>
  return
}

// -----

// Reductions along the dimension that runs fastest: 12 vectors use 16 lanes,
// one of which stores. A thread of the CPU reduces a whole row.

// CHECK-LABEL: func @reduction
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<64x48xf32>, %[[B:[a-z0-9]+]]: memref<64xf32>
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %c4,
// CHECK:           %[[LANE:.+]] = arith.remui %{{.+}}, %c16
// CHECK:           %[[V:.+]] = scf.for %[[S:.+]] = %[[LANE]] to %c12 step %c16 iter_args(%[[ACC:.+]] = %{{.+}}) -> (vector<4xf32>)
// CHECK:             %[[J:.+]] = arith.muli %[[S]], %c4
// CHECK:             %[[X:.+]] = vector.load %[[A]][%[[I:.+]], %[[J]]] {alignment = 16 : i64}
// CHECK:             %[[NEXT:.+]] = arith.addf %[[ACC]], %[[X]]
// CHECK:             scf.yield %[[NEXT]]
// CHECK-COUNT-2:   arith.addf
// CHECK:           %[[SUM:.+]] = gpu.subgroup_reduce add %{{.+}} uniform cluster(size = 16) : (f32) -> f32
// CHECK:           %[[FIRST:.+]] = arith.cmpi eq, %[[LANE]], %c0
// CHECK:           scf.if %[[FIRST]]
// CHECK:             %[[OLD:.+]] = memref.load %[[B]][%[[I]]]
// CHECK:             %[[NEW:.+]] = arith.addf %[[OLD]], %[[SUM]]
// CHECK:             memref.store %[[NEW]], %[[B]][%[[I]]]
// CPU-LABEL: func @reduction
// CPU:         scf.for %[[I:.+]] = %c0 to %c64
// CPU:           scf.for %{{.+}} = %c0 to %c3 step %c1
// CPU-COUNT-4:     vector.load %{{.+}}[%[[I]], %{{.+}}]
// CPU-COUNT-5:   arith.addf
// CPU:           memref.store %{{.+}}, %{{.+}}[%[[I]]]
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

// To a single value: subgroups, whose values meet in workgroup memory.

// CHECK-LABEL: func @everything
// CHECK:         gpu.launch {{.*}} workgroup(%[[W:.+]] : memref<8xf32, #gpu.address_space<workgroup>>)
// CHECK:           %[[MINE:.+]] = gpu.subgroup_reduce maximumf
// CHECK:           memref.store %[[MINE]], %[[W]]
// CHECK:           gpu.barrier
// CHECK:           %[[OTHER:.+]] = memref.load %[[W]]
// CHECK:           arith.maximumf %[[MINE]], %[[OTHER]]
// CHECK:           memref.load %{{.+}}[] : memref<f32>
// CHECK:           memref.store %{{.+}}, %{{.+}}[] : memref<f32>
// CPU-LABEL: func @everything
// CPU:         gpu.launch
// CPU-NEXT:      scf.for %{{.+}} = %c0 to %c192
func.func @everything(%a: memref<64x48xf32>, %b: memref<f32>) {
  linalg.reduce {arith.maximumf} ins(%a : memref<64x48xf32>) outs(%b : memref<f32>) dimensions = [0, 1]
  return
}

// -----

// A long reduction: several workgroups, whose number depends on the size, and a
// second kernel that combines their parts. The last one has the remainder.

// CHECK-LABEL: func @long
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<?xf32>, %[[B:[a-z0-9]+]]: memref<f32>
// CHECK:         %[[N:.+]] = arith.maxui
// CHECK:         %[[P:.+]] = memref.alloc(%[[N]]) : memref<?x1xf32>
// CHECK:         gpu.launch blocks(%{{.+}}, %[[PART:.+]], %{{.+}}) in (%{{.+}} = %c1, %{{.+}} = %[[N]],
// CHECK:           gpu.subgroup_reduce add
// CHECK:           memref.store %{{.+}}, %[[P]][%[[PART]], %{{.+}}]
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %c1, %{{.+}} = %c1,
// CHECK:           gpu.subgroup_reduce add
// CHECK:           memref.store %{{.+}}, %[[B]][]
// CHECK:         memref.dealloc %[[P]]
// CHECK-NOT:     gpu.launch
func.func @long(%a: memref<?xf32>, %b: memref<f32>) {
  linalg.reduce {arith.addf} ins(%a : memref<?xf32>) outs(%b : memref<f32>) dimensions = [0]
  return
}

// -----

// Along another dimension than the one that runs fastest: vectors of results,
// the rows of threads share the reduction. Four vectors are loaded before the
// first is used.

// CHECK-LABEL: func @columns
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<256x1024xf32>, %[[B:[a-z0-9]+]]: memref<1024xf32>
// CHECK:         gpu.launch {{.*}} workgroup(%[[W:.+]] : memref<8x128xf32, #gpu.address_space<workgroup>>)
// CHECK-DAG:       %[[COLUMN:.+]] = arith.remui %{{.+}}, %c32
// CHECK-DAG:       %[[ROW:.+]] = arith.divui %{{.+}}, %c32
// CHECK:           scf.for %[[I:.+]] = %c0 to %c256 step %c32 {{.*}} -> (vector<4xf32>)
// CHECK:             %[[FIRST:.+]] = arith.addi %[[ROW]], %[[I]]
// CHECK:             vector.load %[[A]][%[[FIRST]], %{{.+}}] {alignment = 16 : i64}
// CHECK-NOT:         arith.addf
// CHECK-COUNT-3:     vector.load %[[A]][%{{.+}}, %{{.+}}] {alignment = 16 : i64}
// CHECK-COUNT-4:     arith.addf
// CHECK:           gpu.barrier
// CHECK-COUNT-7:   vector.load %[[W]]
// CHECK:           vector.store %{{.+}}, %[[B]]
func.func @columns(%a: memref<256x1024xf32>, %b: memref<1024xf32>) {
  linalg.reduce {arith.addf} ins(%a : memref<256x1024xf32>) outs(%b : memref<1024xf32>) dimensions = [0]
  return
}

// -----

// A combiner without a known reduction is a loop in the thread, with the
// outputs in registers.

// CHECK-LABEL: func @own
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<64x48xf32>, %[[B:[a-z0-9]+]]: memref<64xf32>
// CHECK:         gpu.launch
// CHECK:           %[[OLD:.+]] = memref.load %[[B]][%[[I:.+]]]
// CHECK:           %[[SUM:.+]] = scf.for %[[J:.+]] = %c0 to %c48 step %c1 iter_args(%[[ACC:.+]] = %[[OLD]])
// CHECK:             %[[X:.+]] = memref.load %[[A]][%[[I]], %[[J]]]
// CHECK:             %[[NEXT:.+]] = arith.divf %[[ACC]], %[[X]]
// CHECK:             scf.yield %[[NEXT]]
// CHECK:           memref.store %[[SUM]], %[[B]][%[[I]]]
func.func @own(%a: memref<64x48xf32>, %b: memref<64xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                  iterator_types = ["parallel", "reduction"]}
      ins(%a : memref<64x48xf32>) outs(%b : memref<64xf32>) {
  ^bb0(%x: f32, %acc: f32):
    %s = arith.divf %acc, %x : f32
    linalg.yield %s : f32
  }
  return
}

// -----

// A transposition, by tiles in workgroup memory: both memories are walked
// through along the dimension that runs fastest in them.

// CHECK-LABEL: func @transpose
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<64x48xf32>, %[[B:[a-z0-9]+]]: memref<48x64xf32>
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %c4, {{.*}} workgroup(%[[W:.+]] : memref<32x33xf32, #gpu.address_space<workgroup>>)
// CHECK-DAG:       %[[COLUMN:.+]] = arith.remui %{{.+}}, %c32
// CHECK-DAG:       %[[ROW:.+]] = arith.divui %{{.+}}, %c32
// CHECK:           %[[X:.+]] = memref.load %[[A]]
// CHECK:           memref.store %[[X]], %[[W]][%[[ROW]], %[[COLUMN]]]
// CHECK:           gpu.barrier
// CHECK:           %[[Y:.+]] = memref.load %[[W]][%[[COLUMN]], %[[ROW]]]
// CHECK:           memref.store %[[Y]], %[[B]]
func.func @transpose(%a: memref<64x48xf32>, %b: memref<48x64xf32>) {
  linalg.transpose ins(%a : memref<64x48xf32>) outs(%b : memref<48x64xf32>) permutation = [1, 0]
  return
}

// -----

// Sums of indices, and indices in the body.

// CHECK-LABEL: func @convolution
// CHECK-SAME:    %[[A:[a-z0-9]+]]: memref<66xf32>, %[[W:[a-z0-9]+]]: memref<3xf32>, %[[C:[a-z0-9]+]]: memref<64xf32>
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
// CHECK-DAG:       %[[FIRST:.+]] = arith.muli %[[J]], %c4
// CHECK:           %[[S:.+]] = arith.addi %{{.+}}, %{{.+}} : vector<4xindex>
// CHECK:           arith.index_cast %{{.+}} : vector<4xindex> to vector<4xi32>
// CHECK:           vector.store %{{.+}}, %{{.+}}[%[[I]], %[[FIRST]]]
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
// CHECK:         %[[R:.+]]:2 = scf.for {{.*}} -> (vector<4xf32>, vector<4xf32>)
// CHECK:         gpu.subgroup_reduce add
// CHECK:         gpu.subgroup_reduce maximumf
// CHECK:         memref.load %[[B:.+]][%[[I:.+]]]
// CHECK:         memref.store %{{.+}}, %[[B]][%[[I]]]
// CHECK:         memref.load %[[C:.+]][%[[I]]]
// CHECK:         memref.store %{{.+}}, %[[C]][%[[I]]]
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

// -----

// A copy from unaligned rows to rows that are aligned to 16 bytes: the latter
// are written with wide accesses, the former are read in pieces. The launch
// states the purpose of the copy.

// CHECK-LABEL: func @pad_rows
// CHECK:         vector.load %{{.+}} {alignment = 2 : i64} : memref<64x45xf16>, vector<8xf16>
// CHECK:         vector.store %{{.+}} {alignment = 16 : i64} : memref<64x45xf16, strided<[48, 1]>>, vector<8xf16>
// CHECK:         {tessera.packing = "for a test"}

// CPU-LABEL: func @pad_rows
// CPU:         {tessera.packing = "for a test"}
func.func @pad_rows(%a: memref<64x45xf16>, %b: memref<64x45xf16, strided<[48, 1]>>) {
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                  iterator_types = ["parallel", "parallel"]}
      ins(%a : memref<64x45xf16>) outs(%b : memref<64x45xf16, strided<[48, 1]>>) attrs = {tessera.packing = "for a test"} {
  ^bb0(%x: f16, %out: f16):
    linalg.yield %x : f16
  }
  return
}

// A reduction begins with the value that its output is filled with.
// CHECK-LABEL: func.func @filled
// CHECK-SAME:      %{{.+}}: memref<8x64xf32>, %[[START:[a-z0-9]+]]: f32
// CHECK-COUNT-1: gpu.launch
// CHECK:           arith.addf %[[START]], %
// CHECK:           gpu.terminator
// CHECK-NOT:     gpu.launch
// CHECK:         return
func.func @filled(%in: memref<8x64xf32>, %start: f32) -> memref<8xf32> {
  %out = memref.alloc() : memref<8xf32>
  linalg.fill ins(%start : f32) outs(%out : memref<8xf32>)
  linalg.reduce { arith.addf } ins(%in : memref<8x64xf32>) outs(%out : memref<8xf32>) dimensions = [1]
  return %out : memref<8xf32>
}

// The fill stays where something reads the memory before the reduction, also
// through a view, where the reduction reads it, and where it is an argument.
// CHECK-LABEL: func.func @read
// CHECK-COUNT-3: gpu.launch
// CHECK-LABEL: func.func @other
// CHECK-COUNT-2: gpu.launch
// CHECK-LABEL: func.func @argument
// CHECK-COUNT-2: gpu.launch
func.func @read(%in: memref<8x64xf32>, %start: f32, %copy: memref<2x4xf32>) -> memref<8xf32> {
  %out = memref.alloc() : memref<8xf32>
  %view = memref.expand_shape %out [[0, 1]] output_shape [2, 4] : memref<8xf32> into memref<2x4xf32>
  linalg.fill ins(%start : f32) outs(%out : memref<8xf32>)
  linalg.copy ins(%view : memref<2x4xf32>) outs(%copy : memref<2x4xf32>)
  linalg.reduce { arith.addf } ins(%in : memref<8x64xf32>) outs(%out : memref<8xf32>) dimensions = [1]
  return %out : memref<8xf32>
}
func.func @other(%in: memref<8x64xf32>, %start: f32) -> memref<8xf32> {
  %out = memref.alloc() : memref<8xf32>
  linalg.fill ins(%start : f32) outs(%out : memref<8xf32>)
  linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%in, %out : memref<8x64xf32>, memref<8xf32>) outs(%out : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  }
  return %out : memref<8xf32>
}
func.func @argument(%in: memref<8x64xf32>, %out: memref<8xf32>, %start: f32) {
  linalg.fill ins(%start : f32) outs(%out : memref<8xf32>)
  linalg.reduce { arith.addf } ins(%in : memref<8x64xf32>) outs(%out : memref<8xf32>) dimensions = [1]
  return
}
