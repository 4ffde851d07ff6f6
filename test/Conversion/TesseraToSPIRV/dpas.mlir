// Matmuls of Intel's matrix unit. In the dialect a matmul is a call of an
// imported function, whose name contains the operands of the instruction that
// replaces it when the module is written.
//
// RUN: gpu-runner %s --entry=half --target=opencl:pvc --emit=llvm | FileCheck %s --check-prefix=HALF
// RUN: gpu-runner %s --entry=half --target=opencl:dg2 --emit=llvm | FileCheck %s --check-prefix=NARROW
// RUN: gpu-runner %s --entry=bfloat --target=opencl:bmg --emit=llvm | FileCheck %s --check-prefix=BFLOAT
// RUN: gpu-runner %s --entry=rounded --target=opencl:pvc --emit=llvm --require-mma --allow-tf32 | FileCheck %s --check-prefix=ROUNDED
// RUN: gpu-runner %s --entry=bytes --target=opencl:pvc --emit=llvm | FileCheck %s --check-prefix=BYTES
// RUN: gpu-runner %s --entry=unsigned --target=opencl:pvc --emit=llvm | FileCheck %s --check-prefix=UNSIGNED
// RUN: gpu-runner %s --entry=rows --target=opencl:pvc --emit=llvm | FileCheck %s --check-prefix=ROWS
//
// Xe-HPG has no tf32.
// RUN: not gpu-runner %s --entry=rounded --target=opencl:dg2 --emit=llvm --require-mma --allow-tf32 2>&1 | FileCheck %s --check-prefix=NO-TF32
// NO-TF32: a matrix unit is required, but dg2 has no matrix instruction for this op

// 0xc00: a and b hold packed f16.
// HALF: spirv.func @__tessera_subgroup_matrix.3072.dpas.m8n16k16.f32.f16(i32, vector<8xi16>, vector<8xi32>, vector<8xf32>) -> vector<8xf32> "None" attributes {{.*}}linkage_type = <Import>
// HALF: spirv.func @half_kernel
// HALF: spirv.FunctionCall @__tessera_subgroup_matrix.3072.dpas.m8n16k16.f32.f16({{.*}}) : (i32, vector<8xi16>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
// HALF: spirv.ExecutionMode @half_kernel "SubgroupSize", 16
// NARROW: spirv.FunctionCall @__tessera_subgroup_matrix.3072.dpas.m8n8k16.f32.f16({{.*}}) : (i32, vector<8xi32>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
// NARROW: spirv.ExecutionMode @half_kernel "SubgroupSize", 8
func.func @half(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// 0x3000: packed bf16.
// BFLOAT: spirv.FunctionCall @__tessera_subgroup_matrix.12288.dpas.m8n16k16.f32.bf16({{.*}}) : (i32, vector<8xi16>, vector<8xi32>, vector<8xf32>) -> vector<8xf32>
func.func @bfloat(%a: tensor<256x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// 0x300: tf32; a lane has half of a column of a.
// ROUNDED: spirv.INTEL.RoundFToTF32 {{.*}} : vector<4xf32> to vector<4xf32>
// ROUNDED: spirv.INTEL.RoundFToTF32 {{.*}} : vector<8xf32> to vector<8xf32>
// ROUNDED: spirv.FunctionCall @__tessera_subgroup_matrix.768.dpas.m8n16k8.f32.tf32({{.*}}) : (i32, vector<4xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
func.func @rounded(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// 0x33: packed i8, both signed.
// BYTES: spirv.FunctionCall @__tessera_subgroup_matrix.51.dpas.m8n16k32.i32.i8({{.*}}) : (i32, vector<8xi16>, vector<8xi32>, vector<8xi32>) -> vector<8xi32>
func.func @bytes(%a: tensor<256x256xi8>, %b: tensor<256x256xi8>) -> tensor<256x256xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<256x256xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<256x256xi32>) -> tensor<256x256xi32>
  %r = linalg.matmul ins(%a, %b : tensor<256x256xi8>, tensor<256x256xi8>) outs(%i : tensor<256x256xi32>) -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}

// 0x30: neither is.
// UNSIGNED: spirv.FunctionCall @__tessera_subgroup_matrix.48.dpas.m8n16k32.i32.i8
func.func @unsigned(%a: tensor<256x256xi8>, %b: tensor<256x256xi8>) -> tensor<256x256xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<256x256xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<256x256xi32>) -> tensor<256x256xi32>
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<256x256xi8>, tensor<256x256xi8>) outs(%i : tensor<256x256xi32>) -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}

// Two rows of a.
// ROWS: spirv.FunctionCall @__tessera_subgroup_matrix.3072.dpas.m2n16k16.f32.f16({{.*}}) : (i32, vector<2xi16>, vector<8xi32>, vector<2xf32>) -> vector<2xf32>
func.func @rows(%a: tensor<2x256xf16>, %b: tensor<256x256xf16>) -> tensor<2x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x256xf32>) -> tensor<2x256xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2x256xf16>, tensor<256x256xf16>) outs(%i : tensor<2x256xf32>) -> tensor<2x256xf32>
  return %r : tensor<2x256xf32>
}
