// Iterations that insert slices into shared tensors.

// RUN: gpu-runner %s --target=cpu --entry=elementwise --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=elementwise --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=elementwise --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=elementwise --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=matmul --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=matmul --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=matmul --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=matmul --verify | FileCheck %s

// CHECK: {{^}}verified

func.func @elementwise(%a: tensor<16x16xf32>, %d: tensor<16x16xf32>) -> (tensor<16x16xf32>) {
  %r = scf.forall (%i, %j) = (0, 0) to (16, 16) step (4, 8) shared_outs(%o = %d) -> (tensor<16x16xf32>) {
    %s = tensor.extract_slice %a[%i, %j] [4, 8] [1, 1] : tensor<16x16xf32> to tensor<4x8xf32>
    %t = tensor.extract_slice %o[%i, %j] [4, 8] [1, 1] : tensor<16x16xf32> to tensor<4x8xf32>
    %e = linalg.add ins(%s, %s : tensor<4x8xf32>, tensor<4x8xf32>) outs(%t : tensor<4x8xf32>) -> tensor<4x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%i, %j] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<16x16xf32>
    }
  }
  return %r : tensor<16x16xf32>
}

func.func @matmul(%a: tensor<32x16xf32>, %b: tensor<16x32xf32>, %d: tensor<32x32xf32>) -> (tensor<32x32xf32>) {
  %r = scf.forall (%i, %j) in (2, 4) shared_outs(%o = %d) -> (tensor<32x32xf32>) {
    %ii = affine.apply affine_map<(d0) -> (d0 * 16)>(%i)
    %jj = affine.apply affine_map<(d0) -> (d0 * 8)>(%j)
    %s = tensor.extract_slice %a[%ii, 0] [16, 16] [1, 1] : tensor<32x16xf32> to tensor<16x16xf32>
    %s2 = tensor.extract_slice %b[0, %jj] [16, 8] [1, 1] : tensor<16x32xf32> to tensor<16x8xf32>
    %t = tensor.extract_slice %o[%ii, %jj] [16, 8] [1, 1] : tensor<32x32xf32> to tensor<16x8xf32>
    %e = linalg.matmul ins(%s, %s2 : tensor<16x16xf32>, tensor<16x8xf32>) outs(%t : tensor<16x8xf32>) -> tensor<16x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %e into %o[%ii, %jj] [16, 8] [1, 1] : tensor<16x8xf32> into tensor<32x32xf32>
    }
  }
  return %r : tensor<32x32xf32>
}
