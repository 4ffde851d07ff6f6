// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-map-fragments --split-input-file | FileCheck %s

#schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 1>

// The operands of an mma are split with it: loads and vectors along K get offsets, vectors
// along N do not, and coordinates continue. The transposed load moves along its memory's rows.

// CHECK-LABEL: func @producer
// CHECK-SAME:    %[[A:.+]]: memref<32x32xf16>, %[[B:.+]]: memref<32x32xi8>, %[[K:.+]]: memref<32xf16>, %[[N:.+]]: memref<32xf16>, %[[I:.+]]: index
// CHECK:         tessera.load %[[A]][%[[I]], %[[I]]] transpose in_bounds : memref<32x32xf16> -> <32x16xf16, a>
// CHECK:         tessera.load %[[B]][%[[I]], %[[I]]] in_bounds : memref<32x32xi8> -> <16x32xi8, b>
// CHECK:         tessera.broadcast %[[K]][%[[I]]] dimension 1
// CHECK:         tessera.broadcast %[[N]][%[[I]]] dimension 0
// CHECK:         tessera.map {{.*}} -> <16x32xf16, b>
// CHECK:         %[[P:.+]] = tessera.mma {{.*}} : <32x16xf16, a>, <16x32xf16, b> -> <32x32xf32, acc>
// CHECK:         %[[LATER:.+]] = arith.addi %[[I]], %c16
// CHECK:         tessera.load %[[A]][%[[LATER]], %[[I]]] transpose in_bounds
// CHECK:         %[[LATER2:.+]] = arith.addi %[[I]], %c16
// CHECK:         tessera.load %[[B]][%[[LATER2]], %[[I]]] in_bounds
// CHECK:         %[[LATER3:.+]] = arith.addi %[[I]], %c16
// CHECK:         tessera.broadcast %[[K]][%[[LATER3]]] dimension 1
// CHECK:         tessera.broadcast %[[N]][%[[I]]] dimension 0
// CHECK:         ^bb0({{.*}}, %[[R:[a-z0-9]+]]: index, %{{[a-z0-9]+}}: index):
// CHECK-NEXT:      arith.addi %[[R]], %c16
// CHECK:         tessera.mma %{{.+}}, %{{.+}}, %[[P]]
// CHECK-NOT:     tessera.mma
func.func @producer(%a: memref<32x32xf16>, %b: memref<32x32xi8>, %k: memref<32xf16>, %n: memref<32xf16>,
                    %i: index, %acc: !tessera.fragment<32x32xf32, acc>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f16
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    %fa = tessera.load %a[%i, %i] transpose in_bounds : memref<32x32xf16> -> !tessera.fragment<32x32xf16, a>
    %raw = tessera.load %b[%i, %i] in_bounds : memref<32x32xi8> -> !tessera.fragment<32x32xi8, b>
    %fk = tessera.broadcast %k[%i] dimension 1 : memref<32xf16> -> !tessera.fragment<32x32xf16, b>
    %fn = tessera.broadcast %n[%i] dimension 0 : memref<32xf16> -> !tessera.fragment<32x32xf16, b>
    %fb = tessera.map %raw, %fk, %fn : !tessera.fragment<32x32xi8, b>, !tessera.fragment<32x32xf16, b>, !tessera.fragment<32x32xf16, b>
        -> !tessera.fragment<32x32xf16, b> {
    ^bb0(%v: i8, %s: f16, %t: f16, %r: index, %c: index):
      %f = arith.sitofp %v : i8 to f16
      %g = arith.mulf %f, %s : f16
      %h = arith.mulf %g, %t : f16
      %in = arith.cmpi ult, %r, %i : index
      %y2 = arith.select %in, %h, %zero : f16
      tessera.yield %y2 : f16
    }
    %d = tessera.mma %fa, %fb, %acc : !tessera.fragment<32x32xf16, a>, !tessera.fragment<32x32xf16, b>
        -> !tessera.fragment<32x32xf32, acc>
    "test.use"(%d) : (!tessera.fragment<32x32xf32, acc>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

// -----

#schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 96, kFragment = 16, stages = 1>

// Six parts are a loop. An operand that comes from elsewhere stays whole.

// CHECK-LABEL: func @loop
// CHECK:         %[[SUM:.+]] = scf.for %[[K:.+]] = %{{.+}} to %{{.+}} step %{{.+}} iter_args(%[[ACC:.+]] = %{{.+}})
// CHECK:           %[[AT:.+]] = arith.addi %{{.+}}, %[[K]]
// CHECK:           tessera.load %{{.+}}[%{{.+}}, %[[AT]]] in_bounds : memref<32x96xf16> -> <32x16xf16, a>
// CHECK:           tessera.mma %{{.+}}, %{{.+}}, %[[ACC]]
// CHECK:         tessera.mma %{{.+}}, %{{.+}}, %[[SUM]] : <32x96xf16, a>, <96x32xf16, b>
func.func @loop(%a: memref<32x96xf16>, %b: memref<96x32xf16>, %i: index, %acc: !tessera.fragment<32x32xf32, acc>,
                %other: !tessera.fragment<96x32xf16, b>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    %fa = tessera.load %a[%i, %i] in_bounds : memref<32x96xf16> -> !tessera.fragment<32x96xf16, a>
    %fb = tessera.load %b[%i, %i] in_bounds : memref<96x32xf16> -> !tessera.fragment<96x32xf16, b>
    %d = tessera.mma %fa, %fb, %acc : !tessera.fragment<32x96xf16, a>, !tessera.fragment<96x32xf16, b>
        -> !tessera.fragment<32x32xf32, acc>
    %e = tessera.mma %fa, %other, %d : !tessera.fragment<32x96xf16, a>, !tessera.fragment<96x32xf16, b>
        -> !tessera.fragment<32x32xf32, acc>
    "test.use"(%e) : (!tessera.fragment<32x32xf32, acc>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}
