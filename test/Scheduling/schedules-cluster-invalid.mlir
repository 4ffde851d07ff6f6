// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule --split-input-file --verify-diagnostics

// The requirements of parts that are added up in a cluster of workgroups.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c21_few(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c21: splitKReduction = cluster, but a cluster of sm_90a has at most 8 workgroups}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, splitK = 16, splitKReduction = cluster, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c21_three(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c21: splitKReduction = cluster, but the number of workgroups in a cluster must be a power of two}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, splitK = 3, splitKReduction = cluster, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c21_alone(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c21: splitKReduction = cluster, but the reduction in a cluster requires subgroupsPerFragment > 1 and no virtual threads}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 128], subgroup = [64, 64], k = 32, kFragment = 16, stages = 2, splitK = 2, splitKReduction = cluster> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c21_columns(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c21: splitKReduction = cluster, but the share of each workgroup in the 32 columns of a subgroup must be a multiple of 8; the nearest legal schedule has splitK = 4}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 32], subgroup = [64, 32], k = 64, stages = 2, swizzle = true, splitK = 8, splitKReduction = cluster, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// 96 columns are three tiles of 32, and 48 are neither whole tiles nor a narrower one.
func.func @schedule_c21_layout(%a: memref<512x2048xf16>, %b: memref<384x2048xf16>, %c: memref<512x384xf32>) {
  // expected-error @+1 {{schedule_c21: splitKReduction = cluster, but no instruction has the layout of 48 of the 96 columns of a subgroup}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<384x2048xf16>) outs(%c : memref<512x384xf32>)
      maps [#mk, #nk, #mn] accumulate f32
      schedule <workgroup = [64, 96], subgroup = [64, 96], k = 64, stages = 2, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c21_persistent(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c21: splitKReduction = cluster, but the parts of a tile are adjacent in the grid only with persistent = 0 and raster = 0}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, splitK = 2, splitKReduction = cluster, persistent = 4, subgroupsPerFragment = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c21_staged(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error @+1 {{schedule_c21: splitKReduction = cluster, but each workgroup stores its share directly from registers: stageOutput is not supported}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 128], subgroup = [64, 128], k = 64, stages = 2, swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4, stageOutput = true> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
