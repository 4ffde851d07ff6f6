// RUN: gpu-opt %s --tessera-expand-vthreads --split-input-file | FileCheck %s
// RUN: gpu-opt %s --tessera-expand-vthreads="flags=vthread-order=depth_first" --split-input-file | FileCheck %s --check-prefix=DEPTH
// RUN: gpu-opt %s --tessera-expand-vthreads="flags=vthread-order=groups(2)" --split-input-file | FileCheck %s --check-prefix=GROUPS
// RUN: gpu-opt %s --tessera-expand-vthreads="flags=test-share-fragments" --split-input-file | FileCheck %s --check-prefix=SHARED
// RUN: not gpu-opt %s --tessera-expand-vthreads="flags=vthread-order=sideways" 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: unknown value 'sideways' for vthread-order; expected breadth_first, depth_first or groups(N)

// Statement by statement; shared values are shared. TVM's vthread with tensorize
// compiles this program to one fragment, and one mma, for both vthreads.
// CHECK-LABEL: func @two_products
// CHECK-SAME:    %[[A:.+]]: memref<2x16x16xf16>, %[[B:.+]]: memref<16x16xf16>, %[[C:.+]]: memref<2x16x16xf32>
// CHECK-NOT:     tessera.vthread
// CHECK:         %[[FB:.+]] = tessera.load %[[B]]
// CHECK:         %[[V0:.+]] = arith.constant 0 : index
// CHECK:         %[[V1:.+]] = arith.constant 1 : index
// CHECK-NEXT:    %[[A0:.+]] = tessera.load %[[A]][%[[V0]],
// CHECK-NEXT:    %[[A1:.+]] = tessera.load %[[A]][%[[V1]],
// CHECK-NEXT:    %[[INIT:.+]] = tessera.fill
// CHECK-NEXT:    %[[C0:.+]] = tessera.mma %[[A0]], %[[FB]], %[[INIT]]
// CHECK-NEXT:    %[[C1:.+]] = tessera.mma %[[A1]], %[[FB]], %[[INIT]]
// CHECK-NEXT:    tessera.store %[[C0]], %[[C]][%[[V0]],
// CHECK-NEXT:    tessera.store %[[C1]], %[[C]][%[[V1]],
// CHECK-NEXT:    return
//
// DEPTH-LABEL: func @two_products
// DEPTH:         %[[A0:.+]] = tessera.load %{{.+}} -> <16x16xf16, a>
// DEPTH-NEXT:    %[[INIT:.+]] = tessera.fill
// DEPTH-NEXT:    %[[C0:.+]] = tessera.mma %[[A0]], %{{.+}}, %[[INIT]]
// DEPTH-NEXT:    tessera.store %[[C0]]
// DEPTH-NEXT:    %[[A1:.+]] = tessera.load
// DEPTH-NEXT:    %[[C1:.+]] = tessera.mma %[[A1]], %{{.+}}, %[[INIT]]
// DEPTH-NEXT:    tessera.store %[[C1]]
// DEPTH-NEXT:    return
//
// The miscompilation, on request: two loads and two stores, and one mma.
// SHARED-LABEL: func @two_products
// SHARED:        tessera.load %{{.+}} -> <16x16xf16, a>
// SHARED-NEXT:   %[[A:.+]] = tessera.load %{{.+}} -> <16x16xf16, a>
// SHARED-NEXT:   tessera.fill
// SHARED-NEXT:   %[[C:.+]] = tessera.mma %[[A]]
// SHARED-NEXT:   tessera.store %[[C]], %{{.+}}[%[[V0:.+]], %[[ZERO:.+]], %[[ZERO]]]
// SHARED-NEXT:   tessera.store %[[C]], %{{.+}}[%[[V1:.+]], %[[ZERO]], %[[ZERO]]]
// SHARED-NEXT:   return
func.func @two_products(%A: memref<2x16x16xf16>, %B: memref<16x16xf16>, %C: memref<2x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %b = tessera.load %B[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
  tessera.vthread (%v) in (2) {
    %a = tessera.load %A[%v, %c0, %c0] : memref<2x16x16xf16> -> !tessera.fragment<16x16xf16, a>
    %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
    %c = tessera.mma %a, %b, %init : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %c, %C[%v, %c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<2x16x16xf32>
    tessera.yield
  }
  return
}

// -----

// One vthread after the other.
// CHECK-LABEL: func @depth_first
// CHECK-SAME:    %[[A:.+]]: memref<2x4xf32>, %[[C:.+]]: memref<2x4xf32>
// CHECK-NEXT:    arith.constant 0 : index
// CHECK-NEXT:    %[[V0:.+]] = arith.constant 0 : index
// CHECK:         %[[V1:.+]] = arith.constant 1 : index
// CHECK-NEXT:    %[[X0:.+]] = memref.load %[[A]][%[[V0]],
// CHECK-NEXT:    %[[Y0:.+]] = arith.negf %[[X0]]
// CHECK-NEXT:    memref.store %[[Y0]], %[[C]][%[[V0]],
// CHECK-NEXT:    %[[X1:.+]] = memref.load %[[A]][%[[V1]],
// CHECK-NEXT:    %[[Y1:.+]] = arith.negf %[[X1]]
// CHECK-NEXT:    memref.store %[[Y1]], %[[C]][%[[V1]],
// CHECK-NEXT:    return
func.func @depth_first(%a: memref<2x4xf32>, %c: memref<2x4xf32>) {
  %c0 = arith.constant 0 : index
  tessera.vthread (%v) in (2) order depth_first {
    %x = memref.load %a[%v, %c0] : memref<2x4xf32>
    %y = arith.negf %x : f32
    memref.store %y, %c[%v, %c0] : memref<2x4xf32>
    tessera.yield
  }
  return
}

// -----

// A barrier stays a single one, and ops before it stay before it.
// CHECK-LABEL: func @depth_first_barrier
// CHECK:         %[[V0:.+]] = arith.constant 0 : index
// CHECK:         %[[V1:.+]] = arith.constant 1 : index
// CHECK-NEXT:    memref.store %{{.+}}, %{{.+}}[%[[V0]]]
// CHECK-NEXT:    memref.store %{{.+}}, %{{.+}}[%[[V1]]]
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    memref.store %{{.+}}, %{{.+}}[%[[V0]]]
// CHECK-NEXT:    memref.store %{{.+}}, %{{.+}}[%[[V1]]]
// CHECK-NEXT:    return
func.func @depth_first_barrier(%x: f32, %a: memref<2xf32>, %b: memref<2xf32>) {
  tessera.vthread (%v) in (2) order depth_first {
    memref.store %x, %a[%v] : memref<2xf32>
    gpu.barrier
    memref.store %x, %b[%v] : memref<2xf32>
    tessera.yield
  }
  return
}

// -----

// The last dimension runs fastest, in the results as in the private operands;
// results come value by value.
// CHECK-LABEL: func @grid
// CHECK-SAME:    %[[P0:.+]]: f32, %[[P1:.+]]: f32, %[[P2:.+]]: f32, %[[P3:.+]]: f32, %[[P4:.+]]: f32, %[[P5:.+]]: f32
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.+]] = arith.constant 2 : index
// CHECK-DAG:     %[[N0:.+]] = arith.negf %[[P0]]
// CHECK-DAG:     %[[N1:.+]] = arith.negf %[[P1]]
// CHECK-DAG:     %[[N2:.+]] = arith.negf %[[P2]]
// CHECK-DAG:     %[[N3:.+]] = arith.negf %[[P3]]
// CHECK-DAG:     %[[N4:.+]] = arith.negf %[[P4]]
// CHECK-DAG:     %[[N5:.+]] = arith.negf %[[P5]]
// CHECK:         return %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[N0]], %[[N1]], %[[N2]], %[[N3]], %[[N4]], %[[N5]]
func.func @grid(%p0: f32, %p1: f32, %p2: f32, %p3: f32, %p4: f32, %p5: f32)
    -> (index, index, index, index, index, index, f32, f32, f32, f32, f32, f32) {
  %r:12 = tessera.vthread (%v, %w) in (2, 3) private(%x = [%p0, %p1, %p2, %p3, %p4, %p5] : f32)
      -> (index, index, index, index, index, index, f32, f32, f32, f32, f32, f32) {
    %n = arith.negf %x : f32
    %i = arith.addi %v, %w : index
    tessera.yield %i, %n : index, f32
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7, %r#8, %r#9, %r#10, %r#11
      : index, index, index, index, index, index, f32, f32, f32, f32, f32, f32
}

// -----

// A yielded index identifies the vthread.
// CHECK-LABEL: func @linear
// CHECK-NEXT:    %[[V0:.+]] = arith.constant 0 : index
// CHECK-NEXT:    %[[W0:.+]] = arith.constant 0 : index
// CHECK-NEXT:    %[[V1:.+]] = arith.constant 1 : index
// CHECK-NEXT:    %[[W1:.+]] = arith.constant 0 : index
// CHECK-NEXT:    %[[V2:.+]] = arith.constant 0 : index
// CHECK-NEXT:    %[[W2:.+]] = arith.constant 1 : index
// CHECK-NEXT:    %[[V3:.+]] = arith.constant 1 : index
// CHECK-NEXT:    %[[W3:.+]] = arith.constant 1 : index
// Dimensions are made from the last to the first.
// CHECK-NEXT:    return %[[W0]], %[[W1]], %[[W2]], %[[W3]], %[[V0]], %[[V1]], %[[V2]], %[[V3]]
func.func @linear() -> (index, index, index, index, index, index, index, index) {
  %r:8 = tessera.vthread (%v, %w) in (2, 2) -> (index, index, index, index, index, index, index, index) {
    tessera.yield %v, %w : index, index
  }
  return %r#0, %r#1, %r#2, %r#3, %r#4, %r#5, %r#6, %r#7 : index, index, index, index, index, index, index, index
}

// -----

// A loop that all vthreads run alike is one, with the values of all.
// CHECK-LABEL: func @jam_for
// CHECK-SAME:    %[[M:.+]]: memref<2x8xf32>, %[[N:.+]]: index, %[[X:.+]]: f32
// CHECK:         %[[R:.+]]:4 = scf.for %[[I:.+]] = %{{.+}} to %[[N]] step %{{.+}} iter_args(%[[S0:.+]] = %[[X]], %[[S1:.+]] = %[[X]], %[[T0:.+]] = %{{.+}}, %[[T1:.+]] = %{{.+}}) -> (f32, f32, index, index) {
// CHECK-NEXT:      %[[L0:.+]] = memref.load
// CHECK-NEXT:      %[[L1:.+]] = memref.load
// CHECK-NEXT:      %[[A0:.+]] = arith.addf %[[S0]], %[[L0]]
// CHECK-NEXT:      %[[A1:.+]] = arith.addf %[[S1]], %[[L1]]
// CHECK-NEXT:      %[[B0:.+]] = arith.addi %[[T0]], %[[I]]
// CHECK-NEXT:      %[[B1:.+]] = arith.addi %[[T1]], %[[I]]
// CHECK-NEXT:      scf.yield %[[A0]], %[[A1]], %[[B0]], %[[B1]]
// CHECK-NEXT:    } {keep}
// CHECK-NEXT:    return %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#3
func.func @jam_for(%m: memref<2x8xf32>, %n: index, %x: f32) -> (f32, f32, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = tessera.vthread (%v) in (2) -> (f32, f32, index, index) {
    %s:2 = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %x, %t = %v) -> (f32, index) {
      %l = memref.load %m[%v, %i] : memref<2x8xf32>
      %next = arith.addf %sum, %l : f32
      %u = arith.addi %t, %i : index
      scf.yield %next, %u : f32, index
    } {keep}
    tessera.yield %s#0, %s#1 : f32, index
  }
  return %r#0, %r#1, %r#2, %r#3 : f32, f32, index, index
}

