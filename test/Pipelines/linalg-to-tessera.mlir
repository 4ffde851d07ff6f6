// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --linalg-to-tessera-pipeline --split-input-file | FileCheck %s

// One kernel for a matmul and all ops fused after it; the result is in a new buffer.

// CHECK-LABEL: func @one_kernel
// CHECK:         %[[R:.+]] = memref.alloc()
// CHECK-COUNT-1: gpu.launch
// CHECK:           tessera.broadcast
// CHECK:           tessera.map
// CHECK:           tessera.store %{{.+}}, %[[R]]
// CHECK-NOT:     gpu.launch
// CHECK-NOT:     memref.copy
// CHECK:         return %[[R]]
func.func @one_kernel(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %bias: tensor<64xf32>) -> tensor<64x64xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %e16 = tensor.empty() : tensor<64x64xf16>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %bb = linalg.broadcast ins(%bias : tensor<64xf32>) outs(%e : tensor<64x64xf32>) dimensions = [0]
  %s = linalg.add ins(%p, %bb : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.max ins(%s, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<64x64xf32>) outs(%e16 : tensor<64x64xf16>) {
  ^bb0(%x: f32, %out: f16):
    %v = arith.truncf %x : f32 to f16
    linalg.yield %v : f16
  } -> tensor<64x64xf16>
  return %t : tensor<64x64xf16>
}

// -----

// An out-parameter is written directly.

// CHECK-LABEL: func @out_parameter
// CHECK-SAME:    %[[OUT:[a-z0-9]+]]: memref<64x128xf32>)
// CHECK-NOT:     memref.alloc
// CHECK:         gpu.launch
// CHECK:           tessera.store %{{.+}}, %[[OUT]]
// CHECK-NOT:     gpu.launch
func.func @out_parameter(%a: memref<64x128xf32>, %b: memref<128x128xf32>, %out: memref<64x128xf32>) {
  %ta = bufferization.to_tensor %a restrict : memref<64x128xf32> to tensor<64x128xf32>
  %tb = bufferization.to_tensor %b restrict : memref<128x128xf32> to tensor<128x128xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %p = linalg.matmul ins(%ta, %tb : tensor<64x128xf32>, tensor<128x128xf32>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  %s = linalg.add ins(%p, %ta : tensor<64x128xf32>, tensor<64x128xf32>) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  bufferization.materialize_in_destination %s in restrict writable %out : (tensor<64x128xf32>, memref<64x128xf32>) -> ()
  return
}

// -----

// The intermediate result between two matmuls is freed.

// CHECK-LABEL: func @chain
// CHECK:         %[[T:.+]] = memref.alloc() {{.*}} : memref<64x32xf32>
// CHECK:         gpu.launch
// CHECK:         %[[R:.+]] = memref.alloc() {{.*}} : memref<64x16xf32>
// CHECK:         gpu.launch
// CHECK:         memref.dealloc %[[T]]
// CHECK:         return %[[R]]
func.func @chain(%a: tensor<64x64xf32>, %b: tensor<64x32xf32>, %d: tensor<32x16xf32>) -> tensor<64x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %p = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x32xf32>) outs(%c : tensor<64x32xf32>) -> tensor<64x32xf32>
  %e2 = tensor.empty() : tensor<64x16xf32>
  %c2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<64x16xf32>) -> tensor<64x16xf32>
  %q = linalg.matmul ins(%p, %d : tensor<64x32xf32>, tensor<32x16xf32>) outs(%c2 : tensor<64x16xf32>) -> tensor<64x16xf32>
  return %q : tensor<64x16xf32>
}

// -----

// A result is never the caller's argument: a kernel copies it.

// CHECK-LABEL: func @identity
// CHECK-SAME:    %[[A:.+]]: memref<64xf32>
// CHECK:         %[[R:.+]] = memref.alloc()
// CHECK:         gpu.launch
// CHECK:           vector.load %[[A]]
// CHECK:           vector.store %{{.+}}, %[[R]]
// CHECK:         return %[[R]]
func.func @identity(%a: tensor<64xf32>) -> tensor<64xf32> {
  return %a : tensor<64xf32>
}

// -----

// Buffers allocated in the loop are freed there; host code does not access data.

// CHECK-LABEL: func @loop
// CHECK-NOT:     memref.copy
// CHECK-NOT:     xindex>
// CHECK:         scf.for
// CHECK:           memref.alloc
// CHECK:           gpu.launch
// CHECK:           scf.if
// CHECK-NEXT:        memref.dealloc
func.func @loop(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %n: index) -> tensor<64x64xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> tensor<64x64xf32> {
    %e = tensor.empty() : tensor<64x64xf32>
    %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.matmul ins(%x, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
    scf.yield %p : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}
