// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=x86-64-avx512},func.func(tessera-block-reductions))" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=x86-64-avx512-vnni},func.func(tessera-block-reductions))" | FileCheck %s --check-prefix=DOTS
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-block-reductions))" | FileCheck %s --check-prefix=OTHER

// Only chips whose policy has the size of a cache divide reductions.
// OTHER-NOT: memref.subview

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(m, n, k) -> (n)>

// The output keeps the sums, and the last block has the epilogue.

// CHECK-LABEL: func @in_output
// CHECK-SAME:      %[[A:[a-z0-9]+]]: memref<500x2500xf32>, %[[B:[a-z0-9]+]]: memref<2500x1200xf32>, %[[C:[a-z0-9]+]]: memref<500x1200xf32>
// CHECK:         %[[ZERO:.+]] = arith.constant 0.0
// CHECK-NOT:     memref.alloc
// CHECK:         %[[A0:.+]] = memref.subview %[[A]][0, 0] [500, 848] [1, 1]
// CHECK:         %[[B0:.+]] = memref.subview %[[B]][0, 0] [848, 1200] [1, 1]
// CHECK:         tessera.contract ins(%[[A0]], %[[B0]] :
// CHECK-SAME:      init(%[[ZERO]] : f32) outs(%[[C]] :
// CHECK-NEXT:    ^bb0(%[[ACC0:.+]]: f32):
// CHECK-NEXT:      tessera.yield %[[ACC0]]
// CHECK:         %[[A1:.+]] = memref.subview %[[A]][0, 848] [500, 848] [1, 1]
// CHECK:         %[[B1:.+]] = memref.subview %[[B]][848, 0] [848, 1200] [1, 1]
// CHECK:         tessera.contract ins(%[[A1]], %[[B1]] :
// CHECK-SAME:      {{>\)}} outs(%[[C]] :
// CHECK-NEXT:    ^bb0(%[[ACC1:.+]]: f32):
// CHECK-NEXT:      tessera.yield %[[ACC1]]
// CHECK:         %[[A2:.+]] = memref.subview %[[A]][0, 1696] [500, 804] [1, 1]
// CHECK:         %[[B2:.+]] = memref.subview %[[B]][1696, 0] [804, 1200] [1, 1]
// CHECK:         tessera.contract ins(%[[A2]], %[[B2]] :
// CHECK-SAME:      {{>\)}} outs(%[[C]] :
// CHECK-NEXT:    ^bb0(%[[ACC2:.+]]: f32):
// CHECK-NEXT:      %[[Y:.+]] = arith.maximumf %[[ACC2]]
// CHECK-NEXT:      tessera.yield %[[Y]]
// CHECK-NOT:     tessera.contract
func.func @in_output(%a: memref<500x2500xf32>, %b: memref<2500x1200xf32>, %c: memref<500x1200xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<500x2500xf32>, memref<2500x1200xf32>) init(%zero : f32)
      outs(%c : memref<500x1200xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %y = arith.maximumf %acc, %zero : f32
    tessera.yield %y : f32
  }
  return
}

// An epilogue that reads memory, which may be the output's: the sums have a buffer of their own, and the sum
// continues from the old value of the output.

