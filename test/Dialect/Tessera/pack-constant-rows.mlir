// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-pack-operands | FileCheck %s

// A constant is copied when the program is loaded: it pays for a matmul of any
// size. An argument of the same type is read as it is.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

memref.global "private" constant @weights : memref<64x97xbf16> = dense_resource<weights>

// CHECK-LABEL: func @constant
// CHECK:         %[[W:.+]] = memref.get_global @weights
// CHECK:         %[[M:.+]] = memref.alloc() {{.*}} : memref<64x104xbf16>
// CHECK:         %[[V:.+]] = memref.subview %[[M]]
// CHECK:         linalg.generic {{.*}} ins(%[[W]] : {{.+}}) outs(%[[V]] :
// CHECK:         tessera.contract ins(%arg0, %[[V]] :
func.func @constant(%a: memref<32x64xbf16>, %c: memref<32x97xf32>) {
  %w = memref.get_global @weights : memref<64x97xbf16>
  tessera.contract ins(%a, %w : memref<32x64xbf16>, memref<64x97xbf16>) outs(%c : memref<32x97xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @argument
// CHECK-NOT:     linalg.generic
// CHECK:         tessera.contract ins(%arg0, %arg1 :
func.func @argument(%a: memref<32x64xbf16>, %b: memref<64x97xbf16>, %c: memref<32x97xf32>) {
  tessera.contract ins(%a, %b : memref<32x64xbf16>, memref<64x97xbf16>) outs(%c : memref<32x97xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

{-#
  dialect_resources: {
    builtin: {
      weights: "0x02000000"
    }
  }
#-}