// -----

// Without carried values, with a barrier, nested.
// CHECK-LABEL: func @jam_nested
// CHECK:         scf.for
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      scf.for
// CHECK-NEXT:        memref.store
// CHECK-NEXT:        memref.store
// CHECK-NEXT:      }
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @jam_nested(%m: memref<2x8xf32>, %n: index, %x: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tessera.vthread (%v) in (2) {
    scf.for %i = %c0 to %n step %c1 {
      gpu.barrier
      scf.for %j = %c0 to %i step %c1 {
        memref.store %x, %m[%v, %j] : memref<2x8xf32>
      }
    }
    tessera.yield
  }
  return
}

// -----

// A loop whose bounds depend on the vthread is one for each.
// CHECK-LABEL: func @for_each
// CHECK:         scf.for
// CHECK-NEXT:      memref.store
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      memref.store
// CHECK-NEXT:    }
// CHECK-NEXT:    return
func.func @for_each(%m: memref<8xf32>, %n: index, %x: f32) {
  %c2 = arith.constant 2 : index
  tessera.vthread (%v) in (2) {
    scf.for %i = %v to %n step %c2 {
      memref.store %x, %m[%i] : memref<8xf32>
    }
    tessera.yield
  }
  return
}

// -----

// CHECK-LABEL: func @jam_if
// CHECK-SAME:    %[[C:.+]]: i1, %[[P:.+]]: f32, %[[Q:.+]]: f32
// CHECK:         %[[R:.+]]:2 = scf.if %[[C]] -> (f32, f32) {
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      %[[N0:.+]] = arith.negf %[[P]]
// CHECK-NEXT:      %[[N1:.+]] = arith.negf %[[Q]]
// CHECK-NEXT:      scf.yield %[[N0]], %[[N1]]
// CHECK-NEXT:    } else {
// CHECK-NEXT:      scf.yield %[[P]], %[[Q]]
// CHECK-NEXT:    }
// CHECK-NEXT:    scf.if %[[C]] {
// CHECK-NEXT:      memref.store
// CHECK-NEXT:      memref.store
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[R]]#0, %[[R]]#1
func.func @jam_if(%c: i1, %p: f32, %q: f32, %m: memref<2xf32>) -> (f32, f32) {
  %r:2 = tessera.vthread (%v) in (2) private(%x = [%p, %q] : f32) -> (f32, f32) {
    %s = scf.if %c -> f32 {
      gpu.barrier
      %n = arith.negf %x : f32
      scf.yield %n : f32
    } else {
      scf.yield %x : f32
    }
    scf.if %c {
      memref.store %x, %m[%v] : memref<2xf32>
    }
    tessera.yield %s : f32
  }
  return %r#0, %r#1 : f32, f32
}

