// Memrefs marked as not aliasing: the producer is fused into the matmul, and
// both are one kernel that writes to the given memory.
//
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// CHECK: exact)
// CHECK: {{^}}verified
//
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --linalg-to-tessera-pipeline | FileCheck %s --check-prefix=KERNELS
// KERNELS-NOT:     memref.alloc
// KERNELS-COUNT-1: gpu.launch blocks
// KERNELS-NOT:     gpu.launch blocks

func.func @main(%a: memref<32x64xf16>, %w: memref<64x48xi8>, %s: memref<48xf16>, %c: memref<32x48xf32>) {
  %ta = bufferization.to_tensor %a restrict : memref<32x64xf16> to tensor<32x64xf16>
  %tw = bufferization.to_tensor %w restrict : memref<64x48xi8> to tensor<64x48xi8>
  %ts = bufferization.to_tensor %s restrict : memref<48xf16> to tensor<48xf16>
  %tc = bufferization.to_tensor %c restrict writable : memref<32x48xf32> to tensor<32x48xf32>
  %e = tensor.empty() : tensor<64x48xf16>
  %b = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%tw, %ts : tensor<64x48xi8>, tensor<48xf16>) outs(%e : tensor<64x48xf16>) {
  ^bb0(%x: i8, %y: f16, %out: f16):
    %z = arith.sitofp %x : i8 to f16
    %v = arith.mulf %z, %y : f16
    linalg.yield %v : f16
  } -> tensor<64x48xf16>
  %r = linalg.matmul ins(%ta, %b : tensor<32x64xf16>, tensor<64x48xf16>) outs(%tc : tensor<32x48xf32>) -> tensor<32x48xf32>
  bufferization.materialize_in_destination %r in restrict writable %c : (tensor<32x48xf32>, memref<32x48xf32>) -> ()
  return
}
