// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-tile-contract --canonicalize --cse | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#two = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 16], k = 64, kFragment = 64, stages = 1, splitK = 2>

// Seven steps in two parts: the last part has three. No element is beyond the end of K, so the producer's
// results are used as they are.

// CHECK-LABEL: func @uneven
// CHECK:         gpu.launch blocks(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %[[PART:[a-z0-9]+]]) in
// CHECK:           %[[FIRST:.+]] = arith.muli %[[PART]], %c256
// CHECK:           %[[LAST:.+]] = arith.cmpi eq, %[[PART]], %c1
// CHECK:           %[[STEPS:.+]] = arith.select %[[LAST]], %c3, %c4
// CHECK:           scf.for %[[I:.+]] = %c0 to %[[STEPS]] step %c1
// CHECK:             %[[K:.+]] = arith.addi %[[FIRST]]
// CHECK:             tessera.map
// CHECK-NEXT:        ^bb0(%{{[^:]+}}: i8):
// CHECK-NOT:         arith.select
// CHECK:             tessera.mma
func.func @uneven(%a: memref<16x448xf16>, %w: memref<64x448xi8>, %c: memref<16x64xf32>) {
  tessera.contract ins(%a, %w : memref<16x448xf16>, memref<64x448xi8>) outs(%c : memref<16x64xf32>)
      maps [#mk, #nk, #mn] accumulate f32 schedule #two
      rhs_producer {
      ^bb0(%q: i8):
        %f = arith.sitofp %q : i8 to f16
        tessera.yield %f : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// The last step of 440 elements is not whole.

// CHECK-LABEL: func @ragged
// CHECK:         scf.for %{{.+}} = %c0 to %c4 step %c1
// CHECK:           tessera.map
// CHECK:             arith.cmpi ult, %{{.+}}, %c440
// CHECK:             arith.select
func.func @ragged(%a: memref<16x440xf16>, %w: memref<64x440xi8>, %c: memref<16x64xf32>) {
  tessera.contract ins(%a, %w : memref<16x440xf16>, memref<64x440xi8>) outs(%c : memref<16x64xf32>)
      maps [#mk, #nk, #mn] accumulate f32 schedule #two
      rhs_producer {
      ^bb0(%q: i8):
        %f = arith.sitofp %q : i8 to f16
        tessera.yield %f : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Without a producer, the number of steps stays constant.

// CHECK-LABEL: func @plain
// CHECK:         scf.for %{{.+}} = %c0 to %c4 step %c1
func.func @plain(%a: memref<16x448xf16>, %w: memref<64x448xf16>, %c: memref<16x64xf32>) {
  tessera.contract ins(%a, %w : memref<16x448xf16>, memref<64x448xf16>) outs(%c : memref<16x64xf32>)
      maps [#mk, #nk, #mn] accumulate f32 schedule #two {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Five steps in four parts of two: the last part would have none.

// CHECK-LABEL: func @empty
// CHECK:         scf.for %{{.+}} = %c0 to %c2 step %c1
// CHECK:           arith.cmpi ult, %{{.+}}, %c320
func.func @empty(%a: memref<16x320xf16>, %w: memref<64x320xi8>, %c: memref<16x64xf32>) {
  tessera.contract ins(%a, %w : memref<16x320xf16>, memref<64x320xi8>) outs(%c : memref<16x64xf32>)
      maps [#mk, #nk, #mn] accumulate f32
      schedule #tessera.schedule<workgroup = [16, 64], subgroup = [16, 16], k = 64, kFragment = 64, stages = 1, splitK = 4>
      rhs_producer {
      ^bb0(%q: i8):
        %f = arith.sitofp %q : i8 to f16
        tessera.yield %f : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
