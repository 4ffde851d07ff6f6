// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With few accumulators, loads are two steps ahead: the loop has two steps, each
// of which stores what the last iteration loaded, and loads for the next one.
//
// RUN: gpu-runner %s --target=vulkan:lavapipe --emit=llvm --require-mma | FileCheck %s
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --arg=random --arg=random --verify --require-mma %}

// CHECK-LABEL:    spirv.func @main_kernel
// CHECK-COUNT-8:  spirv.Load "PhysicalStorageBuffer"
// CHECK-NOT:      spirv.Load "PhysicalStorageBuffer"
// CHECK:          spirv.mlir.loop control(DontUnroll)
// CHECK:          spirv.ControlBarrier <Workgroup>
// CHECK-COUNT-4:  spirv.Store "Workgroup"
// CHECK:          spirv.ControlBarrier <Workgroup>
// CHECK-COUNT-4:  spirv.Load "PhysicalStorageBuffer"
// CHECK-COUNT-8:  spirv.KHR.CooperativeMatrixMulAdd
// CHECK:          spirv.ControlBarrier <Workgroup>
// CHECK-COUNT-4:  spirv.Store "Workgroup"
// CHECK:          spirv.ControlBarrier <Workgroup>
// CHECK-COUNT-4:  spirv.Load "PhysicalStorageBuffer"
// CHECK-COUNT-8:  spirv.KHR.CooperativeMatrixMulAdd
// CHECK:          spirv.mlir.merge
// CHECK-NOT:      spirv.KHR.CooperativeMatrixMulAdd

func.func @main(%a: tensor<32x96xf16>, %b: tensor<96x32xf16>) -> tensor<32x32xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 16], k = 16, kFragment = 8, stages = 1>}
      ins(%a, %b : tensor<32x96xf16>, tensor<96x32xf16>) outs(%i : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %c : tensor<32x32xf32>
}
