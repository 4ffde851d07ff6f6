// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-join-copies | FileCheck %s

// CHECK-LABEL: func @both
// CHECK-SAME:      %[[A:[a-z0-9]+]]: memref<1000xf32>, %[[B:[a-z0-9]+]]: memref<1000xf32>
// CHECK:         %[[P:.+]] = memref.alloc() : memref<1024xf32>
// CHECK:         %[[Q:.+]] = memref.alloc() : memref<1024xf32>
// CHECK:         %[[ALL:.+]] = arith.addi %[[G:.+]], %[[H:.+]] : index
// CHECK:         gpu.launch blocks(%[[X:[a-z0-9]+]], %{{[a-z0-9]+}}, %{{[a-z0-9]+}}) in (%{{.+}} = %[[ALL]], %{{.+}}) threads(%[[T:[a-z0-9]+]],
// CHECK:           %[[FIRST:.+]] = arith.cmpi ult, %[[X]], %[[G]]
// CHECK:           scf.if %[[FIRST]] {
// CHECK:             %[[I:.+]] = arith.muli %[[X]], %{{.+}}
// CHECK:             arith.addi %[[I]], %[[T]]
// CHECK:             memref.load %[[A]]
// CHECK:             memref.store %{{.+}}, %[[P]]
// CHECK:           } else {
// CHECK:             %[[REST:.+]] = arith.subi %[[X]], %[[G]]
// CHECK:             %[[J:.+]] = arith.muli %[[REST]], %{{.+}}
// CHECK:             arith.addi %[[J]], %[[T]]
// CHECK:             memref.load %[[B]]
// CHECK:             memref.store %{{.+}}, %[[Q]]
// CHECK:           }
// CHECK:         {tessera.packing = "copies lhs; copies rhs"}
// CHECK-NOT:     gpu.launch
// CHECK:         "test.use"
func.func @both(%a: memref<1000xf32>, %b: memref<1000xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %p = memref.alloc() : memref<1024xf32>
  %q = memref.alloc() : memref<1024xf32>
  gpu.launch blocks(%x, %y, %z) in (%gx = %c4, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1) {
    %i = arith.muli %x, %bx : index
    %j = arith.addi %i, %tx : index
    %v = memref.load %a[%j] : memref<1000xf32>
    memref.store %v, %p[%j] : memref<1024xf32>
    gpu.terminator
  } {tessera.packing = "copies lhs"}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1) {
    %i = arith.muli %x, %bx : index
    %j = arith.addi %i, %tx : index
    %v = memref.load %b[%j] : memref<1000xf32>
    memref.store %v, %q[%j] : memref<1024xf32>
    gpu.terminator
  } {tessera.packing = "copies rhs"}
  "test.use"(%p, %q) : (memref<1024xf32>, memref<1024xf32>) -> ()
  return
}

// The second copy reads what the first one writes; a kernel that is not a copy is between; workgroups have
// other sizes; one writes to an argument, of which the other may be a part.

// CHECK-LABEL: func @dependent
// CHECK-COUNT-2: gpu.launch
func.func @dependent(%a: memref<1024xf32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %p = memref.alloc() : memref<1024xf32>
  %q = memref.alloc() : memref<1024xf32>
  gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1) {
    %v = memref.load %a[%tx] : memref<1024xf32>
    memref.store %v, %p[%tx] : memref<1024xf32>
    gpu.terminator
  } {tessera.packing = "copies lhs"}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1) {
    %v = memref.load %p[%tx] : memref<1024xf32>
    memref.store %v, %q[%tx] : memref<1024xf32>
    gpu.terminator
  } {tessera.packing = "copies rhs"}
  "test.use"(%q) : (memref<1024xf32>) -> ()
  return
}

// CHECK-LABEL: func @between
// CHECK-COUNT-3: gpu.launch
func.func @between(%a: memref<1024xf32>, %b: memref<1024xf32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %p = memref.alloc() : memref<1024xf32>
  %q = memref.alloc() : memref<1024xf32>
  gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1) {
    %v = memref.load %a[%tx] : memref<1024xf32>
    memref.store %v, %p[%tx] : memref<1024xf32>
    gpu.terminator
  } {tessera.packing = "copies lhs"}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1) {
    %v = memref.load %p[%tx] : memref<1024xf32>
    memref.store %v, %b[%tx] : memref<1024xf32>
    gpu.terminator
  }
  gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1) {
    %v = memref.load %b[%tx] : memref<1024xf32>
    memref.store %v, %q[%tx] : memref<1024xf32>
    gpu.terminator
  } {tessera.packing = "copies rhs"}
  "test.use"(%q) : (memref<1024xf32>) -> ()
  return
}

// CHECK-LABEL: func @others
// CHECK-COUNT-3: gpu.launch
func.func @others(%a: memref<1024xf32>, %b: memref<1024xf32>, %c: memref<1024xf32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %p = memref.alloc() : memref<1024xf32>
  %q = memref.alloc() : memref<1024xf32>
  gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1) {
    %v = memref.load %a[%tx] : memref<1024xf32>
    memref.store %v, %p[%tx] : memref<1024xf32>
    gpu.terminator
  } {tessera.packing = "copies lhs"}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c64, %by = %c1, %bz = %c1) {
    %v = memref.load %b[%tx] : memref<1024xf32>
    memref.store %v, %q[%tx] : memref<1024xf32>
    gpu.terminator
  } {tessera.packing = "copies rhs"}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c64, %by = %c1, %bz = %c1) {
    %v = memref.load %a[%tx] : memref<1024xf32>
    memref.store %v, %c[%tx] : memref<1024xf32>
    gpu.terminator
  } {tessera.packing = "copies to an argument"}
  "test.use"(%p, %q) : (memref<1024xf32>, memref<1024xf32>) -> ()
  return
}

// A constant is copied when the program is loaded.

memref.global "private" constant @weights : memref<1024xf32> = dense<1.0>

// CHECK-LABEL: func @constant
// CHECK-COUNT-2: gpu.launch
func.func @constant(%a: memref<1024xf32>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %w = memref.get_global @weights : memref<1024xf32>
  %p = memref.alloc() : memref<1024xf32>
  %q = memref.alloc() : memref<1024xf32>
  gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1) {
    %v = memref.load %a[%tx] : memref<1024xf32>
    memref.store %v, %p[%tx] : memref<1024xf32>
    gpu.terminator
  } {tessera.packing = "copies lhs"}
  gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c1, %gz = %c1) threads(%tx, %ty, %tz) in (%bx = %c128, %by = %c1, %bz = %c1) {
    %v = memref.load %w[%tx] : memref<1024xf32>
    memref.store %v, %q[%tx] : memref<1024xf32>
    gpu.terminator
  } {tessera.packing = "copies rhs"}
  "test.use"(%p, %q) : (memref<1024xf32>, memref<1024xf32>) -> ()
  return
}
