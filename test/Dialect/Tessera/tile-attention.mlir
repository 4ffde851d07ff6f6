// RUN: gpu-opt %s --split-input-file --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-tile-attention --canonicalize | FileCheck %s

#q = affine_map<(h, m, n, d, e) -> (h, m, d)>
#k = affine_map<(h, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>

// A warpgroup for 64 queries each. The diagonal is in the last block alone: nothing is masked in the loop.
// The tiles of the last queries come first.

// CHECK-LABEL: func @groups
// CHECK-SAME:    %[[Q:[^:]+]]: memref<2x512x64xf16>, %[[K:[^:]+]]: memref<2x512x64xf16>, %[[V:[^:]+]]: memref<2x512x64xf16>, %[[O:[^:]+]]: memref<2x512x64xf16>
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.+]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3:.+]] = arith.constant 3 : index
// CHECK-DAG:     %[[C4:.+]] = arith.constant 4 : index
// CHECK-DAG:     %[[C128:.+]] = arith.constant 128 : index
// CHECK-DAG:     %[[HIDDEN:.+]] = arith.constant 0xFF800000 : f32
// The factor: an eighth of log2(e).
// CHECK-DAG:     %[[FACTOR:.+]] = arith.constant 0.180336878 : f32
// CHECK:         gpu.launch blocks(%[[X:[^,]+]], %[[Y:[^,]+]], %{{[^)]+}}) in (%{{.+}} = %[[C4]], %{{.+}} = %[[C2]], %{{.+}} = %[[C1]])
// CHECK-SAME:      workgroup(%[[QT:[^ ]+]] : memref<128x64xf16, #gpu.address_space<workgroup>>, %[[KT:[^ ]+]] : memref<128x64xf16, {{[^)]+}}>, %[[VT:[^ ]+]] : memref<128x64xf16, {{[^)]+}}>)
// CHECK:         %[[REVERSED:.+]] = arith.subi %[[C3]], %[[X]]
// CHECK:         %[[ROW:.+]] = arith.muli %[[REVERSED]], %[[C128]]
// CHECK:         gpu.barrier
// CHECK-NEXT:    tessera.copy %[[Q]][%[[Y]], %[[ROW]], %[[C0]]], %[[QT]][%[[C0]], %[[C0]]] shape [128, 64] in_bounds alignment 16 swizzled
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    tessera.copy %[[K]][%[[Y]], %[[LAST:.+]], %[[C0]]], %[[KT]]{{.*}} swizzled
// CHECK-NEXT:    gpu.barrier
// CHECK:         %[[NONE:.+]] = tessera.fill
// CHECK:         %[[S:.+]] = tessera.mma {{.*}}, %[[NONE]]
// CHECK:         %[[MASKED:.+]] = tessera.map %[[S]]
// CHECK:           arith.cmpi sle
// CHECK:           arith.select {{.*}} %[[HIDDEN]]
// CHECK:         tessera.reduce max %[[MASKED]] dimension 1
// CHECK:         %[[P:.+]] = tessera.convert {{.*}} -> <64x128xf16, a>
// CHECK:         scf.for {{.*}} iter_args(%[[OLD:[^ ]+]] = %{{[^,]+}}, %[[MAX:[^ ]+]] = {{.*}}, %[[SUM:[^ ]+]] = {{.*}}, %[[OLDP:[^ ]+]] = %[[P]])
// CHECK:           gpu.barrier
// CHECK-NEXT:      tessera.copy %[[K]][%[[Y]], {{.*}}, %[[KT]]
// CHECK-NEXT:      tessera.copy %[[V]][%[[Y]], {{.*}}, %[[VT]]
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      %[[A:.+]] = tessera.load %[[QT]]{{.*}} in_bounds swizzled
// CHECK-NEXT:      %[[B:.+]] = tessera.load %[[KT]]{{.*}} transpose in_bounds swizzled
// CHECK-NEXT:      %[[C:.+]] = tessera.load %[[VT]]{{.*}} in_bounds swizzled
// CHECK-NEXT:      %[[NEXT:.+]] = tessera.mma %[[A]], %[[B]], %[[NONE]]
// CHECK-NEXT:      %[[SUMS:.+]] = tessera.mma %[[OLDP]], %[[C]], %[[OLD]]
// CHECK-NOT:       scf.if
// CHECK-NEXT:      tessera.reduce max %[[NEXT]]
// CHECK:           arith.mulf {{.*}}, %[[FACTOR]] fastmath<contract>
// CHECK:           math.exp2 {{.*}} fastmath<afn>
// CHECK:           scf.yield
// CHECK:         gpu.barrier
// CHECK-NEXT:    tessera.copy %[[V]][%[[Y]], %[[C0]], %[[C0]]], %[[VT]]
// CHECK-NEXT:    gpu.barrier
// CHECK:         tessera.mma
// CHECK:         tessera.convert {{.*}} -> <64x64xf16, acc>
// CHECK-NEXT:    tessera.store {{.*}} in_bounds
func.func @groups(%q: memref<2x512x64xf16>, %k: memref<2x512x64xf16>, %v: memref<2x512x64xf16>, %o: memref<2x512x64xf16>) {
  tessera.attention ins(%q, %k, %v : memref<2x512x64xf16>, memref<2x512x64xf16>, memref<2x512x64xf16>) outs(%o : memref<2x512x64xf16>)
      maps [#q, #k, #v, #o] scale 0.125 causal 0
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, kFragment = 64, stages = 2, vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

// Single subgroups. The diagonal crosses three blocks of 64 keys: in the loop, those that have a hidden key are
// masked. The first keys and the last values have memory of their own, rows are padded, and copies and stores are
// checked, since neither 500 queries nor 600 keys fill their tiles.

// CHECK-LABEL: func @single
// CHECK:         gpu.launch
// CHECK-SAME:      workgroup(%[[QT:[^ ]+]] : memref<128x40xf16, {{[^>]+}}>>, %[[KT:[^ ]+]] : memref<64x40xf16, {{[^>]+}}>>, %[[VT:[^ ]+]] : memref<64x56xf16, {{[^>]+}}>>, %[[K0:[^ ]+]] : memref<64x40xf16, {{[^>]+}}>>, %[[V0:[^ ]+]] : memref<64x56xf16, {{[^>]+}}>>)
// CHECK:         gpu.subgroup_id
// CHECK-NOT:     in_bounds alignment
// CHECK:         tessera.copy %{{.+}}, %[[QT]]
// CHECK:         tessera.copy %{{.+}}, %[[K0]]
// CHECK:         tessera.map
// CHECK:           arith.cmpi slt
// CHECK:           arith.cmpi sle
// CHECK:         scf.for
// CHECK:           tessera.copy %{{.+}}, %[[KT]]
// CHECK-NEXT:      tessera.copy %{{.+}}, %[[VT]]
// CHECK:           %[[HIDES:.+]] = arith.cmpi sgt
// CHECK-NEXT:      scf.if %[[HIDES]]
// CHECK:             tessera.map
// CHECK:         tessera.copy %{{.+}}, %[[V0]]
// CHECK:         tessera.store
// CHECK-NOT:     in_bounds
// CHECK:         gpu.terminator
func.func @single(%q: memref<500x32xf16>, %k: memref<600x32xf16>, %v: memref<600x48xf16>, %o: memref<500x48xf16>) {
  tessera.attention ins(%q, %k, %v : memref<500x32xf16>, memref<600x32xf16>, memref<600x48xf16>) outs(%o : memref<500x48xf16>)
      maps [#q, #k, #v, #o] scale 0.125 causal 100
      schedule <workgroup = [128, 64], subgroup = [16, 64], k = 32, kFragment = 32, stages = 2, vthread = [1, 1]>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

// By default on a chip with groups of subgroups, persistent workgroups. Extents of queries and keys may be unknown; the output is of f32.

// CHECK-LABEL: func @dynamic
// CHECK:         memref.dim
// CHECK:         gpu.launch
// CHECK:         tessera.store {{.*}} : <64x64xf32, acc>, memref<128x64xf32, #gpu.address_space<workgroup>>
// CHECK:         tessera.copy {{.*}}, memref<?x64xf32>
// CHECK:         tessera.schedule = #tessera.schedule<workgroup = [128, 208], subgroup = [64, 208], k = 64, kFragment = 64, stages = 2, vthread = [1, 1], swizzle = true, persistent = 132, subgroupsPerFragment = 4, stageOutput = true>
func.func @dynamic(%q: memref<?x64xbf16>, %k: memref<?x64xbf16>, %v: memref<?x64xbf16>, %o: memref<?x64xf32>) {
  tessera.attention ins(%q, %k, %v : memref<?x64xbf16>, memref<?x64xbf16>, memref<?x64xbf16>) outs(%o : memref<?x64xf32>)
      maps [#q, #k, #v, #o] scale 0.125
  return
}

// -----

#q = affine_map<(b, h, m, n, d, e) -> (b, m, h, d)>
#k = affine_map<(b, h, m, n, d, e) -> (b, n, d)>
#v = affine_map<(b, h, m, n, d, e) -> (b, n, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, m, h, e)>

// Heads between rows and columns: a view that has them before, made before the kernel, which bulk copies can
// take. Heads share keys.

// CHECK-LABEL: func @heads_inside
// CHECK-SAME:    %[[Q:[^:]+]]: memref<2x128x4x64xf16>, %[[K:[^:]+]]: memref<2x128x64xf16>
// CHECK:         %[[QV:.+]] = memref.transpose %[[Q]] (d0, d1, d2, d3) -> (d0, d2, d1, d3)
// CHECK:         %[[OV:.+]] = memref.transpose %{{.+}} (d0, d1, d2, d3) -> (d0, d2, d1, d3)
// CHECK:         gpu.launch
// CHECK:         %[[H:.+]] = arith.remui %[[Y:.+]], %c4
// CHECK:         %[[B:.+]] = arith.divui %[[Y]], %c4
// CHECK:         tessera.copy %[[QV]][%[[B]], %[[H]],
// CHECK:         tessera.copy %[[K]][%[[B]],
// CHECK:         tessera.copy %{{.+}}, %[[OV]][%[[B]], %[[H]],
func.func @heads_inside(%q: memref<2x128x4x64xf16>, %k: memref<2x128x64xf16>, %v: memref<2x128x64xf16>, %o: memref<2x128x4x64xf16>) {
  tessera.attention ins(%q, %k, %v : memref<2x128x4x64xf16>, memref<2x128x64xf16>, memref<2x128x64xf16>) outs(%o : memref<2x128x4x64xf16>)
      maps [#q, #k, #v, #o] scale 0.125
  return
}

// -----

#q = affine_map<(h, m, n, d, e) -> (h, m, d)>
#k = affine_map<(h, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>

// 132 workgroups for 48 tiles of 12 heads: one for each. A workgroup stores its output from workgroup memory, after a
// barrier, since the tile before may still be read. The first keys are copied before the queries.

// CHECK-LABEL: func @persistent
// CHECK-SAME:    %[[Q:[^:]+]]: memref<12x512x64xf16>, %[[K:[^:]+]]: memref<12x512x64xf16>, %[[V:[^:]+]]: memref<12x512x64xf16>, %[[O:[^:]+]]: memref<12x512x64xf32>
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG:     %[[C4:.+]] = arith.constant 4 : index
// CHECK-DAG:     %[[C48:.+]] = arith.constant 48 : index
// CHECK:         gpu.launch blocks(%[[X:[^,]+]], %{{.+}}, %{{[^)]+}}) in (%{{.+}} = %[[C48]], %{{.+}} = %[[C1]], %{{.+}} = %[[C1]])
// CHECK-SAME:      %[[OT:[^ ]+]] : memref<128x64xf32, #gpu.address_space<workgroup>>)
// CHECK:         scf.for %[[T:.+]] = %[[X]] to %[[C48]] step %[[C48]]
// CHECK-DAG:       arith.remui %[[T]], %[[C4]]
// CHECK-DAG:       %[[H:.+]] = arith.divui %[[T]], %[[C4]]
// CHECK:           tessera.copy %[[K]][%[[H]],
// CHECK:           tessera.copy %[[Q]][%[[H]],
// CHECK:           scf.for
// CHECK:           tessera.copy %[[V]][%[[H]], %[[C0]], %[[C0]]]
// CHECK-NEXT:      gpu.barrier
// CHECK:           tessera.mma
// CHECK:           gpu.barrier
// CHECK-NEXT:      tessera.store %{{.+}}, %[[OT]][%{{.+}}, %[[C0]]] in_bounds swizzled
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      tessera.copy %[[OT]][%[[C0]], %[[C0]]], %[[O]][%[[H]], {{.*}} shape [128, 64] in_bounds from_swizzled
func.func @persistent(%q: memref<12x512x64xf16>, %k: memref<12x512x64xf16>, %v: memref<12x512x64xf16>, %o: memref<12x512x64xf32>) {
  tessera.attention ins(%q, %k, %v : memref<12x512x64xf16>, memref<12x512x64xf16>, memref<12x512x64xf16>) outs(%o : memref<12x512x64xf32>)
      maps [#q, #k, #v, #o] scale 0.125
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, kFragment = 64, stages = 2, swizzle = true, persistent = 132, subgroupsPerFragment = 4, stageOutput = true>
  return
}

// -----

#q = affine_map<(h, m, n, d, e) -> (h, m, d)>
#k = affine_map<(h, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>

// Causal: 48 tiles from the longest to the shortest, of all heads, by five workgroups in nine rounds; the first three
// have a tenth (48 = 9 * 5 + 3), but the tenth round is in reverse order, so that it is the last three. Two of the
// blocks of a tile have hidden keys: one is before the loops, the other has a loop of its own, and the rest have no
// mask.

// CHECK-LABEL: func @causal_persistent
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG:     %[[C3:.+]] = arith.constant 3 : index
// CHECK-DAG:     %[[C4:.+]] = arith.constant 4 : index
// CHECK-DAG:     %[[C5:.+]] = arith.constant 5 : index
// CHECK-DAG:     %[[C9:.+]] = arith.constant 9 : index
// CHECK-DAG:     %[[C12:.+]] = arith.constant 12 : index
// CHECK-DAG:     %[[HIDDEN:.+]] = arith.constant 0xFF800000 : f32
// CHECK:         gpu.launch blocks(%[[X:[^,]+]], %{{.+}}, %{{[^)]+}}) in (%{{.+}} = %[[C5]],
// CHECK:         %[[REVERSED:.+]] = arith.subi %[[C4]], %[[X]]
// CHECK:         %[[MORE:.+]] = arith.cmpi ult, %[[REVERSED]], %[[C3]]
// CHECK:         %[[ONE:.+]] = arith.index_castui %[[MORE]] : i1 to index
// CHECK:         %[[ROUNDS:.+]] = arith.addi %[[ONE]], %[[C9]]
// CHECK:         scf.for %[[ROUND:.+]] = %[[C0]] to %[[ROUNDS]] step %[[C1]]
// CHECK:           %[[FIRST:.+]] = arith.muli %[[ROUND]], %[[C5]]
// CHECK:           %[[POSITION:.+]] = arith.select %{{.+}}, %{{.+}}, %[[X]]
// CHECK:           %[[T:.+]] = arith.addi %[[FIRST]], %[[POSITION]]
// CHECK-DAG:       %[[LENGTH:.+]] = arith.divui %[[T]], %[[C12]]
// CHECK-DAG:       %[[H:.+]] = arith.remui %[[T]], %[[C12]]
// CHECK:           arith.subi %[[C3]], %[[LENGTH]]
// CHECK:           arith.select
// CHECK:           scf.for
// CHECK:             arith.select {{.*}}, %[[HIDDEN]] : f32
// CHECK:             scf.yield
// CHECK:           scf.for
// CHECK-NOT:         arith.select {{.*}}, %[[HIDDEN]] : f32
// CHECK:             scf.yield
// CHECK:           tessera.store
func.func @causal_persistent(%q: memref<12x512x192xf16>, %k: memref<12x512x192xf16>, %v: memref<12x512x192xf16>, %o: memref<12x512x192xf16>) {
  tessera.attention ins(%q, %k, %v : memref<12x512x192xf16>, memref<12x512x192xf16>, memref<12x512x192xf16>) outs(%o : memref<12x512x192xf16>)
      maps [#q, #k, #v, #o] scale 0.125 causal 0
      schedule <workgroup = [128, 64], subgroup = [64, 64], k = 192, kFragment = 192, stages = 2, swizzle = true, persistent = 5, subgroupsPerFragment = 4>
  return
}

// -----

#q = affine_map<(m, n, d, e) -> (m, d)>
#k = affine_map<(m, n, d, e) -> (n, d)>
#v = affine_map<(m, n, d, e) -> (n, e)>
#o = affine_map<(m, n, d, e) -> (m, e)>

// Nothing to compute.

// CHECK-LABEL: func @empty
// CHECK-NEXT:    return
func.func @empty(%q: memref<0x64xbf16>, %k: memref<128x64xbf16>, %o: memref<0x64xbf16>) {
  tessera.attention ins(%q, %k, %k : memref<0x64xbf16>, memref<128x64xbf16>, memref<128x64xbf16>) outs(%o : memref<0x64xbf16>)
      maps [#q, #k, #v, #o] scale 0.125
  return
}

// -----

#q = affine_map<(g, h, m, n, d, e) -> (g, h, m, d)>
#k = affine_map<(g, h, m, n, d, e) -> (g, n, d)>
#v = affine_map<(g, h, m, n, d, e) -> (g, n, e)>
#o = affine_map<(g, h, m, n, d, e) -> (g, h, m, e)>

// Three queries of four heads that share keys: 12 rows of one tile, which reads keys and values once. The keys are
// divided into parts along z, of 31 or 32 blocks; a second op combines the parts.

// CHECK-LABEL: func @parts
// CHECK-SAME:    %[[Q:[^:]+]]: memref<2x4x3x64xf16>, %[[K:[^:]+]]: memref<2x8064x64xf16>, %[[V:[^:]+]]: memref<2x8064x64xf16>, %[[O:[^:]+]]: memref<2x4x3x64xf16>
// CHECK-DAG:     %[[HIDDEN:.+]] = arith.constant 0xFF800000 : f32
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.+]] = arith.constant 2 : index
// CHECK-DAG:     %[[C3I:.+]] = arith.constant 3 : i32
// CHECK-DAG:     %[[C3:.+]] = arith.constant 3 : index
// CHECK-DAG:     %[[C4:.+]] = arith.constant 4 : index
// CHECK-DAG:     %[[QV:.+]] = memref.collapse_shape %[[Q]] {{\[}}[0], [1, 2], [3]] : memref<2x4x3x64xf16> into memref<2x12x64xf16>
// CHECK-DAG:     %[[SUMS:.+]] = memref.alloc() : memref<4x2x12x64xf32>
// CHECK-DAG:     %[[STATISTICS:.+]] = memref.alloc() : memref<4x2x12x2xf32>
// CHECK:         gpu.launch blocks(%{{.+}}, %[[Y:[^,]+]], %[[PART:[^)]+]]) in (%{{.+}} = %[[C1]], %{{.+}} = %[[C2]], %{{.+}} = %[[C4]])
// The part ends at the first block of the next one.
// CHECK:         %[[END:.+]] = arith.muli %{{.+}}, %c128 : index
// CHECK:         %[[KEYS:.+]] = arith.minui %[[END]], %c8064
// CHECK:         tessera.copy %[[QV]][%[[Y]], %[[C0]], %[[C0]]]
// Row i has query i mod 3.
// CHECK:         tessera.map
// CHECK:           arith.remui %{{.+}}, %[[C3I]] : i32
// CHECK:           arith.cmpi sle
// CHECK:           arith.select {{.*}} %[[HIDDEN]]
// CHECK:         %[[LOOP:.+]]:4 = scf.for
// CHECK:         %[[LAST:.+]] = tessera.mma %[[LOOP]]#3,
// CHECK-NEXT:    tessera.store %[[LAST]], %[[SUMS]][%[[PART]], %[[Y]], %[[C0]], %[[C0]]] : <64x64xf32, acc>
// CHECK-NEXT:    tessera.store %[[LOOP]]#1, %[[STATISTICS]][%[[PART]], %[[Y]], %[[C0]], %[[C0]]] : <64x1xf32, acc>
// CHECK-NEXT:    tessera.store %[[LOOP]]#2, %[[STATISTICS]][%[[PART]], %[[Y]], %[[C0]], %[[C1]]] : <64x1xf32, acc>
// CHECK:         gpu.terminator
// CHECK-NEXT:    tessera.purpose = "attention: two matmuls and the softmax between them; keys in 4 parts, which a second kernel combines"
// CHECK:         linalg.generic {{.*}} outs(%[[O]] : memref<2x4x3x64xf16>)
// CHECK:           %[[G:.+]] = linalg.index 0
// CHECK:           %[[H:.+]] = linalg.index 1
// CHECK:           %[[FIRST:.+]] = arith.muli %[[H]], %[[C3]]
// CHECK:           %[[M:.+]] = linalg.index 2
// CHECK:           %[[ROW:.+]] = arith.addi %[[FIRST]], %[[M]]
// CHECK-COUNT-3:   arith.maximumf
// Where no part has a visible key, the largest score is minus infinity.
// CHECK:           arith.cmpf oeq, %{{.+}}, %[[HIDDEN]]
// CHECK-COUNT-4:   math.exp2
// CHECK:           arith.divf
// CHECK:         memref.dealloc %[[STATISTICS]]
// CHECK:         memref.dealloc %[[SUMS]]
func.func @parts(%q: memref<2x4x3x64xf16>, %k: memref<2x8064x64xf16>, %v: memref<2x8064x64xf16>, %o: memref<2x4x3x64xf16>) {
  tessera.attention ins(%q, %k, %v : memref<2x4x3x64xf16>, memref<2x8064x64xf16>, memref<2x8064x64xf16>) outs(%o : memref<2x4x3x64xf16>)
      maps [#q, #k, #v, #o] scale 0.125 causal 8061
      schedule <workgroup = [64, 128], subgroup = [64, 128], k = 64, kFragment = 64, stages = 2, vthread = [1, 1], swizzle = true, splitK = 4, subgroupsPerFragment = 4>
  return
}

// -----

#q = affine_map<(h, m, n, d, e) -> (h, m, d)>
#k = affine_map<(h, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>

// By default there are as many parts as SMs have work: 4 of 32 heads on 132 SMs.

// CHECK-LABEL: func @default_parts
// CHECK:         tessera.schedule = #tessera.schedule<workgroup = [64, 128], {{.*}}, splitK = 4, subgroupsPerFragment = 4>
func.func @default_parts(%q: memref<32x1x128xf16>, %k: memref<32x16384x128xf16>, %v: memref<32x16384x128xf16>, %o: memref<32x1x128xf16>) {
  tessera.attention ins(%q, %k, %v : memref<32x1x128xf16>, memref<32x16384x128xf16>, memref<32x16384x128xf16>) outs(%o : memref<32x1x128xf16>)
      maps [#q, #k, #v, #o] scale 0.125
  return
}

// -----

#q = affine_map<(h, m, n, d, e) -> (h, m, d)>
#k = affine_map<(h, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>

// As many heads as SMs, and few keys: a second kernel would take longer than it saves.

// CHECK-LABEL: func @no_parts
// CHECK:         tessera.schedule = #tessera.schedule<
// CHECK-NOT:     splitK
// CHECK-SAME:    >
func.func @no_parts(%q: memref<128x1x64xf16>, %k: memref<128x256x64xf16>, %v: memref<128x256x64xf16>, %o: memref<128x1x64xf16>) {
  tessera.attention ins(%q, %k, %v : memref<128x1x64xf16>, memref<128x256x64xf16>, memref<128x256x64xf16>) outs(%o : memref<128x1x64xf16>)
      maps [#q, #k, #v, #o] scale 0.125
  return
}

// -----

#q = affine_map<(h, m, n, d, e) -> (h, m, d)>
#k = affine_map<(h, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>

// With more keys, two parts are faster even if there are more heads than SMs.

// CHECK-LABEL: func @two_parts
// CHECK:         tessera.schedule = #tessera.schedule<{{.*}}, splitK = 2, subgroupsPerFragment = 4>
func.func @two_parts(%q: memref<256x1x128xf16>, %k: memref<256x2048x128xf16>, %v: memref<256x2048x128xf16>, %o: memref<256x1x128xf16>) {
  tessera.attention ins(%q, %k, %v : memref<256x1x128xf16>, memref<256x2048x128xf16>, memref<256x2048x128xf16>) outs(%o : memref<256x1x128xf16>)
      maps [#q, #k, #v, #o] scale 0.125
  return
}
