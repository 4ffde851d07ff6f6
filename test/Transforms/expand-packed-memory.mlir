// RUN: gpu-opt %s --tessera-expand-packed-memory --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @element
// CHECK-SAME:    %[[A:.+]]: memref<6x5xi4>
// CHECK:         %[[BYTES:.+]] = builtin.unrealized_conversion_cast %[[A]] : memref<6x5xi4> to memref<6x5xi8>
// CHECK:         %[[LINEAR:.+]] = arith.addi
// CHECK:         %[[INDEX:.+]] = arith.shrui %{{.*}}, %{{.*}} : index
// CHECK:         %[[VIEW:.+]] = memref.reinterpret_cast %{{.*}} to offset: [%[[INDEX]]], sizes: [1], strides: [1]
// CHECK:         %[[BYTE:.+]] = memref.load %[[VIEW]]
// CHECK:         arith.shrui %[[BYTE]], %{{.*}} : i8
// CHECK:         arith.trunci %{{.*}} : i8 to i4
func.func @element(%a: memref<6x5xi4>, %i: index, %j: index) -> i4 {
  %x = memref.load %a[%i, %j] : memref<6x5xi4>
  return %x : i4
}

// -----

// At a byte: one load of bytes.

// CHECK-LABEL: func @aligned
// CHECK:         %[[V:.+]] = vector.load %{{.*}} {alignment = 4 : i64} : memref<4xi8, {{.*}}>, vector<4xi8>
// CHECK:         %[[H:.+]] = arith.shrui %[[V]], %{{.*}} : vector<4xi8>
// CHECK:         vector.shuffle %[[V]], %[[H]] [0, 4, 1, 5, 2, 6, 3, 7] : vector<4xi8>, vector<4xi8>
// CHECK:         arith.trunci %{{.*}} : vector<8xi8> to vector<8xi4>
// CHECK-NOT:     vector.load
func.func @aligned(%a: memref<6x16xi4>, %i: index, %j: index) -> vector<8xi4> {
  %x = vector.load %a[%i, %j] {alignment = 4 : i64} : memref<6x16xi4>, vector<8xi4>
  return %x : vector<8xi4>
}

// -----

// Unaligned: the next byte holds the last element, or the last byte is read again.

// CHECK-LABEL: func @anywhere
// CHECK:         %[[V:.+]] = vector.load %{{.*}} : memref<4xi8, {{.*}}>, vector<4xi8>
// CHECK:         %[[BEHIND:.+]] = memref.load %{{.*}} : memref<1xi8, {{.*}}>
// CHECK:         vector.broadcast %[[BEHIND]] : i8 to vector<4xi8>
// CHECK:         arith.select %{{.*}}, %{{.*}}, %[[V]] : vector<4xi8>
func.func @anywhere(%a: memref<?xi4, strided<[1], offset: ?>>, %i: index) -> vector<8xi4> {
  %x = vector.load %a[%i] : memref<?xi4, strided<[1], offset: ?>>, vector<8xi4>
  return %x : vector<8xi4>
}

// -----

// CHECK-LABEL: func @masked
// CHECK:         vector.maskedload {{.*}} : memref<4xi8, {{.*}}>, vector<4xi1>, vector<4xi8> into vector<4xi8>
// CHECK:         scf.if
// CHECK:         arith.select %{{.*}} : vector<8xi1>, vector<8xi8>
// CHECK:         arith.trunci %{{.*}} : vector<8xi8> to vector<8xi4>
func.func @masked(%a: memref<?xi4>, %i: index, %mask: vector<8xi1>, %pass: vector<8xi4>) -> vector<8xi4> {
  %x = vector.maskedload %a[%i], %mask, %pass : memref<?xi4>, vector<8xi1>, vector<8xi4> into vector<8xi4>
  return %x : vector<8xi4>
}

// -----

// A branch yields bytes: some back ends do not keep vectors of i4 across blocks.

