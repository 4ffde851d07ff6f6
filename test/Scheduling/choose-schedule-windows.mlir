// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule | FileCheck %s

// Steps of convolutions divide the channels, where windows can be copied in bulk.

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h + r - 1, w + s - 1, c)>
#hwcf = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
#out = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>

// More tiles than SMs: copies for the next tile start early.

// CHECK-LABEL: func @whole
// CHECK:       schedule <workgroup = [192, 64], subgroup = [64, 64], k = 64, kFragment = 64, stages = 6, {{.*}}persistent = 132, subgroupsPerFragment = 4, stageOutput = true>
func.func @whole(%a: memref<32x56x56x64xf16>, %b: memref<3x3x64x64xf16>, %c: memref<32x56x56x64xf16>) {
  tessera.contract ins(%a, %b : memref<32x56x56x64xf16>, memref<3x3x64x64xf16>) outs(%c : memref<32x56x56x64xf16>)
      maps [#image, #hwcf, #out] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// 96 channels: steps of 32, and as many more of them in flight.

// CHECK-LABEL: func @half
// CHECK:       schedule <workgroup = [192, 160], subgroup = [64, 160], k = 32, kFragment = 32, stages = {{[6-9]}}, {{.*}}subgroupsPerFragment = 4, stageOutput = true>
func.func @half(%a: memref<32x28x28x96xf16>, %b: memref<3x3x96x160xf16>, %c: memref<32x28x28x160xf16>) {
  tessera.contract ins(%a, %b : memref<32x28x28x96xf16>, memref<3x3x96x160xf16>) outs(%c : memref<32x28x28x160xf16>)
      maps [#image, #hwcf, #out] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// 24 channels: steps of 16 do not divide them. All threads copy, steps of the
// tiling's, and a workgroup has one tile.

// CHECK-LABEL: func @gathered
// CHECK:       schedule <{{.*}} k = 64, {{.*}}swizzle = true, {{.*}}subgroupsPerFragment = 4
// CHECK-NOT:   persistent
// CHECK:       return
func.func @gathered(%a: memref<32x56x56x24xf16>, %b: memref<3x3x24x64xf16>, %c: memref<32x56x56x64xf16>) {
  tessera.contract ins(%a, %b : memref<32x56x56x24xf16>, memref<3x3x24x64xf16>) outs(%c : memref<32x56x56x64xf16>)
      maps [#image, #hwcf, #out] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
