// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element-wise functions of cooperative matrices whose rows are reduced (convert-tessera-to-spirv). A row of memory is
// loaded with a stride of 0; sums and casts are arithmetic of matrices; a maximum is a loop over a lane's elements, on
// matrices of one element type. Coordinates come from a matrix of column numbers. Accumulators become an operand, and
// nothing passes through workgroup memory.
//
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper --emit=spirv-asm --require-mma | FileCheck %s

// CHECK-NOT:   Workgroup
// CHECK-DAG:   OpCapability CooperativeMatrixReductionsNV
// CHECK-DAG:   OpCapability CooperativeMatrixConversionsNV
// CHECK-DAG:   OpCapability CooperativeMatrixPerElementOperationsNV
// CHECK-DAG:   OpExtension "SPV_NV_cooperative_matrix2"
// CHECK-NOT:   Linkage
// CHECK:       OpEntryPoint GLCompute %main_kernel
// CHECK-NOT:   OpEntryPoint
// CHECK:       OpExecutionMode %main_kernel SignedZeroInfNanPreserve 32
// CHECK:       %[[MAX:__tessera_element_max_f32]] = OpFunction %float
// CHECK:       OpFUnordGreaterThan
// CHECK:       OpFUnordNotEqual
// CHECK:       OpFunctionEnd
// CHECK:       %[[COLUMN:__tessera_element_column]] = OpFunction %float
// CHECK:       OpConvertUToF %float
// CHECK:       OpFunctionEnd
// CHECK:       %main_kernel = OpFunction
// CHECK:       OpVariable %_ptr_Function_
// CHECK:       %[[SCORES:.*]] = OpCooperativeMatrixMulAddKHR
// CHECK:       %[[ROW:.*]] = OpCooperativeMatrixLoadKHR %{{.*}} %uint_0 %uint_0 Aligned 16
// CHECK:       %[[WIDE:.*]] = OpFConvert %{{.*}} %[[ROW]]
// CHECK:       OpFAdd %{{.*}} %[[SCORES]] %[[WIDE]]
// CHECK:       %[[NUMBERS:.*]] = OpCooperativeMatrixPerElementOpNV %{{.*}} %[[COLUMN]]
// CHECK:       OpStore %{{.*}} %[[NUMBERS]]
// CHECK:       %[[LENGTH:.*]] = OpCooperativeMatrixLengthKHR %uint
// CHECK:       OpSLessThan %bool %{{.*}} %[[LENGTH]]
// CHECK:       OpLoopMerge %{{.*}} Unroll
// CHECK:       OpConvertFToU %uint
// CHECK:       OpSelect %float
// CHECK:       %[[MASKED:.*]] = OpLoad
// CHECK:       %[[MAXIMA:.*]] = OpCooperativeMatrixReduceNV %{{.*}} %[[MASKED]] Row %[[MAX]]
// CHECK:       OpFSub %{{.*}} %[[MASKED]] %[[MAXIMA]]
// CHECK:       %[[HALF:.*]] = OpFConvert
// CHECK:       OpCooperativeMatrixConvertNV %{{.*}} %[[HALF]]
// CHECK:       OpCooperativeMatrixMulAddKHR
// CHECK:       OpCooperativeMatrixStoreKHR
// CHECK-NOT:   Workgroup
// CHECK:       OpFunctionEnd

// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --arg=random --arg=random --arg=random --arg=zeros --verify --require-mma %}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan:s8-w32768-t1024-n16-n32-n64-m8n8k8.f16.f16-m8n8k8.f32.f16 --arg=random --arg=random --arg=random --arg=zeros --verify --require-mma %}

func.func @main(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %row: memref<16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c13 = arith.constant 13 : index
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant -100.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %x = tessera.load %a[%c0, %c0] in_bounds : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
    %y = tessera.load %b[%c0, %c0] in_bounds : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
    %none = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
    %s = tessera.mma %x, %y, %none
        : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    %bias = tessera.broadcast %row[%c0] dimension 0 in_bounds : memref<16xf16> -> !tessera.fragment<16x16xf16, acc>
    %masked = tessera.map %s, %bias
        : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf16, acc> -> !tessera.fragment<16x16xf32, acc> {
    ^bb0(%p: f32, %q: f16, %i: index, %j: index):
      %wide = arith.extf %q : f16 to f32
      %sum = arith.addf %p, %wide : f32
      %half = arith.truncf %sum : f32 to f16
      %rounded = arith.extf %half : f16 to f32
      %exists = arith.cmpi slt, %j, %c13 : index
      %r = arith.select %exists, %rounded, %lowest : f32
      tessera.yield %r : f32
    }
    %max = tessera.reduce max %masked dimension 1
        : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x1xf32, acc>
    %all = tessera.broadcast %max dimension 1 : !tessera.fragment<16x1xf32, acc> -> !tessera.fragment<16x16xf32, acc>
    %below = tessera.map %masked, %all
        : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
    ^bb0(%p: f32, %q: f32):
      %r = arith.subf %p, %q : f32
      tessera.yield %r : f32
    }
    %operand = tessera.convert %below : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf16, a>
    %t = tessera.mma %operand, %y, %none
        : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %t, %c[%c0, %c0] in_bounds : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.terminator
  }
  return
}
