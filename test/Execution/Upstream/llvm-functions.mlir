// Programs in the LLVM dialect: entry points, globals, memory of malloc, a function of the
// mathematical library.

// RUN: gpu-runner %s --target=cpu -entry-point-result=f32 | FileCheck %s --check-prefix=F32
// RUN: gpu-runner %s --target=cpu -e answer -entry-point-result=i64 | FileCheck %s --check-prefix=I64
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a -e print -entry-point-result=void \
// RUN:   | FileCheck %s --check-prefix=PRINT

// F32: 9.000000e+00
// I64: 42
// PRINT: {{^}}1.5

llvm.func @malloc(i64) -> !llvm.ptr
llvm.func @free(!llvm.ptr)
llvm.func @logbf(f32) -> f32
llvm.func @printF32(f32)
llvm.func @printNewline()
llvm.mlir.global internal @value(42 : i64) : i64

llvm.func @main() -> f32 {
  %0 = llvm.mlir.constant(-7.0e+02 : f32) : f32
  %1 = llvm.call @logbf(%0) : (f32) -> f32
  llvm.return %1 : f32
}

llvm.func @answer() -> i64 {
  %0 = llvm.mlir.addressof @value : !llvm.ptr
  %1 = llvm.load %0 : !llvm.ptr -> i64
  llvm.return %1 : i64
}

llvm.func @print() {
  %bytes = llvm.mlir.constant(8 : i64) : i64
  %x = llvm.mlir.constant(1.5 : f32) : f32
  %memory = llvm.call @malloc(%bytes) : (i64) -> !llvm.ptr
  %second = llvm.getelementptr %memory[1] : (!llvm.ptr) -> !llvm.ptr, f32
  llvm.store %x, %second : f32, !llvm.ptr
  %y = llvm.load %second : !llvm.ptr -> f32
  llvm.call @printF32(%y) : (f32) -> ()
  llvm.call @printNewline() : () -> ()
  llvm.call @free(%memory) : (!llvm.ptr) -> ()
  llvm.return
}
