// Operands that block loads do not support are loaded as on other chips, and
// --explain prints the reason.
//
// RUN: gpu-runner %s --entry=odd --target=opencl:pvc --emit=llvm --explain 2>&1 | FileCheck %s
// RUN: gpu-runner %s --entry=odd --target=opencl:pvc --emit=llvm | FileCheck %s --check-prefix=CODE
//
// Those of the default schedule go through workgroup memory.
// RUN: gpu-runner %s --entry=staged --target=cpu:emulate=pvc --verify --explain | FileCheck %s --check-prefix=STAGED
// STAGED: in kernel staged_kernel
// STAGED-NOT: product
// STAGED: a: through workgroup memory, no block loads: its rows are 152 bytes apart, which is not a multiple of 16
// STAGED-NEXT: b: through workgroup memory{{$}}
// STAGED: kernel staged_kernel: {{.*}}stages = 1
//
// Both kinds side by side, lane by lane.
// RUN: gpu-runner %s --entry=odd --target=cpu:emulate=pvc --verify

// CHECK: in kernel odd_kernel
// CHECK-NOT: product
// CHECK: a: no block loads: its rows are 152 bytes apart, which is not a multiple of 16
// CHECK-NEXT: b: block loads
// CODE-LABEL: spirv.func @odd_kernel
// CODE-SAME: tessera.parameter_alignments = array<i64: 0, 64, 0>
// CODE-NOT: FunctionCall @__tessera_subgroup_blocks.6231
// CODE: FunctionCall @__tessera_subgroup_blocks.6232
// CODE-NOT: FunctionCall @__tessera_subgroup_blocks.6231
// CODE: spirv.EntryPoint "Kernel" @odd_kernel
func.func @odd(%a: tensor<64x76xf16>, %b: tensor<76x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 16, stages = 0>}
      ins(%a, %b : tensor<64x76xf16>, tensor<76x64xf16>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// CHECK: in kernel short_kernel
// CHECK-NOT: product
// CHECK: a: no block loads: its rows have 32 bytes, and block loads read 64 to 16777216, a multiple of 4
// CHECK-NEXT: b: block loads
func.func @short(%a: tensor<64x16xf16>, %b: tensor<16x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 16, stages = 0>}
      ins(%a, %b : tensor<64x16xf16>, tensor<16x64xf16>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// CHECK: in kernel turned_kernel
// CHECK-NOT: product
// CHECK: a: no block loads: block loads do not support this transposition
// CHECK-NEXT: b: block loads
func.func @turned(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m,n,k)->(k,m)>, affine_map<(m,n,k)->(k,n)>, affine_map<(m,n,k)->(m,n)>]
      {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 16, stages = 0>}
      ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// CHECK: in kernel dynamic_kernel
// CHECK-NOT: product
// CHECK: a: no block loads: its extents are dynamic
// CHECK-NEXT: b: block loads
func.func @dynamic(%a: tensor<?x64xf16>, %b: tensor<64x64xf16>, %e: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 16, kFragment = 16, stages = 0>}
      ins(%a, %b : tensor<?x64xf16>, tensor<64x64xf16>) outs(%e : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}

// CHECK: in kernel apart_kernel
// CHECK-NOT: product
// CHECK: a: no block loads: its matrices are 720 bytes apart, which is not a multiple of 64
// CHECK-NEXT: b: no block loads: its matrices are 11540 bytes apart
func.func @apart(%a: memref<3x5x72xf16>, %b: memref<3x72x80xf16, strided<[5770, 80, 1]>>, %c: memref<3x5x80xf32>) {
  linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [8, 16], subgroup = [8, 16], k = 16, kFragment = 16, stages = 0>}
      ins(%a, %b : memref<3x5x72xf16>, memref<3x72x80xf16, strided<[5770, 80, 1]>>) outs(%c : memref<3x5x80xf32>)
  return
}

// CHECK: in kernel far_kernel
// CHECK-NOT: product
// CHECK: a: no block loads: its rows are 33554432 bytes apart, more than 16777216
// CHECK-NEXT: b: no block loads: it starts 16 bytes into its buffer, which is not a multiple of 64
func.func @far(%a: memref<5x64xf16, strided<[16777216, 1]>>, %b: memref<64x80xf16, strided<[80, 1], offset: 8>>, %c: memref<5x80xf32>) {
  linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [8, 16], subgroup = [8, 16], k = 16, kFragment = 16, stages = 0>}
      ins(%a, %b : memref<5x64xf16, strided<[16777216, 1]>>, memref<64x80xf16, strided<[80, 1], offset: 8>>) outs(%c : memref<5x80xf32>)
  return
}

// The default schedule: a contraction with one operand that block loads do not support.
func.func @staged(%a: tensor<64x76xf16>, %b: tensor<76x64xf16>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x76xf16>, tensor<76x64xf16>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
