// RUN: gpu-opt %s --canonicalize | FileCheck %s

// A map that yields an argument is that input.
// CHECK-LABEL: func @map_identity
// CHECK-SAME:    %[[F:.+]]: !tessera.fragment<16x16xf32, acc>, %[[G:.+]]: !tessera.fragment<16x16xf32, acc>
// CHECK-NEXT:    return %[[G]]
func.func @map_identity(%f: !tessera.fragment<16x16xf32, acc>, %g: !tessera.fragment<16x16xf32, acc>)
    -> !tessera.fragment<16x16xf32, acc> {
  %0 = tessera.map %f, %g : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32, %y: f32):
    tessera.yield %y : f32
  }
  return %0 : !tessera.fragment<16x16xf32, acc>
}

// Neither the coordinates nor a value from outside are inputs.
// CHECK-LABEL: func @map_not_identity
// CHECK:         tessera.map
// CHECK:         tessera.map
func.func @map_not_identity(%f: !tessera.fragment<16x16xf32, acc>, %v: f32)
    -> (!tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf32, acc>) {
  %0 = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32):
    tessera.yield %v : f32
  }
  %1 = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32, %i: index, %j: index):
    %n = arith.index_cast %i : index to i32
    %y = arith.sitofp %n : i32 to f32
    tessera.yield %y : f32
  }
  return %0, %1 : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf32, acc>
}

// An input in another distribution is not the result.
// CHECK-LABEL: func @map_other_distribution
// CHECK:         tessera.map
func.func @map_other_distribution(%f: !tessera.fragment<16x16xf32, acc, "x">) -> !tessera.fragment<16x16xf32, acc, "y"> {
  %0 = tessera.map %f : !tessera.fragment<16x16xf32, acc, "x"> -> !tessera.fragment<16x16xf32, acc, "y"> {
  ^bb0(%x: f32):
    tessera.yield %x : f32
  }
  return %0 : !tessera.fragment<16x16xf32, acc, "y">
}

// A filled input is a scalar.
// CHECK-LABEL: func @map_of_fill
// CHECK-SAME:    %[[F:.+]]: !tessera.fragment<16x16xf32, acc>, %[[V:.+]]: f32
// CHECK-NOT:     tessera.fill
// CHECK:         tessera.map %[[F]] :
// CHECK-NEXT:    ^bb0(%[[X:.+]]: f32):
// CHECK-NEXT:      %[[Y:.+]] = arith.mulf %[[V]], %[[X]] : f32
// CHECK-NEXT:      tessera.yield %[[Y]]
func.func @map_of_fill(%f: !tessera.fragment<16x16xf32, acc>, %v: f32) -> !tessera.fragment<16x16xf32, acc> {
  %fill = tessera.fill %v : !tessera.fragment<16x16xf32, acc>
  %0 = tessera.map %fill, %f : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32, %y: f32):
    %z = arith.mulf %x, %y : f32
    tessera.yield %z : f32
  }
  return %0 : !tessera.fragment<16x16xf32, acc>
}

// Also with coordinates; one of two fills remains.
// CHECK-LABEL: func @map_of_fills
// CHECK-SAME:    %[[V:.+]]: f32, %[[W:.+]]: f32
// CHECK:         %[[FILL:.+]] = tessera.fill %[[W]]
// CHECK:         tessera.map %[[FILL]] :
// CHECK-NEXT:    ^bb0(%[[Y:.+]]: f32, %[[I:.+]]: index, %[[J:.+]]: index):
// CHECK-NEXT:      %[[C:.+]] = arith.cmpi slt, %[[I]], %[[J]]
// CHECK-NEXT:      arith.select %[[C]], %[[V]], %[[Y]]
func.func @map_of_fills(%v: f32, %w: f32) -> !tessera.fragment<16x16xf32, acc> {
  %f = tessera.fill %v : !tessera.fragment<16x16xf32, acc>
  %g = tessera.fill %w : !tessera.fragment<16x16xf32, acc>
  %0 = tessera.map %f, %g : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32, %y: f32, %i: index, %j: index):
    %c = arith.cmpi slt, %i, %j : index
    %z = arith.select %c, %x, %y : f32
    tessera.yield %z : f32
  }
  return %0 : !tessera.fragment<16x16xf32, acc>
}

// A conversion to the same type is none; one to another role stays.
// CHECK-LABEL: func @convert
// CHECK-SAME:    %[[F:.+]]: !tessera.fragment<16x16xf32, acc>
// CHECK-NEXT:    %[[A:.+]] = tessera.convert %[[F]]
// CHECK-NEXT:    return %[[F]], %[[A]]
func.func @convert(%f: !tessera.fragment<16x16xf32, acc>)
    -> (!tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf32, a>) {
  %0 = tessera.convert %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc>
  %1 = tessera.convert %0 : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, a>
  return %0, %1 : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf32, a>
}

// Unused ops are erased, unless they write; a vthread has the effects of its region.
// CHECK-LABEL: func @dead
// CHECK-NOT:     tessera.fill
// CHECK-NOT:     tessera.load
// CHECK-NOT:     tessera.mma
// CHECK-NOT:     tessera.broadcast
// CHECK-NOT:     tessera.reduce
// CHECK-NOT:     tessera.convert
// CHECK:         tessera.vthread
// CHECK-NEXT:      memref.store
// CHECK-NOT:     tessera.vthread
// CHECK:         tessera.async_copy
// CHECK-NEXT:    tessera.wait
// CHECK-NEXT:    return
func.func @dead(%m: memref<16x16xf16>, %w: memref<16x16xf16, #gpu.address_space<workgroup>>,
                %v: memref<16xf16>, %x: f16, %b: !tessera.fragment<16x16xf16, b>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %m[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
  %f = tessera.fill %x : !tessera.fragment<16x16xf16, acc>
  %p = tessera.mma %a, %b, %f : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf16, acc>
  %r = tessera.reduce add %p dimension 1 : !tessera.fragment<16x16xf16, acc> -> !tessera.fragment<16x1xf16, acc>
  %q = tessera.convert %r : !tessera.fragment<16x1xf16, acc> -> !tessera.fragment<16x1xf32, acc>
  %s = tessera.broadcast %v[%c0] dimension 0 : memref<16xf16> -> !tessera.fragment<16x16xf16, acc>
  tessera.vthread (%t) in (2) {
    memref.store %x, %v[%t] : memref<16xf16>
    tessera.yield
  }
  tessera.vthread (%t) in (2) {
    %y = memref.load %v[%t] : memref<16xf16>
    tessera.yield
  }
  %t = tessera.async_copy %m[%c0, %c0], %w[%c0, %c0] shape [16, 16] : memref<16x16xf16>, memref<16x16xf16, #gpu.address_space<workgroup>>
  tessera.wait
  return
}
