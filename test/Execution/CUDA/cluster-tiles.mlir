// REQUIRES: can-run-cuda-sm_90a

// Workgroups of a cluster that share tiles of their operands: along M, N and both, one tile each or several, tiles beyond
// the output, operands in either order, parts of whole panels and of rows.

// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=along_m --explain | FileCheck %s -DC=2x1
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=along_n --explain | FileCheck %s -DC=1x2
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=both --explain | FileCheck %s -DC=2x2
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=four --explain | FileCheck %s -DC=4x1
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=three --explain | FileCheck %s -DC=1x3
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=one_step --explain | FileCheck %s -DC=2x1
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=one_tile --explain | FileCheck %s -DC=1x2
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=one_group --explain | FileCheck %s -DC=2x2
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=edges --explain | FileCheck %s -DC=2x1
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=edges_n --explain | FileCheck %s -DC=1x4
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=residual --explain | FileCheck %s -DC=2x1
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=columns --explain | FileCheck %s -DC=1x2
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=columns_m --explain | FileCheck %s -DC=2x1
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=narrow --explain | FileCheck %s -DC=1x2
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=split --explain | FileCheck %s -DC=2x1
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=bytes --explain | FileCheck %s -DC=2x1
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=batched --explain | FileCheck %s -DC=2x1
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=large_m --explain | FileCheck %s -DC=2x1
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=large_n --explain | FileCheck %s -DC=1x2
// CHECK: wgmma.m64n
// CHECK: operands: bulk copies by a dedicated subgroup{{.*}}; workgroups share tiles in clusters of [[C]]
// CHECK: {{^}}verified

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>

// Sixteen tiles for two clusters of two; each workgroup loads two of rhs' four panels.
func.func @along_m(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, persistent = 4, subgroupsPerFragment = 4, stageOutput = true, cluster = [2, 1]>} ins(%a, %b : tensor<512x256xf16>, tensor<256x512xf16>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = tensor.empty() : tensor<512x512xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x512xf32>) outs(%f : tensor<512x512xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<512x512xf16>
  return %s : tensor<512x512xf16>
}

// Each workgroup loads half of the rows of lhs.
func.func @along_n(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, raster = 2, persistent = 4, subgroupsPerFragment = 4, stageOutput = true, cluster = [1, 2]>} ins(%a, %b : tensor<512x256xf16>, tensor<256x512xf16>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = tensor.empty() : tensor<512x512xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x512xf32>) outs(%f : tensor<512x512xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<512x512xf16>
  return %s : tensor<512x512xf16>
}

// Four workgroups: three release a slot.
func.func @both(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, raster = 2, persistent = 8, subgroupsPerFragment = 4, stageOutput = true, cluster = [2, 2]>} ins(%a, %b : tensor<512x256xf16>, tensor<256x512xf16>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = tensor.empty() : tensor<512x512xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x512xf32>) outs(%f : tensor<512x512xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<512x512xf16>
  return %s : tensor<512x512xf16>
}

// One panel each.
func.func @four(%a: tensor<1024x192xf16>, %b: tensor<192x256xf16>) -> tensor<1024x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4, stageOutput = true, cluster = [4, 1]>} ins(%a, %b : tensor<1024x192xf16>, tensor<192x256xf16>) outs(%i : tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %f = tensor.empty() : tensor<1024x256xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<1024x256xf32>) outs(%f : tensor<1024x256xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<1024x256xf16>
  return %s : tensor<1024x256xf16>
}

// A number of parts that is not a power of two: 24 rows of 8.
func.func @three(%a: tensor<192x256xf16>, %b: tensor<256x192xf16>) -> tensor<192x192xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<192x192xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<192x192xf32>) -> tensor<192x192xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [192, 32], subgroup = [64, 32], k = 64, stages = 3, swizzle = true, persistent = 6, subgroupsPerFragment = 4, stageOutput = true, cluster = [1, 3]>} ins(%a, %b : tensor<192x256xf16>, tensor<256x192xf16>) outs(%i : tensor<192x192xf32>) -> tensor<192x192xf32>
  %f = tensor.empty() : tensor<192x192xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<192x192xf32>) outs(%f : tensor<192x192xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<192x192xf16>
  return %s : tensor<192x192xf16>
}

