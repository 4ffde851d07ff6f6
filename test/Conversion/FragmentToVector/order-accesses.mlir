// Inserts a subgroup barrier before each access that may conflict with earlier accesses of other lanes.
//
// RUN: gpu-runner %s --entry=in_place --target=cuda:sm_80 --emit=llvm | FileCheck %s --check-prefix=NVVM
// RUN: gpu-runner %s --entry=in_place --target=hip:gfx942 --emit=llvm | FileCheck %s --check-prefix=ROCDL
// RUN: gpu-runner %s --entry=in_place --target=vulkan:lavapipe-simt --emit=llvm | FileCheck %s --check-prefix=VULKAN
// RUN: gpu-runner %s --entry=in_place --target=opencl:pvc --emit=llvm | FileCheck %s --check-prefix=OPENCL
// RUN: gpu-runner %s --entry=in_place --target=cpu:emulate=sm_80 --emit=llvm | FileCheck %s --check-prefix=EMULATED
// RUN: gpu-runner %s --entry=in_place --target=cpu --emit=llvm | FileCheck %s --check-prefix=CPU

// RUN: gpu-runner %s --entry=in_place --target=vulkan:nvidia-hopper --emit=llvm | FileCheck %s --check-prefix=OPAQUE

!acc = !tessera.fragment<16x16xf32, acc>

// NVVM-LABEL: llvm.func @in_place_kernel
// NVVM:         llvm.load
// NVVM-NOT:     llvm.store
// NVVM:         nvvm.bar.warp.sync
// NVVM-NOT:     llvm.load
// NVVM:         llvm.store
// NVVM-NOT:     bar.warp.sync
// NVVM:         llvm.return

// ROCDL-LABEL: llvm.func @in_place_kernel
// ROCDL:         llvm.load
// ROCDL-NOT:     llvm.store
// ROCDL:         llvm.fence syncscope("wavefront") release
// ROCDL-NEXT:    llvm.call_intrinsic "llvm.amdgcn.wave.barrier"()
// ROCDL-NEXT:    llvm.fence syncscope("wavefront") acquire
// ROCDL-NOT:     llvm.load
// ROCDL:         llvm.store

// VULKAN:      spirv.func @in_place_kernel
// VULKAN:        spirv.Load "PhysicalStorageBuffer"
// VULKAN:        spirv.ControlBarrier <Subgroup>, <Subgroup>, <AcquireRelease|UniformMemory|WorkgroupMemory|MakeAvailable|MakeVisible>
// VULKAN:        spirv.Store "PhysicalStorageBuffer"

// OPENCL:      spirv.func @in_place_kernel
// OPENCL:        spirv.Load "CrossWorkgroup"
// OPENCL:        spirv.ControlBarrier <Subgroup>, <Subgroup>, <AcquireRelease|WorkgroupMemory|CrossWorkgroupMemory>
// OPENCL:        spirv.Store "CrossWorkgroup"

// EMULATED:    the barrier of the subgroup at {{[^"]*}}order-accesses.mlir:[[#@LINE+18]]
// EMULATED:    call @tessera_cpu_shuffle

// CPU-LABEL: llvm.func @in_place_kernel
// CPU-NOT:     llvm.call
// CPU:         llvm.return
func.func @in_place(%m: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %t = tessera.load %m[%c0, %c0] transpose : memref<16x16xf32> -> !acc
    %d = tessera.map %t : !acc -> !acc {
    ^bb0(%x: f32):
      %y = arith.addf %x, %x : f32
      tessera.yield %y : f32
    }
    tessera.store %d, %m[%c0, %c0] : !acc, memref<16x16xf32>
    gpu.terminator
  }
  return
}

