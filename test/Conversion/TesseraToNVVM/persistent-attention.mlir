// Attention by persistent workgroups on Hopper. The warp that copies has the keys and queries of the next tile loaded
// during the epilogue of this one, and another warp stores the output from workgroup memory. Neither spills, with the
// registers that they keep, and no wgmma is serialized (C7513).
//
// REQUIRES: long_tests
// REQUIRES: can-compile-ptx
// DEFINE: %{arguments} = --arg=random:1 --arg=random:2 --arg=random:3
// RUN: gpu-runner %s --entry=plain --target=cuda:sm_90a --emit=ptx -o %t.plain.ptx
// RUN: %ptxas -v -arch=sm_90a %t.plain.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: FileCheck %s --input-file=%t.plain.ptx
// RUN: gpu-runner %s --entry=plain --target=cuda:sm_90a --explain --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=CARRIED
// RUN: gpu-runner %s --entry=causal --target=cuda:sm_90a --emit=ptx -o %t.causal.ptx
// RUN: %ptxas -v -arch=sm_90a %t.causal.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: FileCheck %s --check-prefix=TURNS --input-file=%t.causal.ptx
// PTXAS-NOT: {{C75|[1-9][0-9]* bytes spill}}
// CARRIED: operands: bulk copies by a dedicated subgroup; a second one stores the output from workgroup memory
//
// Positions in three rings, through the loops of tiles and of blocks, are more than 24 registers.
// CHECK-DAG:  setmaxnreg.dec.sync.aligned.u32 40;
// CHECK-DAG:  cp.async.bulk.tensor.3d.shared::cluster.global
// CHECK-DAG:  setmaxnreg.inc.sync.aligned.u32 232;
// CHECK-DAG:  wgmma.mma_async
// CHECK-DAG:  cp.async.bulk.tensor.3d.global.shared::cta
//
// Each group waits for the other before its matmuls, and lets it continue once it has issued them:
// TURNS:      .entry causal_kernel(
// TURNS:      bar.arrive %{{r[0-9]+}}, 256;
// TURNS:      bar.sync %{{r[0-9]+}}, 256;
// TURNS:      wgmma.commit_group
// TURNS:      bar.arrive %{{r[0-9]+}}, 256;
// TURNS:      ex2.approx
// TURNS:      bar.sync %{{r[0-9]+}}, 256;
// TURNS:      wgmma.commit_group
// TURNS-NOT:  bar.
// TURNS:      wgmma.commit_group
// TURNS-NOT:  ex2.approx
// TURNS:      bar.arrive %{{r[0-9]+}}, 256;
// TURNS:      wgmma.wait_group.sync.aligned 1;
// TURNS:      ex2.approx
//
// RUN: gpu-runner %s --entry=plain --target=cpu:emulate=sm_90a --verify %{arguments} | FileCheck %s --check-prefix=RUNS
// RUN: gpu-runner %s --entry=causal --target=cpu:emulate=sm_90a --verify %{arguments} | FileCheck %s --check-prefix=RUNS
// RUN: gpu-runner %s --entry=shared --target=cpu:emulate=sm_90a --verify %{arguments} | FileCheck %s --check-prefix=RUNS
// RUNS: {{^}}verified

// Nine tiles, by four workgroups. Rows of 96 elements have 128 columns, of which 32 are not stored.
func.func @plain(%q: tensor<3x300x96xbf16>, %k: tensor<3x170x96xbf16>, %v: tensor<3x170x96xbf16>) -> tensor<3x300x96xbf16> {
  %zero_init = arith.constant 0.0 : f32
  %empty_init = tensor.empty() : tensor<3x300x170xf32>
  %init = linalg.fill ins(%zero_init : f32) outs(%empty_init : tensor<3x300x170xf32>) -> tensor<3x300x170xf32>
  %scores = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, n, k)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      ins(%q, %k : tensor<3x300x96xbf16>, tensor<3x170x96xbf16>) outs(%init : tensor<3x300x170xf32>) -> tensor<3x300x170xf32>
  %factor = arith.constant 1.020620726e-01 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %scaled = linalg.generic {
      indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<3x300x170xf32>) outs(%empty_init : tensor<3x300x170xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %factor : f32
    linalg.yield %0 : f32
  } -> tensor<3x300x170xf32>
  %weights = linalg.softmax dimension(2) ins(%scaled : tensor<3x300x170xf32>) outs(%empty_init : tensor<3x300x170xf32>) -> tensor<3x300x170xf32>
  %narrow = arith.truncf %weights : tensor<3x300x170xf32> to tensor<3x300x170xbf16>
  %zero_sums = arith.constant 0.0 : f32
  %empty_sums = tensor.empty() : tensor<3x300x96xf32>
  %sums = linalg.fill ins(%zero_sums : f32) outs(%empty_sums : tensor<3x300x96xf32>) -> tensor<3x300x96xf32>
  %product = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, k, n)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 96, kFragment = 96, stages = 2, swizzle = true, persistent = 4, subgroupsPerFragment = 4, stageOutput = true>}
      ins(%narrow, %v : tensor<3x300x170xbf16>, tensor<3x170x96xbf16>) outs(%sums : tensor<3x300x96xf32>) -> tensor<3x300x96xf32>
  %result = arith.truncf %product : tensor<3x300x96xf32> to tensor<3x300x96xbf16>
  return %result : tensor<3x300x96xbf16>
}

