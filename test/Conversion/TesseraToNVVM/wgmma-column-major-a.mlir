// RUN: gpu-runner %s --target=cuda:sm_90a --allow-tf32 --emit=ptx | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --allow-tf32 --arg=random:1 --arg=random:2 --verify | FileCheck %s --check-prefix=VERIFIED

// wgmma reads words from memory with K along the rows only. An lhs with M along
// the rows is loaded to registers, by lanes, from the tile that TMA loaded: 16
// words of a step of 32, of which each instruction takes four. It is not copied
// to another order before.

#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-NOT:     main_repack
// CHECK-LABEL:   .entry main_kernel
// CHECK:         cp.async.bulk.tensor.2d
// CHECK-COUNT-16: ld.shared.b32
// CHECK-NOT:     ld.shared
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {{{.*}}}, {{{%r[0-9]+, %r[0-9]+, %r[0-9]+, %r[0-9]+}}}, %rd{{[0-9]+}}, p, 1, 1;
// CHECK:         wgmma.wait_group.sync.aligned 0;
// VERIFIED:      {{^}}verified
func.func @main(%a: tensor<96x128xf32>, %b: tensor<128x96xf32>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul indexing_maps = [#km, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<96x128xf32>, tensor<128x96xf32>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
