// REQUIRES: can-run-cuda-sm_90a

// Matmuls of warpgroups of 8-bit floats. `int` is exact even if a sum keeps 14
// bits, in any order; for `random`, the reference permits so few. `long` shows
// that sums keep more: terms of 81/64, 128 of which add up to 162 in 14 bits, and 65,536 to 82,944
// only with more bits.

// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=e4m3 --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=e4m3 --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=e4m3_e5m2 --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=e4m3_e5m2 --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=e5m2_e4m3 --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=e5m2_e4m3 --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=e5m2 --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=e5m2 --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=edges --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=edges --explain --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=narrow --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=unaligned --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=vthreads --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=two_sums --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=split --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=default --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=fast --explain | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=fast --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=default --allow-fast-f8 --explain --arg=random:1 --arg=random:2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda --entry=long --explain --arg=fill:1.125 --arg=fill:1.125 | FileCheck %s --check-prefix=LONG
// RUN: gpu-runner %s --target=cuda --entry=e4m3 --explain | FileCheck %s --check-prefix=BULK
// BULK: operands: bulk copies by a dedicated subgroup
// LONG: wgmma.m64n64k32.f32.f8E4M3FN
// LONG: min 82944, max 82944
// CHECK: wgmma.m64n
// EXACT: exact)
// CHECK: {{^}}verified

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @e4m3(%a: tensor<256x1152xf8E4M3FN>, %b: tensor<512x1152xf8E4M3FN>, %c: tensor<256x512xf32>) -> tensor<256x512xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 128, stages = 4, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x1152xf8E4M3FN>, tensor<512x1152xf8E4M3FN>) outs(%c : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %r : tensor<256x512xf32>
}

func.func @e4m3_e5m2(%a: tensor<256x512xf8E4M3FN>, %b: tensor<256x512xf8E5M2>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 128, stages = 4, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x512xf8E4M3FN>, tensor<256x512xf8E5M2>) outs(%init : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

func.func @e5m2_e4m3(%a: tensor<256x512xf8E5M2>, %b: tensor<256x512xf8E4M3FN>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 128, stages = 4, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x512xf8E5M2>, tensor<256x512xf8E4M3FN>) outs(%init : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

func.func @e5m2(%a: tensor<256x512xf8E5M2>, %b: tensor<256x512xf8E5M2>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 64], k = 128, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x512xf8E5M2>, tensor<256x512xf8E5M2>) outs(%init : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// No multiple of a tile, in any dimension; the last step of K is 80 of 128.
func.func @edges(%a: tensor<301x208xf8E4M3FN>, %b: tensor<405x208xf8E5M2>, %c: tensor<301x405xf32>) -> tensor<301x405xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 128, stages = 2, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<301x208xf8E4M3FN>, tensor<405x208xf8E5M2>) outs(%c : tensor<301x405xf32>) -> tensor<301x405xf32>
  return %r : tensor<301x405xf32>
}

// Rows of 32 bytes in workgroup memory, eight columns at a time.
func.func @narrow(%a: tensor<128x176xf8E4M3FN>, %b: tensor<72x176xf8E4M3FN>) -> tensor<128x72xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x72xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x72xf32>) -> tensor<128x72xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [64, 8], k = 32, stages = 2, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<128x176xf8E4M3FN>, tensor<72x176xf8E4M3FN>) outs(%init : tensor<128x72xf32>) -> tensor<128x72xf32>
  return %r : tensor<128x72xf32>
}

// Unaligned rows, of 64 bytes in workgroup memory.
func.func @unaligned(%a: tensor<301x203xf8E5M2>, %b: tensor<405x203xf8E4M3FN>) -> tensor<301x405xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<301x405xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<301x405xf32>) -> tensor<301x405xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<301x203xf8E5M2>, tensor<405x203xf8E4M3FN>) outs(%init : tensor<301x405xf32>) -> tensor<301x405xf32>
  return %r : tensor<301x405xf32>
}

// Several instructions in each dimension, and two matmuls in a step.
func.func @vthreads(%a: tensor<256x256xf8E4M3FN>, %b: tensor<512x256xf8E4M3FN>) -> tensor<256x512xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x512xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x512xf32>) -> tensor<256x512xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [128, 64], k = 128, kFragment = 64, stages = 2, vthread = [2, 2], swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x256xf8E4M3FN>, tensor<512x256xf8E4M3FN>) outs(%init : tensor<256x512xf32>) -> tensor<256x512xf32>
  return %r : tensor<256x512xf32>
}

// Two sums in a step, of several tiles each.
func.func @two_sums(%a: tensor<256x768xf8E4M3FN>, %b: tensor<128x768xf8E4M3FN>) -> tensor<256x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x128xf32>) -> tensor<256x128xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [128, 64], k = 256, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x768xf8E4M3FN>, tensor<128x768xf8E4M3FN>) outs(%init : tensor<256x128xf32>) -> tensor<256x128xf32>
  return %r : tensor<256x128xf32>
}

// From here on by the default schedule.
func.func @split(%a: tensor<128x16384xf8E4M3FN>, %b: tensor<128x16384xf8E4M3FN>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<128x16384xf8E4M3FN>, tensor<128x16384xf8E4M3FN>) outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

func.func @default(%a: tensor<512x1024xf8E4M3FN>, %b: tensor<640x1024xf8E4M3FN>) -> tensor<512x640xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x640xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x640xf32>) -> tensor<512x640xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<512x1024xf8E4M3FN>, tensor<640x1024xf8E4M3FN>) outs(%init : tensor<512x640xf32>) -> tensor<512x640xf32>
  return %r : tensor<512x640xf32>
}

func.func @fast(%a: tensor<512x1024xf8E4M3FN>, %b: tensor<640x1024xf8E4M3FN>) -> tensor<512x640xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<512x640xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<512x640xf32>) -> tensor<512x640xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.allow_fast_f8} ins(%a, %b : tensor<512x1024xf8E4M3FN>, tensor<640x1024xf8E4M3FN>) outs(%init : tensor<512x640xf32>) -> tensor<512x640xf32>
  return %r : tensor<512x640xf32>
}

// By one workgroup, and without parts.
func.func @long(%a: tensor<64x65536xf8E4M3FN>, %b: tensor<64x65536xf8E4M3FN>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<64x64xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 128, stages = 4, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<64x65536xf8E4M3FN>, tensor<64x65536xf8E4M3FN>) outs(%init : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
