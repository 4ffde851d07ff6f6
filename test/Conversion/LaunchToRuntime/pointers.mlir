// RUN: gpu-opt %s --convert-launch-to-runtime=separate-memory | FileCheck %s

// Where the device has memory of its own, a pointer that host code passes to a kernel becomes one of the device.
// CHECK-LABEL: llvm.func @main
// CHECK:         %[[HOST:.+]] = llvm.addrspacecast %{{.+}} : !llvm.ptr<1> to !llvm.ptr
// CHECK-NEXT:    %[[DEVICE:.+]] = llvm.call @tessera_rt_to_device(%[[HOST]])
// CHECK-NEXT:    %[[CAST:.+]] = llvm.addrspacecast %[[DEVICE]] : !llvm.ptr to !llvm.ptr<1>
// CHECK:         llvm.store %[[CAST]], %{{.+}} : !llvm.ptr<1>, !llvm.ptr
// CHECK:         llvm.call @tessera_rt_launch

// So do buffers of any memory space.
// CHECK-LABEL: llvm.func @spaces
// CHECK:         %[[FIRST:.+]] = llvm.addrspacecast %{{.+}} : !llvm.ptr<1> to !llvm.ptr
// CHECK-NEXT:    %[[MOVED:.+]] = llvm.call @tessera_rt_to_device(%[[FIRST]])
// CHECK-NEXT:    llvm.addrspacecast %[[MOVED]] : !llvm.ptr to !llvm.ptr<1>
// CHECK:         llvm.call @tessera_rt_to_device
// CHECK:         llvm.call @tessera_rt_launch

// An array of 8 vectors of 4 elements, each of 32 bits: 1024 bits.
// CHECK-LABEL: llvm.func @__tessera_vectors
// CHECK:         %[[BITS:.+]] = llvm.mlir.constant(128 : i64) : i64
// CHECK:         llvm.mul %{{.+}}, %[[BITS]]
// CHECK:         llvm.call @tessera_rt_share
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @store(%p: !llvm.ptr<1>) kernel {
      gpu.return
    }
    gpu.func @copy(%from: memref<8xf32, 1>, %to: memref<8xf32>) kernel {
      gpu.return
    }
  }
  func.func @main(%m: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    memref.store %one, %m[%c0] : memref<8xf32>
    %0 = memref.extract_aligned_pointer_as_index %m : memref<8xf32> -> index
    %1 = arith.index_cast %0 : index to i64
    %2 = llvm.inttoptr %1 : i64 to !llvm.ptr
    %3 = llvm.addrspacecast %2 : !llvm.ptr to !llvm.ptr<1>
    gpu.launch_func @kernels::@store blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%3 : !llvm.ptr<1>)
    return
  }
  func.func @spaces(%m: memref<8xf32>) {
    %c1 = arith.constant 1 : index
    %c0 = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    memref.store %one, %m[%c0] : memref<8xf32>
    %n = memref.memory_space_cast %m : memref<8xf32> to memref<8xf32, 1>
    gpu.launch_func @kernels::@copy blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%n : memref<8xf32, 1>, %m : memref<8xf32>)
    return
  }
  func.func @vectors(%m: memref<8xvector<4xf32>>) {
    return
  }
}
