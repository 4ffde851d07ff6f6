// Tensors that are bufferized, in a program that prints.

// RUN: gpu-runner %s --target=cpu -e main -entry-point-result=void | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a -e main | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 -e main | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc -e main | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=result | FileCheck %s --check-prefix=RESULT

// CHECK:      sizes = [2, 2] strides = [2, 1] data =
// CHECK-NEXT: {{^}}{{\[\[}}3,   5],
// CHECK-NEXT: {{^}} [7,   9]]
// RESULT: {{^}}[3,  5]
// RESULT-NEXT: out 0 = result 0: 2xf32, min 3, max 5

func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %a = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %one = arith.constant dense<1.0> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %s = linalg.add ins(%a, %a : tensor<2x2xf32>, tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %r = arith.addf %s, %one : tensor<2x2xf32>
  %m = bufferization.to_buffer %r : tensor<2x2xf32> to memref<2x2xf32>
  %u = memref.cast %m : memref<2x2xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  return
}

func.func @result(%n: index) -> memref<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %three = arith.constant 3.0 : f32
  %five = arith.constant 5.0 : f32
  %m = memref.alloc(%c2) : memref<?xf32>
  memref.store %three, %m[%c0] : memref<?xf32>
  memref.store %five, %m[%c1] : memref<?xf32>
  %u = memref.cast %m : memref<?xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  return %m : memref<?xf32>
}
