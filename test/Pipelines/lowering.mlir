// Each target's pipeline leads from a portable kernel to the target's own dialect.

// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-to-nvvm-pipeline | FileCheck %s --check-prefix=NVVM
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --tessera-to-rocdl-pipeline | FileCheck %s --check-prefix=ROCDL
// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=lavapipe" --tessera-to-spirv-pipeline | FileCheck %s --check-prefix=SPIRV
// RUN: gpu-opt %s --tessera-attach-chip="target=opencl chip=simt" --tessera-to-opencl-pipeline | FileCheck %s --check-prefix=OPENCL
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --tessera-to-cpu-pipeline | FileCheck %s --check-prefix=CPU

// NVVM:       gpu.module @main_kernel
// NVVM:         llvm.func @main_kernel({{.*}}nvvm.kernel
// NVVM:         nvvm.read.ptx.sreg.tid.x
// NVVM:         llvm.fmul

// ROCDL:      gpu.module @main_kernel
// ROCDL:        llvm.func @main_kernel({{.*}}rocdl.kernel
// ROCDL:        rocdl.workitem.id.x
// ROCDL:        llvm.fmul

// SPIRV:      spirv.module PhysicalStorageBuffer64 Vulkan
// SPIRV:        spirv.FMul
// SPIRV:        spirv.EntryPoint "GLCompute" @main_kernel

// OPENCL:     spirv.module Physical64 OpenCL
// OPENCL:       spirv.FMul
// OPENCL:       spirv.EntryPoint "Kernel" @main_kernel

// CPU:        gpu.module @main_kernel
// CPU:          llvm.func @main_kernel({{.*}}tessera.kernel
// CPU:          llvm.fmul

func.func @main(%x: memref<64xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %v = memref.load %x[%tx] : memref<64xf32>
    %s = arith.mulf %v, %v : f32
    memref.store %s, %x[%tx] : memref<64xf32>
    gpu.terminator
  }
  return
}
