// 04: results in memory of the caller.
//
// The entry point takes memrefs and writes the last of them. The computation is
// on tensors; `materialize_in_destination` names the destination of the result.
// There is one kernel, which computes the matmul, adds the residual in its
// epilogue and writes straight to %out: no buffer is allocated, and nothing is
// copied.
//
//     gpu-opt examples/04-out-parameters.mlir --linalg-to-tessera-pipeline
//
// RUN: gpu-runner %s --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// CHECK: {{^}}verified
//
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --linalg-to-tessera-pipeline | FileCheck %s --check-prefix=KERNEL
// KERNEL-NOT: memref.alloc
// KERNEL: gpu.launch
// KERNEL: tessera.mma
// KERNEL: tessera.store {{.*}}, %arg2
// KERNEL-NOT: {{gpu.launch|memref.copy|memref.alloc}}

func.func @main(%a: memref<64x128xf32>, %b: memref<128x128xf32>, %out: memref<64x128xf32>) {
  %ta = bufferization.to_tensor %a restrict : memref<64x128xf32> to tensor<64x128xf32>
  %tb = bufferization.to_tensor %b restrict : memref<128x128xf32> to tensor<128x128xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x128xf32>
  %init = linalg.fill ins(%zero : f32)
      outs(%empty : tensor<64x128xf32>) -> tensor<64x128xf32>
  %product = linalg.matmul ins(%ta, %tb : tensor<64x128xf32>, tensor<128x128xf32>)
      outs(%init : tensor<64x128xf32>) -> tensor<64x128xf32>
  %sum = linalg.add ins(%product, %ta : tensor<64x128xf32>, tensor<64x128xf32>)
      outs(%empty : tensor<64x128xf32>) -> tensor<64x128xf32>
  bufferization.materialize_in_destination %sum in restrict writable %out
      : (tensor<64x128xf32>, memref<64x128xf32>) -> ()
  return
}
