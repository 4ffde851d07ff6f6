// REQUIRES: can-run-cuda-sm_90a

// Matmuls of warpgroups: all storage orders of the operands, odd sizes, an
// epilogue, a convolution, batches, split-K, f16 sums.

// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=rows --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=columns --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=both --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=narrow --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=unaligned --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=dynamic --explain --arg=int:333x200 --arg=int:200x77 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=epilogue --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=conv --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=batched --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=split --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=half --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --entry=columns --explain | FileCheck %s --check-prefix=BULK
// RUN: gpu-runner %s --target=cuda --entry=unaligned --explain | FileCheck %s --check-prefix=NOT
// BULK: kernel columns_kernel:
// BULK-NEXT: operands: bulk copies by a dedicated subgroup
// NOT: kernel unaligned_kernel:
// NOT-NEXT: operands: asynchronous copies by all threads: rows of argument {{.}} of the kernel are not known to be aligned to 16 bytes
// CHECK: wgmma.m64n
// CHECK: {{^}}verified

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @rows(%a: tensor<256x192xf16>, %b: tensor<192x512xf16>, %c: tensor<256x512xf32>) -> tensor<256x512xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x192xf16>, tensor<192x512xf16>) outs(%c : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %r : tensor<256x512xf32>
}

func.func @columns(%a: tensor<192x256xbf16>, %b: tensor<512x192xbf16>, %c: tensor<256x512xf32>) -> tensor<256x512xf32> {
  %r = linalg.matmul indexing_maps = [#km, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [256, 128], subgroup = [128, 64], k = 64, kFragment = 32, stages = 2, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<192x256xbf16>, tensor<512x192xbf16>) outs(%c : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %r : tensor<256x512xf32>
}

// Virtual threads share operands in memory.
func.func @both(%a: tensor<192x256xf16>, %b: tensor<192x512xf16>, %c: tensor<256x512xf32>) -> tensor<256x512xf32> {
  %r = linalg.matmul indexing_maps = [#km, #kn, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [128, 64], k = 32, stages = 3, vthread = [2, 2], swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<192x256xf16>, tensor<192x512xf16>) outs(%c : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %r : tensor<256x512xf32>
}

// Rows of 32 and of 64 bytes in workgroup memory, eight columns at a time.
func.func @narrow(%a: tensor<128x96xf16>, %b: tensor<96x72xf16>, %c: tensor<128x72xf32>) -> tensor<128x72xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [64, 8], k = 16, stages = 2, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<128x96xf16>, tensor<96x72xf16>) outs(%c : tensor<128x72xf32>) -> tensor<128x72xf32>
  return %r : tensor<128x72xf32>
}

// Rows that begin anywhere.
func.func @unaligned(%a: tensor<301x203xf16>, %b: tensor<203x405xf16>, %c: tensor<301x405xf32>) -> tensor<301x405xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<301x203xf16>, tensor<203x405xf16>) outs(%c : tensor<301x405xf32>) -> tensor<301x405xf32>
  return %r : tensor<301x405xf32>
}

func.func @dynamic(%a: tensor<?x?xbf16>, %b: tensor<?x?xbf16>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xbf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xbf16>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<?x?xbf16>, tensor<?x?xbf16>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// From here on by the default schedule.
func.func @epilogue(%a: tensor<256x256xf16>, %b: tensor<256x384xf16>, %bias: tensor<384xf32>, %add: tensor<256x384xf16>) -> tensor<256x384xf16> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x384xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x384xf32>) -> tensor<256x384xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x256xf16>, tensor<256x384xf16>) outs(%init : tensor<256x384xf32>) -> tensor<256x384xf32>
  %out = tensor.empty() : tensor<256x384xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%r, %bias, %add : tensor<256x384xf32>, tensor<384xf32>, tensor<256x384xf16>) outs(%out : tensor<256x384xf16>) {
  ^bb0(%x: f32, %y: f32, %z: f16, %o: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.extf %z : f16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<256x384xf16>
  return %s : tensor<256x384xf16>
}

func.func @conv(%image: tensor<2x16x17x64xf16>, %filter: tensor<3x3x64x128xf16>) -> tensor<2x14x15x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<2x14x15x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<2x14x15x128xf32>) -> tensor<2x14x15x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%image, %filter : tensor<2x16x17x64xf16>, tensor<3x3x64x128xf16>) outs(%init : tensor<2x14x15x128xf32>) -> tensor<2x14x15x128xf32>
  return %r : tensor<2x14x15x128xf32>
}

func.func @batched(%a: tensor<5x128x64xf16>, %b: tensor<5x64x128xf16>, %c: tensor<5x128x128xf32>) -> tensor<5x128x128xf32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<5x128x64xf16>, tensor<5x64x128xf16>) outs(%c : tensor<5x128x128xf32>) -> tensor<5x128x128xf32>
  return %r : tensor<5x128x128xf32>
}

func.func @split(%a: tensor<128x8192xf16>, %b: tensor<8192x128xf16>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x8192xf16>, tensor<8192x128xf16>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

func.func @half(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>, %c: tensor<128x128xf16>) -> tensor<128x128xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<128x64xf16>, tensor<64x128xf16>) outs(%c : tensor<128x128xf16>) -> tensor<128x128xf16>
  return %r : tensor<128x128xf16>
}
