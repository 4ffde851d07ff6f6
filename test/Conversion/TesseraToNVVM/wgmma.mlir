// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s

// The matmuls of a warpgroup: operands from workgroup memory, and one wait for
// both instructions of a step.

#map2 = affine_map<(m, n, k) -> (m, n)>
#across = affine_map<(m, n, k) -> (k, m)>
#along = affine_map<(m, n, k) -> (n, k)>

// A by rows is the instruction's own order, b by rows is stored across: 0, 1.
// The stride from one pattern of eight rows to the next is 8 * 64 bytes of a
// (swizzled in 64: 2 << 62), and 8 * 128 of b (1 << 62), whose leading dimension
// goes to the next panel (32 rows of 128 bytes). Instructions along K are 32
// bytes apart in a, and 16 rows in b.
// CHECK-LABEL: .entry rows_kernel
// CHECK:       mbarrier.try_wait.parity
// CHECK:       or.b64 %{{.+}}, -9223371899415822336
// CHECK:       or.b32 %{{.+}}, %{{.+}}, 2;
// CHECK:       or.b64 %{{.+}}, -9223371899415822336
// CHECK:       or.b64 %{{.+}}, 4611686293305294848
// CHECK:       add.s32 %{{.+}}, %{{.+}}, 128;
// CHECK:       or.b64 %{{.+}}, 4611686293305294848
// CHECK:       mbarrier.try_wait.parity
// CHECK:       wgmma.fence.sync.aligned;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{.+}}, p, 1, 1, 0, 1;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16 {{.+}}, p, 1, 1, 0, 1;
// CHECK-NEXT:  wgmma.commit_group.sync.aligned;
// CHECK-NEXT:  wgmma.wait_group.sync.aligned 0;
func.func @rows(%a: tensor<256x512xf16>, %b: tensor<512x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x512xf16>, tensor<512x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// TMA does not support rows of 514 bytes. Data that threads have written is
// fenced before the barrier after which the instructions read it.
// CHECK-LABEL: .entry unaligned_kernel
// CHECK-NOT:   cp.async.bulk
// CHECK:       cp.async.wait_group
// CHECK-NEXT:  fence.proxy.async.shared::cta;
// CHECK-NEXT:  bar.sync 0;
// CHECK:       wgmma.mma_async
func.func @unaligned(%a: tensor<256x257xf16>, %b: tensor<257x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x257xf16>, tensor<257x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// The other way round: 1, 0.
// CHECK-LABEL: .entry columns_kernel
// CHECK:       wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {{.+}}, p, 1, 1, 1, 0;
func.func @columns(%a: tensor<512x256xbf16>, %b: tensor<256x512xbf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %r = linalg.matmul indexing_maps = [#across, #along, #map2] {tessera.schedule = #tessera.schedule<workgroup = [64, 256], subgroup = [64, 256], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<512x256xbf16>, tensor<256x512xbf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