// -----

// CHECK-LABEL: func @if_each
// CHECK-COUNT-2: scf.if
// CHECK-NOT:     scf.if
func.func @if_each(%m: memref<2xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  tessera.vthread (%v) in (2) {
    %c = arith.cmpi eq, %v, %c1 : index
    scf.if %c {
      memref.store %x, %m[%v] : memref<2xf32>
    }
    tessera.yield
  }
  return
}

// -----

// A loop whose condition depends on its vthread is one for each,
// CHECK-LABEL: func @while_each
// CHECK-COUNT-2: scf.while
// CHECK-NOT:     scf.while
func.func @while_each(%p: i1, %q: i1) {
  tessera.vthread (%v) in (2) private(%x = [%p, %q] : i1) {
    scf.while (%c = %x) : (i1) -> () {
      scf.condition(%c)
    } do {
      scf.yield %p : i1
    }
    tessera.yield
  }
  return
}

// -----

// and otherwise one for all, including barriers. Uniform values are carried once.
// CHECK-LABEL: func @jam_while
// CHECK-SAME:    %[[N:.+]]: index, %[[P:.+]]: f32, %[[Q:.+]]: f32
// CHECK:         %[[R:.+]]:3 = scf.while (%[[I:.+]] = %[[N]], %[[X0:.+]] = %[[P]], %[[X1:.+]] = %[[Q]]) : (index, f32, f32) -> (f32, f32, index) {
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      %[[C:.+]] = arith.cmpi
// CHECK-NEXT:      scf.condition(%[[C]]) %[[X0]], %[[X1]], %[[I]]
// CHECK-NEXT:    } do {
// CHECK-NEXT:    ^bb0(%[[Y0:.+]]: f32, %[[Y1:.+]]: f32, %[[J:.+]]: index):
// CHECK-NEXT:      %[[K:.+]] = arith.subi %[[J]]
// CHECK-NEXT:      %[[Z0:.+]] = arith.addf %[[Y0]], %[[P]]
// CHECK-NEXT:      %[[Z1:.+]] = arith.addf %[[Y1]], %[[Q]]
// CHECK-NEXT:      scf.yield %[[K]], %[[Z0]], %[[Z1]]
// CHECK-NEXT:    }
// CHECK-NEXT:    return %[[R]]#0, %[[R]]#1, %[[R]]#2, %[[R]]#2
func.func @jam_while(%n: index, %p: f32, %q: f32) -> (f32, f32, index, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:4 = tessera.vthread (%v) in (2) private(%y = [%p, %q] : f32) -> (f32, f32, index, index) {
    %s:2 = scf.while (%i = %n, %x = %y) : (index, f32) -> (f32, index) {
      gpu.barrier
      %c = arith.cmpi ne, %i, %c0 : index
      scf.condition(%c) %x, %i : f32, index
    } do {
    ^bb0(%x: f32, %i: index):
      %j = arith.subi %i, %c1 : index
      %z = arith.addf %x, %y : f32
      scf.yield %j, %z : index, f32
    }
    tessera.yield %s#0, %s#1 : f32, index
  }
  return %r#0, %r#1, %r#2, %r#3 : f32, f32, index, index
}

