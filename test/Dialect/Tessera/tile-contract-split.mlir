// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-tile-contract --canonicalize --split-input-file | FileCheck %s

// A reduction in parts: the parts side by side in a workspace and summed up in their order, or added
// atomically.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(m, n, k) -> (n)>

// CHECK-LABEL: func @ordered
// CHECK-SAME:    %{{.+}}: memref<32x64xf16>, %{{.+}}: memref<64x32xf16>, %[[C:.+]]: memref<32x32xf32>
// CHECK:         %[[W:.+]] = memref.alloc() : memref<2x32x32xf32>
// CHECK-NOT:     linalg.fill
// CHECK:         gpu.launch blocks(%{{[a-z0-9]+}}, %{{[a-z0-9]+}}, %[[PART:[a-z0-9]+]]) in
// CHECK:           tessera.store %{{.+}}, %[[W]][%[[PART]], %c0, %c0] in_bounds : <32x32xf32, acc>, memref<2x32x32xf32>
// CHECK:         linalg.generic {{.*}} outs(%[[C]] : memref<32x32xf32>)
// CHECK:         memref.dealloc %[[W]]
func.func @ordered(%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>) {
  tessera.contract ins(%a, %b : memref<32x64xf16>, memref<64x32xf16>) outs(%c : memref<32x32xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [32, 32], k = 16, splitK = 2> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Added to the output itself, which has its old value.

// CHECK-LABEL: func @output
// CHECK-SAME:    %{{.+}}: memref<32x64xf16>, %{{.+}}: memref<64x32xf16>, %[[C:.+]]: memref<32x32xf32>
// CHECK-NOT:     memref.alloc
// CHECK-NOT:     linalg
// CHECK:         gpu.launch
// CHECK:           tessera.fill
// CHECK-NOT:       tessera.load %[[C]]
// CHECK:           tessera.store %{{.+}}, %[[C]][%{{.+}}, %{{.+}}] in_bounds atomic_add : <32x32xf32, acc>, memref<32x32xf32>
// CHECK:         splitK = 2, splitKReduction = atomic
// CHECK-NOT:     linalg
func.func @output(%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>) {
  tessera.contract ins(%a, %b : memref<32x64xf16>, memref<64x32xf16>) outs(%c : memref<32x32xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [32, 32], k = 16, splitK = 2, splitKReduction = atomic> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// Where the sum starts from a value, the output gets it before.

// CHECK-LABEL: func @init
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<32x32xf32>, %[[INIT:.+]]: f32
// CHECK:         linalg.fill ins(%[[INIT]] : f32) outs(%[[C]] : memref<32x32xf32>)
// CHECK:         gpu.launch
// CHECK:           tessera.store %{{.+}}, %[[C]][%{{.+}}, %{{.+}}] in_bounds atomic_add
func.func @init(%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>, %init: f32) {
  tessera.contract ins(%a, %b : memref<32x64xf16>, memref<64x32xf16>) init(%init : f32)
      outs(%c : memref<32x32xf32>) maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [32, 32], k = 16, splitK = 2, splitKReduction = atomic> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(m, n, k) -> (n)>

// Another element type, or an epilogue: to one workspace of accumulators, whatever the number of parts.

// CHECK-LABEL: func @epilogue
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<32x32xf16>, %[[BIAS:.+]]: memref<32xf32>
// CHECK:         %[[W:.+]] = memref.alloc() : memref<1x32x32xf32>
// CHECK:         linalg.fill ins(%{{.+}} : f32) outs(%[[W]] : memref<1x32x32xf32>)
// CHECK:         gpu.launch
// CHECK:           tessera.store %{{.+}}, %[[W]][%c0, %c0, %c0] in_bounds atomic_add : <32x32xf32, acc>, memref<1x32x32xf32>
// CHECK:         linalg.generic {{.*}} ins(%[[BIAS]] : memref<32xf32>) outs(%[[C]] : memref<32x32xf16>)
// CHECK-NOT:       scf.for
// CHECK:           %[[SUM:.+]] = memref.load %[[W]]
// CHECK:           arith.addf %[[SUM]]
// CHECK:         memref.dealloc %[[W]]
func.func @epilogue(%a: memref<32x128xf16>, %b: memref<128x32xf16>, %c: memref<32x32xf16>, %bias: memref<32xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<32x128xf16>, memref<128x32xf16>) init(%zero : f32)
      extras(%bias : memref<32xf32>) outs(%c : memref<32x32xf16>) maps [#mk, #kn, #mn, #n] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [32, 32], k = 16, splitK = 8, splitKReduction = atomic> {
  ^bb0(%acc: f32, %x: f32):
    %y = arith.addf %acc, %x : f32
    %z = arith.truncf %y : f32 to f16
    tessera.yield %z : f16
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// A matrix that the epilogue only adds is stored before the parts.

// CHECK-LABEL: func @addend
// CHECK-SAME:    %[[C:[a-z0-9]+]]: memref<32x32xf32>, %[[X:.+]]: memref<32x32xf32>
// CHECK:         memref.copy %[[X]], %[[C]]
// CHECK:         gpu.launch
// CHECK:           tessera.store %{{.+}}, %[[C]][%{{.+}}, %{{.+}}] in_bounds atomic_add
// CHECK-NOT:     linalg
func.func @addend(%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>, %x: memref<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<32x64xf16>, memref<64x32xf16>) init(%zero : f32)
      extras(%x : memref<32x32xf32>) outs(%c : memref<32x32xf32>) maps [#mk, #kn, #mn, #mn] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [32, 32], k = 16, splitK = 2, splitKReduction = atomic> {
  ^bb0(%acc: f32, %e: f32):
    %y = arith.addf %acc, %e : f32
    tessera.yield %y : f32
  }
  return
}
