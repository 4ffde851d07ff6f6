// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-split-waves))" | FileCheck %s
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_80},func.func(tessera-split-waves))" | FileCheck %s --check-prefix=OTHER

// No model of sm_80 was fitted.
// OTHER-NOT: memref.subview

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(m, n, k) -> (n)>
#m = affine_map<(m, n, k) -> (m)>

// 136 tiles of 128x256 are a wave and four: the last row of tiles is the rest. Extras are divided as the output is.

// CHECK-LABEL: func @rows
// CHECK-SAME:      %[[A:[a-z0-9]+]]: memref<2176x2816xf16>, %[[B:[a-z0-9]+]]: memref<2816x1984xf16>, %[[R:[a-z0-9]+]]: memref<2176x1984xf16>, %[[COL:[a-z0-9]+]]: memref<1984xf32>, %[[ROW:[a-z0-9]+]]: memref<2176xf32>, %[[C:[a-z0-9]+]]: memref<2176x1984xf16>
// CHECK:         %[[A0:.+]] = memref.subview %[[A]][0, 0] [2048, 2816] [1, 1]
// CHECK:         %[[C0:.+]] = memref.subview %[[C]][0, 0] [2048, 1984] [1, 1]
// CHECK:         %[[R0:.+]] = memref.subview %[[R]][0, 0] [2048, 1984] [1, 1]
// CHECK:         %[[ROW0:.+]] = memref.subview %[[ROW]][0] [2048] [1]
// CHECK:         tessera.contract ins(%[[A0]], %[[B]] :
// CHECK-SAME:      extras(%[[R0]], %[[COL]], %[[ROW0]] :
// CHECK-SAME:      outs(%[[C0]] :
// CHECK:         %[[A1:.+]] = memref.subview %[[A]][2048, 0] [128, 2816] [1, 1]
// CHECK:         %[[C1:.+]] = memref.subview %[[C]][2048, 0] [128, 1984] [1, 1]
// CHECK:         %[[R1:.+]] = memref.subview %[[R]][2048, 0] [128, 1984] [1, 1]
// CHECK:         %[[ROW1:.+]] = memref.subview %[[ROW]][2048] [128] [1]
// CHECK:         tessera.contract ins(%[[A1]], %[[B]] :
// CHECK-SAME:      extras(%[[R1]], %[[COL]], %[[ROW1]] :
// CHECK-SAME:      outs(%[[C1]] :
// CHECK-NOT:     tessera.contract
func.func @rows(%a: memref<2176x2816xf16>, %b: memref<2816x1984xf16>, %r: memref<2176x1984xf16>, %col: memref<1984xf32>, %row: memref<2176xf32>, %c: memref<2176x1984xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<2176x2816xf16>, memref<2816x1984xf16>) init(%zero : f32)
      extras(%r, %col, %row : memref<2176x1984xf16>, memref<1984xf32>, memref<2176xf32>)
      outs(%c : memref<2176x1984xf16>) maps [#mk, #kn, #mn, #mn, #n, #m] accumulate f32 {
  ^bb0(%acc: f32, %old: f16, %bias: f32, %scale: f32):
    %0 = arith.mulf %acc, %scale : f32
    %1 = arith.addf %0, %bias : f32
    %2 = arith.extf %old : f16 to f32
    %3 = arith.addf %1, %2 : f32
    %y = arith.truncf %3 : f32 to f16
    tessera.yield %y : f16
  }
  return
}

// Columns of rhs and of the output.

// CHECK-LABEL: func @columns
// CHECK-SAME:      %[[A:[a-z0-9]+]]: memref<2560x2560xf16>, %[[B:[a-z0-9]+]]: memref<2560x5120xf16>, %[[C:[a-z0-9]+]]: memref<2560x5120xf16>
// CHECK:         %[[B0:.+]] = memref.subview %[[B]][0, 0] [2560, 4992] [1, 1]
// CHECK:         %[[C0:.+]] = memref.subview %[[C]][0, 0] [2560, 4992] [1, 1]
// CHECK:         tessera.contract ins(%[[A]], %[[B0]] :
// CHECK-SAME:      outs(%[[C0]] :
// CHECK:         %[[B1:.+]] = memref.subview %[[B]][0, 4992] [2560, 128] [1, 1]
// CHECK:         %[[C1:.+]] = memref.subview %[[C]][0, 4992] [2560, 128] [1, 1]
// CHECK:         tessera.contract ins(%[[A]], %[[B1]] :
// CHECK-SAME:      outs(%[[C1]] :
func.func @columns(%a: memref<2560x2560xf16>, %b: memref<2560x5120xf16>, %c: memref<2560x5120xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<2560x2560xf16>, memref<2560x5120xf16>) init(%zero : f32)
      outs(%c : memref<2560x5120xf16>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %y = arith.truncf %acc : f32 to f16
    tessera.yield %y : f16
  }
  return
}

// One wave, a schedule, an unknown extent and a batch.

// CHECK-LABEL: func @one_wave
// CHECK-NOT:     memref.subview
func.func @one_wave(%a: memref<2048x2816xf16>, %b: memref<2816x1984xf16>, %c: memref<2048x1984xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<2048x2816xf16>, memref<2816x1984xf16>) init(%zero : f32)
      outs(%c : memref<2048x1984xf16>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %y = arith.truncf %acc : f32 to f16
    tessera.yield %y : f16
  }
  return
}
func.func @scheduled(%a: memref<2176x2816xf16>, %b: memref<2816x1984xf16>, %c: memref<2176x1984xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<2176x2816xf16>, memref<2816x1984xf16>) init(%zero : f32)
      outs(%c : memref<2176x1984xf16>) maps [#mk, #kn, #mn] accumulate f32
      schedule #tessera.schedule<workgroup = [128, 256], subgroup = [64, 256], k = 64, kFragment = 64, stages = 3, swizzle = true, persistent = 132, subgroupsPerFragment = 4, stageOutput = true> {
  ^bb0(%acc: f32):
    %y = arith.truncf %acc : f32 to f16
    tessera.yield %y : f16
  }
  return
}
func.func @unknown(%a: memref<?x2816xf16>, %b: memref<2816x1984xf16>, %c: memref<?x1984xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<?x2816xf16>, memref<2816x1984xf16>) init(%zero : f32)
      outs(%c : memref<?x1984xf16>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %y = arith.truncf %acc : f32 to f16
    tessera.yield %y : f16
  }
  return
}
func.func @batch(%a: memref<17x128x2816xf16>, %b: memref<17x2816x1984xf16>, %c: memref<17x128x1984xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<17x128x2816xf16>, memref<17x2816x1984xf16>) init(%zero : f32)
      outs(%c : memref<17x128x1984xf16>)
      maps [affine_map<(z, m, n, k) -> (z, m, k)>, affine_map<(z, m, n, k) -> (z, k, n)>, affine_map<(z, m, n, k) -> (z, m, n)>] accumulate f32 {
  ^bb0(%acc: f32):
    %y = arith.truncf %acc : f32 to f16
    tessera.yield %y : f16
  }
  return
}
