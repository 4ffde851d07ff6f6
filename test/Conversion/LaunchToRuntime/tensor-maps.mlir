// RUN: gpu-opt %s --convert-launch-to-runtime --split-input-file --verify-diagnostics | FileCheck %s

// The maps come after the kernel operands: three fields of a memref of rank 0,
// a memref of rank 2 and a scalar make 3 + 7 + 1, and two maps.
// CHECK-DAG:   llvm.func @tessera_rt_tensor_map(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64)
// CHECK-LABEL: llvm.func @main(
// CHECK-SAME:    %{{[^:]+}}: !llvm.ptr, %{{[^:]+}}: !llvm.ptr, %{{[^:]+}}: i64,
// CHECK-SAME:    %{{[^:]+}}: !llvm.ptr, %{{[^:]+}}: !llvm.ptr, %{{[^:]+}}: i64, %{{[^:]+}}: i64, %{{[^:]+}}: i64, %{{[^:]+}}: i64, %{{[^:]+}}: i64, %[[X:[^:]+]]: f32
// CHECK:         %[[STACK:.+]] = llvm.intr.stacksave
// CHECK:         llvm.mlir.constant(13 : i64)
// CHECK:         llvm.store %[[X]], %{{.+}} : f32, !llvm.ptr
// CHECK:         %[[SIZE0:.+]] = llvm.extractvalue %[[M:.+]][3, 0]
// CHECK:         %[[STRIDE0:.+]] = llvm.extractvalue %[[M]][4, 0]
// CHECK:         %[[SIZE1:.+]] = llvm.extractvalue %[[M]][3, 1]
// CHECK:         %[[STRIDE1:.+]] = llvm.extractvalue %[[M]][4, 1]
// CHECK:         %[[MAP:.+]] = llvm.alloca %{{.+}} x !llvm.array<128 x i8> {alignment = 64 : i64}
// CHECK:         %[[POINTER:.+]] = llvm.extractvalue %[[M]][1]
// CHECK:         %[[OFFSET:.+]] = llvm.extractvalue %[[M]][2]
// CHECK:         %[[RANK:.+]] = llvm.mlir.constant(2 : i64)
// CHECK:         %[[SIZES:.+]] = llvm.alloca
// CHECK:         llvm.store %[[SIZE0]]
// CHECK:         llvm.store %[[SIZE1]]
// CHECK:         %[[STRIDES:.+]] = llvm.alloca
// CHECK:         llvm.store %[[STRIDE0]]
// CHECK:         llvm.store %[[STRIDE1]]
// CHECK:         %[[F16:.+]] = llvm.mlir.constant(4 : i64)
// CHECK:         %[[BOX0:.+]] = llvm.mlir.constant(128 : i64)
// CHECK:         %[[BOX1:.+]] = llvm.mlir.constant(64 : i64)
// CHECK:         %[[BOX:.+]] = llvm.alloca
// CHECK:         llvm.store %[[BOX0]]
// CHECK:         llvm.store %[[BOX1]]
// CHECK:         %[[SWIZZLE:.+]] = llvm.mlir.constant(128 : i64)
// CHECK:         llvm.call @tessera_rt_tensor_map(%[[MAP]], %[[POINTER]], %[[OFFSET]], %[[RANK]], %[[SIZES]], %[[STRIDES]], %[[F16]], %[[BOX]], %[[SWIZZLE]])
// CHECK:         llvm.call @tessera_rt_tensor_map(%[[OTHER:[^,]+]],
// CHECK:         llvm.getelementptr %{{.+}}[11]
// CHECK:         llvm.store %[[MAP]], %{{.+}}
// CHECK:         %[[BYTES:.+]] = llvm.mlir.constant(128 : i64)
// CHECK-NEXT:    llvm.store %[[BYTES]]
// CHECK:         llvm.getelementptr %{{.+}}[12]
// CHECK:         llvm.store %[[OTHER]], %{{.+}}
// CHECK:         %[[BYTES:.+]] = llvm.mlir.constant(128 : i64)
// CHECK-NEXT:    llvm.store %[[BYTES]]
// CHECK:         llvm.call @tessera_rt_launch
// CHECK:         llvm.intr.stackrestore %[[STACK]]
module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @k(!llvm.ptr, i64) attributes {gpu.kernel, nvvm.kernel, tessera.tensor_maps = [
        {argument = 1 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64},
        {argument = 1 : i64, box = array<i64: 8, 8>, swizzle = 0 : i64}]}
  }
  func.func @main(%s: memref<f32>, %m: memref<?x?xf16, strided<[?, 1], offset: ?>>, %x: f32) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%s : memref<f32>, %m : memref<?x?xf16, strided<[?, 1], offset: ?>>, %x : f32)
    return
  }
}