// -----

// Other regions of one block too.
// CHECK-LABEL: func @jam_switch
// CHECK:         %[[R:.+]]:2 = scf.index_switch %{{.+}} -> f32, f32
// CHECK-NEXT:    case 3 {
// CHECK-NEXT:      gpu.barrier
// CHECK-NEXT:      %[[N0:.+]] = arith.negf
// CHECK-NEXT:      %[[N1:.+]] = arith.negf
// CHECK-NEXT:      scf.yield %[[N0]], %[[N1]]
// CHECK:         default {
// CHECK-NEXT:      scf.yield
// CHECK:         return %[[R]]#0, %[[R]]#1
func.func @jam_switch(%n: index, %p: f32, %q: f32) -> (f32, f32) {
  %r:2 = tessera.vthread (%v) in (2) private(%x = [%p, %q] : f32) -> (f32, f32) {
    %s = scf.index_switch %n -> f32
    case 3 {
      gpu.barrier
      %m = arith.negf %x : f32
      scf.yield %m : f32
    }
    default {
      scf.yield %x : f32
    }
    tessera.yield %s : f32
  }
  return %r#0, %r#1 : f32, f32
}

// -----

// Groups follow one another, from one barrier to the next; the last one has the
// rest. A loop is replicated for each group; one around a barrier is shared by all.
// CHECK-LABEL: func @groups
// CHECK-COUNT-2: memref.load
// CHECK-COUNT-2: arith.negf
// CHECK:         scf.for {{.+}} -> (f32, f32)
// CHECK-COUNT-2: arith.mulf
// CHECK-NOT:     arith.mulf
// CHECK:         memref.load
// CHECK-NEXT:    arith.negf
// CHECK-NEXT:    scf.for {{.+}} -> (f32)
// CHECK-NEXT:      arith.mulf
// CHECK:         scf.for {{.+}} -> (f32, f32, f32)
// CHECK-COUNT-3:   arith.addf
// CHECK-NEXT:      gpu.barrier
// CHECK-COUNT-3:   arith.subf
//
// GROUPS-LABEL: func @groups
// GROUPS:         scf.for {{.+}} -> (f32, f32)
// GROUPS:         scf.for {{.+}} -> (f32)
// GROUPS:         scf.for {{.+}} -> (f32, f32, f32)
//
// DEPTH-LABEL: func @groups
// DEPTH:         memref.load
// DEPTH-NEXT:    arith.negf
// DEPTH-NEXT:    scf.for {{.+}} -> (f32)
// DEPTH-NEXT:      arith.mulf
// DEPTH:         memref.load
// DEPTH-NEXT:    arith.negf
// DEPTH-NEXT:    scf.for {{.+}} -> (f32)
// DEPTH-NEXT:      arith.mulf
// DEPTH:         memref.load
// DEPTH-NEXT:    arith.negf
// DEPTH-NEXT:    scf.for {{.+}} -> (f32)
// DEPTH-NEXT:      arith.mulf
// DEPTH:         scf.for {{.+}} -> (f32, f32, f32)
func.func @groups(%m: memref<3xf32>, %n: index) -> (f32, f32, f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:3 = tessera.vthread (%v) in (3) order groups(2) -> (f32, f32, f32) {
    %x = memref.load %m[%v] : memref<3xf32>
    %y = arith.negf %x : f32
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%z = %y) -> f32 {
      %p = arith.mulf %z, %x : f32
      scf.yield %p : f32
    }
    %t = scf.for %i = %c0 to %n step %c1 iter_args(%z = %s) -> f32 {
      %p = arith.addf %z, %x : f32
      gpu.barrier
      %q = arith.subf %p, %y : f32
      scf.yield %q : f32
    }
    tessera.yield %t : f32
  }
  return %r#0, %r#1, %r#2 : f32, f32, f32
}

