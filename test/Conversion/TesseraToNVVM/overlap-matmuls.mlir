// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-legalize-fragments,tessera-overlap-matmuls))" --split-input-file | FileCheck %s

#wg = #gpu.address_space<workgroup>

// Scores of one block, and sums of the previous one, as in attention: the second matmul
// overlaps with the element-wise work on the first one's result, and the first with the second.

// CHECK-LABEL: gpu.func @both
// CHECK:         %[[S:.+]] = tessera.mma %{{.+}}, %{{.+}}, %{{.+}} {tessera.instruction = "wgmma.m64n64k16.f32.f16", {{.*}}tessera.overlapped
// CHECK-NEXT:    %[[O:.+]] = tessera.mma %[[P:.+]], %{{.+}}, %{{.+}} {tessera.instruction = "wgmma.m64n64k16.f32.f16.rs", tessera.overlapped
// CHECK-NEXT:    %[[S1:.+]] = tessera.await %[[S]] pending 1
// CHECK-NEXT:    %[[M:.+]] = tessera.reduce max %[[S1]]
// CHECK:         %[[MAP:.+]] = tessera.map %[[S1]]
// CHECK:         %[[O1:.+]] = tessera.await %[[O]] keeping %[[P]], %[[MAP]] pending 0
// CHECK:         tessera.map %[[O1]]
gpu.module @module {
  gpu.func @both(%q: memref<64x64xf16, #wg>, %k: memref<64x64xf16, #wg>, %v: memref<64x64xf16, #wg>, %out: memref<64x64xf32>, %steps: index) kernel attributes {tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    %none = tessera.fill %zero : !tessera.fragment<64x64xf32, acc>
    %first = tessera.convert %none : !tessera.fragment<64x64xf32, acc> -> !tessera.fragment<64x64xf16, a>
    %r:2 = scf.for %i = %c0 to %steps step %c1 iter_args(%sum = %none, %p = %first) -> (!tessera.fragment<64x64xf32, acc>, !tessera.fragment<64x64xf16, a>) {
      %a = tessera.load %q[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, a>
      %b = tessera.load %k[%c0, %c0] transpose in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, b>
      %c = tessera.load %v[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, b>
      %s = tessera.mma %a, %b, %none : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
      %o = tessera.mma %p, %c, %sum : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
      %m = tessera.reduce max %s dimension 1 : !tessera.fragment<64x64xf32, acc> -> !tessera.fragment<64x1xf32, acc>
      %all = tessera.broadcast %m dimension 1 : !tessera.fragment<64x1xf32, acc> -> !tessera.fragment<64x64xf32, acc>
      %e = tessera.map %s, %all : !tessera.fragment<64x64xf32, acc>, !tessera.fragment<64x64xf32, acc> -> !tessera.fragment<64x64xf32, acc> {
      ^bb0(%x: f32, %y: f32):
        %d = arith.subf %x, %y : f32
        tessera.yield %d : f32
      }
      %o2 = tessera.map %o : !tessera.fragment<64x64xf32, acc> -> !tessera.fragment<64x64xf32, acc> {
      ^bb0(%x: f32):
        %d = arith.addf %x, %x : f32
        tessera.yield %d : f32
      }
      %next = tessera.convert %e : !tessera.fragment<64x64xf32, acc> -> !tessera.fragment<64x64xf16, a>
      scf.yield %o2, %next : !tessera.fragment<64x64xf32, acc>, !tessera.fragment<64x64xf16, a>
    }
    tessera.store %r#0, %out[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
    gpu.return
  }
}

// -----

#wg = #gpu.address_space<workgroup>

// No overlap: two matmuls whose results are used after a barrier, and one whose result is used next.

// CHECK-LABEL: gpu.func @none
// CHECK-NOT:     tessera.overlapped
// CHECK-NOT:     tessera.await
// CHECK:         gpu.return
gpu.module @module {
  gpu.func @none(%q: memref<64x64xf16, #wg>, %k: memref<64x64xf16, #wg>, %out: memref<64x64xf32>) kernel attributes {tessera.group = 4 : i64} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %none = tessera.fill %zero : !tessera.fragment<64x64xf32, acc>
    %a = tessera.load %q[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, a>
    %b = tessera.load %k[%c0, %c0] in_bounds swizzled : memref<64x64xf16, #wg> -> !tessera.fragment<64x64xf16, b>
    %s = tessera.mma %a, %b, %none : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
    %o = tessera.mma %a, %b, %none : !tessera.fragment<64x64xf16, a>, !tessera.fragment<64x64xf16, b> -> !tessera.fragment<64x64xf32, acc>
    gpu.barrier
    %o2 = tessera.map %o, %s : !tessera.fragment<64x64xf32, acc>, !tessera.fragment<64x64xf32, acc> -> !tessera.fragment<64x64xf32, acc> {
    ^bb0(%x: f32, %y: f32):
      %d = arith.addf %x, %y : f32
      tessera.yield %d : f32
    }
    tessera.store %o2, %out[%c0, %c0] : !tessera.fragment<64x64xf32, acc>, memref<64x64xf32>
    gpu.return
  }
}
