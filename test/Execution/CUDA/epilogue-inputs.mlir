// REQUIRES: can-run-cuda-sm_90a

// The epilogue's input is loaded to the memory of the output's tile during the matmul.

// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=many_tiles --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=one_tile --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=one_step --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=one_group --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=edges --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=narrow --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=two_inputs --explain | FileCheck %s --check-prefixes=CHECK,SECOND
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=wider --explain | FileCheck %s --check-prefixes=CHECK,WIDER
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=unaligned --explain | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=transposed --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=in_place --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=batched --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=by_default --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// CHECK: wgmma.m64n
// CARRIED: operands: bulk copies by a dedicated subgroup; a second one loads the epilogue's input to workgroup memory, and stores the output from there
// CARRIED-NOT: straight from memory
// SECOND: stores the output from there; the lanes read argument {{[0-9]}} of the kernel directly from global memory: workgroup memory holds only one such tile
// WIDER: a second one stores the output from workgroup memory; the lanes read argument {{[0-9]}} of the kernel directly from global memory: its element type differs from the output's
// ALL: operands: bulk copies by a dedicated subgroup; all threads store the output from workgroup memory: {{.+}}; the lanes read argument {{[0-9]}} of the kernel directly from global memory: its rows are not known to be aligned to 16 bytes
// CHECK: {{^}}verified

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nm = affine_map<(m, n, k) -> (n, m)>
#id = affine_map<(i, j) -> (i, j)>

// Sixteen tiles for three workgroups, two of which have five.
func.func @many_tiles(%a: tensor<512x256xbf16>, %b: tensor<256x512xbf16>, %bias: tensor<512xbf16>, %residual: tensor<512x512xbf16>) -> tensor<512x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<512x256xbf16>, tensor<256x512xbf16>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = tensor.empty() : tensor<512x512xbf16>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %residual : tensor<512x512xf32>, tensor<512xbf16>, tensor<512x512xbf16>) outs(%f : tensor<512x512xbf16>) {
  ^bb0(%x: f32, %u: bf16, %v: bf16, %o: bf16):
    %0 = arith.extf %u : bf16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.extf %v : bf16 to f32
    %4 = arith.addf %2, %3 : f32
    %7 = arith.truncf %4 : f32 to bf16
    linalg.yield %7 : bf16
  } -> tensor<512x512xbf16>
  return %s : tensor<512x512xbf16>
}

// Each workgroup has one tile: the input is loaded before the first step.
func.func @one_tile(%a: tensor<256x256xbf16>, %b: tensor<256x512xbf16>, %bias: tensor<512xbf16>, %residual: tensor<256x512xbf16>) -> tensor<256x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x512xf32>) -> tensor<256x512xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<256x256xbf16>, tensor<256x512xbf16>) outs(%i : tensor<256x512xf32>) -> tensor<256x512xf32>
  %f = tensor.empty() : tensor<256x512xbf16>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %residual : tensor<256x512xf32>, tensor<512xbf16>, tensor<256x512xbf16>) outs(%f : tensor<256x512xbf16>) {
  ^bb0(%x: f32, %u: bf16, %v: bf16, %o: bf16):
    %0 = arith.extf %u : bf16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.extf %v : bf16 to f32
    %4 = arith.addf %2, %3 : f32
    %7 = arith.truncf %4 : f32 to bf16
    linalg.yield %7 : bf16
  } -> tensor<256x512xbf16>
  return %s : tensor<256x512xbf16>
}

// One step of K for each tile.
func.func @one_step(%a: tensor<512x64xbf16>, %b: tensor<64x256xbf16>, %bias: tensor<256xbf16>, %residual: tensor<512x256xbf16>) -> tensor<512x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x256xf32>) -> tensor<512x256xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<512x64xbf16>, tensor<64x256xbf16>) outs(%i : tensor<512x256xf32>) -> tensor<512x256xf32>
  %f = tensor.empty() : tensor<512x256xbf16>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %residual : tensor<512x256xf32>, tensor<256xbf16>, tensor<512x256xbf16>) outs(%f : tensor<512x256xbf16>) {
  ^bb0(%x: f32, %u: bf16, %v: bf16, %o: bf16):
    %0 = arith.extf %u : bf16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.extf %v : bf16 to f32
    %4 = arith.addf %2, %3 : f32
    %7 = arith.truncf %4 : f32 to bf16
    linalg.yield %7 : bf16
  } -> tensor<512x256xbf16>
  return %s : tensor<512x256xbf16>
}

