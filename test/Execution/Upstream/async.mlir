// Memory of the device, copies and launches with tokens: they run in order.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --accept-unverified | FileCheck %s

// CHECK: {{^}}[7,  9,  11,  13]
// CHECK: {{^}}[3,  3,  3,  3]

module attributes {gpu.container_module} {
  func.func @main() {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %three = arith.constant 3 : i32
    %h = memref.alloc() : memref<4xi32>
    // The host writes before the copy, and reads after the wait.
    scf.for %i = %c0 to %c4 step %c1 {
      %v = arith.index_cast %i : index to i32
      memref.store %v, %h[%i] : memref<4xi32>
    }
    %t0 = gpu.wait async
    %a, %t1 = gpu.alloc async [%t0] () : memref<4xi32>
    %b, %t2 = gpu.alloc async [%t0] (%c4) : memref<?xi32>
    %t3 = gpu.memcpy async [%t1] %a, %h : memref<4xi32>, memref<4xi32>
    %t4 = gpu.memset async [%t2] %b, %three : memref<?xi32>, i32
    %t5 = gpu.wait async [%t3, %t4]
    %t6 = gpu.launch_func async [%t5] @kernels::@scale blocks in (%c1, %c1, %c1)
        threads in (%c4, %c1, %c1) args(%a : memref<4xi32>)
    %t7 = gpu.launch_func async [%t6] @kernels::@add blocks in (%c1, %c1, %c1)
        threads in (%c4, %c1, %c1) args(%a : memref<4xi32>, %b : memref<?xi32>)
    %t8 = gpu.memcpy async [%t7] %h, %a : memref<4xi32>, memref<4xi32>
    %t9 = gpu.dealloc async [%t8] %a : memref<4xi32>
    gpu.wait [%t9]
    %u = memref.cast %h : memref<4xi32> to memref<*xi32>
    call @printMemrefI32(%u) : (memref<*xi32>) -> ()
    %w = memref.cast %b : memref<?xi32> to memref<*xi32>
    call @printMemrefI32(%w) : (memref<*xi32>) -> ()
    gpu.dealloc %b : memref<?xi32>
    memref.dealloc %h : memref<4xi32>
    return
  }
  func.func private @printMemrefI32(memref<*xi32>) attributes {llvm.emit_c_interface}

  gpu.module @kernels {
    gpu.func @scale(%a: memref<4xi32>) kernel {
      %i = gpu.thread_id x
      %two = arith.constant 2 : i32
      %four = arith.constant 4 : i32
      %v = memref.load %a[%i] : memref<4xi32>
      %d = arith.muli %v, %two : i32
      %r = arith.addi %d, %four : i32
      memref.store %r, %a[%i] : memref<4xi32>
      gpu.return
    }
    gpu.func @add(%a: memref<4xi32>, %b: memref<?xi32>) kernel {
      %i = gpu.thread_id x
      %v = memref.load %a[%i] : memref<4xi32>
      %w = memref.load %b[%i] : memref<?xi32>
      %r = arith.addi %v, %w : i32
      memref.store %r, %a[%i] : memref<4xi32>
      gpu.return
    }
  }
}
