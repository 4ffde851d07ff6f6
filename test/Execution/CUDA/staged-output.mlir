// REQUIRES: can-run-cuda-sm_90a

// Outputs of warpgroups that go through workgroup memory, and workgroups that
// walk through more tiles than there are of them: from one slot to five, one step
// for each tile or several, batches, five warpgroups that read, edges, rows
// that bulk copies cannot write, an output whose rows run along M, parts of a reduction.

// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=one_slot --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=slots_2 --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=slots_3 --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=slots_4 --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=slots_5 --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=one_step --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=one_tile --explain | FileCheck %s --check-prefixes=CHECK,BULK
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=large --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=five_groups --explain | FileCheck %s --check-prefixes=CHECK,BULK
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=one_group --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=edges --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=narrow --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=unaligned --explain | FileCheck %s --check-prefixes=CHECK,ALL
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=transposed --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=batched --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=single --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=split --explain | FileCheck %s --check-prefixes=CHECK,TAKEN
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=epilogue --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=by_default --explain | FileCheck %s --check-prefixes=CHECK,CARRIED
// CHECK: wgmma.m64n
// BULK: operands: bulk copies by a dedicated subgroup; bulk copies store the output from workgroup memory
// TAKEN: operands: bulk copies by a dedicated subgroup; a second one stores the output from workgroup memory
// CARRIED: operands: bulk copies by a dedicated subgroup; a second one loads the epilogue's input to workgroup memory, and stores the output from there
// ALL: operands: bulk copies by a dedicated subgroup; all threads store the output from workgroup memory: rows of argument {{.}} of the kernel are not known to be aligned to 16 bytes
// CHECK: {{^}}verified

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>

// Sixteen tiles for three workgroups, two of which have five.
func.func @one_slot(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 1, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<512x256xf16>, tensor<256x512xf16>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = tensor.empty() : tensor<512x512xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<512x512xf32>) outs(%f : tensor<512x512xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<512x512xf16>
  return %s : tensor<512x512xf16>
}

// Steps that the number of slots does not divide.
func.func @slots_2(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, raster = 2, persistent = 5, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<512x256xf16>, tensor<256x512xf16>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = tensor.empty() : tensor<512x512xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<512x512xf32>) outs(%f : tensor<512x512xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<512x512xf16>
  return %s : tensor<512x512xf16>
}

func.func @slots_3(%a: tensor<512x320xbf16>, %b: tensor<320x512xbf16>) -> tensor<512x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, raster = 2, persistent = 5, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<512x320xbf16>, tensor<320x512xbf16>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = tensor.empty() : tensor<512x512xbf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<512x512xf32>) outs(%f : tensor<512x512xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %y = arith.truncf %x : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<512x512xbf16>
  return %s : tensor<512x512xbf16>
}

func.func @slots_4(%a: tensor<512x256xf16>, %b: tensor<256x512xf16>) -> tensor<512x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 4, swizzle = true, raster = 2, persistent = 5, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<512x256xf16>, tensor<256x512xf16>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = tensor.empty() : tensor<512x512xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<512x512xf32>) outs(%f : tensor<512x512xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<512x512xf16>
  return %s : tensor<512x512xf16>
}

func.func @slots_5(%a: tensor<512x320xbf16>, %b: tensor<320x512xbf16>) -> tensor<512x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 5, swizzle = true, raster = 2, persistent = 5, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<512x320xbf16>, tensor<320x512xbf16>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  %f = tensor.empty() : tensor<512x512xbf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<512x512xf32>) outs(%f : tensor<512x512xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %y = arith.truncf %x : f32 to bf16
    linalg.yield %y : bf16
  } -> tensor<512x512xbf16>
  return %s : tensor<512x512xbf16>
}

// No loop over steps: the tiles alone use the slots in rotation.
func.func @one_step(%a: tensor<1024x64xf16>, %b: tensor<64x256xf16>) -> tensor<1024x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<1024x64xf16>, tensor<64x256xf16>) outs(%i : tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %f = tensor.empty() : tensor<1024x256xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<1024x256xf32>) outs(%f : tensor<1024x256xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<1024x256xf16>
  return %s : tensor<1024x256xf16>
}

// As many workgroups as tiles.
func.func @one_tile(%a: tensor<128x192xf16>, %b: tensor<192x256xf16>) -> tensor<128x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<128x192xf16>, tensor<192x256xf16>) outs(%i : tensor<128x256xf32>) -> tensor<128x256xf32>
  %f = tensor.empty() : tensor<128x256xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<128x256xf32>) outs(%f : tensor<128x256xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<128x256xf16>
  return %s : tensor<128x256xf16>
}

// Accumulators that want the producer's registers.
func.func @large(%a: tensor<1024x512xf16>, %b: tensor<512x1024xf16>) -> tensor<1024x1024xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 64, stages = 3, swizzle = true, raster = 4, persistent = 7, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<1024x512xf16>, tensor<512x1024xf16>) outs(%i : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %f = tensor.empty() : tensor<1024x1024xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<1024x1024xf32>) outs(%f : tensor<1024x1024xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<1024x1024xf16>
  return %s : tensor<1024x1024xf16>
}

// 640 threads and the producer's.
func.func @five_groups(%a: tensor<320x256xf16>, %b: tensor<256x640xf16>) -> tensor<320x640xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<320x640xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<320x640xf32>) -> tensor<320x640xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 320], subgroup = [64, 64], k = 64, stages = 2, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<320x256xf16>, tensor<256x640xf16>) outs(%i : tensor<320x640xf32>) -> tensor<320x640xf32>
  %f = tensor.empty() : tensor<320x640xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<320x640xf32>) outs(%f : tensor<320x640xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<320x640xf16>
  return %s : tensor<320x640xf16>
}