// CHECK-LABEL: func @in_buffer
// CHECK-SAME:      %[[A:[a-z0-9]+]]: memref<500x2000xf32>, %[[B:[a-z0-9]+]]: memref<1500x2000xf32>, %[[BIAS:[a-z0-9]+]]: memref<1500xf32>, %[[C:[a-z0-9]+]]: memref<500x1500xf32>
// CHECK-DAG:     %[[SUMS:.+]] = memref.alloc() : memref<500x1500xf32>
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0.0
// CHECK:         tessera.contract ins(%{{[a-z0-9_]+}}, %{{[a-z0-9_]+}} :
// CHECK-SAME:      init(%[[ZERO]] : f32) outs(%[[SUMS]] :
// CHECK-NEXT:    ^bb0(%[[ACC0:.+]]: f32):
// CHECK-NEXT:      tessera.yield %[[ACC0]]
// CHECK:         %[[B1:.+]] = memref.subview %[[B]][0, 1008] [1500, 992] [1, 1]
// CHECK:         tessera.contract ins(%{{[a-z0-9_]+}}, %[[B1]] :
// CHECK-SAME:      extras(%[[BIAS]], %[[C]], %[[SUMS]] :
// CHECK-SAME:      outs(%[[C]] :
// CHECK-NEXT:    ^bb0(%[[ACC1:.+]]: f32, %[[X:.+]]: f32, %[[OLD:.+]]: f32, %[[SUM:.+]]: f32):
// CHECK-NEXT:      %[[ALL:.+]] = arith.addf %[[SUM]], %[[ACC1]]
// CHECK-NEXT:      %[[BIASED:.+]] = arith.addf %[[ALL]], %[[X]]
// CHECK-NEXT:      %[[Y:.+]] = arith.mulf %[[BIASED]], %[[OLD]]
// CHECK-NEXT:      tessera.yield %[[Y]]
// CHECK:         memref.dealloc %[[SUMS]]
func.func @in_buffer(%a: memref<500x2000xf32>, %b: memref<1500x2000xf32>, %bias: memref<1500xf32>, %c: memref<500x1500xf32>) {
  tessera.contract ins(%a, %b : memref<500x2000xf32>, memref<1500x2000xf32>)
      extras(%bias, %c : memref<1500xf32>, memref<500x1500xf32>)
      outs(%c : memref<500x1500xf32>) maps [#mk, #nk, #mn, #n, #mn] accumulate f32 {
  ^bb0(%acc: f32, %x: f32, %old: f32):
    %0 = arith.addf %acc, %x : f32
    %y = arith.mulf %0, %old : f32
    tessera.yield %y : f32
  }
  return
}

// At most 16 blocks.

// CHECK-LABEL: func @many
// CHECK-COUNT-16: tessera.contract
// CHECK-NOT:      tessera.contract
func.func @many(%a: memref<64x65536xf64>, %b: memref<65536x64xf64>, %c: memref<64x64xf64>) {
  tessera.contract ins(%a, %b : memref<64x65536xf64>, memref<65536x64xf64>)
      outs(%c : memref<64x64xf64>) maps [#mk, #kn, #mn] accumulate f64 {
  ^bb0(%acc: f64):
    tessera.yield %acc : f64
  }
  return
}

// A rhs of 8 MiB, a lhs of 1 MiB, a K of one block, halves, and a schedule: as before.

// CHECK-LABEL: func @whole
// CHECK-NOT:     memref.subview
func.func @whole(%a0: memref<4096x4096xf32>, %b0: memref<4096x512xf32>, %c0: memref<4096x512xf32>,
                 %a1: memref<64x4096xf32>, %b1: memref<4096x4096xf32>, %c1: memref<64x4096xf32>,
                 %a2: memref<4096x1500xf32>, %b2: memref<1500x4096xf32>, %c2: memref<4096x4096xf32>,
                 %a3: memref<4096x4096xf16>, %b3: memref<4096x4096xf16>) {
  tessera.contract ins(%a0, %b0 : memref<4096x4096xf32>, memref<4096x512xf32>)
      outs(%c0 : memref<4096x512xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%a1, %b1 : memref<64x4096xf32>, memref<4096x4096xf32>)
      outs(%c1 : memref<64x4096xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%a2, %b2 : memref<4096x1500xf32>, memref<1500x4096xf32>)
      outs(%c2 : memref<4096x4096xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%a3, %b3 : memref<4096x4096xf16>, memref<4096x4096xf16>)
      outs(%c2 : memref<4096x4096xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%b1, %b1 : memref<4096x4096xf32>, memref<4096x4096xf32>)
      outs(%c2 : memref<4096x4096xf32>) maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [8, 16], subgroup = [8, 16], k = 1, kFragment = 1, stages = 0, vthread = [1, 1]> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Bytes are as fast only with dot products.

// CHECK-LABEL: func @bytes
// CHECK-COUNT-1: tessera.contract
// CHECK-NOT:     tessera.contract
// DOTS-LABEL: func @bytes
// DOTS-COUNT-4: tessera.contract
// DOTS-NOT:     tessera.contract
func.func @bytes(%a: memref<1024x4096xi8>, %b: memref<4096x4096xi8>, %c: memref<1024x4096xi32>) {
  tessera.contract ins(%a, %b : memref<1024x4096xi8>, memref<4096x4096xi8>)
      outs(%c : memref<1024x4096xi32>) maps [#mk, #kn, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}
