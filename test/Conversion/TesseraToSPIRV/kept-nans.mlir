// A kernel asks its device to keep NaNs, infinities and signed zeros of the
// floats that it computes with, if the device can. Else a driver may take a
// comparison and a choice for a maximum, which drops NaNs.

// RUN: split-file %s %t
// RUN: gpu-runner %t/exp.mlir --target=vulkan:nvidia-hopper --emit=llvm | FileCheck %s
// CHECK: requires #spirv.vce<v1.6, [{{.*}}SignedZeroInfNanPreserve
// CHECK-NOT: "SignedZeroInfNanPreserve", {{16|64}}
// CHECK: spirv.ExecutionMode @{{.*}} "SignedZeroInfNanPreserve", 32
// CHECK-NOT: "SignedZeroInfNanPreserve", {{16|64}}

// RUN: gpu-runner %t/sqrt.mlir --target=vulkan:nvidia-hopper --emit=llvm | FileCheck %s --check-prefix=F16
// F16-DAG: spirv.ExecutionMode @{{.*}} "SignedZeroInfNanPreserve", 16
// F16-DAG: spirv.ExecutionMode @{{.*}} "SignedZeroInfNanPreserve", 32

// A device that does not report support, and one that reports it for f32 alone.
// RUN: gpu-runner %t/exp.mlir --target=vulkan:s32-w49152-t1024 --emit=llvm | FileCheck %s --check-prefix=NONE --implicit-check-not=SignedZeroInfNanPreserve
// NONE: spirv.GL.Fma
// RUN: gpu-runner %t/sqrt.mlir --target=vulkan:s32-w49152-t1024-n32 --emit=llvm | FileCheck %s --check-prefix=ONE
// ONE-NOT: "SignedZeroInfNanPreserve", 16
// ONE: "SignedZeroInfNanPreserve", 32
// ONE-NOT: "SignedZeroInfNanPreserve", 16

// Kernels with matmuls only are not affected.
// RUN: sed 's/ELEMENT/f16/g; s/ACC/f32/g; s/ZERO/0.0/' %S/Inputs/matmul-4096.mlir > %t/product.mlir
// RUN: gpu-runner %t/product.mlir --target=vulkan:nvidia-hopper --emit=llvm | FileCheck %s --check-prefix=PRODUCT --implicit-check-not=SignedZeroInfNanPreserve
// PRODUCT: CooperativeMatrixMulAdd

//--- exp.mlir
func.func @exp(%a: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.map { math.exp } ins(%a : tensor<64xf32>) outs(%e : tensor<64xf32>)
  return %r : tensor<64xf32>
}
//--- sqrt.mlir
func.func @sqrt(%a: tensor<64xf16>, %b: tensor<64xf32>) -> tensor<64xf16> {
  %e = tensor.empty() : tensor<64xf16>
  %r = linalg.map ins(%a, %b : tensor<64xf16>, tensor<64xf32>) outs(%e : tensor<64xf16>)
      (%x: f16, %y: f32, %o: f16) {
    %0 = math.sqrt %x : f16
    %1 = math.sqrt %y : f32
    %2 = arith.truncf %1 : f32 to f16
    %3 = arith.addf %0, %2 : f16
    linalg.yield %3 : f16
  }
  return %r : tensor<64xf16>
}
