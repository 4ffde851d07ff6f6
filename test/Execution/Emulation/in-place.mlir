// A matmul stored over its own operands: no lane stores before every lane of its subgroup has loaded.
//
// RUN: gpu-runner %s --entry=half --target=cpu:emulate=sm_70 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=half --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=half --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --entry=half --target=cpu:emulate=gfx906 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=half --target=cpu:emulate=gfx90a --verify | FileCheck %s
// RUN: gpu-runner %s --entry=half --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=half --target=cpu:emulate=gfx950 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=half --target=cpu:emulate=gfx1100 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=half --target=cpu:emulate=pvc --verify | FileCheck %s
//
// RUN: gpu-runner %s --entry=single --target=cpu:emulate=sm_70 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=single --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=single --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --entry=single --target=cpu:emulate=gfx906 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=single --target=cpu:emulate=gfx90a --verify | FileCheck %s
// RUN: gpu-runner %s --entry=single --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=single --target=cpu:emulate=gfx950 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=single --target=cpu:emulate=gfx1100 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=single --target=cpu:emulate=pvc --verify | FileCheck %s
//
// RUN: gpu-runner %s --entry=swapped --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=swapped --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=swapped --target=cpu:emulate=gfx1100 --verify | FileCheck %s
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --entry=half --target=vulkan --verify | FileCheck %s %}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --entry=single --target=vulkan --verify | FileCheck %s %}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --entry=swapped --target=vulkan --verify | FileCheck %s %}
// CHECK: {{^}}verified

func.func @half(%m: memref<16x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    %a = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
    %b = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "BOp">
    %c = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf16> -> !gpu.mma_matrix<16x16xf16, "COp">
    %d = gpu.subgroup_mma_compute %a, %b, %c : !gpu.mma_matrix<16x16xf16, "AOp">, !gpu.mma_matrix<16x16xf16, "BOp"> -> !gpu.mma_matrix<16x16xf16, "COp">
    gpu.subgroup_mma_store_matrix %d, %m[%c0, %c0] {leadDimension = 16 : index} : !gpu.mma_matrix<16x16xf16, "COp">, memref<16x16xf16>
    gpu.terminator
  }
  return
}

// Two consecutive matmuls: the second one's loads see the first one's stores.
func.func @single(%m: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    scf.for %i = %c0 to %c2 step %c1 {
      %a = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf32> -> !gpu.mma_matrix<16x16xf32, "AOp">
      %b = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf32> -> !gpu.mma_matrix<16x16xf32, "BOp">
      %c = gpu.subgroup_mma_load_matrix %m[%c0, %c0] {leadDimension = 16 : index} : memref<16x16xf32> -> !gpu.mma_matrix<16x16xf32, "COp">
      %d = gpu.subgroup_mma_compute %a, %b, %c : !gpu.mma_matrix<16x16xf32, "AOp">, !gpu.mma_matrix<16x16xf32, "BOp"> -> !gpu.mma_matrix<16x16xf32, "COp">
      gpu.subgroup_mma_store_matrix %d, %m[%c0, %c0] {leadDimension = 16 : index} : !gpu.mma_matrix<16x16xf32, "COp">, memref<16x16xf32>
    }
    gpu.terminator
  }
  return
}

// Hand-written: a matrix transposed where it lies.
func.func @swapped(%m: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %t = tessera.load %m[%c0, %c0] transpose : memref<16x16xf32> -> !tessera.fragment<16x16xf32, acc>
    tessera.store %t, %m[%c0, %c0] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.terminator
  }
  return
}
