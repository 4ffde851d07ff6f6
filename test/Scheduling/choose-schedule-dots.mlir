// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx512-vnni" --tessera-choose-schedule | FileCheck %s

// Dot products of bytes on the CPU.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Registers hold the sums, a row of rhs, the sums of its columns, and the offset. A fragment has several elements of K,
// after which the sums of columns are subtracted, if the last one is whole.

// CHECK-LABEL: func @sixteen
// CHECK:         schedule <workgroup = [8, 32], subgroup = [8, 32], k = 16, kFragment = 16, stages = 0
// CHECK-LABEL: func @eight
// CHECK:         schedule <workgroup = [8, 48], subgroup = [8, 48], k = 8, kFragment = 8, stages = 0
// CHECK-LABEL: func @four
// CHECK:         schedule <workgroup = [7, 32], subgroup = [7, 32], k = 4, kFragment = 4, stages = 0
func.func @sixteen(%a: memref<512x512xi8>, %b: memref<512x512xi8>, %c: memref<512x512xi32>) {
  tessera.contract ins(%a, %b : memref<512x512xi8>, memref<512x512xi8>) outs(%c : memref<512x512xi32>)
      maps [#mk, #kn, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}
func.func @eight(%a: memref<1000x1000xi8>, %b: memref<1000x1000xi8>, %c: memref<1000x1000xi32>) {
  tessera.contract ins(%a, %b : memref<1000x1000xi8>, memref<1000x1000xi8>) outs(%c : memref<1000x1000xi32>)
      maps [#mk, #kn, #mn] accumulate i32 unsigned_a {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}
func.func @four(%a: memref<49x147xi8>, %b: memref<147x64xi8>, %c: memref<49x64xi32>) {
  tessera.contract ins(%a, %b : memref<49x147xi8>, memref<147x64xi8>) outs(%c : memref<49x64xi32>)
      maps [#mk, #kn, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}
