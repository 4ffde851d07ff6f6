// Programs of others: vector transfers of two dimensions, linalg on workgroup memory and element-wise ops of
// f16 matrices in a launch.
//
// RUN: gpu-runner %s --entry=transfers --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --entry=transfers --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=outside --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --entry=outside --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=columns --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --entry=workgroup --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --entry=workgroup --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=elementwise --target=cpu:emulate=gfx942 --verify | FileCheck %s
// CHECK: {{^}}verified

// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --entry=transfers --target=vulkan --verify | FileCheck %s %}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --entry=outside --target=vulkan --verify | FileCheck %s %}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --entry=columns --target=vulkan --verify | FileCheck %s %}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --entry=workgroup --target=vulkan --verify | FileCheck %s %}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --entry=elementwise --target=vulkan --verify | FileCheck %s %}

// RUN: gpu-runner %s --target=cuda:sm_80 --emit=ptx -o %t.ptx
// RUN: gpu-runner %s --target=hip:gfx942 --emit=amdgcn -o %t.s
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper --emit=spirv -o %t.spv
// RUN: gpu-runner %s --target=vulkan:lavapipe-simt --emit=spirv -o %t.spv
// RUN: gpu-runner %s --target=opencl:pvc --emit=spirv -o %t.spv
// RUN: gpu-runner %s --target=opencl:simt --emit=spirv -o %t.spv

func.func @transfers(%m: memref<64x64xf32>, %n: memref<64x64xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %z = arith.constant 0.0 : f32
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c16, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
      %i = arith.muli %bx, %c4 : index
      %j = arith.muli %tx, %c4 : index
      %v = vector.transfer_read %m[%i, %j], %z {in_bounds = [true, true]} : memref<64x64xf32>, vector<4x4xf32>
      %w = arith.addf %v, %v : vector<4x4xf32>
      vector.transfer_write %w, %n[%i, %j] {in_bounds = [true, true]} : vector<4x4xf32>, memref<64x64xf32>
      gpu.terminator
    }
    return
}

func.func @outside(%m: memref<62x63xf32>, %n: memref<62x63xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %z = arith.constant 0.0 : f32
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c16, %gy = %c1, %gz = %c1)
               threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
      %i = arith.muli %bx, %c4 : index
      %j = arith.muli %tx, %c4 : index
      %v = vector.transfer_read %m[%i, %j], %z : memref<62x63xf32>, vector<4x4xf32>
      %w = arith.addf %v, %v : vector<4x4xf32>
      vector.transfer_write %w, %n[%i, %j] : vector<4x4xf32>, memref<62x63xf32>
      gpu.terminator
    }
    return
}

// Along columns, which are not contiguous.
func.func @columns(%m: memref<16x16xf32>, %n: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %z = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c16, %sy = %c1, %sz = %c1) {
    %i = arith.muli %bx, %c4 : index
    %t = memref.transpose %m (i, j) -> (j, i) : memref<16x16xf32> to memref<16x16xf32, strided<[1, 16]>>
    %v = vector.transfer_read %t[%tx, %i], %z {in_bounds = [true]} : memref<16x16xf32, strided<[1, 16]>>, vector<4xf32>
    vector.transfer_write %v, %n[%tx, %i] {in_bounds = [true]} : vector<4xf32>, memref<16x16xf32>
    gpu.terminator
  }
  return
}

// Compiled only: the reference does not know vector.contract.
func.func @contraction(%m: memref<4x8xf32>, %n: memref<8x4xf32>, %o: memref<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %a = vector.transfer_read %m[%c0, %c0], %z {in_bounds = [true, true]} : memref<4x8xf32>, vector<4x8xf32>
    %b = vector.transfer_read %n[%c0, %c0], %z {in_bounds = [true, true]} : memref<8x4xf32>, vector<8x4xf32>
    %c = vector.transfer_read %o[%c0, %c0], %z {in_bounds = [true, true]} : memref<4x4xf32>, vector<4x4xf32>
    %d = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
                          iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
        %a, %b, %c : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
    %t = vector.transpose %d, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
    vector.transfer_write %t, %o[%c0, %c0] {in_bounds = [true, true]} : vector<4x4xf32>, memref<4x4xf32>
    gpu.terminator
  }
  return
}

func.func @workgroup(%m: memref<16x16xf32>, %n: memref<16x16xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %z = arith.constant 0.0 : f32
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
             workgroup(%w: memref<16x16xf32, #gpu.address_space<workgroup>>) {
    linalg.fill ins(%z : f32) outs(%w : memref<16x16xf32, #gpu.address_space<workgroup>>)
    linalg.matmul ins(%m, %m : memref<16x16xf32>, memref<16x16xf32>) outs(%w : memref<16x16xf32, #gpu.address_space<workgroup>>)
    linalg.copy ins(%w : memref<16x16xf32, #gpu.address_space<workgroup>>) outs(%n : memref<16x16xf32>)
    gpu.terminator
  }
  return
}

func.func @elementwise(%m: memref<16x16xf16>, %n: memref<16x16xf16>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c32 = arith.constant 32 : index
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %a = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
    %b = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
    %c = gpu.subgroup_mma_load_matrix %n[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "COp">
    %d = gpu.subgroup_mma_compute %a, %b, %c : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf16, "COp">
    %e = gpu.subgroup_mma_elementwise addf %d, %c : (!gpu.mma_matrix<16x16xf16, "COp">, !gpu.mma_matrix<16x16xf16, "COp">) -> !gpu.mma_matrix<16x16xf16, "COp">
    %f = gpu.subgroup_mma_elementwise maxf %e, %c : (!gpu.mma_matrix<16x16xf16, "COp">, !gpu.mma_matrix<16x16xf16, "COp">) -> !gpu.mma_matrix<16x16xf16, "COp">
    gpu.subgroup_mma_store_matrix %f, %n[%c0, %c0] {leadDimension = 16 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<16x16xf16>
    gpu.terminator
  }
  return
}
