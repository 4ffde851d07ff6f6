// Bytes of rhs with N along the rows: loads of two columns at a time are as fast as those along K, so that neither K
// nor the columns of a subgroup are divided further than others are.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @many
// One workgroup for each SM has steps of two lines.
// CHECK:         schedule <workgroup = [64, 64], subgroup = [32, 32], k = 256, kFragment = 32, stages = 5, vthread = [1, 1], swizzle = true>
func.func @many(%a: memref<128x4096xi8>, %b: memref<4096x4096xi8>, %c: memref<128x4096xi32>) {
  tessera.contract ins(%a, %b : memref<128x4096xi8>, memref<4096x4096xi8>)
      outs(%c : memref<128x4096xi32>) maps [#mk, #kn, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}

// CHECK-LABEL: func @few
// CHECK:         schedule <workgroup = [32, 32], subgroup = [16, 16], k = 256, kFragment = 32, stages = 6,
func.func @few(%a: memref<32x4096xi8>, %b: memref<4096x4096xi8>, %c: memref<32x4096xi32>) {
  tessera.contract ins(%a, %b : memref<32x4096xi8>, memref<4096x4096xi8>)
      outs(%c : memref<32x4096xi32>) maps [#mk, #kn, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}
