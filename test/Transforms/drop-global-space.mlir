// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: gpu-opt %s --tessera-drop-global-space | FileCheck %s

// CHECK-LABEL: func @buffers
// CHECK-SAME:    (%{{.+}}: memref<4xf32>, %{{.+}}: memref<4xf32, 3>, %{{.+}}: memref<*xf32>)
// CHECK:         %[[A:.+]] = memref.alloc() : memref<4xf32>
// CHECK-NOT:     memory_space_cast
// CHECK:         memref.copy %{{.+}}, %[[A]] : memref<4xf32> to memref<4xf32>
func.func @buffers(%a: memref<4xf32, 1>, %b: memref<4xf32, 3>, %c: memref<*xf32, 1>) {
  %0 = memref.alloc() : memref<4xf32, 1>
  %1 = memref.memory_space_cast %0 : memref<4xf32, 1> to memref<4xf32>
  memref.copy %a, %1 : memref<4xf32, 1> to memref<4xf32>
  return
}

// CHECK-LABEL: func @tensors
// CHECK:         bufferization.alloc_tensor() : tensor<4xf32>
// CHECK:         bufferization.alloc_tensor() {memory_space = 3 : i64} : tensor<4xf32>
func.func @tensors() -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = bufferization.alloc_tensor() {memory_space = 1 : i64} : tensor<4xf32>
  %1 = bufferization.alloc_tensor() {memory_space = 3 : i64} : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