// One warpgroup, and a producer of 32 threads.
func.func @one_group(%a: tensor<320x256xf16>, %b: tensor<256x320xf16>) -> tensor<320x320xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<320x320xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<320x320xf32>) -> tensor<320x320xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 64, stages = 4, swizzle = true, persistent = 4, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<320x256xf16>, tensor<256x320xf16>) outs(%i : tensor<320x320xf32>) -> tensor<320x320xf32>
  %f = tensor.empty() : tensor<320x320xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<320x320xf32>) outs(%f : tensor<320x320xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<320x320xf16>
  return %s : tensor<320x320xf16>
}

// Tiles that exceed all three matrices.
func.func @edges(%a: tensor<301x200xf16>, %b: tensor<200x264xf16>) -> tensor<301x264xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<301x264xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<301x264xf32>) -> tensor<301x264xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, persistent = 2, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<301x200xf16>, tensor<200x264xf16>) outs(%i : tensor<301x264xf32>) -> tensor<301x264xf32>
  %f = tensor.empty() : tensor<301x264xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<301x264xf32>) outs(%f : tensor<301x264xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<301x264xf16>
  return %s : tensor<301x264xf16>
}

// Rows of 64 bytes.
func.func @narrow(%a: tensor<256x128xf16>, %b: tensor<128x96xf16>) -> tensor<256x96xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x96xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<256x96xf32>) -> tensor<256x96xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [64, 32], k = 32, stages = 3, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<256x128xf16>, tensor<128x96xf16>) outs(%i : tensor<256x96xf32>) -> tensor<256x96xf32>
  %f = tensor.empty() : tensor<256x96xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<256x96xf32>) outs(%f : tensor<256x96xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<256x96xf16>
  return %s : tensor<256x96xf16>
}

// Rows of the output that begin anywhere: B lies along K, so that only the output's do.
func.func @unaligned(%a: tensor<300x192xf16>, %b: tensor<133x192xf16>) -> tensor<300x133xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<300x133xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<300x133xf32>) -> tensor<300x133xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, persistent = 4, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<300x192xf16>, tensor<133x192xf16>) outs(%i : tensor<300x133xf32>) -> tensor<300x133xf32>
  %f = tensor.empty() : tensor<300x133xf16>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<300x133xf32>) outs(%f : tensor<300x133xf16>) {
  ^bb0(%x: f32, %o: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<300x133xf16>
  return %s : tensor<300x133xf16>
}

func.func @transposed(%a: memref<256x192xf16>, %b: memref<192x320xf16>, %c: memref<320x256xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<256x192xf16>, memref<192x320xf16>) init(%zero : f32) outs(%c : memref<320x256xf16>)
      maps [#mk, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n, m)>] accumulate f32
      schedule <workgroup = [128, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true> {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// The batch is an index of each tensor map.
func.func @batched(%a: memref<5x256x128xf16>, %b: memref<5x128x192xf16>, %c: memref<5x256x192xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<5x256x128xf16>, memref<5x128x192xf16>) init(%zero : f32) outs(%c : memref<5x256x192xf16>)
      maps [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, k, n)>, affine_map<(b, m, n, k) -> (b, m, n)>] accumulate f32
      schedule <workgroup = [128, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, persistent = 7, subgroupsPerFragment = 4, stageOutput = true> {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// Four bytes an element, and the old value of the output.
func.func @single(%a: tensor<512x256xf16>, %b: tensor<256x256xf16>, %c: tensor<512x256xf32>) -> tensor<512x256xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<512x256xf16>, tensor<256x256xf16>) outs(%c : tensor<512x256xf32>) -> tensor<512x256xf32>
  return %r : tensor<512x256xf32>
}

// Each part's accumulators go to a workspace.
func.func @split(%a: tensor<256x1024xf16>, %b: tensor<1024x128xf16>, %c: tensor<256x128xf32>) -> tensor<256x128xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, splitK = 4, persistent = 5, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<256x1024xf16>, tensor<1024x128xf16>) outs(%c : tensor<256x128xf32>) -> tensor<256x128xf32>
  return %r : tensor<256x128xf32>
}

func.func @epilogue(%a: tensor<512x256xf16>, %b: tensor<256x384xf16>, %bias: tensor<384xf32>, %add: tensor<512x384xf16>) -> tensor<512x384xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x384xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x384xf32>) -> tensor<512x384xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 4, swizzle = true, persistent = 4, subgroupsPerFragment = 4, stageOutput = true>} ins(%a, %b : tensor<512x256xf16>, tensor<256x384xf16>) outs(%i : tensor<512x384xf32>) -> tensor<512x384xf32>
  %f = tensor.empty() : tensor<512x384xf16>
  %s = linalg.generic {indexing_maps = [#id, affine_map<(i, j) -> (j)>, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%r, %bias, %add : tensor<512x384xf32>, tensor<384xf32>, tensor<512x384xf16>) outs(%f : tensor<512x384xf16>) {
  ^bb0(%x: f32, %y: f32, %z: f16, %o: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.extf %z : f16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<512x384xf16>
  return %s : tensor<512x384xf16>
}

// More tiles than SMs, by the default schedule.
func.func @by_default(%a: tensor<2560x512xf16>, %b: tensor<512x4096xf16>, %c: tensor<2560x4096xf16>) -> tensor<2560x4096xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<2560x512xf16>, tensor<512x4096xf16>) outs(%c : tensor<2560x4096xf16>) -> tensor<2560x4096xf16>
  return %r : tensor<2560x4096xf16>
}
