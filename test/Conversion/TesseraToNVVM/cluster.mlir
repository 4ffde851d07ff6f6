// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_90a --entry=few_rows --emit=schedule | FileCheck %s --check-prefix=DEFAULT

// The parts of a reduction are added up by the workgroups of a cluster: each
// thread leaves its sums in its workgroup's memory, and reads a share of all.

// Two parts of 64 columns: 64 x 128 sums of 4 bytes for 128 threads, 64 each,
// of which a workgroup completes 32. The share of the second starts 32 * 512
// bytes after the first's.
// CHECK-LABEL: .entry halves_kernel
// CHECK:       .explicitcluster
// CHECK-NEXT:  .reqnctapercluster 1, 1, 2
// CHECK:       wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16
// CHECK-COUNT-64: st.shared.b32
// CHECK-NOT:   st.shared
// CHECK:       barrier.cluster.arrive.aligned
// CHECK:       barrier.cluster.wait.aligned
// CHECK:       %cluster_ctaid.z
// CHECK:       mapa.shared::cluster.u64 %{{.+}}, %{{.+}}, 0;
// CHECK:       ld.shared::cluster.b32
// CHECK:       mapa.shared::cluster.u64 %{{.+}}, %{{.+}}, 1;
// CHECK:       add.rn.f32
// CHECK:       barrier.cluster.arrive.aligned
// CHECK:       barrier.cluster.wait.aligned
// CHECK-COUNT-16: st.global.b32
// CHECK-NOT:   st.global
// CHECK:       ret;
func.func @halves(%a: tensor<64x256xf16>, %b: tensor<256x128xf16>) -> tensor<64x128xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x128xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<64x256xf16>, tensor<256x128xf16>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  %h = arith.truncf %r : tensor<64x128xf32> to tensor<64x128xf16>
  return %h : tensor<64x128xf16>
}

// The initial value is added once: by the first part, or after the sum.
// CHECK-LABEL: .entry old_kernel
// CHECK:       .reqnctapercluster 1, 1, 4
// CHECK:       barrier.cluster.wait.aligned
// CHECK:       ld.global
// CHECK:       st.global
func.func @old(%a: tensor<64x256xf16>, %b: tensor<256x128xf16>, %c: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 1, swizzle = true, splitK = 4, splitKReduction = cluster, subgroupsPerFragment = 4>} ins(%a, %b : tensor<64x256xf16>, tensor<256x128xf16>) outs(%c : tensor<64x128xf32>) -> tensor<64x128xf32>
  return %r : tensor<64x128xf32>
}

// Few rows: there are fewer tiles than SMs, and two parts for each of these.
// DEFAULT: splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4
func.func @few_rows(%a: tensor<16x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<16x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x4096xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<16x4096xbf16>, tensor<4096x4096xbf16>) outs(%c : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %h = arith.truncf %r : tensor<16x4096xf32> to tensor<16x4096xbf16>
  return %h : tensor<16x4096xbf16>
}