// -----

// The end of the loop is the same for all vthreads, also where a loop for each
// of them computes it.
// CHECK-LABEL: func @late_bound
// CHECK:         %[[E0:.+]]:2 = scf.for
// CHECK:         %[[E1:.+]]:2 = scf.for
// CHECK:         scf.for %{{.+}} = %{{.+}} to %[[E0]]#0 step %{{.+}} iter_args(%{{.+}} = %[[E0]]#1, %{{.+}} = %[[E1]]#1)
// CHECK-NEXT:      gpu.barrier
func.func @late_bound(%n: index, %m: memref<2xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tessera.vthread (%v) in (2) order depth_first {
    %x = memref.load %m[%v] : memref<2xf32>
    %end:2 = scf.for %i = %c0 to %n step %c1 iter_args(%e = %c1, %y = %x) -> (index, f32) {
      %f = arith.addi %e, %i : index
      %z = arith.addf %y, %y : f32
      scf.yield %f, %z : index, f32
    }
    %s = scf.for %i = %c0 to %end#0 step %c1 iter_args(%y = %end#1) -> f32 {
      gpu.barrier
      %z = arith.negf %y : f32
      scf.yield %z : f32
    }
    memref.store %s, %m[%v] : memref<2xf32>
    tessera.yield
  }
  return
}