// One step of K for each tile, and one slot.
func.func @one_step(%a: tensor<512x64xf16>, %b: tensor<64x256xf16>) -> tensor<512x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 1, swizzle = true, persistent = 4, subgroupsPerFragment = 4, stageOutput = true, cluster = [2, 1]>} ins(%a, %b : tensor<512x64xf16>, tensor<64x256xf16>) outs(%i : tensor<512x256xf32>) -> tensor<512x256xf32>
  %f = tensor.empty() : tensor<512x256xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<512x256xf32>) outs(%f : tensor<512x256xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<512x256xf16>
  return %s : tensor<512x256xf16>
}

// As many workgroups as tiles.
func.func @one_tile(%a: tensor<256x256xf16>, %b: tensor<256x512xf16>) -> tensor<256x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4, stageOutput = true, cluster = [1, 2]>} ins(%a, %b : tensor<256x256xf16>, tensor<256x512xf16>) outs(%i : tensor<256x512xf32>) -> tensor<256x512xf32>
  %f = tensor.empty() : tensor<256x512xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<256x512xf32>) outs(%f : tensor<256x512xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<256x512xf16>
  return %s : tensor<256x512xf16>
}

// One warpgroup computes.
func.func @one_group(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>) -> tensor<256x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 64, stages = 4, swizzle = true, persistent = 8, subgroupsPerFragment = 4, cluster = [2, 2]>} ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  %f = tensor.empty() : tensor<256x256xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<256x256xf32>) outs(%f : tensor<256x256xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<256x256xf16>
  return %s : tensor<256x256xf16>
}

// Three rows of tiles, for clusters of two: the fourth is beyond the output.
func.func @edges(%a: tensor<300x136xf16>, %b: tensor<136x200xf16>) -> tensor<300x200xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x200xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<300x200xf32>) -> tensor<300x200xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, persistent = 2, subgroupsPerFragment = 4, stageOutput = true, cluster = [2, 1]>} ins(%a, %b : tensor<300x136xf16>, tensor<136x200xf16>) outs(%i : tensor<300x200xf32>) -> tensor<300x200xf32>
  %f = tensor.empty() : tensor<300x200xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<300x200xf32>) outs(%f : tensor<300x200xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<300x200xf16>
  return %s : tensor<300x200xf16>
}

// Two of four columns of tiles are beyond the output.
func.func @edges_n(%a: tensor<136x72xf16>, %b: tensor<72x160xf16>) -> tensor<136x160xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<136x160xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<136x160xf32>) -> tensor<136x160xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, persistent = 8, subgroupsPerFragment = 4, cluster = [1, 4]>} ins(%a, %b : tensor<136x72xf16>, tensor<72x160xf16>) outs(%i : tensor<136x160xf32>) -> tensor<136x160xf32>
  %f = tensor.empty() : tensor<136x160xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<136x160xf32>) outs(%f : tensor<136x160xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<136x160xf16>
  return %s : tensor<136x160xf16>
}

// The epilogue's input is not shared.
func.func @residual(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>, %r: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, raster = 4, persistent = 4, subgroupsPerFragment = 4, stageOutput = true, cluster = [2, 1]>} ins(%a, %b : tensor<512x256xf16>, tensor<256x512xf16>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = tensor.empty() : tensor<512x512xf16>
  %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %r : tensor<512x512xf32>, tensor<512x512xf16>) outs(%f : tensor<512x512xf16>) {
  ^bb0(%x: f32, %y: f16, %o: f16):
    %0 = arith.extf %y : f16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<512x512xf16>
  return %s : tensor<512x512xf16>
}

// lhs lies by columns, rhs too.
func.func @columns(%a: tensor<192x256xf16>, %b: tensor<256x192xf16>) -> tensor<256x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul indexing_maps = [#km, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, persistent = 2, subgroupsPerFragment = 4, stageOutput = true, cluster = [1, 2]>} ins(%a, %b : tensor<192x256xf16>, tensor<256x192xf16>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  %f = tensor.empty() : tensor<256x256xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<256x256xf32>) outs(%f : tensor<256x256xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<256x256xf16>
  return %s : tensor<256x256xf16>
}

