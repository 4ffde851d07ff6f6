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
