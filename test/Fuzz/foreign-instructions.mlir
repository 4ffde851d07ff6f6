// Found by unittests/Fuzz/ProgramFuzzer.cpp: LLVM ended the process at an instruction that its back end does not have.
// RUN: not gpu-runner --target=cpu %s 2>&1 | FileCheck %s
// CHECK: foreign-instructions.mlir:13:7: error: 'nvvm.prefetch' op is supported by target cuda only; the CPU does not execute it

module attributes {gpu.container_module} {
  gpu.module @kernels {
    llvm.mlir.global internal constant @map() {addr_space = 0 : i32} : !llvm.array<128 x i8> {
      %zero = llvm.mlir.zero : !llvm.array<128 x i8>
      llvm.return %zero : !llvm.array<128 x i8>
    }
    gpu.func @prefetch() kernel {
      %a = llvm.mlir.addressof @map : !llvm.ptr
      nvvm.prefetch tensormap, %a : !llvm.ptr
      gpu.return
    }
  }
  func.func @main() {
    return
  }
}
