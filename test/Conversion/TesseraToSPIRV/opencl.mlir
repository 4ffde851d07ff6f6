// RUN: gpu-opt %s --tessera-attach-chip="target=opencl chip=simt" --tessera-lower-memory-to-spirv --canonicalize --tessera-scalarize-vectors --tessera-convert-kernels-to-spirv --split-input-file | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=opencl chip=pocl" --tessera-lower-memory-to-spirv --canonicalize --tessera-scalarize-vectors --tessera-convert-kernels-to-spirv --split-input-file | FileCheck %s --check-prefix=BITS
// RUN: not gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-lower-memory-to-spirv --split-input-file 2>&1 | FileCheck %s --check-prefix=TARGET
// TARGET: error: target cuda does not use SPIR-V (expected vulkan, opencl or level-zero)

// The fields of each memref that the kernel reads are parameters: the pointer,
// and the dynamic offset and stride; scalars are passed unchanged. The kernel
// keeps the indices of these launch arguments.
// CHECK: gpu.func @copy
// CHECK-SAME: tessera.taken_arguments = array<i64: 1, 2, 5, 8, 12>
// CHECK: spirv.module Physical64 OpenCL requires #spirv.vce<v1.2,
// CHECK-DAG: Kernel
// CHECK-DAG: Float16
// CHECK: spirv.GlobalVariable @{{.*}} built_in("SubgroupLocalInvocationId") : !spirv.ptr<i32, Input>
// CHECK: spirv.func @copy(%[[FROM:.*]]: !spirv.ptr<i8, CrossWorkgroup>, %[[OFFSET:.*]]: i64, %{{.*}}: i64, %[[TO:.*]]: !spirv.ptr<i8, CrossWorkgroup>, %[[FACTOR:.*]]: f16)
// CHECK: %[[POSITION:.*]] = spirv.PtrAccessChain %[[FROM]]
// CHECK: %[[CAST:.*]] = spirv.Bitcast %[[POSITION]] : !spirv.ptr<i8, CrossWorkgroup> to !spirv.ptr<f16, CrossWorkgroup>
// CHECK: %[[X:.*]] = spirv.Load "CrossWorkgroup" %[[CAST]] ["Aligned", 2] : f16
// CHECK: spirv.Store "Workgroup" %{{.*}}, %[[X]] : f16
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|WorkgroupMemory|CrossWorkgroupMemory>
// CHECK: spirv.FMul %{{.*}}, %[[FACTOR]] : f16
// CHECK: spirv.Store "CrossWorkgroup" %{{.*}} ["Aligned", 2] : f16
// CHECK: spirv.EntryPoint "Kernel" @copy, @__builtin__{{[A-Za-z]+}}__, @__builtin__{{[A-Za-z]+}}__
// CHECK-NEXT: spirv.ExecutionMode @copy "LocalSize", 16, 1, 1
// CHECK-NEXT: spirv.ExecutionMode @copy "SubgroupSize", 16

// Without f16: by its bits, in f32. Without subgroups the module does not mention them.
// BITS: spirv.module Physical64 OpenCL
// BITS-NOT: Float16
// BITS: spirv.GlobalVariable @{{.*}} built_in("LocalInvocationId") : !spirv.ptr<vector<3xi64>, Input>
// BITS: spirv.func @copy({{.*}}: i16)
// BITS: spirv.Load "CrossWorkgroup" %{{.*}} ["Aligned", 2] : i16
// BITS: spirv.FMul %{{.*}} : f32
// BITS: spirv.Store "CrossWorkgroup" %{{.*}} ["Aligned", 2] : i16
// BITS: spirv.ExecutionMode @copy "LocalSize", 16, 1, 1
// BITS-NOT: SubgroupSize
gpu.module @m {
  gpu.func @copy(%from: memref<4x16xf16, strided<[?, 1], offset: ?>>, %to: memref<16xf16>, %factor: f16)
      workgroup(%tile: memref<16xf16, #gpu.address_space<workgroup>>)
      kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c1 = arith.constant 1 : index
    %t = gpu.thread_id x
    %x = memref.load %from[%c1, %t] : memref<4x16xf16, strided<[?, 1], offset: ?>>
    memref.store %x, %tile[%t] : memref<16xf16, #gpu.address_space<workgroup>>
    gpu.barrier
    %y = memref.load %tile[%t] : memref<16xf16, #gpu.address_space<workgroup>>
    %z = arith.mulf %y, %factor : f16
    memref.store %z, %to[%t] : memref<16xf16>
    gpu.return
  }
}

// -----

// Sums of floats in memory: a device's own, or by comparing and exchanging.
// CHECK: spirv.func @sum
// CHECK: spirv.mlir.loop
// CHECK: spirv.AtomicCompareExchange <Device> <None> <None> %{{.*}} : !spirv.ptr<i32, CrossWorkgroup>
// BITS: spirv.func @sum
// BITS: spirv.EXT.AtomicFAdd <Device> <None> %{{.*}} : !spirv.ptr<f32, CrossWorkgroup>
gpu.module @m {
  gpu.func @sum(%to: memref<16xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %x = arith.constant 1.0 : f32
    %old = memref.atomic_rmw addf %x, %to[%c0] : (f32, memref<16xf32>) -> f32
    gpu.return
  }
}

// -----

// 2^x of any x, and where an approximation will do.
// CHECK: spirv.func @powers
// CHECK: spirv.CL.rint
// CHECK: spirv.CL.exp
// CHECK: spirv.ShiftLeftLogical
// CHECK: spirv.FMul
// CHECK: spirv.CL.exp
// CHECK-NOT: spirv.ShiftLeftLogical
// CHECK: spirv.CL.log
gpu.module @m {
  gpu.func @powers(%x: f32, %to: memref<3xf32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %y = math.exp2 %x : f32
    memref.store %y, %to[%c0] : memref<3xf32>
    %z = math.exp2 %x fastmath<afn> : f32
    memref.store %z, %to[%c1] : memref<3xf32>
    %w = math.log2 %x : f32
    memref.store %w, %to[%c2] : memref<3xf32>
    gpu.return
  }
}

// -----

// No-wrap flags are dropped: they require SPIR-V 1.4.
// CHECK: spirv.func @wraps
// CHECK: spirv.IAdd %{{.*}}, %{{.*}} : i32
// CHECK-NOT: no_signed_wrap
// CHECK: spirv.EntryPoint
gpu.module @m {
  gpu.func @wraps(%x: i32, %y: i32, %to: memref<1xi32>) kernel attributes {known_block_size = array<i32: 1, 1, 1>} {
    %c0 = arith.constant 0 : index
    %z = arith.addi %x, %y overflow<nsw, nuw> : i32
    memref.store %z, %to[%c0] : memref<1xi32>
    gpu.return
  }
}
