// RUN: gpu-opt %s --tessera-wrap-llvm-functions --split-input-file | FileCheck %s

// CHECK:       llvm.func @main_llvm() -> i32
// CHECK:       func.func @main() -> i32
// CHECK-NEXT:    %[[R:.*]] = llvm.call @main_llvm() : () -> i32
// CHECK-NEXT:    return %[[R]] : i32
llvm.func @main() -> i32 {
  %0 = llvm.mlir.constant(42 : i32) : i32
  llvm.return %0 : i32
}

// The name with a suffix is taken.
// CHECK:       llvm.func @twice_llvm_()
// CHECK:         llvm.call @main_llvm() : () -> i32
// CHECK:       func.func @twice()
// CHECK-NEXT:    llvm.call @twice_llvm_() : () -> ()
// CHECK-NEXT:    return
llvm.func @twice() {
  %0 = llvm.call @main() : () -> i32
  llvm.return
}

// CHECK:       llvm.func @twice_llvm(
// CHECK-NOT:   func.func
llvm.func @twice_llvm(%x: i32) {
  llvm.return
}
llvm.func internal @local() {
  llvm.return
}
llvm.func @pointer() -> !llvm.ptr {
  %0 = llvm.mlir.zero : !llvm.ptr
  llvm.return %0 : !llvm.ptr
}
llvm.func @external() -> i32

// -----

// A program with functions of the func dialect has its entries.

// CHECK-LABEL: llvm.func @helper()
// CHECK-NOT:   func.func @helper
llvm.func @helper() -> i32 {
  %0 = llvm.mlir.constant(1 : i32) : i32
  llvm.return %0 : i32
}
func.func @main() -> i32 {
  %0 = llvm.call @helper() : () -> i32
  return %0 : i32
}
