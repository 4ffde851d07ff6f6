// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-choose-schedule --verify-diagnostics | FileCheck %s
// RUN: not gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_81" --tessera-choose-schedule 2>&1 | FileCheck %s --check-prefix=CHIP

// CHIP: unknown chip 'sm_81' of target 'cuda'

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// An existing schedule is kept; others are chosen, on memrefs only.

// CHECK-LABEL: func @memrefs
// Sixteen tiles of 128x128 would leave most SMs idle.
// CHECK:       schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 4, vthread = [1, 1], swizzle = true> {
// CHECK:       schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2, vthread = [1, 2], interleave = 1, swizzle = true, splitK = 2, splitKReduction = atomic, raster = 8, persistent = 132> {
func.func @memrefs(%a: memref<512x512xf16>, %b: memref<512x512xf16>, %c: memref<512x512xf32>) {
  tessera.contract ins(%a, %b : memref<512x512xf16>, memref<512x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%a, %b : memref<512x512xf16>, memref<512x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 2, vthread = [1, 2],
                interleave = 1, swizzle = true, splitK = 2, splitKReduction = atomic,
                raster = 8, persistent = 132> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @tensors
// CHECK-NOT:   schedule
func.func @tensors(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %r = tessera.contract ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}

// A long reduction of few tiles is cut into parts; many tiles are taken in bands.

// CHECK-LABEL: func @long
// CHECK:       swizzle = true, splitK = 4> {
func.func @long(%a: memref<512x65536xf16>, %b: memref<65536x512xf16>, %c: memref<512x512xf32>) {
  tessera.contract ins(%a, %b : memref<512x65536xf16>, memref<65536x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @many
// CHECK:       swizzle = true, raster = 8> {
func.func @many(%a: memref<8192x64xf16>, %b: memref<64x8192xf16>, %c: memref<8192x8192xf32>) {
  tessera.contract ins(%a, %b : memref<8192x64xf16>, memref<64x8192xf16>) outs(%c : memref<8192x8192xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// A schedule that nothing asks for.

// CHECK-LABEL: func @lost
func.func @lost(%a: memref<64xf32>, %b: memref<64xf32>) {
  // expected-warning @+1 {{schedule has no effect: this op is not lowered to tessera.contract}}
  linalg.exp {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32>}
      ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
  return
}

// Rows that are reduced are whole: 210 columns, and as many fewer rows.

// CHECK-LABEL: func @rows
// CHECK:         workgroup = [64, 216], subgroup = [16, 216]
func.func @rows(%a: memref<512x64xf16>, %b: memref<64x210xf16>, %c: memref<512x210xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<512x64xf16>, memref<64x210xf16>) init(%zero : f32)
      outs(%c : memref<512x210xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %sum = tessera.row_reduce add %acc : f32
    tessera.yield %sum : f32
  }
  return
}

// Without a matrix unit, tiles become smaller if SMs would be idle with as many
// parts of K as are useful.

// CHECK-LABEL: func @plain_f32
// CHECK:         schedule <workgroup = [32, 32],
// CHECK-NOT:     splitK
// CHECK:         schedule <workgroup = [32, 64],{{.*}} splitK = 4
func.func @plain_f32(%a: memref<196x1024xf32>, %b: memref<1024x256xf32>, %c: memref<196x256xf32>,
                     %d: memref<196x2304xf32>, %e: memref<2304x256xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<196x1024xf32>, memref<1024x256xf32>) init(%zero : f32)
      outs(%c : memref<196x256xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%d, %e : memref<196x2304xf32>, memref<2304x256xf32>) init(%zero : f32)
      outs(%c : memref<196x256xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
