// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sums of an epilogue become vectors through workgroup memory, once: their
// cast and their store, and the load of the other operand, are by lanes, of
// eight elements of f16 each.
//
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper --emit=llvm --require-mma | FileCheck %s

// The sums are where the tiles were, after a barrier: one variable, with the
// bytes of the tiles.
//
// CHECK:       tessera.workgroup_bytes = [[#BYTES:]]
// CHECK:       spirv.GlobalVariable @__workgroup0 : !spirv.ptr<!spirv.array<[[#div(BYTES,16)]] x vector<4xi32>>, Workgroup>
// CHECK-NOT:   spirv.GlobalVariable {{.*}}Workgroup>
// CHECK-LABEL: spirv.func @main_kernel
// CHECK:       spirv.KHR.CooperativeMatrixMulAdd
// CHECK-NOT:   CooperativeMatrixLoad {{.*}}MatrixAcc>
// CHECK:       spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 16] : vector<4xi32>
// CHECK:       spirv.ControlBarrier <Workgroup>
// CHECK:       spirv.KHR.CooperativeMatrixStore {{.*}}!spirv.ptr<vector<4xi32>, Workgroup>
// CHECK:       spirv.ControlBarrier <Subgroup>, <Subgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
// CHECK-NOT:   spirv.Store "Workgroup"
// CHECK-NOT:   CooperativeMatrixLoad {{.*}}MatrixAcc>
// CHECK:       spirv.Load "Workgroup" {{.*}} : vector<4xi32>
// CHECK:       spirv.Load "Workgroup" {{.*}} : vector<4xi32>
// CHECK-NOT:   CooperativeMatrixStore {{.*}}PhysicalStorageBuffer
// CHECK:       spirv.Store "PhysicalStorageBuffer" %{{.*}} ["Aligned", 16] : vector<4xi32>
// CHECK-NOT:   CooperativeMatrixStore {{.*}}PhysicalStorageBuffer
// CHECK-LABEL: spirv.EntryPoint

// Sums without arithmetic stay matrices.
//
// RUN: gpu-runner %s --entry=plain --target=vulkan:nvidia-hopper --emit=llvm --require-mma | FileCheck %s --check-prefix=PLAIN
// PLAIN-LABEL: spirv.func @plain_kernel
// PLAIN-NOT:   spirv.Store "PhysicalStorageBuffer"
// PLAIN:       spirv.KHR.CooperativeMatrixStore {{.*}}PhysicalStorageBuffer

// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --arg=random --arg=random --arg=random --verify --require-mma %}

#ij = affine_map<(i, j) -> (i, j)>

func.func @main(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>, %c: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf16>, tensor<64x128xf16>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  %o = tensor.empty() : tensor<128x128xf16>
  %s = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%r, %c : tensor<128x128xf32>, tensor<128x128xf16>) outs(%o : tensor<128x128xf16>) {
  ^bb0(%x: f32, %y: f16, %old: f16):
    %z = arith.extf %y : f16 to f32
    %sum = arith.addf %x, %z : f32
    %max = arith.maximumf %sum, %zero : f32
    %h = arith.truncf %max : f32 to f16
    linalg.yield %h : f16
  } -> tensor<128x128xf16>
  return %s : tensor<128x128xf16>
}

func.func @plain(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf16>, tensor<64x128xf16>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
