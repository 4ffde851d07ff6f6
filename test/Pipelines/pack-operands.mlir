// Operands whose rows begin anywhere: copied once, and read by bulk copies.
// REQUIRES: can-compile-ptx
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx -o %t.ptx --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: FileCheck %s --input-file=%t.ptx --check-prefix=COPY
// RUN: %ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: gpu-runner %s --target=cuda:sm_90 --emit=ptx -o %t.ptx --explain 2>&1 | FileCheck %s --check-prefix=OTHER

// EXPLAIN:      wgmma.m64n256k16.f32.bf16, on the matrix unit
// EXPLAIN:      kernel both_repack
// EXPLAIN-NEXT:   copies lhs of a matmul, 4097x4095xbf16, to rows that are aligned to 16 bytes; copies rhs of a matmul, 4095x4093xbf16, to rows that are aligned to 16 bytes{{$}}
// EXPLAIN:      kernel both_kernel: #tessera.schedule<{{.*}} swizzle = true, {{.*}}subgroupsPerFragment = 4>
// EXPLAIN-NEXT:   predicted: {{.+}} us, limited by
// EXPLAIN-NEXT:   operands: bulk copies by a dedicated subgroup
// EXPLAIN:      kernel batched_repack
// EXPLAIN-NEXT:   copies lhs of a matmul, 4x1024x999xf16, to rows that are aligned to 16 bytes
// EXPLAIN:      kernel batched_kernel: #tessera.schedule<{{.*}} subgroupsPerFragment = 4, stageOutput = true>

// OTHER-NOT:    repack{{$}}

// The output's rows begin at multiples of 4 bytes: no access of it is wider.
// CHECK:     .entry both_kernel(
// CHECK:     cp.async.bulk.tensor.2d.shared::cluster.global
// CHECK:     wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
// CHECK-NOT: st.global.v
// CHECK:     st.global.b32
// CHECK-NOT: st.global.v
// CHECK:     .entry

// The copies write 16 bytes at a time.
// COPY:      .entry both_repack(
// COPY:      ld.global.b16
// COPY:      st.global.v4.b32

// PTXAS-DAG: Compiling entry function 'both_kernel' for 'sm_90a'
// PTXAS-DAG: Compiling entry function 'both_repack' for 'sm_90a'
// PTXAS-NOT: {{[1-9][0-9]*}} bytes spill

func.func @both(%a: tensor<4097x4095xbf16>, %b: tensor<4095x4093xbf16>) -> tensor<4097x4093xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4097x4093xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4097x4093xf32>) -> tensor<4097x4093xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4097x4095xbf16>, tensor<4095x4093xbf16>) outs(%init : tensor<4097x4093xf32>) -> tensor<4097x4093xf32>
  return %r : tensor<4097x4093xf32>
}

func.func @batched(%a: tensor<4x1024x999xf16>, %b: tensor<4x999x1024xf16>, %c: tensor<4x1024x1024xf32>) -> tensor<4x1024x1024xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<4x1024x999xf16>, tensor<4x999x1024xf16>) outs(%c : tensor<4x1024x1024xf32>) -> tensor<4x1024x1024xf32>
  return %r : tensor<4x1024x1024xf32>
}