// Half of the rows of rhs, which are columns of the result.
func.func @columns_m(%a: tensor<256x192xf16>, %b: tensor<256x192xf16>) -> tensor<256x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, persistent = 2, subgroupsPerFragment = 4, stageOutput = true, cluster = [2, 1]>} ins(%a, %b : tensor<256x192xf16>, tensor<256x192xf16>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  %f = tensor.empty() : tensor<256x256xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<256x256xf32>) outs(%f : tensor<256x256xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<256x256xf16>
  return %s : tensor<256x256xf16>
}

// Rows of 64 bytes are swizzled otherwise.
func.func @narrow(%a: tensor<256x128xf16>, %b: tensor<128x256xf16>) -> tensor<256x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 64], k = 32, stages = 4, swizzle = true, persistent = 4, subgroupsPerFragment = 4, stageOutput = true, cluster = [1, 2]>} ins(%a, %b : tensor<256x128xf16>, tensor<128x256xf16>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  %f = tensor.empty() : tensor<256x256xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<256x256xf32>) outs(%f : tensor<256x256xf16>) {
  ^bb0(%x: f32, %o: f16):
    %0 = arith.truncf %x : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<256x256xf16>
  return %s : tensor<256x256xf16>
}

// Parts of the reduction are tiles of their own.
func.func @split(%a: tensor<256x1024xf16>, %b: tensor<1024x256xf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, splitK = 4, persistent = 8, subgroupsPerFragment = 4, cluster = [2, 1]>} ins(%a, %b : tensor<256x1024xf16>, tensor<1024x256xf16>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %p : tensor<256x256xf32>
}

// Elements of one byte.
func.func @bytes(%a: tensor<256x512xf8E4M3FN>, %b: tensor<256x512xf8E4M3FN>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 128, stages = 3, swizzle = true, persistent = 2, subgroupsPerFragment = 4, stageOutput = true, cluster = [2, 1]>} ins(%a, %b : tensor<256x512xf8E4M3FN>, tensor<256x512xf8E4M3FN>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %p : tensor<256x256xf32>
}

// Batches, and the epilogue's input of each.
func.func @batched(%a: memref<5x256x128xf16>, %b: memref<5x128x192xf16>, %r: memref<5x256x192xf16>, %c: memref<5x256x192xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<5x256x128xf16>, memref<5x128x192xf16>) init(%zero : f32) extras(%r : memref<5x256x192xf16>) outs(%c : memref<5x256x192xf16>)
      maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>, affine_map<(b, m, n, k) -> (b, m, n)>] accumulate f32
      schedule <workgroup = [128, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, persistent = 8, subgroupsPerFragment = 4, stageOutput = true, cluster = [2, 1]> {
  ^bb0(%acc: f32, %y: f16):
    %w = arith.extf %y : f16 to f32
    %x = arith.addf %acc, %w : f32
    %z = arith.truncf %x : f32 to f16
    tessera.yield %z : f16
  }
  return
}

// The tiling that is best without clusters.
func.func @large_m(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 64, stages = 3, swizzle = true, raster = 16, persistent = 132, subgroupsPerFragment = 4, stageOutput = true, cluster = [2, 1]>} ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%i : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %f = tensor.empty() : tensor<4096x4096xbf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4096x4096xf32>) outs(%f : tensor<4096x4096xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %0 = arith.truncf %x : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<4096x4096xbf16>
  return %s : tensor<4096x4096xbf16>
}

func.func @large_n(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 64, stages = 3, swizzle = true, raster = 16, persistent = 132, subgroupsPerFragment = 4, stageOutput = true, cluster = [1, 2]>} ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%i : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %f = tensor.empty() : tensor<4096x4096xbf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<4096x4096xf32>) outs(%f : tensor<4096x4096xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %0 = arith.truncf %x : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<4096x4096xbf16>
  return %s : tensor<4096x4096xbf16>
}
