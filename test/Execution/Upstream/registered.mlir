// Host memory that is registered and passed to a kernel, as upstream's tests of mlir-runner have it.

// RUN: gpu-runner %s --target=cpu -e main -entry-point-result=void \
// RUN:   --shared-libs=libmlir_runner_utils.so 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=NOTE --input-file=%t.err
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --accept-unverified | FileCheck %s

// NOTE: note: --shared-libs has no effect

// CHECK: Unranked Memref base@ = 0x{{[0-9a-f]+}} rank = 2 offset = 0 sizes = [2, 3] strides = [3, 1] data =
// CHECK-NEXT: {{^}}{{\[\[}}10,   11,   12],
// CHECK-NEXT: {{^}} [20,   21,   22]]

func.func @main() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %ten = arith.constant 10 : index
  %m = memref.alloc() : memref<2x3xf32>
  %u = memref.cast %m : memref<2x3xf32> to memref<*xf32>
  gpu.host_register %u : memref<*xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c3, %sy = %c1, %sz = %c1) {
    %row = arith.addi %bx, %c1 : index
    %tens = arith.muli %row, %ten : index
    %sum = arith.addi %tens, %tx : index
    %int = arith.index_cast %sum : index to i32
    %value = arith.sitofp %int : i32 to f32
    memref.store %value, %m[%bx, %tx] : memref<2x3xf32>
    gpu.terminator
  }
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  gpu.host_unregister %u : memref<*xf32>
  return
}
func.func private @printMemrefF32(memref<*xf32>)
