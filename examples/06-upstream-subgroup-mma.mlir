// 06: an unmodified kernel of upstream's gpu.subgroup_mma ops.
//
// The source does not use tessera. The kernel was written for warps of 32
// threads, two of them in a workgroup; `convert-subgroup-mma-to-tessera` raises
// it to portable fragments and makes the launch count subgroups instead of
// threads, so that it runs on the CPU too, where a subgroup has one lane:
//
//     gpu-opt examples/06-upstream-subgroup-mma.mlir --convert-subgroup-mma-to-tessera
//
// RUN: gpu-runner %s --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// CHECK: {{^}}verified
//
// RUN: gpu-opt %s --convert-subgroup-mma-to-tessera | FileCheck %s --check-prefix=RAISED
// RAISED: gpu.subgroup_size
// RAISED: gpu.subgroup_id
// RAISED: tessera.mma
// RAISED-NOT: gpu.subgroup_mma

func.func @main(%A: memref<32x64xf16>, %B: memref<64x48xf16>, %C: memref<32x48xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %half = arith.constant 0.5 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c3, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %warp = arith.divui %tx, %c32 : index
    %row = arith.muli %warp, %c16 : index
    %col = arith.muli %bx, %c16 : index
    %init = gpu.subgroup_mma_load_matrix %C[%row, %col] {leadDimension = 48 : index}
        : memref<32x48xf32> -> !gpu.mma_matrix<16x16xf32, "COp">
    %sum = scf.for %k = %c0 to %c64 step %c16
        iter_args(%acc = %init) -> !gpu.mma_matrix<16x16xf32, "COp"> {
      %a = gpu.subgroup_mma_load_matrix %A[%row, %k] {leadDimension = 64 : index}
          : memref<32x64xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
      %b = gpu.subgroup_mma_load_matrix %B[%k, %col] {leadDimension = 48 : index}
          : memref<64x48xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
      %next = gpu.subgroup_mma_compute %a, %b, %acc
          : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp">
          -> !gpu.mma_matrix<16x16xf32, "COp">
      scf.yield %next : !gpu.mma_matrix<16x16xf32, "COp">
    }
    %scale = gpu.subgroup_mma_constant_matrix %half : !gpu.mma_matrix<16x16xf32, "COp">
    %scaled = gpu.subgroup_mma_elementwise mulf %sum, %scale
        : (!gpu.mma_matrix<16x16xf32, "COp">, !gpu.mma_matrix<16x16xf32, "COp">)
        -> !gpu.mma_matrix<16x16xf32, "COp">
    gpu.subgroup_mma_store_matrix %scaled, %C[%row, %col] {leadDimension = 48 : index}
        : !gpu.mma_matrix<16x16xf32, "COp">, memref<32x48xf32>
    gpu.terminator
  }
  return
}
