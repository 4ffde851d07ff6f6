// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-choose-schedule --verify-diagnostics
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --tessera-choose-schedule --verify-diagnostics

// Chips without clusters reject them.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @schedule_c22(%a: memref<512x2048xf16>, %b: memref<2048x512xf16>, %c: memref<512x512xf32>) {
  // expected-error-re @+1 {{schedule_c22: cluster = [2, 1], but {{.+}} does not support multicast in clusters of workgroups; the nearest legal schedule has cluster = [1, 1]}}
  tessera.contract ins(%a, %b : memref<512x2048xf16>, memref<2048x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 16, stages = 1, cluster = [2, 1]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
