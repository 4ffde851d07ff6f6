// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element-wise functions of cooperative matrices (convert-tessera-to-spirv). An epilogue that adds a row and a matrix
// is arithmetic of matrices; the row is loaded with a stride of 0. A maximum is a loop over a lane's elements, on
// matrices of the same element type. Nothing passes through workgroup memory.
//
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper --emit=llvm --require-mma | FileCheck %s

// CHECK-LABEL: spirv.func @main_kernel
// CHECK:       spirv.KHR.CooperativeMatrixMulAdd
// CHECK-NOT:   spirv.ControlBarrier
// CHECK:       %[[ROW:.*]] = spirv.KHR.CooperativeMatrixLoad %{{.*}}, %cst0_i32{{[_0-9]*}}, <RowMajor>, <Aligned>, 16 : !spirv.ptr<f16, PhysicalStorageBuffer>, i32 -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixAcc>
// CHECK-NOT:   spirv.ControlBarrier
// CHECK:       %[[WIDE:.*]] = spirv.FConvert %[[ROW]] : !spirv.coopmatrix<16x16xf16, Subgroup, MatrixAcc> to !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
// CHECK:       %[[SUM:.*]] = spirv.FAdd %{{.*}}, %[[WIDE]] {no_contraction} : !spirv.coopmatrix<16x16xf32
// CHECK:       %[[HALF:.*]] = spirv.FConvert %[[SUM]] : !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc> to !spirv.coopmatrix<16x16xf16, Subgroup, MatrixAcc>
// CHECK:       spirv.Store "Function" %[[VARIABLE:.*]], %[[HALF]]
// CHECK:       %[[LENGTH:.*]] = spirv.KHR.CooperativeMatrixLength : !spirv.coopmatrix<16x16xf16, Subgroup, MatrixAcc>
// CHECK:       spirv.mlir.loop control(Unroll)
// CHECK:       spirv.SLessThan %{{.*}}, %[[LENGTH]]
// CHECK:       spirv.AccessChain %[[VARIABLE]]
// CHECK:       spirv.FAdd {{.*}} : f16
// CHECK:       spirv.GL.FMax {{.*}} : f16
// CHECK-NOT:   spirv.ControlBarrier
// CHECK:       spirv.KHR.CooperativeMatrixStore {{.*}}!spirv.ptr<f16, PhysicalStorageBuffer>, !spirv.coopmatrix<16x16xf16
// CHECK-NOT:   "Workgroup"
// CHECK-LABEL: spirv.EntryPoint

// A truth value is not an element: the comparison and the selection are in one loop. Integers are computed by lanes.
//
// RUN: gpu-runner %s --entry=select --target=vulkan:nvidia-hopper --emit=llvm --require-mma | FileCheck %s --check-prefix=SELECT
// SELECT-LABEL: spirv.func @select_kernel
// SELECT-NOT:   !spirv.ptr<f32, Workgroup>
// SELECT:       control(Unroll)
// SELECT:       spirv.FOrdGreaterThan
// SELECT:       spirv.Select
// SELECT-NOT:   !spirv.ptr<f32, Workgroup>
// SELECT-LABEL: spirv.EntryPoint
//
// RUN: gpu-runner %s --entry=bits --target=vulkan:nvidia-hopper --emit=llvm --require-mma | FileCheck %s --check-prefix=BITS
// BITS-LABEL: spirv.func @bits_kernel
// BITS:       spirv.KHR.CooperativeMatrixStore {{.*}}!spirv.ptr<f32, Workgroup>

// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --arg=random --arg=random --arg=random --arg=random --verify --require-mma %}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --entry=select --target=vulkan --arg=random --arg=random --verify --require-mma %}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --entry=bits --target=vulkan --arg=random --arg=random --verify --require-mma %}

#ij = affine_map<(i, j) -> (i, j)>
#j = affine_map<(i, j) -> (j)>

func.func @main(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>, %row: tensor<128xf16>, %c: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %zero = arith.constant 0.0 : f32
  %nought = arith.constant 0.0 : f16
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf16>, tensor<64x128xf16>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  %o = tensor.empty() : tensor<128x128xf16>
  %s = linalg.generic {indexing_maps = [#ij, #j, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%r, %row, %c : tensor<128x128xf32>, tensor<128xf16>, tensor<128x128xf16>) outs(%o : tensor<128x128xf16>) {
  ^bb0(%x: f32, %y: f16, %z: f16, %old: f16):
    %wide = arith.extf %y : f16 to f32
    %sum = arith.addf %x, %wide : f32
    %half = arith.truncf %sum : f32 to f16
    %both = arith.addf %half, %z : f16
    %max = arith.maximumf %both, %nought : f16
    linalg.yield %max : f16
  } -> tensor<128x128xf16>
  return %s : tensor<128x128xf16>
}

func.func @select(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %tenth = arith.constant 0.1 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf16>, tensor<64x128xf16>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  %s = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<128x128xf32>) outs(%e : tensor<128x128xf32>) {
  ^bb0(%x: f32, %old: f32):
    %above = arith.cmpf ogt, %x, %zero : f32
    %small = arith.mulf %x, %tenth : f32
    %y = arith.select %above, %x, %small : f32
    linalg.yield %y : f32
  } -> tensor<128x128xf32>
  return %s : tensor<128x128xf32>
}

func.func @bits(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>) -> tensor<128x128xi32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf16>, tensor<64x128xf16>) outs(%f : tensor<128x128xf32>) -> tensor<128x128xf32>
  %o = tensor.empty() : tensor<128x128xi32>
  %s = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<128x128xf32>) outs(%o : tensor<128x128xi32>) {
  ^bb0(%x: f32, %old: i32):
    %y = arith.fptosi %x : f32 to i32
    linalg.yield %y : i32
  } -> tensor<128x128xi32>
  return %s : tensor<128x128xi32>
}
