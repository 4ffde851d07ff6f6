// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --arg=random --verify

// A step of eight fragments stays a loop, whose conversion must not hide that columns are multiples of a fragment's.

// CHECK-LABEL:   .entry main_kernel
// CHECK-COUNT-2: wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK-NOT:     wgmma.mma_async
#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @main(%a: tensor<128x256xf16>, %b: tensor<64x256xf16>, %c: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 64], k = 128, kFragment = 16, stages = 2, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<128x256xf16>, tensor<64x256xf16>) outs(%c : tensor<128x64xf32>) -> tensor<128x64xf32>
  return %r : tensor<128x64xf32>
}