// CHECK-LABEL: func @branches
// CHECK:         %[[IF:.+]]:2 = scf.if %{{.*}} -> (vector<4xi8>, index) {
// CHECK:           %[[READ:.+]] = vector.load {{.*}} {alignment = 4 : i64} : memref<4xi8, {{.*}}>, vector<4xi8>
// CHECK:           scf.yield %[[READ]], %{{.*}} : vector<4xi8>, index
// CHECK:         } else {
// CHECK:           %[[ZERO:.+]] = arith.constant dense<0> : vector<4xi8>
// CHECK:           scf.yield %[[ZERO]], %{{.*}} : vector<4xi8>, index
// CHECK:         memref.load
// CHECK:         arith.shrui %[[IF]]#0, %{{.*}} : vector<4xi8>
// CHECK:         %[[FIRST:.+]] = arith.trunci %{{.*}} : vector<8xi8> to vector<8xi4>
// CHECK:         arith.shrui %[[IF]]#0, %{{.*}} : vector<4xi8>
// CHECK:         %[[SECOND:.+]] = arith.trunci %{{.*}} : vector<8xi8> to vector<8xi4>
// CHECK:         arith.addi %[[SECOND]], %[[FIRST]]
func.func @branches(%a: memref<?xi4>, %i: index, %some: i1) -> vector<8xi4> {
  %zero = arith.constant dense<0> : vector<8xi4>
  %x, %j = scf.if %some -> (vector<8xi4>, index) {
    %y = vector.load %a[%i] {alignment = 4 : i64} : memref<?xi4>, vector<8xi4>
    scf.yield %y, %i : vector<8xi4>, index
  } else {
    scf.yield %zero, %i : vector<8xi4>, index
  }
  %e = memref.load %a[%j] : memref<?xi4>
  %v = vector.broadcast %e : i4 to vector<8xi4>
  %s = arith.addi %x, %x : vector<8xi4>
  %r = arith.addi %s, %v : vector<8xi4>
  return %r : vector<8xi4>
}

// -----

// CHECK-LABEL: func @whole_bytes
// CHECK:         %[[WIDE:.+]] = arith.extui %{{.*}} : vector<2xi4> to vector<2xi8>
// CHECK:         vector.shuffle %[[WIDE]], %[[WIDE]] [0]
// CHECK:         vector.shuffle %[[WIDE]], %[[WIDE]] [1]
// CHECK:         arith.shli
// CHECK:         vector.store %{{.*}}, %{{.*}} {alignment = 1 : i64} : memref<1xi8, {{.*}}>, vector<1xi8>
func.func @whole_bytes(%a: memref<16xi4>, %i: index, %x: vector<2xi4>) {
  vector.store %x, %a[%i] {alignment = 1 : i64} : memref<16xi4>, vector<2xi4>
  return
}

// -----

// Low half first; an odd number is rounded up.

// CHECK: memref.global "private" constant @c : memref<3xi8> = dense<[-31, 67, 5]>
// CHECK-LABEL: func @constant
// CHECK:         %[[C:.+]] = memref.get_global @c : memref<3xi8>
// CHECK:         memref.reinterpret_cast %[[C]] to offset: [0], sizes: [5], strides: [1] : memref<3xi8> to memref<5xi8>
memref.global "private" constant @c : memref<5xi4> = dense<[1, -2, 3, 4, 5]>
func.func @constant(%i: index) -> i4 {
  %c = memref.get_global @c : memref<5xi4>
  %x = memref.load %c[%i] : memref<5xi4>
  return %x : i4
}

// -----

// The element's half of the byte is cleared, then set.

// CHECK-LABEL: func @store
// CHECK-SAME:    %[[A:[^:]+]]: memref<16xi4>, %[[I:[^:]+]]: index, %[[X:[^:]+]]: i4
// CHECK-DAG:     %[[LOW:.+]] = arith.constant 15 : i8
// CHECK-DAG:     %[[ALL:.+]] = arith.constant -1 : i8
// CHECK:         %[[MASK:.+]] = arith.shli %[[LOW]], %[[SHIFT:.+]] : i8
// CHECK-NEXT:    %[[OTHERS:.+]] = arith.xori %[[MASK]], %[[ALL]] : i8
// CHECK-NEXT:    %[[WIDE:.+]] = arith.extui %[[X]] : i4 to i8
// CHECK-NEXT:    %[[VALUE:.+]] = arith.shli %[[WIDE]], %[[SHIFT]] : i8
// CHECK:         memref.atomic_rmw andi %[[OTHERS]], %[[BYTE:.+]][%{{.*}}]
// CHECK:         memref.atomic_rmw ori %[[VALUE]], %[[BYTE]][%{{.*}}]
func.func @store(%a: memref<16xi4>, %i: index, %x: i4) {
  memref.store %x, %a[%i] : memref<16xi4>
  return
}

