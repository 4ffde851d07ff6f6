// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-pack-weights | FileCheck %s
// A chip without instructions for narrow weights reads them as they are.
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --tessera-pack-weights | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: linalg.generic

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#scale = affine_map<(m, n, k) -> (k floordiv 64, n)>
// CHECK-DAG: #[[NK:.+]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[SWAP:.+]] = affine_map<(d0, d1) -> (d1, d0)>

memref.global "private" constant @weights : memref<256x96xi8> = dense_resource<weights>

// CHECK-LABEL: func @constant
// CHECK:         %[[W:.+]] = memref.get_global @weights
// CHECK:         %[[M:.+]] = memref.alloc() {alignment = 16 : i64} : memref<96x256xi8>
// CHECK:         linalg.generic {indexing_maps = [#[[SWAP]], #{{.+}}]
// CHECK-SAME:      ins(%[[W]] : memref<256x96xi8>) outs(%[[M]] : memref<96x256xi8>)
// CHECK-SAME:      tessera.packing = "copies weights of a matmul, 256x96xi8, to rows along K"
// CHECK:         tessera.contract ins(%arg0, %[[M]] :
// CHECK-SAME:      #[[NK]]
// CHECK:         memref.dealloc %[[M]]
func.func @constant(%a: memref<8x256xf16>, %s: memref<4x96xf16>, %c: memref<8x96xf32>) {
  %w = memref.get_global @weights : memref<256x96xi8>
  tessera.contract ins(%a, %w : memref<8x256xf16>, memref<256x96xi8>) rhs_inputs(%s : memref<4x96xf16>)
      outs(%c : memref<8x96xf32>) maps [#mk, #kn, #mn, #scale] accumulate f32
      rhs_producer {
      ^bb0(%q: i8, %x: f16):
        %f = arith.sitofp %q : i8 to f16
        %d = arith.mulf %f, %x : f16
        tessera.yield %d : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// An argument would be copied in each run.
// CHECK-LABEL: func @argument
// CHECK-NOT:     memref.alloc
// CHECK:         return
func.func @argument(%a: memref<8x256xf16>, %w: memref<256x96xi8>, %s: memref<4x96xf16>, %c: memref<8x96xf32>) {
  tessera.contract ins(%a, %w : memref<8x256xf16>, memref<256x96xi8>) rhs_inputs(%s : memref<4x96xf16>)
      outs(%c : memref<8x96xf32>) maps [#mk, #kn, #mn, #scale] accumulate f32
      rhs_producer {
      ^bb0(%q: i8, %x: f16):
        %f = arith.sitofp %q : i8 to f16
        %d = arith.mulf %f, %x : f16
        tessera.yield %d : f16
      } {
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