// Each lane accesses the same elements; elements that do not overlap; a barrier that is there.
// NVVM-LABEL: llvm.func @none_kernel
// NVVM-NOT:     bar.warp.sync
// NVVM:         llvm.return
func.func @none(%m: memref<32x48xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %size = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %a = tessera.load %m[%c0, %c0] : memref<32x48xf32> -> !acc
    tessera.store %a, %m[%c0, %c0] : !acc, memref<32x48xf32>
    tessera.store %a, %m[%c0, %c16] : !acc, memref<32x48xf32>
    %next = arith.addi %bx, %c16 : index
    %after = arith.addi %next, %c16 : index
    tessera.store %a, %m[%c16, %next] : !acc, memref<32x48xf32>
    tessera.store %a, %m[%c16, %after] : !acc, memref<32x48xf32>
    gpu.barrier
    %t = tessera.load %m[%c0, %c0] transpose : memref<32x48xf32> -> !acc
    gpu.barrier
    tessera.store %t, %m[%c0, %c0] : !acc, memref<32x48xf32>
    gpu.terminator
  }
  return
}

// The caller may pass one memory twice, but workgroup memory is another one.
// NVVM-LABEL: llvm.func @arguments_kernel
// NVVM:         nvvm.bar.warp.sync
// NVVM-NOT:     nvvm.bar.warp.sync
// NVVM:         llvm.return
func.func @arguments(%m: memref<16x16xf32>, %n: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1)
             workgroup(%w: memref<16x16xf32, #gpu.address_space<workgroup>>) {
    %a = tessera.load %m[%c0, %c0] : memref<16x16xf32> -> !acc
    tessera.store %a, %w[%c0, %c0] : !acc, memref<16x16xf32, #gpu.address_space<workgroup>>
    tessera.store %a, %n[%c0, %c0] : !acc, memref<16x16xf32>
    gpu.terminator
  }
  return
}

// The next iteration's load follows this one's store.
// NVVM-LABEL:   llvm.func @steps_kernel
// NVVM-COUNT-2:   nvvm.bar.warp.sync
// NVVM-NOT:       nvvm.bar.warp.sync
// NVVM:           llvm.return
func.func @steps(%m: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %size = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    scf.for %i = %c0 to %c4 step %c1 {
      %t = tessera.load %m[%c0, %c0] transpose : memref<16x16xf32> -> !acc
      tessera.store %t, %m[%c0, %c0] : !acc, memref<16x16xf32>
    }
    gpu.terminator
  }
  return
}

// A barrier in one branch does not order the accesses of the other branch.
// NVVM-LABEL: llvm.func @branch_kernel
// NVVM:         nvvm.barrier0
// NVVM:         nvvm.bar.warp.sync
// NVVM-NOT:     nvvm.bar.warp.sync
// NVVM:         llvm.return
func.func @branch(%m: memref<16x16xf32>, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %t = tessera.load %m[%c0, %c0] transpose : memref<16x16xf32> -> !acc
    scf.if %p {
      gpu.barrier
    }
    tessera.store %t, %m[%c0, %c0] : !acc, memref<16x16xf32>
    gpu.terminator
  }
  return
}

// The distribution of a cooperative matrix over lanes is unknown.
// OPAQUE: spirv.func @opaque_kernel
// OPAQUE:   spirv.KHR.CooperativeMatrixMulAdd
// OPAQUE:   spirv.ControlBarrier <Subgroup>, <Subgroup>
// OPAQUE:   spirv.KHR.CooperativeMatrixStore
func.func @opaque(%m: memref<16x16xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %size, %sy = %c1, %sz = %c1) {
    %a = tessera.load %m[%c0, %c0] in_bounds : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %m[%c0, %c0] in_bounds : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
    %c = tessera.load %m[%c0, %c0] in_bounds : memref<16x16xf16> -> !tessera.fragment<16x16xf16, acc>
    %d = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf16, acc>
    tessera.store %d, %m[%c0, %c0] in_bounds : !tessera.fragment<16x16xf16, acc>, memref<16x16xf16>
    gpu.terminator
  }
  return
}

// Kernels tiled by the compiler need no barriers.
// NVVM-LABEL: llvm.func @tiled_kernel
// NVVM-NOT:     bar.warp.sync
// NVVM:         llvm.return
func.func @tiled(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  linalg.matmul ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
  return
}
