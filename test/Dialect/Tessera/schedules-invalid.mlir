// RUN: gpu-opt %s --tessera-tile-contract="target=cuda chip=sm_80" --split-input-file --verify-diagnostics

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @threads(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{the schedule needs 2048 threads in a workgroup (64 subgroups of 32), and sm_80 has 1024; enlarge 'subgroup' or reduce 'workgroup'}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [16, 16], k = 16, kFragment = 16, stages = 1> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @memory(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>) {
  // expected-error @+1 {{bytes of workgroup memory, and sm_80 has 166912; reduce 'stages', 'k' or 'workgroup'}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x64xf16>) outs(%c : memref<64x64xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [128, 128], subgroup = [64, 64], k = 256, kFragment = 16, stages = 4> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