// One warpgroup computes, and two subgroups copy.
func.func @one_group(%a: tensor<256x192xbf16>, %b: tensor<192x192xbf16>, %bias: tensor<192xbf16>, %residual: tensor<256x192xbf16>) -> tensor<256x192xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x192xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x192xf32>) -> tensor<256x192xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 64, stages = 4, swizzle = true, persistent = 5, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<256x192xbf16>, tensor<192x192xbf16>) outs(%i : tensor<256x192xf32>) -> tensor<256x192xf32>
  %f = tensor.empty() : tensor<256x192xbf16>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %residual : tensor<256x192xf32>, tensor<192xbf16>, tensor<256x192xbf16>) outs(%f : tensor<256x192xbf16>) {
  ^bb0(%x: f32, %u: bf16, %v: bf16, %o: bf16):
    %0 = arith.extf %u : bf16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.extf %v : bf16 to f32
    %4 = arith.addf %2, %3 : f32
    %7 = arith.truncf %4 : f32 to bf16
    linalg.yield %7 : bf16
  } -> tensor<256x192xbf16>
  return %s : tensor<256x192xbf16>
}

// Tiles that stick out on both sides.
func.func @edges(%a: tensor<300x136xf16>, %b: tensor<136x200xf16>, %bias: tensor<200xf16>, %residual: tensor<300x200xf16>) -> tensor<300x200xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x200xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<300x200xf32>) -> tensor<300x200xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, raster = 2, persistent = 2, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<300x136xf16>, tensor<136x200xf16>) outs(%i : tensor<300x200xf32>) -> tensor<300x200xf32>
  %f = tensor.empty() : tensor<300x200xf16>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %residual : tensor<300x200xf32>, tensor<200xf16>, tensor<300x200xf16>) outs(%f : tensor<300x200xf16>) {
  ^bb0(%x: f32, %u: f16, %v: f16, %o: f16):
    %0 = arith.extf %u : f16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.extf %v : f16 to f32
    %4 = arith.addf %2, %3 : f32
    %7 = arith.truncf %4 : f32 to f16
    linalg.yield %7 : f16
  } -> tensor<300x200xf16>
  return %s : tensor<300x200xf16>
}

// Rows of 64 bytes are swizzled otherwise.
func.func @narrow(%a: tensor<256x128xf16>, %b: tensor<128x96xf16>, %bias: tensor<96xf16>, %residual: tensor<256x96xf16>) -> tensor<256x96xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x96xf32>) -> tensor<256x96xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [64, 32], k = 32, stages = 3, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<256x128xf16>, tensor<128x96xf16>) outs(%i : tensor<256x96xf32>) -> tensor<256x96xf32>
  %f = tensor.empty() : tensor<256x96xf16>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %residual : tensor<256x96xf32>, tensor<96xf16>, tensor<256x96xf16>) outs(%f : tensor<256x96xf16>) {
  ^bb0(%x: f32, %u: f16, %v: f16, %o: f16):
    %0 = arith.extf %u : f16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.extf %v : f16 to f32
    %4 = arith.addf %2, %3 : f32
    %7 = arith.truncf %4 : f32 to f16
    linalg.yield %7 : f16
  } -> tensor<256x96xf16>
  return %s : tensor<256x96xf16>
}

// There is memory for one; the other is read by the lanes.
func.func @two_inputs(%a: tensor<256x128xbf16>, %b: tensor<128x256xbf16>, %bias: tensor<256xbf16>, %residual: tensor<256x256xbf16>, %second: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<256x128xbf16>, tensor<128x256xbf16>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  %f = tensor.empty() : tensor<256x256xbf16>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %residual, %second : tensor<256x256xf32>, tensor<256xbf16>, tensor<256x256xbf16>, tensor<256x256xbf16>) outs(%f : tensor<256x256xbf16>) {
  ^bb0(%x: f32, %u: bf16, %v: bf16, %v2: bf16, %o: bf16):
    %0 = arith.extf %u : bf16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.extf %v : bf16 to f32
    %4 = arith.addf %2, %3 : f32
    %5 = arith.extf %v2 : bf16 to f32
    %6 = arith.mulf %4, %5 : f32
    %7 = arith.truncf %6 : f32 to bf16
    linalg.yield %7 : bf16
  } -> tensor<256x256xbf16>
  return %s : tensor<256x256xbf16>
}

// Four bytes do not fit where the output's two are made.
func.func @wider(%a: tensor<256x128xbf16>, %b: tensor<128x256xbf16>, %bias: tensor<256xbf16>, %residual: tensor<256x256xf32>) -> tensor<256x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<256x128xbf16>, tensor<128x256xbf16>) outs(%i : tensor<256x256xf32>) -> tensor<256x256xf32>
  %f = tensor.empty() : tensor<256x256xbf16>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %residual : tensor<256x256xf32>, tensor<256xbf16>, tensor<256x256xf32>) outs(%f : tensor<256x256xbf16>) {
  ^bb0(%x: f32, %u: bf16, %v: f32, %o: bf16):
    %0 = arith.extf %u : bf16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %4 = arith.addf %2, %v : f32
    %7 = arith.truncf %4 : f32 to bf16
    linalg.yield %7 : bf16
  } -> tensor<256x256xbf16>
  return %s : tensor<256x256xbf16>
}

