// A bundle records how the sums of products were compiled, and is verified by that: f8 sums in short
// pieces, or in 14 bits throughout.

// RUN: gpu-runner %s --emit=bundle --target=cpu:emulate=sm_90a -o %t.apart
// RUN: gpu-runner %t.apart --verify --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefix=APART
// APART: wgmma.m64n128k32
// APART-NEXT: the matrix unit keeps 14 bits of a sum{{.*}} 128 products
// APART: out 0: verified (max abs err {{[^:]*}}){{$}}
// APART: {{^}}verified
// RUN: gpu-runner %s --emit=bundle --target=cpu:emulate=sm_90a --allow-fast-f8 -o %t.fast
// RUN: gpu-runner %t.fast --verify --explain --arg=random:1 --arg=random:2 | FileCheck %s --check-prefix=FAST
// FAST: wgmma.m64n128k32
// FAST-NEXT: the matrix unit keeps 14 bits of a sum{{$}}
// FAST: out 0: verified (max abs err {{.*}}, sums of 14 bits: rms of each tile within
// FAST: {{^}}verified

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @main(%a: tensor<128x512xf8E4M3FN>, %b: tensor<128x512xf8E4M3FN>, %c: tensor<128x128xf32>) -> tensor<128x128xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 128, stages = 4, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<128x512xf8E4M3FN>, tensor<128x512xf8E4M3FN>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}
