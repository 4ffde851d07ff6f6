// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90},gpu.module(tessera-use-dependent-launch))" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_100a},gpu.module(tessera-use-dependent-launch))" | FileCheck %s
// The pass leaves its own result alone.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-use-dependent-launch,tessera-use-dependent-launch))" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_89},gpu.module(tessera-use-dependent-launch))" | FileCheck %s --check-prefix=OLD --implicit-check-not=launch_dependents

// OLD-NOT: griddepcontrol wait
// OLD:     llvm.func @byHand
// OLD:     nvvm.griddepcontrol wait

// All threads wait, also those that have nothing to do.
// CHECK-LABEL: llvm.func @plain(
// CHECK:         llvm.icmp
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    llvm.cond_br
// CHECK-NOT:     nvvm.griddepcontrol
// CHECK:         llvm.load
// CHECK-LABEL: llvm.func @empty(
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    llvm.return

// After the preparation of bulk copies by some threads.
// CHECK-LABEL: llvm.func @copies(
// CHECK-NOT:     nvvm.griddepcontrol
// CHECK:         nvvm.prefetch tensormap
// CHECK-NOT:     nvvm.griddepcontrol
// CHECK:         nvvm.mbarrier.init
// CHECK-NOT:     nvvm.griddepcontrol
// CHECK:         nvvm.barrier0
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    llvm.inline_asm
// CHECK-NOT:     nvvm.griddepcontrol

// Ahead of a loop, which has the same shape, ...
// CHECK-LABEL: llvm.func @loop(
// CHECK-NEXT:    llvm.mlir.constant
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    llvm.br
// CHECK-NOT:     nvvm.griddepcontrol
// ... of a branch with other ops in it, ...
// CHECK-LABEL: llvm.func @branch(
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    llvm.cond_br
// CHECK-NOT:     nvvm.griddepcontrol
// ... of a prefetch of data, ...
// CHECK-LABEL: llvm.func @data(
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    nvvm.prefetch
// ... and of tensor memory, which the kernel before may have.
// CHECK-LABEL: llvm.func @tensorMemory(
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    nvvm.tcgen05.alloc

// After both sides of a branch.
// CHECK-LABEL: llvm.func @sides(
// CHECK-NOT:     nvvm.griddepcontrol
// CHECK:         nvvm.prefetch tensormap
// CHECK-NOT:     nvvm.griddepcontrol
// CHECK:         nvvm.mbarrier.init
// CHECK:       ^bb3(%[[VALUE:.+]]: i32):
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NEXT:    nvvm.griddepcontrol launch_dependents
// CHECK-NEXT:    llvm.store %[[VALUE]]

// A kernel that does it by hand, and functions that kernels call.
// CHECK-LABEL: llvm.func @byHand(
// CHECK:         llvm.store
// CHECK-NEXT:    nvvm.griddepcontrol wait
// CHECK-NOT:     nvvm.griddepcontrol
// CHECK-LABEL: llvm.func @helper(
// CHECK-NOT:     nvvm.griddepcontrol
// CHECK:         llvm.return
gpu.module @m {
  llvm.func @plain(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
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
  llvm.func @copies(%map: !llvm.ptr, %barrier: !llvm.ptr<3>, %isFirst: i1, %isSecond: i1) attributes {gpu.kernel, nvvm.kernel} {
    llvm.cond_br %isFirst, ^prefetch, ^more
  ^prefetch:
    nvvm.prefetch tensormap, %map : !llvm.ptr
    llvm.br ^more
  ^more:
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.cond_br %isSecond, ^barriers, ^rest
  ^barriers:
    nvvm.mbarrier.init %barrier, %one : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    llvm.br ^rest
  ^rest:
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.barrier0
    llvm.inline_asm has_side_effects "anything;", "" : () -> ()
    llvm.return
  }
  llvm.func @loop(%n: i32) attributes {gpu.kernel, nvvm.kernel} {
    %one = llvm.mlir.constant(1 : i32) : i32
    llvm.br ^head(%one : i32)
  ^head(%i: i32):
    %next = llvm.add %i, %one : i32
    %isMore = llvm.icmp "slt" %next, %n : i32
    llvm.cond_br %isMore, ^body, ^end
  ^body:
    llvm.br ^head(%next : i32)
  ^end:
    llvm.return
  }
  llvm.func @branch(%x: !llvm.ptr, %isFirst: i1, %value: i32) attributes {gpu.kernel, nvvm.kernel} {
    llvm.cond_br %isFirst, ^store, ^end
  ^store:
    llvm.store %value, %x : i32, !llvm.ptr
    llvm.br ^end
  ^end:
    llvm.return
  }
  llvm.func @data(%x: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel} {
    nvvm.prefetch level = L1, %x : !llvm.ptr
    llvm.return
  }
  llvm.func @tensorMemory(%address: !llvm.ptr<3>, %columns: i32) attributes {gpu.kernel, nvvm.kernel} {
    nvvm.tcgen05.alloc %address, %columns : !llvm.ptr<3>, i32
    llvm.return
  }
  llvm.func @sides(%map: !llvm.ptr, %barrier: !llvm.ptr<3>, %x: !llvm.ptr, %isFirst: i1, %a: i32, %b: i32) attributes {gpu.kernel, nvvm.kernel} {
    llvm.cond_br %isFirst, ^left, ^right
  ^left:
    nvvm.prefetch tensormap, %map : !llvm.ptr
    llvm.br ^join(%a : i32)
  ^right:
    nvvm.mbarrier.init %barrier, %b : !llvm.ptr<3>, i32
    llvm.br ^join(%b : i32)
  ^join(%value: i32):
    llvm.store %value, %x : i32, !llvm.ptr
    llvm.return
  }
  llvm.func @byHand(%x: !llvm.ptr, %value: i32) attributes {gpu.kernel, nvvm.kernel} {
    llvm.store %value, %x : i32, !llvm.ptr
    nvvm.griddepcontrol wait
    llvm.return
  }
  llvm.func @helper(%x: !llvm.ptr, %value: f32) {
    llvm.store %value, %x : f32, !llvm.ptr
    llvm.return
  }
  llvm.func @declared(%x: !llvm.ptr)
}
