// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Forms that --verify evaluates: arithmetic of LLVM's dialect, unsigned operands of 64 bits, sparse
// constants.

// RUN: gpu-runner %s --target=cpu -e llvm --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e unsigned --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e sparse --verify | FileCheck %s
// CHECK: {{^}}verified

func.func @llvm(%a: memref<8xf32>) -> memref<8xf32> {
  %one = llvm.mlir.constant(1.5 : f32) : f32
  %r = memref.alloc() : memref<8xf32>
  affine.for %i = 0 to 8 {
    %x = affine.load %a[%i] : memref<8xf32>
    %0 = llvm.fmul %x, %one : f32
    %1 = llvm.fsub %0, %one : f32
    affine.store %1, %r[%i] : memref<8xf32>
  }
  return %r : memref<8xf32>
}

// A negative number is above 2 to the 63rd power as an unsigned one.
func.func @unsigned(%a: tensor<4x8xi16>, %b: tensor<8x5xi64>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<4x8xi16>, tensor<8x5xi64>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

func.func @sparse(%a: tensor<6xi32>) -> tensor<6xi32> {
  %0 = arith.constant sparse<[[1], [4]], [7, -3]> : tensor<6xi32>
  %1 = arith.addi %0, %a : tensor<6xi32>
  return %1 : tensor<6xi32>
}
