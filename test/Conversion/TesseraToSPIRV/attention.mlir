// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention on cooperative matrices that cannot be reduced. In a step, the scores pass through workgroup memory once, to lanes that hold
// whole rows; the weights pass once, to an operand; and the factors of the rows become a matrix, by which the sums
// are multiplied in registers. Queries are loaded before the loop, and matrices of keys and values right before
// their matmuls.
//
// RUN: gpu-runner %s --target=vulkan:s32-w49152-t1024-n16-n32-n64-m16n16k16.f16.f16-m16n16k16.f32.f16 --emit=llvm --require-mma | FileCheck %s

// CHECK-LABEL: spirv.func @main_kernel
// CHECK-COUNT-8: %{{.*}} = spirv.KHR.CooperativeMatrixLoad {{.*}}PhysicalStorageBuffer>, i32 -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixA>
// CHECK:      spirv.mlir.loop
// CHECK-NOT:  PhysicalStorageBuffer>, i32 -> !spirv.coopmatrix
// CHECK:      spirv.ControlBarrier <Workgroup>
// CHECK:      spirv.ControlBarrier <Workgroup>

// The scores: eight matmuls of 32 keys for each of the two columns.
// CHECK:      %[[K:.*]] = spirv.KHR.CooperativeMatrixLoad {{.*}} <ColumnMajor>, {{.*}}MatrixB>
// CHECK-NEXT: spirv.KHR.CooperativeMatrixMulAdd %{{.*}}, %[[K]],
// CHECK:      spirv.KHR.CooperativeMatrixLoad {{.*}} <RowMajor>, {{.*}}MatrixB>

// CHECK-NOT:  spirv.ControlBarrier
// CHECK-COUNT-2: spirv.KHR.CooperativeMatrixStore {{.*}}!spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
// CHECK-NOT:  spirv.KHR
// CHECK:      spirv.ControlBarrier <Subgroup>
// CHECK-NOT:  spirv.KHR
// CHECK-NOT:  spirv.ControlBarrier
// CHECK-COUNT-4: spirv.Load "Workgroup" {{.*}} : vector<4xi32>
// CHECK-NOT:  spirv.KHR
// CHECK:      spirv.GL.Exp2

// The factors.
// CHECK:      spirv.ControlBarrier <Subgroup>
// CHECK-COUNT-2: spirv.Store "Workgroup" {{.*}} : vector<4xi32>
// CHECK-NEXT: spirv.ControlBarrier <Subgroup>
// CHECK:      %[[F:.*]] = spirv.KHR.CooperativeMatrixLoad {{.*}} -> !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
// CHECK-COUNT-8: spirv.FMul %{{.*}}, %[[F]] {no_contraction} : !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>

// The weights.
// CHECK-NOT:  spirv.KHR
// CHECK-NOT:  spirv.ControlBarrier
// CHECK-COUNT-4: spirv.Store "Workgroup" {{.*}} : vector<2xi32>
// CHECK-NOT:  spirv.KHR
// CHECK:      spirv.ControlBarrier <Subgroup>
// CHECK-COUNT-2: spirv.KHR.CooperativeMatrixLoad {{.*}} -> !spirv.coopmatrix<16x16xf16, Subgroup, MatrixA>
// CHECK-NOT:  spirv.KHR
// CHECK:      spirv.mlir.merge

// Accumulators are divided and stored as matrices.
// CHECK-COUNT-8: spirv.FMul {{.*}} {no_contraction} : !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
// CHECK:      spirv.KHR.CooperativeMatrixStore {{.*}}PhysicalStorageBuffer>

#q = affine_map<(b, m, n, d, e) -> (b, m, d)>
#k = affine_map<(b, m, n, d, e) -> (b, n, d)>
#v = affine_map<(b, m, n, d, e) -> (b, n, e)>
#o = affine_map<(b, m, n, d, e) -> (b, m, e)>

func.func @main(%q: memref<16x2048x128xf16>, %k: memref<16x2048x128xf16>, %v: memref<16x2048x128xf16>, %o: memref<16x2048x128xf16>) {
  tessera.attention ins(%q, %k, %v : memref<16x2048x128xf16>, memref<16x2048x128xf16>, memref<16x2048x128xf16>) outs(%o : memref<16x2048x128xf16>)
      maps [#q, #k, #v, #o] scale 0.088
      schedule <workgroup = [64, 32], subgroup = [16, 32], k = 128, kFragment = 128, stages = 1, vthread = [1, 1]>
  return
}
