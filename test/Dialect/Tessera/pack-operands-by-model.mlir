// Where the model of schedules expects a schedule by warpgroups on copied operands to be faster than any other,
// operands are copied although a constant time saved for each multiplication would not pay for it.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-pack-operands | FileCheck %s

#km = affine_map<(z, m, n, k) -> (z, k, m)>
#kn = affine_map<(z, m, n, k) -> (z, k, n)>
#mn = affine_map<(z, m, n, k) -> (z, m, n)>

// CHECK-LABEL: func @batch
// CHECK:         memref.alloc() {{.*}} : memref<8x199x272xbf16>
// CHECK:         linalg.generic
// CHECK:         tessera.contract
func.func @batch(%a: memref<8x199x271xbf16>, %b: memref<8x199x256xbf16>, %c: memref<8x271x256xbf16>) {
  tessera.contract ins(%a, %b : memref<8x199x271xbf16>, memref<8x199x256xbf16>)
      outs(%c : memref<8x271x256xbf16>) maps [#km, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %r = arith.truncf %acc : f32 to bf16
    tessera.yield %r : bf16
  }
  return
}

// One matrix of the batch: the copy would take longer.
// CHECK-LABEL: func @single
// CHECK-NOT:     linalg.generic
// CHECK:         tessera.contract
func.func @single(%a: memref<1x199x271xbf16>, %b: memref<1x199x256xbf16>, %c: memref<1x271x256xbf16>) {
  tessera.contract ins(%a, %b : memref<1x199x271xbf16>, memref<1x199x256xbf16>)
      outs(%c : memref<1x271x256xbf16>) maps [#km, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %r = arith.truncf %acc : f32 to bf16
    tessera.yield %r : bf16
  }
  return
}
