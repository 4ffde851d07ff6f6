// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s

// The matmuls of a warpgroup that read operands only along K: a row-major and b
// column-major. Their instructions do not encode another order.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A row of 128 bytes is 32 elements, four instructions.
// CHECK-LABEL: .entry tf32_kernel
// CHECK:       cp.async.bulk.tensor.2d
// CHECK-COUNT-8: or.b64 %{{.+}}, 46116862933052948
// CHECK:       wgmma.fence.sync.aligned;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {{.+}}, p, 1, 1;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {{.+}}, p, 1, 1;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {{.+}}, p, 1, 1;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k8.f32.tf32.tf32 {{.+}}, p, 1, 1;
// CHECK-NEXT:  wgmma.commit_group.sync.aligned;
func.func @tf32(%a: tensor<256x512xf32>, %b: tensor<256x512xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.allow_tf32, tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x512xf32>, tensor<256x512xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// 128 elements, four instructions; integers have no factors for the operands.
// CHECK-LABEL: .entry s8_kernel
// CHECK:       cp.async.bulk.tensor.2d
// CHECK-COUNT-8: or.b64 %{{.+}}, 46116862933052948
// CHECK:       wgmma.fence.sync.aligned;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {{.+}}, p;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {{.+}}, p;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {{.+}}, p;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {{.+}}, p;
// CHECK-NEXT:  wgmma.commit_group.sync.aligned;
func.func @s8(%a: tensor<256x512xi8>, %b: tensor<256x512xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 128, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x512xi8>, tensor<256x512xi8>) outs(%c : tensor<256x256xi32>) -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}

// Rows of 64 bytes, swizzled in 64.
// CHECK-LABEL: .entry u8_kernel
// CHECK:       or.b64 %{{.+}}, -9223371899415822336
// CHECK:       wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 {{.+}}, p;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 {{.+}}, p;
func.func @u8(%a: tensor<256x512xi8>, %b: tensor<256x512xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {cast = #linalg.type_fn<cast_unsigned>, tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 64], k = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x512xi8>, tensor<256x512xi8>) outs(%c : tensor<256x256xi32>) -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}

// Rows of 32 bytes, swizzled in 32; one operand unsigned.
// CHECK-LABEL: .entry u8_s8_kernel
// CHECK:       or.b64 %{{.+}}, -4611685949707911168
// CHECK:       wgmma.mma_async.sync.aligned.m64n32k32.s32.u8.s8 {{.+}}, p;
// CHECK-NEXT:  wgmma.commit_group.sync.aligned;
func.func @u8_s8(%a: tensor<256x512xi8>, %b: tensor<256x512xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %r = linalg.generic {indexing_maps = [#mk, #nk, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<256x512xi8>, tensor<256x512xi8>) outs(%c : tensor<256x256xi32>) attrs = {tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 32], k = 32, stages = 3, swizzle = true, subgroupsPerFragment = 4>} {
  ^bb0(%x: i8, %y: i8, %acc: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.muli %0, %1 : i32
    %3 = arith.addi %acc, %2 : i32
    linalg.yield %3 : i32
  } -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}

// For 8-bit floats, 128 terms are summed from zero, and the sum is added to the accumulator by
// other instructions: matrix units keep few bits.
// CHECK-LABEL: .entry f8_kernel
// CHECK:       cp.async.bulk.tensor.2d
// CHECK:       setp.ne.b32 p, 1, 0;
// CHECK:       setp.ne.b32 q, 0, 0;
// CHECK-NEXT:  wgmma.fence.sync.aligned;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2 {{.+}}, q, 1, 1;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2 {{.+}}, p, 1, 1;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2 {{.+}}, p, 1, 1;
// CHECK-NEXT:  wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e5m2 {{.+}}, p, 1, 1;
// CHECK-NEXT:  wgmma.commit_group.sync.aligned;
// CHECK-NEXT:  wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-64: add.rn.f32
func.func @f8(%a: tensor<256x512xf8E4M3FN>, %b: tensor<256x512xf8E5M2>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 128], subgroup = [64, 128], k = 128, stages = 4, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x512xf8E4M3FN>, tensor<256x512xf8E5M2>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// A longer step has several such sums.
// CHECK-LABEL: .entry f8_long_kernel
// CHECK:       wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e4m3 {{.+}}, q, 1, 1;
// CHECK-COUNT-3: wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e4m3 {{.+}}, p, 1, 1;
// CHECK:       wgmma.wait_group.sync.aligned 0;
// CHECK-COUNT-32: add.rn.f32
// CHECK:       wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e4m3 {{.+}}, q, 1, 1;
// CHECK-COUNT-3: wgmma.mma_async.sync.aligned.m64n64k32.f32.e5m2.e4m3 {{.+}}, p, 1, 1;
func.func @f8_long(%a: tensor<256x512xf8E5M2>, %b: tensor<256x512xf8E4M3FN>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.schedule = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 64], k = 256, stages = 3, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x512xf8E5M2>, tensor<256x512xf8E4M3FN>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// Where that is permitted, one sum: with twice the columns in the registers.
// CHECK-LABEL: .entry f8_fast_kernel
// CHECK-NOT:   setp.ne.b32 q
// CHECK-COUNT-4: wgmma.mma_async.sync.aligned.m64n256k32.f32.e5m2.e5m2 {{.+}}, p, 1, 1;
// CHECK-NEXT:  wgmma.commit_group.sync.aligned;
func.func @f8_fast(%a: tensor<256x512xf8E5M2>, %b: tensor<256x512xf8E5M2>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] {tessera.allow_fast_f8, tessera.schedule = #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 128, stages = 4, swizzle = true, subgroupsPerFragment = 4>} ins(%a, %b : tensor<256x512xf8E5M2>, tensor<256x512xf8E5M2>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}

// By default, with aligned rows and in the right order: along K.
// CHECK-LABEL: .entry default_kernel
// CHECK:       wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8
func.func @default(%a: tensor<2048x2048xi8>, %b: tensor<2048x2048xi8>, %c: tensor<2048x2048xi32>) -> tensor<2048x2048xi32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<2048x2048xi8>, tensor<2048x2048xi8>) outs(%c : tensor<2048x2048xi32>) -> tensor<2048x2048xi32>
  return %r : tensor<2048x2048xi32>
}

// B by rows: an instruction of one subgroup, which has it in registers.
// CHECK-LABEL: .entry rows_kernel
// CHECK-NOT:   wgmma
// CHECK:       mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
// CHECK-NOT:   wgmma
func.func @rows(%a: tensor<256x512xi8>, %b: tensor<512x256xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<256x512xi8>, tensor<512x256xi8>) outs(%c : tensor<256x256xi32>) -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}

// f32 without permission for tf32 is not changed.
// CHECK-LABEL: .entry ieee_kernel
// CHECK-NOT:   mma
func.func @ieee(%a: tensor<256x512xf32>, %b: tensor<256x512xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<256x512xf32>, tensor<256x512xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
