// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule --split-input-file --verify-diagnostics

// Instructions of several subgroups together: their additional requirements.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c19_swizzle(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c19: wgmma.m64n64k16.f32.f16 reads lhs from swizzled workgroup memory, but swizzle is not set; the nearest legal schedule has subgroupsPerFragment = 1}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [64, 64], k = 32, stages = 2, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c7_rows(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+7 {{schedule_c7: subgroup = [32, 64]: no matrix instruction of sm_90a for f16 x f16 -> f32 divides 32 rows; the nearest legal schedule has subgroup = [64, 64]}}
  // expected-note @+6 {{wgmma.m64n256k16.f32.f16: takes multiples of 64x256x16}}
  // expected-note @+5 {{wgmma.m64n128k16.f32.f16}}
  // expected-note @+4 {{wgmma.m64n64k16.f32.f16}}
  // expected-note @+3 {{wgmma.m64n32k16.f32.f16}}
  // expected-note @+2 {{wgmma.m64n16k16.f32.f16}}
  // expected-note @+1 {{wgmma.m64n8k16.f32.f16}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 64], k = 32, stages = 2, swizzle = true, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @no_group_of_two(%a: memref<64x64xf16>, %b: memref<64x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c7: subgroupsPerFragment = 2: sm_90a has no instruction of that many subgroups for f16 x f16 -> f32; the nearest legal schedule has subgroupsPerFragment = 1}}
  tessera.contract ins(%a, %b : memref<64x64xf16>, memref<64x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [64, 64], k = 32, stages = 2, swizzle = true, subgroupsPerFragment = 2> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c19_order_b(%a: memref<64x64xi8>, %b: memref<64x64xi8>, %c: memref<64x64xi32>) {
  // expected-error @+1 {{schedule_c19: wgmma.m64n64k32.i32.i8 reads rhs from swizzled workgroup memory in column-major order, but it is row-major: subgroupsPerFragment = 1 supports either; the nearest legal schedule has subgroupsPerFragment = 1}}
  tessera.contract ins(%a, %b : memref<64x64xi8>, memref<64x64xi8>) outs(%c : memref<64x64xi32>)
      maps [#mk, #kn, #mn] accumulate i32
      schedule <workgroup = [64, 64], subgroup = [64, 64], k = 32, stages = 2, swizzle = true, subgroupsPerFragment = 4> {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}

// -----

#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c19_order_a(%a: memref<64x64xi8>, %b: memref<64x64xi8>, %c: memref<64x64xi32>) {
  // expected-error @+1 {{schedule_c19: wgmma.m64n64k32.i32.i8 reads lhs from swizzled workgroup memory in row-major order, but it is column-major: subgroupsPerFragment = 1 supports either; the nearest legal schedule has subgroupsPerFragment = 1}}
  tessera.contract ins(%a, %b : memref<64x64xi8>, memref<64x64xi8>) outs(%c : memref<64x64xi32>)
      maps [#km, #nk, #mn] accumulate i32
      schedule <workgroup = [64, 64], subgroup = [64, 64], k = 32, stages = 2, swizzle = true, subgroupsPerFragment = 4> {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @f32_is_not_tf32(%a: memref<64x64xf32>, %b: memref<64x64xf32>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{schedule_c7: subgroupsPerFragment = 4: sm_90a has no instruction of that many subgroups for f32 x f32 -> f32; the nearest legal schedule has kFragment = 4, subgroupsPerFragment = 1}}
  tessera.contract ins(%a, %b : memref<64x64xf32>, memref<64x64xf32>) outs(%c : memref<64x64xf32>)
      maps [#mk, #nk, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [64, 64], k = 32, stages = 2, swizzle = true, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @sums_apart(%a: memref<64x256xf8E5M2>, %b: memref<256x256xf8E5M2>, %c: memref<64x256xf32>) {
  // expected-error @+1 {{schedule_c10: requires 256 registers per thread (256 for accumulators, 0 for operands), but sm_90a has 255; the nearest legal schedule has subgroup = [64, 128]}}
  tessera.contract ins(%a, %b : memref<64x256xf8E5M2>, memref<256x256xf8E5M2>) outs(%c : memref<64x256xf32>)
      maps [#mk, #nk, #mn] accumulate f32
      schedule <workgroup = [64, 256], subgroup = [64, 256], k = 32, stages = 2, swizzle = true, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  // Here they are not.
  tessera.contract ins(%a, %b : memref<64x256xf8E5M2>, memref<256x256xf8E5M2>) outs(%c : memref<64x256xf32>)
      maps [#mk, #nk, #mn] accumulate f32 precision fast_f8
      schedule <workgroup = [64, 256], subgroup = [64, 256], k = 32, stages = 2, swizzle = true, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Accumulators alone would take all registers that there are.

func.func @schedule_c11(%a: memref<512x512xf16>, %b: memref<512x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c11: requires 78848 registers per workgroup (154 for each of 512 threads), but sm_90a has 65536; the nearest legal schedule has workgroup = [64, 512]}}
  tessera.contract ins(%a, %b : memref<512x512xf16>, memref<512x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 512], subgroup = [64, 256], k = 64, stages = 1, swizzle = true, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