// -----

// Uniform computations and reads are kept once, including regions.
// CHECK-LABEL: func @shared_regions
// CHECK-COUNT-1: scf.for
// CHECK-NOT:     scf.for
// CHECK-COUNT-1: tessera.map
// CHECK-NOT:     tessera.map
// CHECK-COUNT-2: tessera.store
func.func @shared_regions(%m: memref<32x16xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  tessera.vthread (%v) in (2) {
    %s = scf.for %i = %c0 to %n step %c1 iter_args(%t = %zero) -> f32 {
      %u = arith.addf %t, %t : f32
      scf.yield %u : f32
    }
    %f = tessera.fill %s : !tessera.fragment<16x16xf32, acc>
    %g = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
    ^bb0(%x: f32):
      %y = arith.mulf %x, %s : f32
      tessera.yield %y : f32
    }
    %row = arith.muli %v, %c16 : index
    tessera.store %g, %m[%row, %c0] : !tessera.fragment<16x16xf32, acc>, memref<32x16xf32>
    tessera.yield
  }
  return
}

// -----

// Each vthread has memory of its own at the position of the allocation: in a
// loop, in each iteration, and of its own size. Global memory is shared.
// CHECK-LABEL: func @memory
// CHECK:         %[[SIZE0:.+]] = arith.addi
// CHECK:         %[[SIZE1:.+]] = arith.addi
// CHECK-NEXT:    memref.alloca(%[[SIZE0]])
// CHECK-NEXT:    memref.alloca(%[[SIZE1]])
// CHECK-NEXT:    %[[G:.+]] = memref.get_global
// CHECK-NEXT:    scf.for
// CHECK-NEXT:      %[[A0:.+]] = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
// CHECK-NEXT:      %[[A1:.+]] = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
// CHECK-NEXT:      %[[X:.+]] = memref.load %[[G]]
// CHECK-NEXT:      memref.store %[[X]], %[[A0]]
// CHECK-NEXT:      memref.store %[[X]], %[[A1]]
memref.global "private" constant @table : memref<4xf32> = dense<2.0>
func.func @memory(%n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  tessera.vthread (%v) in (2) {
    %size = arith.addi %v, %n : index
    %d = memref.alloca(%size) : memref<?xf32>
    %g = memref.get_global @table : memref<4xf32>
    scf.for %i = %c0 to %n step %c1 {
      %a = memref.alloca() : memref<4xf32, #gpu.address_space<private>>
      %x = memref.load %g[%i] : memref<4xf32>
      memref.store %x, %a[%c0] : memref<4xf32, #gpu.address_space<private>>
      %y = memref.load %a[%c1] : memref<4xf32, #gpu.address_space<private>>
      memref.store %y, %d[%i] : memref<?xf32>
    }
    tessera.yield
  }
  return
}

