// REQUIRES: can-run-cuda-sm_90a

// Products whose operands are copied to memory with padded rows: either
// operand, stored either way, batches, one operand of two products, an
// epilogue, a schedule of the program's own.

// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=both --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=columns --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=batched --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=shared --explain | FileCheck %s --check-prefixes=CHECK,SHARED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=epilogue --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=scheduled --explain | FileCheck %s
// CHECK: wgmma.m64n
// CHECK: _repack{{$}}
// CHECK-NEXT: copies {{lhs|rhs}} of a product, {{.*}}, to rows that begin at multiples of 16 bytes
// SHARED-NOT: _repack
// CHECK: operands: bulk copies by a subgroup of their own
// SHARED-NOT: _repack
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

// Only what both products read is to be copied: the other operands' rows begin
// at multiples of 16 bytes.
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
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, group = 4>} ins(%a, %b : tensor<1537x1031xf16>, tensor<1031x1411xf16>) outs(%c : tensor<1537x1411xf32>) -> tensor<1537x1411xf32>
  return %r : tensor<1537x1411xf32>
}
