// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90},gpu.module(tessera-use-dependent-launch))" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_100a},gpu.module(tessera-use-dependent-launch))" | FileCheck %s
// The pass leaves its own result alone.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-dependent-launch,tessera-use-dependent-launch))" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_89},gpu.module(tessera-use-dependent-launch))" | FileCheck %s --check-prefix=OLD

// OLD-NOT: griddepcontrol

// All threads wait, also those that have nothing to do.
// CHECK-LABEL: llvm.func @kernel(
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NOT:     nvvm.griddepcontrol
// CHECK:         nvvm.read.ptx.sreg.tid.x
// CHECK:         llvm.cond_br
// CHECK:         llvm.load
// CHECK-LABEL: llvm.func @empty(
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    llvm.return
// Functions that kernels call do not wait.
// CHECK-LABEL: llvm.func @helper(
// CHECK-NOT:     nvvm.griddepcontrol
// CHECK:         llvm.return
gpu.module @m {
  llvm.func @kernel(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %zero = llvm.mlir.constant(0 : i32) : i32
    %isFirst = llvm.icmp "eq" %thread, %zero : i32
    llvm.cond_br %isFirst, ^more, ^end
  ^more:
    %value = llvm.load %x : !llvm.ptr -> f32
    llvm.call @helper(%x, %value) : (!llvm.ptr, f32) -> ()
    llvm.br ^end
  ^end:
    llvm.return
  }
  llvm.func @empty() attributes {gpu.kernel, nvvm.kernel} {
    llvm.return
  }
  llvm.func @helper(%x: !llvm.ptr, %value: f32) {
    llvm.store %value, %x : f32, !llvm.ptr
    llvm.return
  }
  llvm.func @declared(%x: !llvm.ptr)
}
