// A matmul with one column whose operand and initial values are transposed in
// memory: the kernel reads them through memref.transpose.

// REQUIRES: can-run-vulkan-lavapipe
// RUN: %software lavapipe gpu-runner %s --target=vulkan --verify --arg=int:69 --arg=int:143 --arg=int:6 | FileCheck %s
// CHECK: out 0: verified (max abs err 0, max rel err 0, checked 128, exact)

func.func @main(%a: tensor<43x128xf32>, %b: tensor<43x1xf32>, %c: tensor<128x1xf32>) -> tensor<128x1xf32> {
  %p = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<43x128xf32>, tensor<43x1xf32>) outs(%c : tensor<128x1xf32>) -> tensor<128x1xf32>
  return %p : tensor<128x1xf32>
}
