// Barriers order accesses to global memory only if a thread could observe the order.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=vulkan chip=nvidia-hopper},gpu.module(convert-tessera-to-spirv))" | FileCheck %s

#shared = #gpu.address_space<workgroup>
gpu.module @barriers {
  // The loads before the barrier are from another buffer than the stores after it.
  // CHECK-LABEL: gpu.func @staged(
  // CHECK:         scf.for
  // CHECK:           spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
  // CHECK:           spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
  // CHECK-NOT:     gpu.barrier
  gpu.func @staged(%A: memref<256xf32>, %C: memref<256xf32>) workgroup(%s: memref<256xf32, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = gpu.thread_id x
    scf.for %i = %c0 to %c8 step %c1 {
      gpu.barrier
      %v = memref.load %A[%x] : memref<256xf32>
      memref.store %v, %s[%x] : memref<256xf32, #shared>
      gpu.barrier
    }
    %w = memref.load %s[%c0] : memref<256xf32, #shared>
    memref.store %w, %C[%x] : memref<256xf32>
    gpu.return
  }

  // One thread reads the data of another.
  // CHECK-LABEL: gpu.func @written_before(
  // CHECK:         gpu.barrier
  // CHECK-NOT:     spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
  gpu.func @written_before(%A: memref<256xf32>, %C: memref<256xf32>) kernel {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %zero = arith.constant 0.0 : f32
    memref.store %zero, %A[%x] : memref<256xf32>
    gpu.barrier
    %w = memref.load %A[%c0] : memref<256xf32>
    memref.store %w, %C[%x] : memref<256xf32>
    gpu.return
  }

  // One thread writes data that another has read, through a view.
  // CHECK-LABEL: gpu.func @read_before(
  // CHECK:         gpu.barrier
  // CHECK-NOT:     spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
  gpu.func @read_before(%A: memref<256xf32>) kernel {
    %c0 = arith.constant 0 : index
    %x = gpu.thread_id x
    %view = memref.subview %A[0] [128] [1] : memref<256xf32> to memref<128xf32>
    %w = memref.load %view[%c0] : memref<128xf32>
    gpu.barrier
    memref.store %w, %A[%x] : memref<256xf32>
    gpu.return
  }

  // The next iteration of the loop also follows the barrier.
  // CHECK-LABEL: gpu.func @in_a_loop(
  // CHECK:         gpu.barrier
  // CHECK-NOT:     spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|MakeAvailable|MakeVisible>
  gpu.func @in_a_loop(%A: memref<256xf32>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %x = gpu.thread_id x
    scf.for %i = %c0 to %c8 step %c1 {
      %w = memref.load %A[%i] : memref<256xf32>
      memref.store %w, %A[%x] : memref<256xf32>
      gpu.barrier
    }
    gpu.return
  }
}
