// A small matmul whose epilogue adds to a slice in place. Without a matrix unit for 4x4 tiles, each
// lane computes the whole tile: none of them may load an element that another one has updated.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --verify | FileCheck %s

// CHECK: kernels: [[N:[0-9]+]] of [[N]] verified

func.func @main(%a: tensor<2x4x6xf32>, %b: tensor<6x4xf32>, %d: tensor<4x2x4x3xf32>) -> tensor<4x2x4x3xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %scale = arith.constant 2.0 : f32
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%x = %d) -> (tensor<4x2x4x3xf32>) {
    %s = tensor.extract_slice %a[%i, 0, 0] [1, 4, 6] [1, 1, 1] : tensor<2x4x6xf32> to tensor<4x6xf32>
    %t = tensor.extract_slice %x[0, %i, 0, 1] [4, 1, 4, 1] [1, 1, 1, 1] : tensor<4x2x4x3xf32> to tensor<4x4xf32>
    %e = tensor.empty() : tensor<4x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %m = linalg.matmul ins(%s, %b : tensor<4x6xf32>, tensor<6x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
    %u = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%scale, %m : f32, tensor<4x4xf32>) outs(%t : tensor<4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %0, %o : f32
      linalg.yield %1 : f32
    } -> tensor<4x4xf32>
    %y = tensor.insert_slice %u into %x[0, %i, 0, 1] [4, 1, 4, 1] [1, 1, 1, 1] : tensor<4x4xf32> into tensor<4x2x4x3xf32>
    scf.yield %y : tensor<4x2x4x3xf32>
  }
  return %r : tensor<4x2x4x3xf32>
}
