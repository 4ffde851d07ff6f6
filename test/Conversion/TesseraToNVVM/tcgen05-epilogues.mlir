// RUN: gpu-runner %s --target=cuda:sm_100a --require-mma --emit=ptx -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx

// Epilogues of sums from tensor memory: they are registers of lanes that have a
// row each, independent of how they were computed.

#mn = affine_map<(m, n) -> (m, n)>
#col = affine_map<(m, n) -> (n)>

// A bias, a ReLU and a residual, ragged edges, by workgroups that have several
// tiles; the output is staged.
// CHECK-LABEL: .entry bias_relu_residual_kernel
// CHECK-DAG:   tcgen05.ld.sync.aligned.32x32b.x32.b32
// CHECK-DAG:   tcgen05.mma.cta_group::1.kind::f16
func.func @bias_relu_residual(%a: tensor<1000x520xbf16>, %b: tensor<520x1000xbf16>, %bias: tensor<1000xf32>, %residual: tensor<1000x1000xbf16>) -> tensor<1000x1000xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1000x1000xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [128, 256], k = 64, stages = 3, swizzle = true, persistent = 8, subgroupsPerFragment = 8, stageOutput = true>} ins(%a, %b : tensor<1000x520xbf16>, tensor<520x1000xbf16>) outs(%c : tensor<1000x1000xf32>) -> tensor<1000x1000xf32>
  %o = tensor.empty() : tensor<1000x1000xbf16>
  %r = linalg.generic {indexing_maps = [#mn, #col, #mn, #mn], iterator_types = ["parallel", "parallel"]} ins(%p, %bias, %residual : tensor<1000x1000xf32>, tensor<1000xf32>, tensor<1000x1000xbf16>) outs(%o : tensor<1000x1000xbf16>) {
  ^bb0(%x: f32, %v: f32, %s: bf16, %old: bf16):
    %sum = arith.addf %x, %v : f32
    %positive = arith.maximumf %sum, %zero : f32
    %wide = arith.extf %s : bf16 to f32
    %all = arith.addf %positive, %wide : f32
    %narrow = arith.truncf %all : f32 to bf16
    linalg.yield %narrow : bf16
  } -> tensor<1000x1000xbf16>
  return %r : tensor<1000x1000xbf16>
}

// Parts of the reduction.
// CHECK-LABEL: .entry parts_kernel
// CHECK-DAG:   tcgen05.mma.cta_group::1.kind::f16
// CHECK-DAG:   tcgen05.ld.sync.aligned.32x32b.x128.b32
func.func @parts(%a: tensor<128x4096xf16>, %b: tensor<4096x128xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x128xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [128, 128], k = 64, stages = 4, swizzle = true, splitK = 4, subgroupsPerFragment = 4>} ins(%a, %b : tensor<128x4096xf16>, tensor<4096x128xf16>) outs(%c : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %r : tensor<128x128xf32>
}

// Parts added up in a cluster: the share of a workgroup is a run of registers.
// CHECK-LABEL: .entry cluster_kernel
// CHECK-DAG:   tcgen05.ld.sync.aligned.32x32b.x32.b32
// CHECK:       mapa.shared::cluster
func.func @cluster(%a: tensor<128x4096xf16>, %b: tensor<4096x256xf16>) -> tensor<128x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x256xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<128x256xf32>) -> tensor<128x256xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [128, 256], k = 64, stages = 2, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 8>} ins(%a, %b : tensor<128x4096xf16>, tensor<4096x256xf16>) outs(%c : tensor<128x256xf32>) -> tensor<128x256xf32>
  return %r : tensor<128x256xf32>
}

// Workgroups that share tiles: a step's completion releases the slots of both.
// CHECK-LABEL: .entry shared_kernel
// CHECK:       tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64
func.func @shared(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [128, 128], k = 64, stages = 4, swizzle = true, subgroupsPerFragment = 4, cluster = [2, 1]>} ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
