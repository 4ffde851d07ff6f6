// gpu.printf in a kernel: the CPU prints by itself, CUDA's driver by vprintf.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s --check-prefix=PTX
// RUN: %exits 1 gpu-runner %s --target=hip:gfx942 --emit=hsaco -o %t.hsaco 2>&1 | FileCheck %s --check-prefix=HIP
// RUN: %exits 1 gpu-runner %s --target=vulkan:lavapipe --emit=spirv -o %t.spv 2>&1 | FileCheck %s --check-prefix=SPIRV

// CHECK-DAG: {{^}}thread 0: 1.50 -1 100% ff{{$}}
// CHECK-DAG: {{^}}thread 1: 1.50 -1 100% ff{{$}}
// CHECK-DAG: {{^}}no operands %d{{$}}
// PTX: call.uni (retval0), vprintf
// HIP: printf.mlir:{{[0-9]+}}:5: error: target hip does not support gpu.printf
// SPIRV: printf.mlir:{{[0-9]+}}:5: error: target vulkan does not support gpu.printf

func.func @main() {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = arith.constant 1.5 : f32
  %minus = arith.constant -1 : i32
  %hex = arith.constant 255 : i64
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c2, %sy = %c1, %sz = %c1) {
    gpu.printf "thread %lld: %.2f %d 100%% %llx\n", %tx, %x, %minus, %hex : index, f32, i32, i64
    gpu.printf "no operands %d\n"
    gpu.terminator
  }
  return
}
