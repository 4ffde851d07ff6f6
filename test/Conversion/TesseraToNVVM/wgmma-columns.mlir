// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s

// Tiles of adjacent columns are one instruction, whose columns need not be a power of two. The rows of b
// are one after the other in memory if b is stored along K; across K, a fragment must begin with a panel
// of 64 columns, which the second one of 96 does not.

#row = affine_map<(m, n, k) -> (m, k)>
#along = affine_map<(m, n, k) -> (n, k)>
#across = affine_map<(m, n, k) -> (k, n)>
#sum = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: .entry along_kernel
// CHECK-NOT:   wgmma.mma_async.{{.*}}n32k
// CHECK:       wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16
func.func @along(%a: tensor<256x512xf16>, %b: tensor<384x512xf16>, %c: tensor<256x384xf32>) -> tensor<256x384xf32> {
  %r = linalg.matmul indexing_maps = [#row, #along, #sum] {tessera.schedule = #tessera.schedule<workgroup = [64, 192], subgroup = [64, 96], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4>}
    ins(%a, %b : tensor<256x512xf16>, tensor<384x512xf16>) outs(%c : tensor<256x384xf32>) -> tensor<256x384xf32>
  return %r : tensor<256x384xf32>
}

// CHECK-LABEL: .entry whole_panels_kernel
// CHECK-NOT:   wgmma.mma_async.{{.*}}n64k
// CHECK:       wgmma.mma_async.sync.aligned.m64n192k16.f32.f16.f16
func.func @whole_panels(%a: tensor<256x512xf16>, %b: tensor<512x384xf16>, %c: tensor<256x384xf32>) -> tensor<256x384xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 192], subgroup = [64, 192], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4>}
    ins(%a, %b : tensor<256x512xf16>, tensor<512x384xf16>) outs(%c : tensor<256x384xf32>) -> tensor<256x384xf32>
  return %r : tensor<256x384xf32>
}

// CHECK-LABEL: .entry within_panels_kernel
// CHECK-NOT:   wgmma.mma_async.{{.*}}n96k
// CHECK:       wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16
func.func @within_panels(%a: tensor<256x512xf16>, %b: tensor<512x384xf16>, %c: tensor<256x384xf32>) -> tensor<256x384xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 192], subgroup = [64, 96], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4>}
    ins(%a, %b : tensor<256x512xf16>, tensor<512x384xf16>) outs(%c : tensor<256x384xf32>) -> tensor<256x384xf32>
  return %r : tensor<256x384xf32>
}

// 96 columns across K are three panels of 32, which a descriptor reads with the swizzle of 64 bytes (2 in bits
// 62 and 63, and 512 bytes from one pattern of eight rows to the next), one panel of 64 rows after the other.
// CHECK-LABEL: .entry narrow_panels_kernel
// CHECK:       .param .align 64 .b8 narrow_panels_kernel_param_{{.*}}[128]
// CHECK-COUNT-4: cp.async.bulk.tensor.2d.shared::cluster.global
// CHECK:       or.b64 %{{.*}}, -9223371899415822336;
// CHECK:       wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16
func.func @narrow_panels(%a: tensor<256x512xf16>, %b: tensor<512x96xf16>, %c: tensor<256x96xf32>) -> tensor<256x96xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 96], subgroup = [64, 96], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4>}
    ins(%a, %b : tensor<256x512xf16>, tensor<512x96xf16>) outs(%c : tensor<256x96xf32>) -> tensor<256x96xf32>
  return %r : tensor<256x96xf32>
}

// At most 256 columns: the fifth tile of 64 has an instruction of its own.
// CHECK-LABEL: .entry most_kernel
// CHECK:       wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
func.func @most(%a: tensor<256x512xf16>, %b: tensor<640x512xf16>, %c: tensor<256x640xf32>) -> tensor<256x640xf32> {
  %r = linalg.matmul indexing_maps = [#row, #along, #sum] {tessera.schedule = #tessera.schedule<workgroup = [64, 320], subgroup = [64, 320], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4>}
    ins(%a, %b : tensor<256x512xf16>, tensor<640x512xf16>) outs(%c : tensor<256x640xf32>) -> tensor<256x640xf32>
  return %r : tensor<256x640xf32>
}

// The default for columns of which two tiles of 128 would waste a quarter.
// CHECK-LABEL: .entry by_default_kernel
// CHECK:       wgmma.mma_async.sync.aligned.m64n96k16.f32.f16.f16
func.func @by_default(%a: tensor<4096x4096xf16>, %b: tensor<192x4096xf16>, %c: tensor<4096x192xf32>) -> tensor<4096x192xf32> {
  %r = linalg.matmul indexing_maps = [#row, #along, #sum]
    ins(%a, %b : tensor<4096x4096xf16>, tensor<192x4096xf16>) outs(%c : tensor<4096x192xf32>) -> tensor<4096x192xf32>
  return %r : tensor<4096x192xf32>
}
