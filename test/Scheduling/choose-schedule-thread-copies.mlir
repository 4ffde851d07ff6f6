// Rows that begin at multiples of 8 bytes, not of 16: TMA does not copy them. Where each SM has one tile at most, all
// threads do, and the operands are not copied to aligned rows first.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-pack-operands --tessera-choose-schedule | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-LABEL: func @bytes
// CHECK-NOT:     memref.alloc
// CHECK:         schedule <workgroup = [64, 128], subgroup = [64, 128], k = 128, kFragment = 128, stages = 4, vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4>
func.func @bytes(%a: memref<1000x1000xf8E4M3FN>, %b: memref<1000x1000xf8E4M3FN>, %c: memref<1000x1000xf32>) {
  tessera.contract ins(%a, %b : memref<1000x1000xf8E4M3FN>, memref<1000x1000xf8E4M3FN>) outs(%c : memref<1000x1000xf32>)
      maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// More tiles than SMs: a kernel copies the rows.
// CHECK-LABEL: func @many
// CHECK:         memref.alloc
// CHECK:         schedule
func.func @many(%a: memref<4000x1000xf8E4M3FN>, %b: memref<4000x1000xf8E4M3FN>, %c: memref<4000x4000xf32>) {
  tessera.contract ins(%a, %b : memref<4000x1000xf8E4M3FN>, memref<4000x1000xf8E4M3FN>) outs(%c : memref<4000x4000xf32>)
      maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Rows that begin at multiples of 4 bytes.
// CHECK-LABEL: func @narrow
// CHECK-NOT:     schedule <workgroup = [64, 128], subgroup = [64, 128], k = 128, kFragment = 128, stages = 4
// CHECK:         return
func.func @narrow(%a: memref<1000x1004xf8E4M3FN>, %b: memref<1000x1004xf8E4M3FN>, %c: memref<1000x1000xf32>) {
  tessera.contract ins(%a, %b : memref<1000x1004xf8E4M3FN>, memref<1000x1004xf8E4M3FN>) outs(%c : memref<1000x1000xf32>)
      maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// A long K in parts by single subgroups, which copy rows of 8 bytes themselves: the model expects 13 us, and 20 of copies
// by all threads.
// CHECK-LABEL: func @long
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     subgroupsPerFragment
// CHECK:         splitK =
// CHECK-NOT:     subgroupsPerFragment
// CHECK:         return
func.func @long(%a: memref<448x2540xf16>, %b: memref<320x2540xf16>, %c: memref<448x320xf32>) {
  tessera.contract ins(%a, %b : memref<448x2540xf16>, memref<320x2540xf16>) outs(%c : memref<448x320xf32>)
      maps [#mk, #nk, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
