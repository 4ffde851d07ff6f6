// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Buffers, variables and arguments with a layout, and buffers in memory space 1.

// RUN: gpu-runner %s --target=cpu -e main --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a -e main --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e space --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 -e space --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e argument --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a -e argument --verify | FileCheck %s
// CHECK: {{^}}verified

memref.global "private" constant @weights : memref<4xf32, strided<[2], offset: 3>> = dense<[1.0, 2.0, 3.0, 4.0]>

func.func @main(%a: memref<4xf32>, %out: memref<4xf32>) {
  %b = memref.alloc() : memref<4xf32, strided<[3], offset: 5>>
  %w = memref.get_global @weights : memref<4xf32, strided<[2], offset: 3>>
  linalg.mul ins(%a, %w : memref<4xf32>, memref<4xf32, strided<[2], offset: 3>>)
             outs(%b : memref<4xf32, strided<[3], offset: 5>>)
  linalg.exp ins(%b : memref<4xf32, strided<[3], offset: 5>>) outs(%out : memref<4xf32>)
  memref.dealloc %b : memref<4xf32, strided<[3], offset: 5>>
  return
}

func.func @space(%a: tensor<4xf32>, %i: index) -> (tensor<4xf32>, f32) {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %b = bufferization.alloc_tensor() copy(%a) {memory_space = 1 : i64} : tensor<4xf32>
  %x = tensor.extract %b[%c3] : tensor<4xf32>
  %r = tensor.insert %x into %b[%c0] : tensor<4xf32>
  return %r, %x : tensor<4xf32>, f32
}

func.func @argument(%a: memref<4x3xf32, strided<[8, 2], offset: 5>>, %x: memref<4x3xf32>) {
  linalg.exp ins(%x : memref<4x3xf32>) outs(%a : memref<4x3xf32, strided<[8, 2], offset: 5>>)
  return
}
