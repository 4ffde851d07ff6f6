// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx512" --tessera-pack-operands | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-pack-operands | FileCheck %s --check-prefix=NONE

// A CPU reads rows of rhs as vectors. A constant with K contiguous is transposed, which the program does
// when it is loaded; other targets read it as it is.
// NONE-NOT: tessera.packing

#batches = affine_map<(b, m, n, k) -> (b, m, k)>
#filters = affine_map<(b, m, n, k) -> (b, n, k)>
#results = affine_map<(b, m, n, k) -> (b, m, n)>

memref.global "private" constant @filters : memref<4x68x40xf32> = dense_resource<filters>
memref.global "private" constant @narrow : memref<4x68x40xf16> = dense_resource<narrow>
memref.global "private" constant @bytes : memref<4x68x40xi8> = dense_resource<bytes>

// CHECK-LABEL: func @constant
// CHECK:         %[[B:.+]] = memref.get_global @filters
// CHECK:         %[[MEMORY:.+]] = memref.alloc() {alignment = 64 : i64} : memref<4x40x80xf32>
// CHECK:         %[[VIEW:.+]] = memref.subview %[[MEMORY]][0, 0, 0] [4, 40, 68] [1, 1, 1]
// CHECK:         linalg.generic {{.*}} ins(%[[B]] : {{.+}}) outs(%[[VIEW]] : {{.+}}) attrs = {tessera.packing = "copies rhs of a matmul, 4x68x40xf32, to rows that are aligned to 64 bytes, with N contiguous"}
// CHECK:         tessera.contract ins(%{{.+}}, %[[VIEW]]
// The same copy serves the second matmul.
// CHECK-NOT:     linalg.generic
// CHECK:         tessera.contract ins(%{{.+}}, %[[VIEW]]
// CHECK:         memref.dealloc %[[MEMORY]]
func.func @constant(%a: memref<4x64x40xf32>, %c: memref<4x64x68xf32>) {
  %b = memref.get_global @filters : memref<4x68x40xf32>
  tessera.contract ins(%a, %b : memref<4x64x40xf32>, memref<4x68x40xf32>) outs(%c : memref<4x64x68xf32>)
      maps [#batches, #filters, #results] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%a, %b : memref<4x64x40xf32>, memref<4x68x40xf32>) outs(%c : memref<4x64x68xf32>)
      maps [#batches, #filters, #results] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Two or four bytes along K are gathered from rows of N.

// CHECK-LABEL: func @constant_bytes
// CHECK:         linalg.generic {{.*}} attrs = {tessera.packing = "copies rhs of a matmul, 4x68x40xi8, to rows that are aligned to 64 bytes, with N contiguous"}
func.func @constant_bytes(%a: memref<4x64x40xi8>, %c: memref<4x64x68xi32>) {
  %b = memref.get_global @bytes : memref<4x68x40xi8>
  tessera.contract ins(%a, %b : memref<4x64x40xi8>, memref<4x68x40xi8>) outs(%c : memref<4x64x68xi32>)
      maps [#batches, #filters, #results] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}

// An argument would be copied in each run. Narrow elements are packed along K. A schedule is about the
// op as it is.

// CHECK-LABEL: func @not
// CHECK-NOT:     linalg.generic
// CHECK:         return
func.func @not(%a: memref<4x64x40xf32>, %argument: memref<4x68x40xf32>, %h: memref<4x64x40xf16>, %c: memref<4x64x68xf32>) {
  tessera.contract ins(%a, %argument : memref<4x64x40xf32>, memref<4x68x40xf32>) outs(%c : memref<4x64x68xf32>)
      maps [#batches, #filters, #results] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  %narrow = memref.get_global @narrow : memref<4x68x40xf16>
  tessera.contract ins(%h, %narrow : memref<4x64x40xf16>, memref<4x68x40xf16>) outs(%c : memref<4x64x68xf32>)
      maps [#batches, #filters, #results] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  %b = memref.get_global @filters : memref<4x68x40xf32>
  tessera.contract ins(%a, %b : memref<4x64x40xf32>, memref<4x68x40xf32>) outs(%c : memref<4x64x68xf32>)
      maps [#batches, #filters, #results] accumulate f32 schedule <workgroup = [8, 32], subgroup = [8, 32], k = 8, kFragment = 8, stages = 0, vthread = [1, 1]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
