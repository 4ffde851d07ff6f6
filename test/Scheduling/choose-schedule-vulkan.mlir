// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=nvidia-hopper" --tessera-choose-schedule | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// The large tile, 128x256, would be half empty where there are 128 columns.

// CHECK-LABEL: func @narrow
// CHECK:       schedule <workgroup = [128, 128],
func.func @narrow(%a: memref<25088x512xf16>, %b: memref<512x128xf16>, %c: memref<25088x128xf16>) {
  tessera.contract ins(%a, %b : memref<25088x512xf16>, memref<512x128xf16>) outs(%c : memref<25088x128xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// CHECK-LABEL: func @wide
// CHECK:       schedule <workgroup = [128, 256],
func.func @wide(%a: memref<25088x512xf16>, %b: memref<512x256xf16>, %c: memref<25088x256xf16>) {
  tessera.contract ins(%a, %b : memref<25088x512xf16>, memref<512x256xf16>) outs(%c : memref<25088x256xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
