// RUN: gpu-opt %s --tessera-expand-kernel-linalg --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @launch
// CHECK:         linalg.fill
// CHECK:         gpu.launch
// CHECK-NOT:       linalg
// CHECK:           scf.for
// CHECK:             memref.store %{{.+}}, %{{.+}} : memref<16x8xf32, #gpu.address_space<workgroup>>
// CHECK:           scf.for
// CHECK-COUNT-2:     scf.for
// CHECK:               arith.mulf
// CHECK:               arith.addf
// CHECK-NOT:       linalg
func.func @launch(%m: memref<16x8xf32>, %n: memref<8x8xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  linalg.fill ins(%zero : f32) outs(%m : memref<16x8xf32>)
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1)
             workgroup(%w: memref<16x8xf32, #gpu.address_space<workgroup>>) {
    linalg.fill ins(%zero : f32) outs(%w : memref<16x8xf32, #gpu.address_space<workgroup>>)
    linalg.matmul ins(%m, %n : memref<16x8xf32>, memref<8x8xf32>)
        outs(%w : memref<16x8xf32, #gpu.address_space<workgroup>>)
    gpu.terminator
  }
  return
}

// -----

func.func @tensors(%m: tensor<16xf32>) {
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    // expected-error @+1 {{linalg on tensors in a gpu.launch is not supported: use memrefs, or move it out of the launch}}
    %r = linalg.fill ins(%zero : f32) outs(%m : tensor<16xf32>) -> tensor<16xf32>
    gpu.terminator
  }
  return
}
