// RUN: gpu-opt %s --tessera-inline-kernels --split-input-file | FileCheck %s

// One kernel that is launched twice, with workgroup memory.

// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[A:.*]]: memref<64xf32>, %[[B:.*]]: memref<64xf32>, %[[N:.*]]: i32)
// CHECK: %[[SIZE:.*]] = arith.index_cast %[[N]] : i32 to index
// CHECK: gpu.launch blocks
// CHECK-SAME: = %[[SIZE]],
// CHECK-SAME: workgroup(%[[TILE:.*]] : memref<64xf32, #gpu.address_space<workgroup>>)
// CHECK: %[[X:.*]] = gpu.thread_id x
// CHECK: %[[V:.*]] = memref.load %[[A]][%[[X]]]
// CHECK: memref.store %[[V]], %[[TILE]][%[[X]]]
// CHECK: gpu.terminator
// CHECK: gpu.launch blocks
// CHECK: memref.load %[[B]]
// CHECK-NOT: gpu.launch_func
// CHECK-NOT: gpu.func
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @stage(%a: memref<64xf32>) workgroup(%tile: memref<64xf32, #gpu.address_space<workgroup>>) kernel {
      %x = gpu.thread_id x
      %v = memref.load %a[%x] : memref<64xf32>
      memref.store %v, %tile[%x] : memref<64xf32, #gpu.address_space<workgroup>>
      gpu.return
    }
  }
  func.func @twice(%a: memref<64xf32>, %b: memref<64xf32>, %n: i32) {
    %one = arith.constant 1 : i32
    %c1 = arith.constant 1 : index
    %c64 = arith.constant 64 : index
    gpu.launch_func @kernels::@stage blocks in (%n, %one, %one) threads in (%n, %one, %one) : i32 args(%a : memref<64xf32>)
    gpu.launch_func @kernels::@stage blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%b : memref<64xf32>)
    return
  }
}

// -----

// Branches; a kernel that nothing launches stays, as does a launch of a binary.

// CHECK-LABEL: gpu.module @kernels
// CHECK-NOT: @branches
// CHECK: gpu.func @unused
// CHECK: func.func @main
// CHECK: gpu.launch blocks
// CHECK: cf.cond_br %{{.*}}, ^[[THEN:.*]], ^[[END:.*]]
// CHECK: ^[[THEN]]:
// CHECK: memref.store
// CHECK: cf.br ^[[END]]
// CHECK: ^[[END]]:
// CHECK-NEXT: gpu.terminator
// CHECK: gpu.launch_func @elsewhere::@kernel
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @branches(%a: memref<8xf32>, %b: i1) kernel {
      cf.cond_br %b, ^then, ^end
    ^then:
      %x = gpu.thread_id x
      %v = arith.constant 1.0 : f32
      memref.store %v, %a[%x] : memref<8xf32>
      cf.br ^end
    ^end:
      gpu.return
    }
    gpu.func @unused() kernel {
      gpu.return
    }
  }
  gpu.binary @elsewhere [#gpu.object<#nvvm.target, "">]
  func.func @main(%a: memref<8xf32>, %b: i1) {
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    gpu.launch_func @kernels::@branches blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%a : memref<8xf32>, %b : i1)
    gpu.launch_func @elsewhere::@kernel blocks in (%c1, %c1, %c1) threads in (%c8, %c1, %c1) args(%a : memref<8xf32>)
    return
  }
}
