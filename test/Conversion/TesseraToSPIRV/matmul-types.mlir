// The lowering of matmuls of i8 and bf16. An i8 has no signedness of its own:
// the mma defines it.
//
// RUN: gpu-runner %s --entry=signed --target=vulkan:nvidia-hopper --emit=llvm --require-mma | FileCheck %s --check-prefix=SIGNED
// RUN: gpu-runner %s --entry=unsigned --target=vulkan:nvidia-hopper --emit=llvm --require-mma | FileCheck %s --check-prefix=UNSIGNED
// RUN: gpu-runner %s --entry=bfloat --target=vulkan:nvidia-hopper --emit=llvm --require-mma | FileCheck %s --check-prefix=BFLOAT
//
// A device without any of bf16.
// RUN: not gpu-runner %s --entry=bfloat --target=vulkan:lavapipe --emit=llvm --require-mma 2>&1 | FileCheck %s --check-prefix=NO-BFLOAT
// NO-BFLOAT: a matrix unit is required, but lavapipe has no matrix instruction for this op
//
// Devices that support matmuls of one signedness only: the other one uses these with the first
// bit of each element inverted, and the difference is computed separately and subtracted.
// RUN: gpu-runner %s --entry=unsigned --target=vulkan:s32-w49152-t1024-m16n16k32.s32.s8 --emit=llvm | FileCheck %s --check-prefixes=TURNED,BY-SIGNED
// RUN: gpu-runner %s --entry=signed --target=vulkan:s32-w49152-t1024-m16n16k32.u32.u8 --emit=llvm | FileCheck %s --check-prefixes=TURNED,BY-UNSIGNED
// BY-SIGNED-NOT: MatrixAcc>{{$}}
// TURNED: spirv.CompositeConstruct {{.*}} -> !spirv.coopmatrix<16x16xi32, Subgroup, MatrixAcc>
// TURNED: spirv.ISub {{.*}} : !spirv.coopmatrix<16x32xi8, Subgroup, MatrixA>
// BY-SIGNED: spirv.KHR.CooperativeMatrixMulAdd {{.*}}, <ASigned|BSigned|CSigned|ResultSigned> :
// BY-UNSIGNED-NOT: Signed
// TURNED: spirv.ISub {{.*}} : !spirv.coopmatrix<16x16xi32, Subgroup, MatrixAcc>

// SIGNED: spirv.module {{.*}}CooperativeMatrixKHR{{.*}}Int8
// SIGNED: spirv.func @signed_kernel
// SIGNED: spirv.KHR.CooperativeMatrixMulAdd {{.*}}, <ASigned|BSigned|CSigned|ResultSigned> : !spirv.coopmatrix<16x32xi8, Subgroup, MatrixA>, !spirv.coopmatrix<32x16xi8, Subgroup, MatrixB> -> !spirv.coopmatrix<16x16xi32, Subgroup, MatrixAcc>
func.func @signed(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x64xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xi8>, tensor<64x64xi8>) outs(%i : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}

// UNSIGNED: spirv.func @unsigned_kernel
// UNSIGNED: spirv.KHR.CooperativeMatrixMulAdd %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}} : !spirv.coopmatrix<16x32xi8, Subgroup, MatrixA>
func.func @unsigned(%a: tensor<64x64xi8>, %b: tensor<64x64xi8>) -> tensor<64x64xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x64xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<64x64xi8>, tensor<64x64xi8>) outs(%i : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}

// BFLOAT: spirv.module {{.*}}BFloat16CooperativeMatrixKHR{{.*}}SPV_KHR_bfloat16
// BFLOAT: spirv.func @bfloat_kernel
// BFLOAT: spirv.KHR.CooperativeMatrixMulAdd {{.*}} : !spirv.coopmatrix<16x16xbf16, Subgroup, MatrixA>, !spirv.coopmatrix<16x16xbf16, Subgroup, MatrixB> -> !spirv.coopmatrix<16x16xf32, Subgroup, MatrixAcc>
func.func @bfloat(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
