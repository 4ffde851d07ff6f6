// Loads to LDS get an alias scope, with which other accesses to LDS do not alias. Kernels without such loads stay as they are.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(gpu.module(tessera-scope-lds-loads))" | FileCheck %s
// CHECK: #[[SCOPE:.+]] = #llvm.alias_scope<{{.+}}description = "copies under way">

gpu.module @loads {
  // CHECK-LABEL: llvm.func @copies(
  // CHECK:         rocdl.load.to.lds {{.+}}alias_scopes = [#[[SCOPE]]]
  // CHECK:         llvm.load {{.+}}noalias_scopes = [#[[SCOPE]]]{{.*}} : !llvm.ptr<3>
  // CHECK:         rocdl.ds.read.tr16.b64 {{.+}}noalias_scopes = [#[[SCOPE]]]
  // CHECK:         llvm.store {{.+}}noalias_scopes = [#[[SCOPE]]]{{.*}} : vector<4xf16>, !llvm.ptr<3>
  // CHECK-NOT:     scopes
  // CHECK:         llvm.store {{.+}} : vector<4xf16>, !llvm.ptr<1>
  llvm.func @copies(%g: !llvm.ptr<1>, %l: !llvm.ptr<3>) {
    rocdl.load.to.lds %g, %l, 16, 0, 0 : <1>
    %v = llvm.load %l : !llvm.ptr<3> -> vector<4xf16>
    %t = rocdl.ds.read.tr16.b64 %l : <3> -> vector<4xf16>
    llvm.store %t, %l : vector<4xf16>, !llvm.ptr<3>
    llvm.store %v, %g : vector<4xf16>, !llvm.ptr<1>
    llvm.return
  }
  // CHECK-LABEL: llvm.func @buffers(
  // CHECK:         rocdl.raw.ptr.buffer.load.lds {{.+}}alias_scopes = [#[[BUFFERS:.+]]]
  // CHECK:         llvm.load {{.+}}noalias_scopes = [#[[BUFFERS]]]{{.*}} : !llvm.ptr<3>
  llvm.func @buffers(%r: !llvm.ptr<8>, %l: !llvm.ptr<3>, %g: !llvm.ptr<1>, %o: i32) {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c16 = llvm.mlir.constant(16 : i32) : i32
    rocdl.raw.ptr.buffer.load.lds %r, %l, %c16, %o, %c0, %c0, %c0
    %v = llvm.load %l : !llvm.ptr<3> -> vector<4xf16>
    llvm.store %v, %g : vector<4xf16>, !llvm.ptr<1>
    llvm.return
  }
  // CHECK-LABEL: llvm.func @none(
  // CHECK-NOT:     scopes
  // CHECK:         llvm.return
  llvm.func @none(%g: !llvm.ptr<1>, %l: !llvm.ptr<3>) {
    %v = llvm.load %l : !llvm.ptr<3> -> vector<4xf16>
    llvm.store %v, %g : vector<4xf16>, !llvm.ptr<1>
    llvm.return
  }
}
