// REQUIRES: can-run-cuda-sm_90a

// Matmuls whose operands are copied to memory with padded rows: either operand,
// in either storage order, batches, one operand of two matmuls, an epilogue, a
// schedule of the program's own; and types whose instructions read K along the
// rows only.

// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=both --explain | FileCheck %s --check-prefixes=CHECK,BULK
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=columns --explain | FileCheck %s --check-prefixes=CHECK,BULK
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=batched --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=shared --explain | FileCheck %s --check-prefixes=CHECK,BULK,SHARED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=epilogue --explain | FileCheck %s --check-prefixes=CHECK,BULK
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=scheduled --explain | FileCheck %s --check-prefixes=CHECK,BULK
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=bytes --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,BULK,ORDER
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=bytes_columns --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,BULK,ORDER
// RUN: gpu-runner %s --target=cuda --verify --require-mma --allow-tf32 --entry=tf32 --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,BULK,ORDER
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=f8 --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefixes=CHECK,BULK,ORDER
// CHECK: wgmma.m64n
// CHECK: _repack{{$}}
// CHECK-NEXT: copies {{lhs|rhs}} of a matmul, {{.*}}, to rows that are aligned to 16 bytes
// ORDER: , with K contiguous
// SHARED-NOT: _repack{{$}}
// BULK: operands: bulk copies by a dedicated subgroup
// SHARED-NOT: _repack{{$}}
// CHECK: {{^}}verified

#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @both(%a: tensor<1537x1031xbf16>, %b: tensor<1031x1411xbf16>, %c: tensor<1537x1411xf32>) -> tensor<1537x1411xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1537x1031xbf16>, tensor<1031x1411xbf16>) outs(%c : tensor<1537x1411xf32>) -> tensor<1537x1411xf32>
  return %r : tensor<1537x1411xf32>
}

func.func @columns(%a: tensor<1031x1537xf16>, %b: tensor<1411x1031xf16>, %c: tensor<1537x1411xf32>) -> tensor<1537x1411xf32> {
  %r = linalg.matmul indexing_maps = [#km, #nk, #mn] ins(%a, %b : tensor<1031x1537xf16>, tensor<1411x1031xf16>) outs(%c : tensor<1537x1411xf32>) -> tensor<1537x1411xf32>
  return %r : tensor<1537x1411xf32>
}

func.func @batched(%a: tensor<5x1024x999xf16>, %b: tensor<5x999x1022xf16>, %c: tensor<5x1024x1022xf32>) -> tensor<5x1024x1022xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<5x1024x999xf16>, tensor<5x999x1022xf16>) outs(%c : tensor<5x1024x1022xf32>) -> tensor<5x1024x1022xf32>
  return %r : tensor<5x1024x1022xf32>
}

// Only the operand of both matmuls must be copied: the other operands' rows are
// aligned to 16 bytes.
func.func @shared(%a: tensor<2048x1022xf16>, %b: tensor<1022x1024xf16>, %c: tensor<1022x2048xf16>) -> (tensor<2048x1024xf32>, tensor<2048x2048xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2048x1024xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2048x1022xf16>, tensor<1022x1024xf16>) outs(%init : tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %empty2 = tensor.empty() : tensor<2048x2048xf32>
  %init2 = linalg.fill ins(%zero : f32) outs(%empty2 : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %s = linalg.matmul ins(%a, %c : tensor<2048x1022xf16>, tensor<1022x2048xf16>) outs(%init2 : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %r, %s : tensor<2048x1024xf32>, tensor<2048x2048xf32>
}

func.func @epilogue(%a: tensor<2048x1001xf16>, %b: tensor<1001x1024xf16>, %bias: tensor<1024xf32>) -> tensor<2048x1024xf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2048x1024xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %r = linalg.matmul ins(%a, %b : tensor<2048x1001xf16>, tensor<1001x1024xf16>) outs(%init : tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
  %out = tensor.empty() : tensor<2048x1024xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%r, %bias : tensor<2048x1024xf32>, tensor<1024xf32>) outs(%out : tensor<2048x1024xf16>) {
  ^bb0(%x: f32, %y: f32, %o: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.maximumf %0, %zero : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<2048x1024xf16>
  return %s : tensor<2048x1024xf16>
}

func.func @scheduled(%a: tensor<1537x1031xf16>, %b: tensor<1031x1411xf16>, %c: tensor<1537x1411xf32>) -> tensor<1537x1411xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<1537x1031xf16>, tensor<1031x1411xf16>) outs(%c : tensor<1537x1411xf32>) -> tensor<1537x1411xf32>
  return %r : tensor<1537x1411xf32>
}

func.func @bytes(%a: tensor<1537x2063xi8>, %b: tensor<2063x1411xi8>, %c: tensor<1537x1411xi32>) -> tensor<1537x1411xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<1537x2063xi8>, tensor<2063x1411xi8>) outs(%c : tensor<1537x1411xi32>) -> tensor<1537x1411xi32>
  return %r : tensor<1537x1411xi32>
}

// By a schedule of the program's own, which the order would not permit.
func.func @bytes_columns(%a: tensor<2080x301xi8>, %b: tensor<2080x400xi8>, %c: tensor<301x400xi32>) -> tensor<301x400xi32> {
  %r = linalg.matmul indexing_maps = [#km, #kn, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 128, stages = 2, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<2080x301xi8>, tensor<2080x400xi8>) outs(%c : tensor<301x400xi32>) -> tensor<301x400xi32>
  return %r : tensor<301x400xi32>
}

func.func @tf32(%a: tensor<2047x2045xf32>, %b: tensor<2047x2043xf32>, %c: tensor<2045x2043xf32>) -> tensor<2045x2043xf32> {
  %r = linalg.matmul indexing_maps = [#km, #kn, #mn] {tessera.allow_tf32} ins(%a, %b : tensor<2047x2045xf32>, tensor<2047x2043xf32>) outs(%c : tensor<2045x2043xf32>) -> tensor<2045x2043xf32>
  return %r : tensor<2045x2043xf32>
}

func.func @f8(%a: tensor<1537x2063xf8E4M3FN>, %b: tensor<2063x1411xf8E5M2>, %c: tensor<1537x1411xf32>) -> tensor<1537x1411xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1537x2063xf8E4M3FN>, tensor<2063x1411xf8E5M2>) outs(%c : tensor<1537x1411xf32>) -> tensor<1537x1411xf32>
  return %r : tensor<1537x1411xf32>
}
