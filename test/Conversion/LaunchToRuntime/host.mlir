// RUN: gpu-opt %s --convert-launch-to-runtime --split-input-file | FileCheck %s

// A launch hands the kernel's name, grid, block, workgroup memory, and the
// address and size of each argument: a memref's are its descriptor's fields.
// CHECK-DAG:   llvm.mlir.global internal constant @__tessera_name_k("k\00")
// CHECK-DAG:   llvm.func @tessera_rt_launch(!llvm.ptr, i64, i64, i64, i64, i64, i64, i64, i64, !llvm.ptr, !llvm.ptr)
// CHECK-LABEL: llvm.func @main
// CHECK-SAME:    %{{.+}}: !llvm.ptr, %{{.+}}: !llvm.ptr, %{{.+}}: i64, %{{.+}}: i64, %{{.+}}: i64, %[[X:.+]]: f32, %[[N:.+]]: i64
// CHECK:         %[[STACK:.+]] = llvm.intr.stacksave
// Six arguments: five fields and a scalar of four bytes.
// CHECK-COUNT-5: llvm.mlir.constant(8 : i64)
// CHECK:         llvm.store %[[X]], %{{.+}} : f32, !llvm.ptr
// CHECK:         llvm.mlir.constant(4 : i64)
// CHECK:         %[[BYTES:.+]] = llvm.mlir.constant(4096 : i64)
// CHECK:         %[[NAME:.+]] = llvm.mlir.addressof @__tessera_name_k
// CHECK:         %[[COUNT:.+]] = llvm.mlir.constant(6 : i64)
// CHECK:         llvm.call @tessera_rt_launch(%[[NAME]], %[[N]], %[[N]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[BYTES]], %[[COUNT]], %{{.+}}, %{{.+}})
// CHECK:         llvm.intr.stackrestore %[[STACK]]
// CHECK-NOT:     gpu.module
// CHECK-LABEL: llvm.func @__tessera_main(%{{.+}}: !llvm.ptr)
// CHECK:         llvm.call @main(
// CHECK-NEXT:    llvm.return
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%m: memref<16xf32>, %x: f32) kernel attributes {tessera.workgroup_bytes = 4096 : i64} {
      gpu.return
    }
  }
  func.func @main(%m: memref<16xf32>, %x: f32, %n: index) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%n, %n, %c1) threads in (%c1, %c1, %c1) args(%m : memref<16xf32>, %x : f32)
    return
  }
}

// -----

// The launch's own bytes are added; each name is defined once.
// CHECK-COUNT-1: llvm.mlir.global internal constant @__tessera_name_k
// CHECK-NOT:   llvm.mlir.global
// CHECK-LABEL: llvm.func @twice
// CHECK:         %[[MORE:.+]] = llvm.zext %{{.+}} : i32 to i64
// CHECK:         llvm.add %{{.+}}, %[[MORE]] : i64
// CHECK:         llvm.call @tessera_rt_launch
// CHECK:         llvm.call @tessera_rt_launch
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel {
      gpu.return
    }
  }
  func.func @twice(%bytes: i32) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %bytes
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
}

// -----

// Buffers are the device's, and their sizes are checked; constants are copied
// there; the result is stored through the last pointer.
// CHECK-DAG:   llvm.mlir.global internal constant @__tessera_array_0("f32 at {{.*}}host.mlir:[[#@LINE+24]]:8\00")
// CHECK-DAG:   llvm.mlir.global internal constant @__tessera_array_1("i16 at {{.*}}host.mlir:[[#@LINE+24]]:8\00")
// CHECK-DAG:   llvm.func @tessera_rt_alloc_array(i64, i64, !llvm.ptr, i64, !llvm.ptr) -> !llvm.ptr
// CHECK-DAG:   llvm.func @tessera_rt_constant(!llvm.ptr, i64) -> !llvm.ptr
// CHECK-LABEL: llvm.func @buffers(
// CHECK-SAME:    %[[N:.+]]: i64)
// CHECK:         %[[STACK:.+]] = llvm.intr.stacksave
// CHECK:         %[[SIZES:.+]] = llvm.alloca
// CHECK:         llvm.store %[[N]], %{{.+}} : i64, !llvm.ptr
// CHECK:         %[[ALIGNMENT:.+]] = llvm.mlir.constant(64 : i64)
// CHECK:         %[[RANK:.+]] = llvm.mlir.constant(1 : i64)
// CHECK:         %[[BYTES:.+]] = llvm.mlir.constant(4 : i64)
// CHECK:         %[[TEXT:.+]] = llvm.mlir.addressof @__tessera_array_0
// CHECK:         llvm.call @tessera_rt_alloc_array(%[[ALIGNMENT]], %[[RANK]], %[[SIZES]], %[[BYTES]], %[[TEXT]])
// CHECK:         llvm.intr.stackrestore %[[STACK]]
// CHECK:         llvm.call @tessera_rt_alloc_array
// CHECK:         %[[HOST:.+]] = llvm.mlir.addressof @weights
// CHECK:         %[[SIZE:.+]] = llvm.mlir.constant(16 : i64)
// CHECK:         llvm.call @tessera_rt_constant(%[[HOST]], %[[SIZE]])
// CHECK-LABEL: llvm.func @__tessera_buffers
// CHECK:         %[[R:.+]] = llvm.call @buffers
// CHECK:         llvm.store %[[R]], %{{.+}} : !llvm.struct
memref.global "private" constant @weights : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
func.func @buffers(%n: index) -> (memref<?xf32>, memref<4xf32>) {
  %a = memref.alloc(%n) {alignment = 64 : i64} : memref<?xf32>
  %s = memref.alloca(%n) : memref<3x?xi16>
  %w = memref.get_global @weights : memref<4xf32>
  return %a, %w : memref<?xf32>, memref<4xf32>
}

// -----

// A global of the runtime's: the copy of a constant by its number.
// CHECK-NOT:   __tessera_data_3
// CHECK-LABEL: llvm.func @data
// CHECK:         %[[NUMBER:.+]] = llvm.mlir.constant(3 : i64)
// CHECK:         %[[SIZE:.+]] = llvm.mlir.constant(16 : i64)
// CHECK:         llvm.call @tessera_rt_data(%[[NUMBER]], %[[SIZE]])
memref.global "private" constant @__tessera_data_3 : memref<4xf32>
func.func @data() -> memref<4xf32> {
  %0 = memref.get_global @__tessera_data_3 : memref<4xf32>
  return %0 : memref<4xf32>
}

// -----

// A scalar of the device is read by the runtime, into the stack.
// CHECK-DAG:   llvm.func @tessera_rt_read(!llvm.ptr, !llvm.ptr, i64)
// CHECK-LABEL: llvm.func @read
// CHECK:         %[[STACK:.+]] = llvm.intr.stacksave
// CHECK:         %[[SLOT:.+]] = llvm.alloca %{{.+}} x f16
// CHECK:         %[[BYTES:.+]] = llvm.mlir.constant(2 : i64)
// CHECK:         llvm.call @tessera_rt_read(%[[SLOT]], %{{.+}}, %[[BYTES]])
// CHECK:         llvm.load %[[SLOT]] : !llvm.ptr -> f16
// CHECK:         llvm.intr.stackrestore %[[STACK]]
func.func @read(%m: memref<f16>) -> f16 {
  %x = memref.load %m[] : memref<f16>
  return %x : f16
}