// Rows that bulk copies cannot read.
func.func @unaligned(%a: tensor<256x128xf16>, %b: tensor<133x128xf16>, %bias: tensor<133xf16>, %residual: tensor<256x133xf16>) -> tensor<256x133xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x133xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x133xf32>) -> tensor<256x133xf32>
  %p = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<256x128xf16>, tensor<133x128xf16>) outs(%i : tensor<256x133xf32>) -> tensor<256x133xf32>
  %f = tensor.empty() : tensor<256x133xf16>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %residual : tensor<256x133xf32>, tensor<133xf16>, tensor<256x133xf16>) outs(%f : tensor<256x133xf16>) {
  ^bb0(%x: f32, %u: f16, %v: f16, %o: f16):
    %0 = arith.extf %u : f16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.extf %v : f16 to f32
    %4 = arith.addf %2, %3 : f32
    %7 = arith.truncf %4 : f32 to f16
    linalg.yield %7 : f16
  } -> tensor<256x133xf16>
  return %s : tensor<256x133xf16>
}

// The output's rows run along M, and so do those of the input.
func.func @transposed(%a: memref<256x192xf16>, %b: memref<192x320xf16>, %r: memref<320x256xf16>, %c: memref<320x256xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<256x192xf16>, memref<192x320xf16>) init(%zero : f32) extras(%r : memref<320x256xf16>) outs(%c : memref<320x256xf16>)
      maps [#mk, #kn, #nm, #nm] accumulate f32
      schedule <workgroup = [128, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true> {
  ^bb0(%acc: f32, %y: f16):
    %w = arith.extf %y : f16 to f32
    %x = arith.addf %acc, %w : f32
    %z = arith.truncf %x : f32 to f16
    tessera.yield %z : f16
  }
  return
}

// Each tile is read and written by one workgroup.
func.func @in_place(%a: memref<256x192xf16>, %b: memref<192x320xf16>, %c: memref<320x256xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<256x192xf16>, memref<192x320xf16>) init(%zero : f32) extras(%c : memref<320x256xf16>) outs(%c : memref<320x256xf16>)
      maps [#mk, #kn, #nm, #nm] accumulate f32
      schedule <workgroup = [128, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true> {
  ^bb0(%acc: f32, %y: f16):
    %w = arith.extf %y : f16 to f32
    %x = arith.addf %acc, %w : f32
    %z = arith.truncf %x : f32 to f16
    tessera.yield %z : f16
  }
  return
}

// The batch is an index of each tensor map.
func.func @batched(%a: memref<5x256x128xf16>, %b: memref<5x128x192xf16>, %r: memref<5x256x192xf16>, %c: memref<5x256x192xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<5x256x128xf16>, memref<5x128x192xf16>) init(%zero : f32) extras(%r : memref<5x256x192xf16>) outs(%c : memref<5x256x192xf16>)
      maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>, affine_map<(b, m, n, k) -> (b, m, n)>] accumulate f32
      schedule <workgroup = [128, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, persistent = 7, subgroupsPerFragment = 4, stageOutput = true> {
  ^bb0(%acc: f32, %y: f16):
    %w = arith.extf %y : f16 to f32
    %x = arith.addf %acc, %w : f32
    %z = arith.truncf %x : f32 to f16
    tessera.yield %z : f16
  }
  return
}

// More tiles than SMs, by the default schedule.
func.func @by_default(%a: tensor<2560x512xbf16>, %b: tensor<512x4096xbf16>, %bias: tensor<4096xbf16>, %residual: tensor<2560x4096xbf16>) -> tensor<2560x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2560x4096xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2560x4096xf32>) -> tensor<2560x4096xf32>
  %p = linalg.matmul ins(%a, %b : tensor<2560x512xbf16>, tensor<512x4096xbf16>) outs(%i : tensor<2560x4096xf32>) -> tensor<2560x4096xf32>
  %f = tensor.empty() : tensor<2560x4096xbf16>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %residual : tensor<2560x4096xf32>, tensor<4096xbf16>, tensor<2560x4096xbf16>) outs(%f : tensor<2560x4096xbf16>) {
  ^bb0(%x: f32, %u: bf16, %v: bf16, %o: bf16):
    %0 = arith.extf %u : bf16 to f32
    %1 = arith.addf %x, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.extf %v : bf16 to f32
    %4 = arith.addf %2, %3 : f32
    %7 = arith.truncf %4 : f32 to bf16
    linalg.yield %7 : bf16
  } -> tensor<2560x4096xbf16>
  return %s : tensor<2560x4096xbf16>
}