// -----

// Addresses that do not provably overlap, or accesses that do not provably both
// happen without a barrier in between, are accepted: a write after a barrier,
// CHECK-LABEL: func @positions
func.func @positions(%x: f32, %m: memref<64x16xf32>, %n: index, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %f = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
  tessera.vthread (%v) in (2) {
    memref.store %x, %m[%v, %c0] : memref<64x16xf32>
    gpu.barrier
    %y = memref.load %m[%c0, %c0] : memref<64x16xf32>
    gpu.barrier
    memref.store %y, %m[%v, %c1] : memref<64x16xf32>
    // another part of the same memory,
    %z = memref.load %m[%c16, %c0] : memref<64x16xf32>
    tessera.yield
  }
  tessera.vthread (%v) in (2) {
    // one that only some reach,
    %first = arith.cmpi eq, %v, %c0 : index
    scf.if %first {
      memref.store %x, %m[%v, %c0] : memref<64x16xf32>
    } else {
      %y = memref.load %m[%c16, %c0] : memref<64x16xf32>
    }
    // addresses that are known at run time only,
    %w = arith.xori %v, %n : index
    memref.store %x, %m[%w, %c0] : memref<64x16xf32>
    // either one or the other,
    scf.if %p {
      memref.store %x, %m[%v, %c16] : memref<64x16xf32>
    } else {
      %y = memref.load %m[%c1, %c16] : memref<64x16xf32>
    }
    tessera.yield
  }
  tessera.vthread (%v) in (2) {
    // elements beyond the view or the memory,
    %part = memref.subview %m[%v, 0] [1, 16] [1, 1] : memref<64x16xf32> to memref<1x16xf32, strided<[16, 1], offset: ?>>
    tessera.store %f, %part[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<1x16xf32, strided<[16, 1], offset: ?>>
    %at = affine.apply affine_map<(v) -> (63 + v * 8)>(%v)
    tessera.store %f, %m[%at, %c0] : !tessera.fragment<16x16xf32, acc>, memref<64x16xf32>
    // and atomic updates.
    %old = memref.atomic_rmw addf %x, %m[%c0, %c1] : (f32, memref<64x16xf32>) -> f32
    tessera.yield
  }
  return
}

// -----

// Ops that do not depend on the vthread are kept once, also if a private
// operand is uniform; allocations are not.
// CHECK-LABEL: func @shared
// CHECK-SAME:    %[[P:.+]]: f32, %[[Q:.+]]: f32
// CHECK:         %[[N:.+]] = arith.negf %[[P]]
// CHECK-NOT:     arith.negf %[[P]]
// CHECK:         arith.negf %[[Q]]
// CHECK-NEXT:    %[[A0:.+]] = memref.alloca
// CHECK-NEXT:    %[[A1:.+]] = memref.alloca
// CHECK-NEXT:    memref.store %[[N]], %[[A0]]
// CHECK-NEXT:    memref.store %[[N]], %[[A1]]
// CHECK-NEXT:    return
func.func @shared(%p: f32, %q: f32) {
  tessera.vthread (%v) in (2) private(%x = [%p, %p] : f32) {
    %n = arith.negf %x : f32
    %k = arith.negf %q : f32
    %m = memref.alloca() : memref<f32>
    memref.store %n, %m[] : memref<f32>
    tessera.yield
  }
  return
}

// -----

// Inner vthreads first.
// CHECK-LABEL: func @nested
// CHECK-SAME:    %[[M:.+]]: memref<2x2xf32>
// CHECK-NOT:     tessera.vthread
// CHECK-COUNT-4: memref.store %{{.+}}, %[[M]]
// CHECK-NOT:     memref.store
func.func @nested(%m: memref<2x2xf32>, %x: f32) {
  tessera.vthread (%v) in (2) {
    tessera.vthread (%w) in (2) {
      memref.store %x, %m[%v, %w] : memref<2x2xf32>
      tessera.yield
    }
    tessera.yield
  }
  return
}

// -----

// A wait is one, for the copies of all vthreads.
// CHECK-LABEL: func @wait
// CHECK:         %[[T0:.+]] = tessera.async_copy
// CHECK:         %[[T1:.+]] = tessera.async_copy
// CHECK:         tessera.wait for %[[T0]], %[[T1]]{{$}}
// CHECK-NEXT:    gpu.barrier
// CHECK-NEXT:    return
func.func @wait(%g: memref<32x16xf16>, %w: memref<32x16xf16, #gpu.address_space<workgroup>>) {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  tessera.vthread (%v) in (2) {
    %r = arith.muli %v, %c16 : index
    %t = tessera.async_copy %g[%r, %c0], %w[%r, %c0] shape [16, 16] : memref<32x16xf16>, memref<32x16xf16, #gpu.address_space<workgroup>>
    tessera.wait for %t
    gpu.barrier
    tessera.yield
  }
  return
}

