// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=nvidia-hopper" --tessera-choose-schedule | FileCheck %s
//
// The default schedules of attention where rows of scores pass through workgroup memory: queries are in registers, so
// that tiles of keys and values and these rows share the workgroup memory.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#q = affine_map<(h, m, n, d, e) -> (h, m, d)>
#k = affine_map<(h, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>

// CHECK-LABEL: func @narrow
// CHECK:         schedule <workgroup = [64, 64], subgroup = [16, 64], k = 64, kFragment = 64, stages = 1,
func.func @narrow(%q: memref<32x2048x64xf16>, %k: memref<32x2048x64xf16>, %v: memref<32x2048x64xf16>, %o: memref<32x2048x64xf16>) {
  tessera.attention ins(%q, %k, %v : memref<32x2048x64xf16>, memref<32x2048x64xf16>, memref<32x2048x64xf16>) outs(%o : memref<32x2048x64xf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}

// More columns: more queries for each key.
// CHECK-LABEL: func @wide
// CHECK:         schedule <workgroup = [128, 64], subgroup = [16, 64], k = 128, kFragment = 128, stages = 1,
func.func @wide(%q: memref<16x2048x128xf16>, %k: memref<16x2048x128xf16>, %v: memref<16x2048x128xf16>, %o: memref<16x2048x128xf16>) {
  tessera.attention ins(%q, %k, %v : memref<16x2048x128xf16>, memref<16x2048x128xf16>, memref<16x2048x128xf16>) outs(%o : memref<16x2048x128xf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}

// One subgroup for few queries.
// CHECK-LABEL: func @few
// CHECK:         schedule <workgroup = [16, 64], subgroup = [16, 64], k = 64,
func.func @few(%q: memref<32x7x64xf16>, %k: memref<32x2048x64xf16>, %v: memref<32x2048x64xf16>, %o: memref<32x7x64xf16>) {
  tessera.attention ins(%q, %k, %v : memref<32x7x64xf16>, memref<32x2048x64xf16>, memref<32x2048x64xf16>) outs(%o : memref<32x7x64xf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}
