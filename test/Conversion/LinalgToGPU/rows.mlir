// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-map-linalg-to-simt --canonicalize --cse --split-input-file | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=generic" --tessera-map-linalg-to-simt --canonicalize --cse --split-input-file | FileCheck %s --check-prefix=CPU

// The elements between the ops stay in registers: 256 threads have two vectors
// of eight elements each. All loads precede the first op, and only the result is
// written. The tensor between the ops is not allocated.

// CHECK-LABEL: func @registers
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<4096x4096xf16>, %[[Y:[a-z0-9]+]]: memref<4096x4096xf16>
// CHECK:         %[[RESULT:.+]] = memref.alloc() : memref<4096x4096xf16>
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %c4096, {{.*}} in (%{{.+}} = %c256
// CHECK-NOT:       scf.for
// CHECK-COUNT-2:   vector.load %[[X]]{{.*}} : memref<4096x4096xf16>, vector<8xf16>
// CHECK-NOT:       vector.load
// CHECK:           gpu.subgroup_reduce maximumf
// CHECK:           gpu.barrier
// Eight subgroups combine their values by the lanes of one.
// CHECK:           memref.load
// CHECK-NEXT:      gpu.subgroup_reduce maximumf {{.*}} cluster(size = 8)
// CHECK:           math.exp
// CHECK:           gpu.subgroup_reduce add
// CHECK:           arith.divf
// CHECK-COUNT-2:   vector.store {{.*}} : memref<4096x4096xf16>, vector<8xf16>
// CHECK-NOT:       store
// CHECK:           gpu.terminator

// A thread of the CPU has no registers for a row.
// CPU-LABEL: func @registers
// CPU-COUNT-2: memref.alloc() : memref<4096x4096xf{{16|32}}>
// CPU:         gpu.launch
// CPU:           vector.store {{.*}}xf32>
// CPU:           vector.store {{.*}}xf16>

#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
func.func @registers(%x: memref<4096x4096xf16>, %y: memref<4096x4096xf16>) {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %max = memref.alloc() : memref<4096xf32>
  %sum = memref.alloc() : memref<4096xf32>
  %e = memref.alloc() : memref<4096x4096xf32>
  %r = memref.alloc() : memref<4096x4096xf16>
  linalg.fill ins(%low : f32) outs(%max : memref<4096xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4096x4096xf16>) outs(%max : memref<4096xf32>) {
  ^bb0(%a: f16, %out: f32):
    %w = arith.extf %a : f16 to f32
    %s = arith.maximumf %out, %w : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : memref<4096x4096xf16>, memref<4096xf32>) outs(%e : memref<4096x4096xf32>) {
  ^bb0(%a: f16, %m: f32, %out: f32):
    %w = arith.extf %a : f16 to f32
    %d = arith.subf %w, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<4096xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<4096x4096xf32>) outs(%sum : memref<4096xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<4096x4096xf32>, memref<4096xf32>) outs(%r : memref<4096x4096xf16>) {
  ^bb0(%a: f32, %m: f32, %out: f16):
    %d = arith.divf %a, %m : f32
    %n = arith.truncf %d : f32 to f16
    linalg.yield %n : f16
  }
  memref.dealloc %max : memref<4096xf32>
  memref.dealloc %sum : memref<4096xf32>
  memref.dealloc %e : memref<4096x4096xf32>
  memref.copy %r, %y : memref<4096x4096xf16> to memref<4096x4096xf16>
  return
}

// -----

// Longer rows, which begin anywhere: a workgroup of 1024 threads, each of which
// loads 16 elements before it uses the first. The second loop computes anew what
// the sum needed, so that only the result is written. Vectors are aligned in
// each row: up to three elements before the first one and after the last one are
// for one thread each.

// CHECK-LABEL: func @again
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<128x50257xf16>
// CHECK:         %[[R:.+]] = memref.alloc() : memref<128x50257xf16>
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch {{.*}} in (%{{.+}} = %c128, {{.*}} in (%{{.+}} = %c1024
// CHECK:           %[[LANE:.+]] = arith.remui %{{.+}}, %c1024
// CHECK:           %[[ROW:.+]] = arith.addi
// CHECK:           %[[NEXT:.+]] = arith.addi %[[ROW]], %c1
// CHECK:           %[[END:.+]] = arith.muli %[[NEXT]], %c50257
// CHECK:           %[[TAIL:.+]] = arith.remui %[[END]], %c4
// CHECK:           %[[BEGIN:.+]] = arith.muli %[[ROW]], %c50257
// CHECK:           %[[OFFSET:.+]] = arith.remui %[[BEGIN]], %c4
// CHECK:           %[[REST:.+]] = arith.subi %c4, %[[OFFSET]]
// CHECK:           %[[HEAD:.+]] = arith.remui %[[REST]], %c4
// CHECK:           %[[LAST:.+]] = arith.subi %c50253, %[[TAIL]]
// CHECK:           %[[COUNT:.+]] = arith.addi %[[HEAD]], %[[TAIL]]
// CHECK:           %[[ISEDGE:.+]] = arith.cmpi ult, %[[LANE]], %[[COUNT]]
// CHECK:           %[[ISHEAD:.+]] = arith.cmpi ult, %[[LANE]], %[[HEAD]]
// CHECK:           %[[COLUMN:.+]] = arith.select %[[ISHEAD]], %[[LANE]]
// CHECK:           %[[EDGE:.+]] = memref.load %[[X]][%[[ROW]], %[[COLUMN]]]
// CHECK:           %[[OWN:.+]] = arith.muli %[[LANE]], %c4
// CHECK:           %[[FIRST:.+]] = arith.addi %[[HEAD]], %[[OWN]]
// CHECK:           scf.for
// CHECK:             arith.addi %{{.+}}, %[[FIRST]]
// CHECK-COUNT-4:     vector.load %[[X]]{{.*}} {alignment = 8 : i64} : memref<128x50257xf16>, vector<4xf16>
// CHECK-NOT:         {{(vector|memref)}}.load
// CHECK:             arith.addf
// CHECK:             scf.yield
// The last chunk ends within the workgroup's columns: the other threads load the
// last vector, and leave it out.
// CHECK:           %[[IN:.+]] = arith.cmpi ult, %{{.+}}, %c50254
// CHECK:           arith.minui %{{.+}}, %[[LAST]]
// CHECK:           vector.load
// CHECK-NOT:       {{(vector|memref)}}.load
// CHECK:           %[[ALL:.+]] = vector.broadcast %[[IN]]
// CHECK:           arith.select %[[ALL]]
// CHECK:           %[[WIDE:.+]] = arith.extf %[[EDGE]]
// CHECK:           %[[WITH:.+]] = arith.addf %[[SUM:.+]], %[[WIDE]]
// CHECK:           arith.select %[[ISEDGE]], %[[WITH]], %[[SUM]]
// CHECK:           gpu.subgroup_reduce add
// CHECK:           scf.for
// CHECK-COUNT-4:     vector.load
// CHECK:             arith.divf
// CHECK-COUNT-4:     vector.store {{.*}} {alignment = 8 : i64} : memref<128x50257xf16>, vector<4xf16>
// CHECK:           scf.if
// CHECK:             vector.store
// CHECK:           scf.if %[[ISEDGE]]
// CHECK:             memref.store %{{.+}}, %[[R]][%[[ROW]], %[[COLUMN]]]
// CHECK-NOT:       memref<128x50257xf32>

// Unaligned accesses are as fast on the CPU, whose threads compute whole rows.
// CPU-LABEL: func @again
// CPU:         gpu.launch
// CPU-NOT:     arith.remui
// CPU:         gpu.terminator

#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
func.func @again(%x: memref<128x50257xf16>, %y: memref<128x50257xf16>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<128xf32>
  %e = memref.alloc() : memref<128x50257xf32>
  %r = memref.alloc() : memref<128x50257xf16>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<128x50257xf16>) outs(%e : memref<128x50257xf32>) {
  ^bb0(%a: f16, %out: f32):
    %w = arith.extf %a : f16 to f32
    linalg.yield %w : f32
  }
  linalg.fill ins(%zero : f32) outs(%sum : memref<128xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%e : memref<128x50257xf32>) outs(%sum : memref<128xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%e, %sum : memref<128x50257xf32>, memref<128xf32>) outs(%r : memref<128x50257xf16>) {
  ^bb0(%a: f32, %m: f32, %out: f16):
    %d = arith.divf %a, %m : f32
    %n = arith.truncf %d : f32 to f16
    linalg.yield %n : f16
  }
  memref.dealloc %sum : memref<128xf32>
  memref.dealloc %e : memref<128x50257xf32>
  memref.copy %r, %y : memref<128x50257xf16> to memref<128x50257xf16>
  return
}

// -----

// Another operand of the columns alone has no alignment that depends on the row:
// its vectors are as aligned as an element.

// CHECK-LABEL: func @columns
// CHECK-SAME:    %[[X:[a-z0-9]+]]: memref<512x2002xf32>, %[[SCALE:[a-z0-9]+]]: memref<2002xf32>
// CHECK:           gpu.subgroup_reduce add
// CHECK:           vector.load %[[SCALE]]{{.*}} {alignment = 4 : i64} : memref<2002xf32>, vector<4xf32>
// CHECK:           vector.store {{.*}} {alignment = 16 : i64} : memref<512x2002xf32>, vector<4xf32>

#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
#columns = affine_map<(i, j) -> (j)>
func.func @columns(%x: memref<512x2002xf32>, %scale: memref<2002xf32>, %y: memref<512x2002xf32>) {
  %zero = arith.constant 0.0 : f32
  %sum = memref.alloc() : memref<512xf32>
  %r = memref.alloc() : memref<512x2002xf32>
  linalg.fill ins(%zero : f32) outs(%sum : memref<512xf32>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<512x2002xf32>) outs(%sum : memref<512xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  }
  linalg.generic {indexing_maps = [#id, #rows, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %scale : memref<512x2002xf32>, memref<512xf32>, memref<2002xf32>) outs(%r : memref<512x2002xf32>) {
  ^bb0(%a: f32, %m: f32, %c: f32, %out: f32):
    %d = arith.subf %a, %m : f32
    %n = arith.mulf %d, %c : f32
    linalg.yield %n : f32
  }
  memref.dealloc %sum : memref<512xf32>
  memref.copy %r, %y : memref<512x2002xf32> to memref<512x2002xf32>
  return
}

// -----

// Rows so short that aligned vectors would leave more threads without elements
// than single elements do.

// CHECK-LABEL: func @short
// CHECK:           gpu.subgroup_reduce add
// CHECK-NOT:       vector.load
// CHECK:           gpu.terminator

#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
func.func @short(%x: memref<4096x197xf16>, %y: memref<4096x197xf16>) {
  %zero = arith.constant 0.0 : f16
  %sum = memref.alloc() : memref<4096xf16>
  %r = memref.alloc() : memref<4096x197xf16>
  linalg.fill ins(%zero : f16) outs(%sum : memref<4096xf16>)
  linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4096x197xf16>) outs(%sum : memref<4096xf16>) {
  ^bb0(%a: f16, %out: f16):
    %s = arith.addf %out, %a : f16
    linalg.yield %s : f16
  }
  linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : memref<4096x197xf16>, memref<4096xf16>) outs(%r : memref<4096x197xf16>) {
  ^bb0(%a: f16, %m: f16, %out: f16):
    %d = arith.subf %a, %m : f16
    linalg.yield %d : f16
  }
  memref.dealloc %sum : memref<4096xf16>
  memref.copy %r, %y : memref<4096x197xf16> to memref<4096x197xf16>
  return
}
