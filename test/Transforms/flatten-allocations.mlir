// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: gpu-opt %s --tessera-flatten-allocations | FileCheck %s

// Elements 3 + 2 * i, the last one is number 9.
// CHECK-LABEL: func @offset
// CHECK:         %[[FLAT:.+]] = memref.alloc() {alignment = 64 : i64} : memref<10xf32>
// CHECK-NEXT:    %[[VIEW:.+]] = memref.reinterpret_cast %[[FLAT]] to offset: [3], sizes: [4], strides: [2] : memref<10xf32> to memref<4xf32, strided<[2], offset: 3>>
// CHECK:         memref.store %{{.+}}, %[[VIEW]]
// CHECK:         memref.dealloc %[[FLAT]] : memref<10xf32>
func.func @offset(%x: f32) {
  %c0 = arith.constant 0 : index
  %0 = memref.alloc() {alignment = 64 : i64} : memref<4xf32, strided<[2], offset: 3>>
  memref.store %x, %0[%c0] : memref<4xf32, strided<[2], offset: 3>>
  memref.dealloc %0 : memref<4xf32, strided<[2], offset: 3>>
  return
}

// An affine map with constant strides; columns are contiguous.
// CHECK-LABEL: func @columns
// CHECK:         %[[FLAT:.+]] = memref.alloca() : memref<6xf32>
// CHECK-NEXT:    memref.reinterpret_cast %[[FLAT]] to offset: [0], sizes: [2, 3], strides: [1, 2]
func.func @columns() {
  %0 = memref.alloca() : memref<2x3xf32, affine_map<(i, j) -> (i + 2 * j)>>
  %c0 = arith.constant 0 : index
  %1 = memref.load %0[%c0, %c0] : memref<2x3xf32, affine_map<(i, j) -> (i + 2 * j)>>
  return
}

// These stay: the identity, dynamic sizes, a map without strides.
// CHECK-LABEL: func @others
// CHECK:         memref.alloc() : memref<4xf32>
// CHECK:         memref.alloc(%{{.+}}) : memref<?xf32, strided<[2]>>
// CHECK:         memref.alloc() : memref<8xf32, #{{.+}}>
func.func @others(%n: index) -> memref<4xf32> {
  %0 = memref.alloc() : memref<4xf32>
  %1 = memref.alloc(%n) : memref<?xf32, strided<[2]>>
  %2 = memref.alloc() : memref<8xf32, affine_map<(i) -> (i mod 4)>>
  return %0 : memref<4xf32>
}

// CHECK: memref.global "private" constant @values : memref<6xi32> = dense<[0, 1, 2, 0, 3, 4]>
// CHECK: memref.global "private" @splat : memref<3xi32> = dense<7>
// CHECK-LABEL: func @globals
// CHECK:         %[[BASE:.+]] = memref.get_global @values : memref<6xi32>
// CHECK-NEXT:    memref.reinterpret_cast %[[BASE]] to offset: [1], sizes: [2, 2], strides: [3, 1]
memref.global "private" constant @values : memref<2x2xi32, strided<[3, 1], offset: 1>> = dense<[[1, 2], [3, 4]]>
memref.global "private" @splat : memref<2xi32, strided<[1], offset: 1>> = dense<7>
func.func @globals() -> i32 {
  %c1 = arith.constant 1 : index
  %0 = memref.get_global @values : memref<2x2xi32, strided<[3, 1], offset: 1>>
  %1 = memref.load %0[%c1, %c1] : memref<2x2xi32, strided<[3, 1], offset: 1>>
  return %1 : i32
}

// The elements of an argument are copied, and written back; dense ones are passed as they are.
// CHECK-LABEL: func @arguments
// CHECK-SAME:    (%[[A:.+]]: memref<4xf32>, %{{.+}}: memref<2x3xf32, strided<[3, 1]>>, %[[X:.+]]: f32)
// CHECK:         %[[FLAT:.+]] = memref.alloc() : memref<10xf32>
// CHECK-NEXT:    %[[VIEW:.+]] = memref.reinterpret_cast %[[FLAT]] to offset: [3], sizes: [4], strides: [2]
// CHECK-NEXT:    memref.copy %[[A]], %[[VIEW]]
// CHECK:         memref.store %[[X]], %[[VIEW]]
// CHECK-NEXT:    memref.copy %[[VIEW]], %[[A]]
// CHECK-NEXT:    memref.dealloc %[[FLAT]]
// CHECK-NEXT:    return
func.func @arguments(%a: memref<4xf32, strided<[2], offset: 3>>, %b: memref<2x3xf32, strided<[3, 1]>>, %x: f32) {
  %c1 = arith.constant 1 : index
  memref.store %x, %a[%c1] : memref<4xf32, strided<[2], offset: 3>>
  return
}

// Functions that are called, and those that return a buffer, keep their types.
// CHECK-LABEL: func @called(%{{.+}}: memref<4xf32, strided<[2], offset: 3>>)
func.func @called(%a: memref<4xf32, strided<[2], offset: 3>>) {
  return
}
// CHECK-LABEL: func @returns(%{{.+}}: memref<4xf32, strided<[2], offset: 3>>)
func.func @returns(%a: memref<4xf32, strided<[2], offset: 3>>) -> memref<4xf32, strided<[2], offset: 3>> {
  call @called(%a) : (memref<4xf32, strided<[2], offset: 3>>) -> ()
  return %a : memref<4xf32, strided<[2], offset: 3>>
}
