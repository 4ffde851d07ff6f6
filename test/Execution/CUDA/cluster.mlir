// REQUIRES: can-run-cuda-sm_90a

// Parts of a reduction that the workgroups of a cluster add up: two, four and
// eight of them, several groups of subgroups, odd extents, the initial value of
// the sum, an epilogue, batches, and other types.

// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=two --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=four --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=eight --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=edges --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=rows --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=old --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=start --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=epilogue --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=batched --explain | FileCheck %s
// RUN: gpu-runner %s --target=cuda --verify --require-mma --entry=bytes --explain | FileCheck %s
// CHECK: wgmma.m64n
// CHECK: splitKReduction = cluster
// CHECK: operands: bulk copies by a dedicated subgroup
// CHECK: {{^}}verified

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#v = affine_map<(m, n) -> (n)>
#e = affine_map<(m, n) -> (m, n)>

func.func @two(%a: tensor<128x1024xf16>, %b: tensor<1024x256xf16>) -> tensor<128x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 4, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<128x1024xf16>, tensor<1024x256xf16>) outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
  %h = arith.truncf %r : tensor<128x256xf32> to tensor<128x256xf16>
  return %h : tensor<128x256xf16>
}

func.func @four(%a: tensor<128x1024xbf16>, %b: tensor<1024x256xbf16>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 3, swizzle = true, splitK = 4, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<128x1024xbf16>, tensor<1024x256xbf16>) outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}

func.func @eight(%a: tensor<64x2048xbf16>, %b: tensor<2048x512xbf16>) -> tensor<64x512xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 128, stages = 3, swizzle = true, splitK = 8, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<64x2048xbf16>, tensor<2048x512xbf16>) outs(%c : tensor<64x512xf32>) -> tensor<64x512xf32>
  %h = arith.truncf %r : tensor<64x512xf32> to tensor<64x512xbf16>
  return %h : tensor<64x512xbf16>
}

// The last part has less of K, and the last tiles less of M and N.
func.func @edges(%a: tensor<75x1000xf16>, %b: tensor<1000x200xf16>) -> tensor<75x200xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<75x200xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<75x200xf32>) -> tensor<75x200xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, splitK = 4, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<75x1000xf16>, tensor<1000x200xf16>) outs(%c : tensor<75x200xf32>) -> tensor<75x200xf32>
  %h = arith.truncf %r : tensor<75x200xf32> to tensor<75x200xf16>
  return %h : tensor<75x200xf16>
}

// Two rows of instructions for each group.
func.func @rows(%a: tensor<256x512xf16>, %b: tensor<512x128xf16>) -> tensor<256x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x128xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<256x128xf32>) -> tensor<256x128xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [256, 128], subgroup = [128, 64], k = 64, stages = 2, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x512xf16>, tensor<512x128xf16>) outs(%c : tensor<256x128xf32>) -> tensor<256x128xf32>
  return %r : tensor<256x128xf32>
}

func.func @old(%a: tensor<100x512xf16>, %b: tensor<512x136xf16>, %c: tensor<100x136xf32>) -> tensor<100x136xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<100x512xf16>, tensor<512x136xf16>) outs(%c : tensor<100x136xf32>) -> tensor<100x136xf32>
  return %r : tensor<100x136xf32>
}

func.func @start(%a: tensor<64x512xf16>, %b: tensor<512x128xf16>) -> tensor<64x128xf32> {
  %seven = arith.constant 7.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %c = linalg.fill ins(%seven : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<64x512xf16>, tensor<512x128xf16>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

func.func @epilogue(%a: tensor<64x512xbf16>, %b: tensor<512x256xbf16>, %bias: tensor<256xbf16>, %residual: tensor<64x256xbf16>) -> tensor<64x256xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x256xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x256xf32>) -> tensor<64x256xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<64x512xbf16>, tensor<512x256xbf16>) outs(%c : tensor<64x256xf32>) -> tensor<64x256xf32>
  %o = tensor.empty() : tensor<64x256xbf16>
  %h = linalg.generic {indexing_maps = [#e, #v, #e, #e], iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias, %residual : tensor<64x256xf32>, tensor<256xbf16>, tensor<64x256xbf16>) outs(%o : tensor<64x256xbf16>) {
  ^bb0(%p: f32, %x: bf16, %y: bf16, %out: bf16):
    %0 = arith.extf %x : bf16 to f32
    %1 = arith.addf %p, %0 : f32
    %2 = arith.maximumf %1, %zero : f32
    %3 = arith.extf %y : bf16 to f32
    %4 = arith.addf %2, %3 : f32
    %5 = arith.truncf %4 : f32 to bf16
    linalg.yield %5 : bf16
  } -> tensor<64x256xbf16>
  return %h : tensor<64x256xbf16>
}

func.func @batched(%a: tensor<3x64x512xf16>, %b: tensor<3x512x128xf16>) -> tensor<3x64x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x64x128xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<3x64x128xf32>) -> tensor<3x64x128xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<3x64x512xf16>, tensor<3x512x128xf16>) outs(%c : tensor<3x64x128xf32>) -> tensor<3x64x128xf32>
  return %r : tensor<3x64x128xf32>
}

func.func @bytes(%a: tensor<64x1024xi8>, %b: tensor<256x1024xi8>, %c: tensor<64x256xi32>) -> tensor<64x256xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 128, stages = 2, swizzle = true, splitK = 4, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<64x1024xi8>, tensor<256x1024xi8>) outs(%c : tensor<64x256xi32>) -> tensor<64x256xi32>
  return %r : tensor<64x256xi32>
}
