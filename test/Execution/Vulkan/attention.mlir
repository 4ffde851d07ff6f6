// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention on cooperative matrices: several blocks of keys, the last of which is partly out of bounds, a diagonal
// that some blocks do not meet, and two subgroups. Maxima of rows grow, so that sums are scaled.

// REQUIRES: can-run-vulkan-lavapipe
// RUN: %software lavapipe gpu-runner %s --target=vulkan --arg=random:1 --arg=random:2 --arg=random:3 --verify --require-mma | FileCheck %s
// RUN: %software lavapipe gpu-runner %s --target=vulkan:s8-w32768-t1024-n16-n32-n64-m8n8k8.f16.f16-m8n8k8.f32.f16 --arg=random:1 --arg=random:2 --arg=random:3 --verify --require-mma | FileCheck %s
// CHECK: {{^}}verified

// Matrices that can be reduced do not pass through workgroup memory, and the mask has an element's coordinates.
//
// RUN: gpu-runner %s --target=vulkan:lavapipe --emit=spirv-asm --require-mma | FileCheck %s --check-prefix=REDUCE
// REDUCE-NOT:  CooperativeMatrixStoreKHR
// REDUCE:      OpCooperativeMatrixPerElementOpNV
// REDUCE-NOT:  CooperativeMatrixStoreKHR
// REDUCE:      OpCooperativeMatrixReduceNV
// REDUCE-NOT:  CooperativeMatrixStoreKHR
// REDUCE:      OpCooperativeMatrixConvertNV
// REDUCE:      OpCooperativeMatrixStoreKHR
// REDUCE-NOT:  CooperativeMatrixStoreKHR

// On other devices the scores of a block pass through workgroup memory once, although the mask is in a branch: one matrix of them
// before the loop, and one in it; the third store is the output's.
//
// RUN: gpu-runner %s --target=vulkan:s8-w32768-t1024-n16-n32-n64-m8n8k8.f16.f16-m8n8k8.f32.f16 --emit=llvm --require-mma | FileCheck %s --check-prefix=ASM
// ASM-LABEL: spirv.func @main_kernel
// ASM:       CooperativeMatrixStore {{.*}}Workgroup>, !spirv.coopmatrix<8x8xf32
// ASM-NOT:   CooperativeMatrixStore
// ASM:       spirv.mlir.loop
// ASM-NOT:   CooperativeMatrixStore
// ASM:       CooperativeMatrixStore {{.*}}Workgroup>, !spirv.coopmatrix<8x8xf32
// ASM-NOT:   CooperativeMatrixStore
// ASM:       CooperativeMatrixStore {{.*}}PhysicalStorageBuffer>
// ASM-NOT:   CooperativeMatrixStore

#q = affine_map<(b, m, n, d, e) -> (b, m, d)>
#k = affine_map<(b, m, n, d, e) -> (b, n, d)>
#v = affine_map<(b, m, n, d, e) -> (b, n, e)>
#o = affine_map<(b, m, n, d, e) -> (b, m, e)>

func.func @main(%q: memref<2x16x8xf16>, %k: memref<2x37x8xf16>, %v: memref<2x37x8xf16>, %o: memref<2x16x8xf16>) {
  tessera.attention ins(%q, %k, %v : memref<2x16x8xf16>, memref<2x37x8xf16>, memref<2x37x8xf16>) outs(%o : memref<2x16x8xf16>)
      maps [#q, #k, #v, #o] scale 4.0 causal 22
      schedule <workgroup = [16, 8], subgroup = [8, 8], k = 8, kFragment = 8, stages = 1, vthread = [1, 1]>
  return
}