// -----

// A vector that may start within a byte, and an odd one: element by element.

// CHECK-LABEL: func @store_vectors
// CHECK-COUNT-4: memref.atomic_rmw
// CHECK-COUNT-6: memref.atomic_rmw
// CHECK-NOT:     memref.atomic_rmw
func.func @store_vectors(%a: memref<16xi4>, %i: index, %x: vector<2xi4>, %y: vector<3xi4>) {
  vector.store %x, %a[%i] : memref<16xi4>, vector<2xi4>
  vector.store %y, %a[%i] {alignment = 4 : i64} : memref<16xi4>, vector<3xi4>
  return
}

// -----

// CHECK-LABEL: func @store_masked
// CHECK-SAME:    %[[MASK:[^:]+]]: vector<2xi1>
// CHECK:         %[[FIRST:.+]] = vector.extract %[[MASK]][0]
// CHECK-NEXT:    scf.if %[[FIRST]]
// CHECK-COUNT-2:   memref.atomic_rmw
// CHECK:         %[[SECOND:.+]] = vector.extract %[[MASK]][1]
// CHECK-NEXT:    scf.if %[[SECOND]]
// CHECK-COUNT-2:   memref.atomic_rmw
func.func @store_masked(%mask: vector<2xi1>, %a: memref<16xi4>, %i: index, %x: vector<2xi4>) {
  vector.maskedstore %a[%i], %mask, %x : memref<16xi4>, vector<2xi1>, vector<2xi4>
  return
}

// -----

func.func @copy(%a: memref<16xi4>, %b: memref<16xi4>) {
  // expected-error @below {{this op cannot write i4 elements, two of which share a byte: write them by memref.store or vector.store}}
  memref.copy %a, %b : memref<16xi4> to memref<16xi4>
  return
}

// -----

func.func @gather(%a: memref<16xi4>, %at: vector<4xindex>, %mask: vector<4xi1>, %pass: vector<4xi4>) -> vector<4xi4> {
  %c0 = arith.constant 0 : index
  // expected-error @below {{this op cannot read i4 elements, two of which share a byte: read them by memref.load or vector.load}}
  %x = vector.gather %a[%c0] [%at], %mask, %pass : memref<16xi4>, vector<4xindex>, vector<4xi1>, vector<4xi4> into vector<4xi4>
  return %x : vector<4xi4>
}

// -----

// Ops that use or write the packed form use the bytes: elements are not unpacked.

// CHECK-LABEL: func @bits
// CHECK-SAME:    %[[WORDS:[a-z0-9]+]]: vector<2xi32>
// CHECK:         %[[WRITTEN:.+]] = vector.bitcast %[[WORDS]] : vector<2xi32> to vector<8xi8>
// CHECK:         %[[LOW:.+]] = vector.load {{.*}} : memref<4xi8, {{.*}}>, vector<4xi8>
// CHECK:         %[[HIGH:.+]] = vector.load {{.*}} : memref<4xi8, {{.*}}>, vector<4xi8>
// CHECK:         vector.store %[[WRITTEN]], %{{.*}} {alignment = 8 : i64} : memref<8xi8, {{.*}}>, vector<8xi8>
// CHECK:         %[[READ:.+]] = vector.shuffle %[[LOW]], %[[HIGH]] [0, 1, 2, 3, 4, 5, 6, 7] : vector<4xi8>, vector<4xi8>
// CHECK:         %[[RESULT:.+]] = vector.bitcast %[[READ]] : vector<8xi8> to vector<2xi32>
// CHECK:         return %[[RESULT]]
func.func @bits(%a: memref<6x16xi4>, %i: index, %words: vector<2xi32>) -> vector<2xi32> {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %written = vector.bitcast %words : vector<2xi32> to vector<16xi4>
  %low = vector.load %a[%i, %c0] {alignment = 4 : i64} : memref<6x16xi4>, vector<8xi4>
  %high = vector.load %a[%i, %c8] {alignment = 4 : i64} : memref<6x16xi4>, vector<8xi4>
  %both = vector.shuffle %low, %high [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : vector<8xi4>, vector<8xi4>
  vector.store %written, %a[%i, %c0] {alignment = 8 : i64} : memref<6x16xi4>, vector<16xi4>
  %read = vector.bitcast %both : vector<16xi4> to vector<2xi32>
  return %read : vector<2xi32>
}
