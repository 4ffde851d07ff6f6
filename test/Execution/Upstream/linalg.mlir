// Linalg on buffers in host code becomes kernels; the host initializes and prints.

// RUN: gpu-runner %s --target=cpu -e main -entry-point-result=void | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a -e main | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 -e main | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc -e main | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --accept-unverified | FileCheck %s

// CHECK:      sizes = [2, 2] strides = [2, 1] data =
// CHECK-NEXT: {{^}}{{\[\[}}19,   22],
// CHECK-NEXT: {{^}} [43,   50]]
// CHECK-NEXT: sizes = [2, 2] strides = [2, 1] data =
// CHECK-NEXT: {{^}}{{\[\[}}20,   22],
// CHECK-NEXT: {{^}} [43,   51]]

func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func private @fill(%m: memref<?x?xf32>, %first: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  %rows = memref.dim %m, %c0 : memref<?x?xf32>
  %columns = memref.dim %m, %c1 : memref<?x?xf32>
  %end = scf.for %i = %c0 to %rows step %c1 iter_args(%x = %first) -> f32 {
    %y = scf.for %j = %c0 to %columns step %c1 iter_args(%v = %x) -> f32 {
      memref.store %v, %m[%i, %j] : memref<?x?xf32>
      %next = arith.addf %v, %one : f32
      scf.yield %next : f32
    }
    scf.yield %y : f32
  }
  return
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %five = arith.constant 5.0 : f32
  %a = memref.alloc(%c2, %c2) : memref<?x?xf32>
  %b = memref.alloc(%c2, %c2) : memref<?x?xf32>
  %c = memref.alloc(%c2, %c2) : memref<?x?xf32>
  call @fill(%a, %one) : (memref<?x?xf32>, f32) -> ()
  call @fill(%b, %five) : (memref<?x?xf32>, f32) -> ()
  linalg.fill ins(%zero : f32) outs(%c : memref<?x?xf32>)
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  %u = memref.cast %c : memref<?x?xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  // The host reads and writes between two kernels.
  scf.for %i = %c0 to %c2 step %c1 {
    %v = memref.load %c[%i, %i] : memref<?x?xf32>
    %w = arith.addf %v, %one : f32
    memref.store %w, %c[%i, %i] : memref<?x?xf32>
  }
  linalg.abs ins(%c : memref<?x?xf32>) outs(%a : memref<?x?xf32>)
  %w = memref.cast %a : memref<?x?xf32> to memref<*xf32>
  call @printMemrefF32(%w) : (memref<*xf32>) -> ()
  memref.dealloc %a : memref<?x?xf32>
  memref.dealloc %b : memref<?x?xf32>
  memref.dealloc %c : memref<?x?xf32>
  return
}
