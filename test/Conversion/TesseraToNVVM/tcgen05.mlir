// RUN: gpu-runner %s --target=cuda:sm_100a --allow-tf32 --emit=ptx | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_100a --allow-tf32 --require-mma --explain --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=EXPLAIN

// Matmuls whose sums are in tensor memory: one thread issues them, and their
// completion releases the slot that they read.

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// EXPLAIN: code for sm_100a was never executed on hardware

// The instruction descriptor 136380432 is 0x8210010: 128 rows (8 << 24), 128
// columns (16 << 17), b across (1 << 16), sums of f32 (1 << 4). Matrix
// descriptors have the constant 1 << 46 and the swizzle of 128 bytes, 2 << 61;
// the stride from one pattern of eight rows to the next is 64 << 32. The first instruction
// overwrites the accumulator in the first iteration. The first thread of each of the two groups
// waits for the slot, which its matmuls release; all wait once.
// CHECK-LABEL: .entry rows_kernel
// CHECK:       mbarrier.init.shared.b64 [{{.+}}], %[[ONE:r[0-9]+]];
// CHECK:       tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [__dynamic_shmem__0], %{{.+}};
// CHECK-NEXT:  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
// CHECK:       tcgen05.fence::before_thread_sync;
// CHECK:       bar.sync 1, 256;
// CHECK:       tcgen05.fence::after_thread_sync;
// CHECK:       mbarrier.try_wait.parity.shared::cta.b64
// CHECK:       tcgen05.fence::after_thread_sync;
// CHECK:       mov.b32 %{{.+}}, 1073758272;
// CHECK:       setp.ne.b64 %[[LATER:p[0-9]+]], %{{.+}};
// CHECK:       mov.b32 %[[KIND:r[0-9]+]], 136380432;
// CHECK:       tcgen05.mma.cta_group::1.kind::f16.collector::a::discard [%[[SUMS:r[0-9]+]]], %{{.+}}, %{{.+}}, %[[KIND]], %[[LATER]];
// CHECK-COUNT-3: tcgen05.mma.cta_group::1.kind::f16.collector::a::discard [%[[SUMS]]], %{{.+}}, %{{.+}}, %[[KIND]], %{{.+}};
// CHECK-NEXT:  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64
// CHECK:       tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64
// CHECK:       mbarrier.try_wait.parity.shared::cta.b64
// CHECK:       tcgen05.fence::after_thread_sync;
// CHECK:       tcgen05.ld.sync.aligned.32x32b.x128.b32
// CHECK:       tcgen05.wait::ld.sync.aligned;
// CHECK:       tcgen05.fence::before_thread_sync;
// CHECK:       bar.sync %{{.+}}, 128;
// CHECK:       tcgen05.dealloc.cta_group::1.sync.aligned.b32
func.func @rows(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [256, 128], subgroup = [128, 128], k = 64, stages = 4, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// Eight subgroups have 256 columns, 32 at a time. Both operands are stored across
// (a by columns, b by rows of its transpose: along K): 1 << 15, bf16 is 1 << 7
// and 1 << 10.
// CHECK-LABEL: .entry wide_kernel
// CHECK-COUNT-4: tcgen05.ld.sync.aligned.32x32b.x32.b32
// CHECK-NOT:   tcgen05.ld
// CHECK:       mov.b32 %[[KIND:r[0-9]+]], 138445968;
// CHECK:       tcgen05.mma.cta_group::1.kind::f16.collector::a::discard [%{{.+}}], %{{.+}}, %{{.+}}, %[[KIND]], %{{.+}};
func.func @wide(%a: tensor<512x512xbf16>, %b: tensor<512x512xbf16>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.matmul indexing_maps = [#km, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [128, 256], k = 64, stages = 4, swizzle = true, persistent = 2, subgroupsPerFragment = 8>} ins(%a, %b : tensor<512x512xbf16>, tensor<512x512xbf16>) outs(%c : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// If all threads copy, all of them wait for each step's matmuls, and
// synchronize before the next ones.
// CHECK-LABEL: .entry unaligned_kernel
// CHECK:       cp.async.wait_group
// CHECK:       fence.proxy.async.shared::cta;
// CHECK-NEXT:  bar.sync 0;
// CHECK:       tcgen05.mma.cta_group::1.kind::f16
// CHECK:       tcgen05.commit.cta_group::1
// CHECK:       mbarrier.try_wait.parity.shared::cta.b64
// CHECK:       tcgen05.fence::before_thread_sync;
// CHECK-NEXT:  bar.sync 2, 128;
// CHECK:       tcgen05.ld.sync.aligned.32x32b.x128.b32
func.func @unaligned(%a: tensor<256x257xf16>, %b: tensor<257x256xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [128, 128], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x257xf16>, tensor<257x256xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// A loop that may have no iterations starts from the stored sums.
// CHECK-LABEL: .entry dynamic_kernel
// CHECK:       tcgen05.st.sync.aligned.32x32b.x64.b32
// CHECK:       tcgen05.wait::st.sync.aligned;
// CHECK:       tcgen05.fence::before_thread_sync;
// CHECK-NEXT:  bar.sync 2, 128;
// CHECK:       tcgen05.mma.cta_group::1.kind::f16
// CHECK:       tcgen05.ld.sync.aligned.32x32b.x64.b32
func.func @dynamic(%a: tensor<256x?xf16>, %b: tensor<256x?xf16>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [128, 64], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x?xf16>, tensor<256x?xf16>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// Rows of 128 bytes along K: 2 << 7, 2 << 10.
// CHECK-LABEL: .entry tf32_kernel
// CHECK:       mov.b32 %[[KIND:r[0-9]+]], 136317200;
// CHECK:       tcgen05.mma.cta_group::1.kind::tf32.collector::a::discard [%{{.+}}], %{{.+}}, %{{.+}}, %[[KIND]], %{{.+}};
func.func @tf32(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [128, 128], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// Signed: 1 << 7, 1 << 10; sums of i32 (2 << 4); b across (1 << 16), which wgmma
// does not read.
// CHECK-LABEL: .entry i8_kernel
// CHECK:       mov.b32 %[[KIND:r[0-9]+]], 136381600;
// CHECK:       tcgen05.mma.cta_group::1.kind::i8.collector::a::discard [%{{.+}}], %{{.+}}, %{{.+}}, %[[KIND]], %{{.+}};
func.func @i8(%a: tensor<256x256xi8>, %b: tensor<256x256xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [128, 128], k = 128, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x256xi8>, tensor<256x256xi8>) outs(%c : tensor<256x256xi32>) -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}

// e4m3 is 0, e5m2 is 1 << 10; 16 columns are 2 << 17.
// CHECK-LABEL: .entry f8_kernel
// CHECK:       mov.b32 %[[KIND:r[0-9]+]], 134480912;
// CHECK:       tcgen05.mma.cta_group::1.kind::f8f6f4.collector::a::discard [%{{.+}}], %{{.+}}, %{{.+}}, %[[KIND]], %{{.+}};
func.func @f8(%a: tensor<256x256xf8E4M3FN>, %b: tensor<256x256xf8E5M2>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 16], subgroup = [128, 16], k = 128, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x256xf8E4M3FN>, tensor<256x256xf8E5M2>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// The part that belongs to the schedule.
// CHECK-LABEL: .entry default_kernel
// CHECK-COUNT-4: tcgen05.ld.sync.aligned.32x32b.x32.b32
// CHECK-COUNT-4: tcgen05.mma.cta_group::1.kind::f16
func.func @default(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %c = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
