// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=lavapipe" --tessera-convert-kernels-to-spirv --verify-diagnostics --split-input-file | FileCheck %s

// A loop without iterations yields its initial values. Upstream's lowering alone
// would leave its results unset, and place the body in the continue construct.
// CHECK-NOT: SPV_EXT_physical_storage_buffer
// CHECK-LABEL: spirv.func @loop
// CHECK: %[[RUNS:.*]] = spirv.SGreaterThan
// CHECK: %[[RESULT:.*]] = spirv.Variable
// CHECK: spirv.BranchConditional %[[RUNS]], ^{{.*}}, ^[[ELSE:.*]]
// CHECK: spirv.mlir.loop
// CHECK: spirv.BranchConditional %{{.*}}, ^[[BODY:.*]], ^{{.*}}
// CHECK: ^[[BODY]]:
// CHECK: spirv.FAdd
// CHECK: spirv.Branch ^[[CONTINUE:[^( ]*]]{{$}}
// CHECK: ^[[CONTINUE]]:
// CHECK-NEXT: spirv.Branch ^
// CHECK: spirv.mlir.merge
// CHECK: spirv.Store "Function" %[[RESULT]], %
// CHECK: ^[[ELSE]]:
// CHECK-NEXT: spirv.Store "Function" %[[RESULT]], %cst
// CHECK: spirv.ControlBarrier <Workgroup>, <Workgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible>
// CHECK: spirv.EntryPoint "GLCompute" @loop, @__builtin__{{.*}}
// CHECK: spirv.ExecutionMode @loop "LocalSize", 16, 1, 1
gpu.module @m {
  gpu.func @loop() kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %n = gpu.thread_id x
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> (f32) {
      %t = arith.addf %s, %one : f32
      scf.yield %t : f32
    }
    gpu.barrier
    %address = arith.constant 64 : i64
    %p = spirv.ConvertUToPtr %address : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
    spirv.Store "PhysicalStorageBuffer" %p, %sum ["Aligned", 4] : f32
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{target vulkan requires a constant workgroup size: launch the kernel with constants}}
  gpu.func @unknown() kernel {
    gpu.return
  }
}

// -----

gpu.module @m {
  // expected-error @below {{the workgroup has 2048 threads, but lavapipe supports at most 1024}}
  gpu.func @many() kernel attributes {known_block_size = array<i32: 2048, 1, 1>} {
    gpu.return
  }
}

// -----

// Sums of the device's scope need a capability, which upstream does not see.
// CHECK: spirv.module PhysicalStorageBuffer64 Vulkan requires #spirv.vce<v1.6, [{{.*}}VulkanMemoryModelDeviceScope
// CHECK-LABEL: spirv.func @atomic
gpu.module @m {
  gpu.func @atomic() kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %one = arith.constant 1 : i32
    %address = arith.constant 64 : i64
    %p = spirv.ConvertUToPtr %address : i64 to !spirv.ptr<i32, PhysicalStorageBuffer>
    %before = spirv.AtomicIAdd <Device> <None> %p, %one : !spirv.ptr<i32, PhysicalStorageBuffer>
    gpu.return
  }
}

// -----

// The arguments of a launch that something reads are the push constants, 8
// bytes each in the order of the launch. The memref's descriptor has fields 0
// to 4.
gpu.module @pushed {
  // CHECK: gpu.func @pushed({{.*}}tessera.taken_arguments = array<i64: 1, 3, 5, 6>
  // CHECK: spirv.GlobalVariable @__params4 : !spirv.ptr<!spirv.struct<(!spirv.array<4 x i64, stride=8> [0])>, PushConstant>
  // CHECK-LABEL: spirv.func @pushed()
  // CHECK: %[[PUSHED:.*]] = spirv.mlir.addressof @__params4
  // CHECK: %[[AT:.*]] = spirv.AccessChain %[[PUSHED]][%{{.*}}, %{{.*}}]
  // CHECK: %[[BASE:.*]] = spirv.Load "PushConstant" %[[AT]] : i64
  // CHECK: spirv.ConvertUToPtr %[[BASE]]
  // CHECK: spirv.Store "PhysicalStorageBuffer"
  // CHECK: spirv.EntryPoint "GLCompute" @pushed, @__params4
  gpu.func @pushed(%m: memref<?xf32>, %x: f32, %y: f16, %unused: memref<4xf32>) kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %base = builtin.unrealized_conversion_cast %m : memref<?xf32> to i64 {tessera.field = 1 : i64}
    %offset = builtin.unrealized_conversion_cast %m : memref<?xf32> to i64 {tessera.field = 2 : i64}
    %size = builtin.unrealized_conversion_cast %m : memref<?xf32> to i64 {tessera.field = 3 : i64}
    %p = spirv.ConvertUToPtr %base : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
    %s = arith.sitofp %size : i64 to f32
    %wide = arith.extf %y : f16 to f32
    %sum = arith.addf %x, %s : f32
    %all = arith.addf %sum, %wide : f32
    spirv.Store "PhysicalStorageBuffer" %p, %all ["Aligned", 4] : f32
    gpu.return
  }
}

// -----

// More than 16 do not fit in the 128 bytes that each implementation has: they
// are in memory, whose address is the push constant.
gpu.module @many {
  // CHECK: gpu.func @addressed({{.*}}tessera.taken_arguments = array<i64: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>
  // CHECK: spirv.GlobalVariable @__params : !spirv.ptr<!spirv.struct<(i64 [0])>, PushConstant>
  // CHECK-LABEL: spirv.func @addressed()
  // CHECK: %[[BLOCK:.*]] = spirv.Load "PushConstant" %{{.*}} : i64
  // CHECK: %[[SECOND:.*]] = spirv.IAdd %[[BLOCK]], %cst8_i64
  // CHECK: %[[FROM:.*]] = spirv.ConvertUToPtr %[[SECOND]] : i64 to !spirv.ptr<i64, PhysicalStorageBuffer>
  // CHECK: spirv.Load "PhysicalStorageBuffer" %[[FROM]] ["Aligned", 8] : i64
  gpu.func @addressed(%a0: i64, %a1: i64, %a2: i64, %a3: i64, %a4: i64, %a5: i64, %a6: i64, %a7: i64, %a8: i64,
                      %a9: i64, %a10: i64, %a11: i64, %a12: i64, %a13: i64, %a14: i64, %a15: i64, %a16: i64)
      kernel attributes {known_block_size = array<i32: 16, 1, 1>} {
    %p = spirv.ConvertUToPtr %a0 : i64 to !spirv.ptr<i64, PhysicalStorageBuffer>
    %1 = arith.addi %a1, %a2 : i64
    %2 = arith.addi %1, %a3 : i64
    %3 = arith.addi %2, %a4 : i64
    %4 = arith.addi %3, %a5 : i64
    %5 = arith.addi %4, %a6 : i64
    %6 = arith.addi %5, %a7 : i64
    %7 = arith.addi %6, %a8 : i64
    %8 = arith.addi %7, %a9 : i64
    %9 = arith.addi %8, %a10 : i64
    %10 = arith.addi %9, %a11 : i64
    %11 = arith.addi %10, %a12 : i64
    %12 = arith.addi %11, %a13 : i64
    %13 = arith.addi %12, %a14 : i64
    %14 = arith.addi %13, %a15 : i64
    %15 = arith.addi %14, %a16 : i64
    spirv.Store "PhysicalStorageBuffer" %p, %15 ["Aligned", 8] : i64
    gpu.return
  }
}
