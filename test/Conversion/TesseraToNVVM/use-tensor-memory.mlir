// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_100a},gpu.module(tessera-legalize-fragments,tessera-use-tensor-memory))" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-legalize-fragments,tessera-use-tensor-memory))" | FileCheck %s --check-prefix=OLD

#wg = #gpu.address_space<workgroup>

// The loop does not carry the accumulator: it stays in 64 columns that the
// first warp allocates, the first thread of the group issues the matmuls, and
// the first matmul of the loop overwrites. The sums are loaded and the columns
// released after the loop.

// CHECK-LABEL: gpu.func @sum
// CHECK:         nvvm.mbarrier.init
// CHECK:         nvvm.tcgen05.alloc %{{.+}}, %c64_i32
// CHECK:         nvvm.tcgen05.relinquish_alloc_permit
// CHECK:         %[[POSITION:.+]] = llvm.load %{{.+}} : !llvm.ptr<3> -> i32
// CHECK:         scf.for %[[I:.+]] = %c0 to %c2 step %c1 {
// CHECK-NOT:       tessera.mma
// CHECK:           %[[FIRST:.+]] = arith.cmpi eq, %{{.+}}, %{{.+}} : index
// CHECK:           scf.if %[[FIRST]] {
// CHECK:             %[[LATER:.+]] = arith.cmpi ne, %[[I]], %c0
// CHECK:             nvvm.tcgen05.mma %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %[[LATER]]
// CHECK:             nvvm.tcgen05.mma %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %true
// CHECK:         nvvm.tcgen05.ld
// CHECK:         tessera.store
// CHECK:         nvvm.tcgen05.dealloc

// Chips without tensor memory keep their accumulators in registers.

// OLD-LABEL: gpu.func @sum
// OLD-NOT:     tcgen05
// OLD:         scf.for {{.*}} iter_args
// OLD:           tessera.mma
gpu.module @module {
  gpu.func @sum(%a: memref<128x32xf16, #wg>, %b: memref<32x64xf16, #wg>, %c: memref<128x64xf32>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>, tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant 0.0 : f32
    %none = tessera.fill %zero : !tessera.fragment<128x64xf32, acc>
    %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%sum = %none) -> (!tessera.fragment<128x64xf32, acc>) {
      gpu.barrier
      %x = tessera.load %a[%c0, %c0] in_bounds swizzled : memref<128x32xf16, #wg> -> !tessera.fragment<128x32xf16, a>
      %y = tessera.load %b[%c0, %c0] in_bounds swizzled : memref<32x64xf16, #wg> -> !tessera.fragment<32x64xf16, b>
      %s = tessera.mma %x, %y, %sum : !tessera.fragment<128x32xf16, a>, !tessera.fragment<32x64xf16, b> -> !tessera.fragment<128x64xf32, acc>
      scf.yield %s : !tessera.fragment<128x64xf32, acc>
    }
    tessera.store %r, %c[%c0, %c0] in_bounds : !tessera.fragment<128x64xf32, acc>, memref<128x64xf32>
    gpu.return
  }
}
