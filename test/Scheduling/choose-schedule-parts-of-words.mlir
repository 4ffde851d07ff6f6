// Parts of K of tf32 whose workgroups have an SM each: steps of a whole line, six of them if they are small.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @few_rows
// CHECK:         schedule <workgroup = [16, 128], subgroup = [16, 32], k = 32, kFragment = 8, stages = 6, vthread = [1, 1], swizzle = true, splitK = 4>
func.func @few_rows(%a: memref<16x4096xf32>, %b: memref<4096x4096xf32>, %c: memref<16x4096xf32>) {
  tessera.contract ins(%a, %b : memref<16x4096xf32>, memref<4096x4096xf32>)
      outs(%c : memref<16x4096xf32>) maps [#mk, #kn, #mn] accumulate f32 precision tf32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @rows
// CHECK:         schedule <workgroup = [128, 128], subgroup = [64, 64], k = 32, kFragment = 8, stages = 4, vthread = [1, 1], swizzle = true, splitK = 4>
func.func @rows(%a: memref<128x4096xf32>, %b: memref<4096x4096xf32>, %c: memref<128x4096xf32>) {
  tessera.contract ins(%a, %b : memref<128x4096xf32>, memref<4096x4096xf32>)
      outs(%c : memref<128x4096xf32>) maps [#mk, #kn, #mn] accumulate f32 precision tf32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