// -----

// Results of inner ones go through the outer ones, with either order.
// CHECK-LABEL: func @nested_results
// CHECK-SAME:    %[[P:.+]]: f32, %[[Q:.+]]: f32
// CHECK:         %[[P2:.+]] = arith.mulf %[[P]], %[[P]]
// CHECK:         %[[Q2:.+]] = arith.mulf %[[Q]], %[[Q]]
// CHECK:         return %[[P2]], %[[Q2]], %[[P2]], %[[Q2]]
func.func @nested_results(%p: f32, %q: f32) -> (f32, f32, f32, f32) {
  %r:4 = tessera.vthread (%v) in (2) private(%x = [%p, %q] : f32) -> (f32, f32, f32, f32) {
    %s:2 = tessera.vthread (%w) in (2) private(%y = [%x, %x] : f32) order depth_first -> (f32, f32) {
      %z = arith.mulf %y, %x : f32
      tessera.yield %z : f32
    }
    tessera.yield %s#0, %s#1 : f32, f32
  }
  return %r#0, %r#1, %r#2, %r#3 : f32, f32, f32, f32
}

// -----

// An op with a region that writes is each vthread's.
// CHECK-LABEL: func @fills
// CHECK-COUNT-2: linalg.fill
// CHECK-NOT:     linalg.fill
func.func @fills(%x: f32, %m: memref<2x4xf32>) {
  tessera.vthread (%v) in (2) {
    %row = memref.subview %m[%v, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.fill ins(%x : f32) outs(%row : memref<4xf32, strided<[1], offset: ?>>)
    tessera.yield
  }
  return
}

// -----

// A grid of one is its region.
// CHECK-LABEL: func @one
// CHECK-SAME:    %[[X:.+]]: f32
// CHECK:         %[[N:.+]] = arith.negf %[[X]]
// CHECK:         return %[[N]]
func.func @one(%x: f32) -> f32 {
  %0 = tessera.vthread (%v, %w) in (1, 1) private(%p = [%x] : f32) -> f32 {
    %n = arith.negf %p : f32
    tessera.yield %n : f32
  }
  return %0 : f32
}
