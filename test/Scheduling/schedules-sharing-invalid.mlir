// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule --split-input-file --verify-diagnostics

// The requirements of workgroups that share tiles in clusters.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c22_many(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c22: cluster = [4, 4], but a cluster of sm_90a has at most 8 workgroups; the nearest legal schedule has cluster = [2, 4]}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4, cluster = [4, 4]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c22_alone(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c22: cluster = [2, 1], but only bulk copies can share tiles, which require stages, subgroupsPerFragment > 1 and swizzle; the nearest legal schedule has cluster = [1, 1]}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 64], k = 64, kFragment = 16, stages = 2, swizzle = true, cluster = [2, 1]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c22_parts(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c22: cluster = [2, 1], but the parts of a tile already form the cluster; the nearest legal schedule has cluster = [1, 1]}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4, cluster = [2, 1]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c22_persistent(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c22: cluster = [2, 1], but persistent = 131 is not a multiple of the cluster size 2; the nearest legal schedule has persistent = 130}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, persistent = 131, subgroupsPerFragment = 4, cluster = [2, 1]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c22_raster(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c22: cluster = [2, 1], but raster = 3 is not a multiple of the cluster size along M, 2; the nearest legal schedule has cluster = [1, 1]}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, raster = 3, subgroupsPerFragment = 4, cluster = [2, 1]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c22_unaligned(%a: memref<512x2047xf16>, %b: memref<2047x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c22: cluster = [2, 1], but lhs is not loaded by bulk copies; the nearest legal schedule has cluster = [1, 1]}}
  tessera.contract ins(%a, %b : memref<512x2047xf16>, memref<2047x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4, cluster = [2, 1]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c22_rows(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c22: cluster = [3, 1], but its tile of rhs, 64x128, cannot be split into 3 equal parts; the nearest legal schedule has cluster = [2, 1]}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4, cluster = [3, 1]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
