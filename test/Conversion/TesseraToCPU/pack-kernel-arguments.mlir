// RUN: gpu-opt %s --tessera-pack-kernel-arguments | FileCheck %s

// The wrapper unpacks the arguments, and makes the workgroup memory's descriptor
// of the pointer in the context.
// CHECK-LABEL: llvm.func internal @k
// CHECK-LABEL: llvm.func @__tessera_k
// CHECK-SAME:    (%[[ARGS:.+]]: !llvm.ptr, %[[CTX:.+]]: !llvm.ptr)
// CHECK:         llvm.load %{{.+}} : !llvm.ptr -> !llvm.ptr
// CHECK:         %[[X:.+]] = llvm.load %{{.+}} : !llvm.ptr -> f32
// CHECK:         %[[FIELD:.+]] = llvm.getelementptr %[[CTX]][12]
// CHECK:         %[[W:.+]] = llvm.load %[[FIELD]] : !llvm.ptr -> !llvm.ptr
// CHECK:         llvm.call @k(%[[X]], %[[CTX]], %[[W]], %[[W]],
llvm.func @k(%x: f32, %ctx: !llvm.ptr, %w0: !llvm.ptr, %w1: !llvm.ptr, %o: i64, %n: i64, %s: i64) attributes {tessera.kernel} {
  llvm.return
}

// Other functions stay.
// CHECK-LABEL: llvm.func @other
// CHECK-NOT:   @__tessera_other
llvm.func @other(%x: f32) {
  llvm.return
}