// Ten tiles, by three workgroups, which have four, three and three of them.
func.func @causal(%q: tensor<5x200x192xbf16>, %k: tensor<5x200x192xbf16>, %v: tensor<5x200x192xbf16>) -> tensor<5x200x192xbf16> {
  %zero_init = arith.constant 0.0 : f32
  %empty_init = tensor.empty() : tensor<5x200x200xf32>
  %init = linalg.fill ins(%zero_init : f32) outs(%empty_init : tensor<5x200x200xf32>) -> tensor<5x200x200xf32>
  %scores = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, n, k)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      ins(%q, %k : tensor<5x200x192xbf16>, tensor<5x200x192xbf16>) outs(%init : tensor<5x200x200xf32>) -> tensor<5x200x200xf32>
  %factor = arith.constant 7.216878365e-02 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %scaled = linalg.generic {
      indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<5x200x200xf32>) outs(%empty_init : tensor<5x200x200xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %factor : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi sle, %j, %i : index
    %1 = arith.select %seen, %0, %hidden : f32
    linalg.yield %1 : f32
  } -> tensor<5x200x200xf32>
  %weights = linalg.softmax dimension(2) ins(%scaled : tensor<5x200x200xf32>) outs(%empty_init : tensor<5x200x200xf32>) -> tensor<5x200x200xf32>
  %narrow = arith.truncf %weights : tensor<5x200x200xf32> to tensor<5x200x200xbf16>
  %zero_sums = arith.constant 0.0 : f32
  %empty_sums = tensor.empty() : tensor<5x200x192xf32>
  %sums = linalg.fill ins(%zero_sums : f32) outs(%empty_sums : tensor<5x200x192xf32>) -> tensor<5x200x192xf32>
  %product = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, k, n)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      {tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 64], k = 192, kFragment = 192, stages = 2, swizzle = true, persistent = 3, subgroupsPerFragment = 4>}
      ins(%narrow, %v : tensor<5x200x200xbf16>, tensor<5x200x192xbf16>) outs(%sums : tensor<5x200x192xf32>) -> tensor<5x200x192xf32>
  %result = arith.truncf %product : tensor<5x200x192xf32> to tensor<5x200x192xbf16>
  return %result : tensor<5x200x192xbf16>
}

// Four heads of queries for two of keys, in a batch of two dimensions.
func.func @shared(%q: tensor<2x2x130x64xf16>, %k: tensor<2x200x64xf16>, %v: tensor<2x200x64xf16>) -> tensor<2x2x130x64xf16> {
  %zero_init = arith.constant 0.0 : f32
  %empty_init = tensor.empty() : tensor<2x2x130x200xf32>
  %init = linalg.fill ins(%zero_init : f32) outs(%empty_init : tensor<2x2x130x200xf32>) -> tensor<2x2x130x200xf32>
  %scores = linalg.contract indexing_maps = [affine_map<(g, h, m, n, k) -> (g, h, m, k)>, affine_map<(g, h, m, n, k) -> (g, n, k)>, affine_map<(g, h, m, n, k) -> (g, h, m, n)>]
      ins(%q, %k : tensor<2x2x130x64xf16>, tensor<2x200x64xf16>) outs(%init : tensor<2x2x130x200xf32>) -> tensor<2x2x130x200xf32>
  %factor = arith.constant 1.250000000e-01 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %scaled = linalg.generic {
      indexing_maps = [affine_map<(g, h, i, j) -> (g, h, i, j)>, affine_map<(g, h, i, j) -> (g, h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%scores : tensor<2x2x130x200xf32>) outs(%empty_init : tensor<2x2x130x200xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %factor : f32
    %i = linalg.index 2 : index
    %j = linalg.index 3 : index
    %seen = arith.cmpi sle, %j, %i : index
    %1 = arith.select %seen, %0, %hidden : f32
    linalg.yield %1 : f32
  } -> tensor<2x2x130x200xf32>
  %weights = linalg.softmax dimension(3) ins(%scaled : tensor<2x2x130x200xf32>) outs(%empty_init : tensor<2x2x130x200xf32>) -> tensor<2x2x130x200xf32>
  %narrow = arith.truncf %weights : tensor<2x2x130x200xf32> to tensor<2x2x130x200xf16>
  %zero_sums = arith.constant 0.0 : f32
  %empty_sums = tensor.empty() : tensor<2x2x130x64xf32>
  %sums = linalg.fill ins(%zero_sums : f32) outs(%empty_sums : tensor<2x2x130x64xf32>) -> tensor<2x2x130x64xf32>
  %product = linalg.contract indexing_maps = [affine_map<(g, h, m, n, k) -> (g, h, m, k)>, affine_map<(g, h, m, n, k) -> (g, k, n)>, affine_map<(g, h, m, n, k) -> (g, h, m, n)>]
      {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 64, kFragment = 64, stages = 2, swizzle = true, persistent = 3, subgroupsPerFragment = 4, stageOutput = true>}
      ins(%narrow, %v : tensor<2x2x130x200xf16>, tensor<2x200x64xf16>) outs(%sums : tensor<2x2x130x64xf32>) -> tensor<2x2x130x64xf32>
  %result = arith.truncf %product : tensor<2x2x130x64xf32> to tensor<2x2x130x64xf16>
  return %result : tensor<2x2x130x64xf16>
}