// -----

// Element types by their size, but for floating-point types of two bytes.
// CHECK-LABEL: llvm.func @bytes
// CHECK:         llvm.extractvalue %{{.+}}[2]
// CHECK:         %[[I8:.+]] = llvm.mlir.constant(0 : i64)
// CHECK:         llvm.call @tessera_rt_tensor_map(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[I8]], %{{.+}}, %{{.+}})
module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @k(!llvm.ptr, i64) attributes {gpu.kernel, nvvm.kernel, tessera.tensor_maps = [
        {argument = 0 : i64, box = array<i64: 64>, swizzle = 64 : i64}]}
  }
  func.func @bytes(%m: memref<64xf8E4M3FN>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<64xf8E4M3FN>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @k(!llvm.ptr, i64) attributes {gpu.kernel, nvvm.kernel, tessera.tensor_maps = [
        {argument = 0 : i64, box = array<i64: 8, 64>, swizzle = 64 : i64}]}
  }
  func.func @rank(%m: memref<64xf16>) {
    %c1 = arith.constant 1 : index
    // expected-error @+2 {{failed to legalize}}
    // expected-error @+1 {{requires a memref of rank 2 as kernel operand 0}}
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<64xf16>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @k(!llvm.ptr, i64) attributes {gpu.kernel, nvvm.kernel, tessera.tensor_maps = [
        {argument = 0 : i64, box = array<i64: 64>, swizzle = 64 : i64}]}
  }
  func.func @element(%m: memref<64xi4>) {
    %c1 = arith.constant 1 : index
    // expected-error @+2 {{failed to legalize}}
    // expected-error @+1 {{tensor maps do not support elements of type 'i4'}}
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%m : memref<64xi4>)
    return
  }
}

// -----

// Windows over an image: where they begin, how far they go, and their steps.
// CHECK-DAG:   llvm.func @tessera_rt_window_map(!llvm.ptr, !llvm.ptr, i64, i64, !llvm.ptr, !llvm.ptr, i64, !llvm.ptr, i64, !llvm.ptr, !llvm.ptr, !llvm.ptr)
// CHECK-LABEL: llvm.func @windows
// CHECK:         %[[LOWER_H:.+]] = llvm.mlir.constant(-1 : i64)
// CHECK:         %[[LOWER_W:.+]] = llvm.mlir.constant(-2 : i64)
// CHECK:         %[[LOWER:.+]] = llvm.alloca
// CHECK:         llvm.store %[[LOWER_H]]
// CHECK:         llvm.store %[[LOWER_W]]
// CHECK:         llvm.mlir.constant(27 : i64)
// CHECK:         %[[EXTENT:.+]] = llvm.alloca
// CHECK:         llvm.mlir.constant(2 : i64)
// CHECK:         %[[STRIDE:.+]] = llvm.alloca
// CHECK:         llvm.call @tessera_rt_window_map(%{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[LOWER]], %[[EXTENT]], %[[STRIDE]])
module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @k(!llvm.ptr, i64) attributes {gpu.kernel, nvvm.kernel, tessera.tensor_maps = [
        {argument = 0 : i64, box = array<i64: 1, 1, 128, 64>, swizzle = 128 : i64,
         lower = array<i64: -1, -2>, extent = array<i64: 27, 14>, stride = array<i64: 2, 1>}]}
  }
  func.func @windows(%m: memref<2x28x14x64xf16>) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%m : memref<2x28x14x64xf16>)
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @m {
    llvm.func @k(!llvm.ptr, i64) attributes {gpu.kernel, nvvm.kernel, tessera.tensor_maps = [
        {argument = 0 : i64, box = array<i64: 1, 1, 128, 64>, swizzle = 128 : i64,
         lower = array<i64: -1, -2>, extent = array<i64: 27>}]}
  }
  func.func @half(%m: memref<2x28x14x64xf16>) {
    %c1 = arith.constant 1 : index
    // expected-error @+2 {{failed to legalize}}
    // expected-error @+1 {{of windows over 'memref<2x28x14x64xf16>' must give lower, extent and stride for each dimension but the first and the last}}
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%m : memref<2x28x14x64xf16>)
    return
  }
}
