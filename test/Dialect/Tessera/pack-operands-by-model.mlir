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

#mk2 = affine_map<(m, n, k) -> (m, k)>
#kn2 = affine_map<(m, n, k) -> (k, n)>
#mn2 = affine_map<(m, n, k) -> (m, n)>
#n2 = affine_map<(m, n, k) -> (n)>

// The time that warpgroups save would pay for the copy, but the model chooses single subgroups, which copy pieces of 8
// bytes of the rows as they are.
// CHECK-LABEL: func @short_rows
// CHECK-NOT:     linalg.generic
// CHECK:         tessera.contract
// CHECK-NOT:     linalg.generic
// CHECK:       return
func.func @short_rows(%a: memref<802816x24xi8>, %b: memref<24x144xi8>, %s: memref<144xf32>, %c: memref<802816x144xi8>) {
  tessera.contract ins(%a, %b : memref<802816x24xi8>, memref<24x144xi8>)
      extras(%s : memref<144xf32>) outs(%c : memref<802816x144xi8>) maps [#mk2, #kn2, #mn2, #n2] accumulate i32 {
  ^bb0(%acc: i32, %scale: f32):
    %0 = arith.sitofp %acc : i32 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = arith.fptosi %1 : f32 to i8
    tessera.yield %2 : i8
  }
  return
}

// Rows of 20 bytes are copied: their pieces would have 4.
// CHECK-LABEL: func @shorter_pieces
// CHECK:         linalg.generic
// CHECK:         tessera.contract
func.func @shorter_pieces(%a: memref<802816x20xi8>, %b: memref<20x144xi8>, %s: memref<144xf32>, %c: memref<802816x144xi8>) {
  tessera.contract ins(%a, %b : memref<802816x20xi8>, memref<20x144xi8>)
      extras(%s : memref<144xf32>) outs(%c : memref<802816x144xi8>) maps [#mk2, #kn2, #mn2, #n2] accumulate i32 {
  ^bb0(%acc: i32, %scale: f32):
    %0 = arith.sitofp %acc : i32 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = arith.fptosi %1 : f32 to i8
    tessera.yield %2 : i8
  }
  return
}
