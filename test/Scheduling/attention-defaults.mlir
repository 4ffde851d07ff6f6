// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule | FileCheck %s
//
// The default schedules of attention with warpgroups: persistent workgroups that stage their output, and the blocks of
// keys with the least estimated time.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#q = affine_map<(h, m, n, d, e) -> (h, m, d)>
#k = affine_map<(h, m, n, d, e) -> (h, n, d)>
#v = affine_map<(h, m, n, d, e) -> (h, n, e)>
#o = affine_map<(h, m, n, d, e) -> (h, m, e)>

// Four blocks of 128 keys are 512 keys; 160 would leave a part of one.
// CHECK-LABEL: func @short
// CHECK:         schedule <workgroup = [128, 128], {{.*}}persistent = 132, {{.*}}stageOutput = true
func.func @short(%q: memref<96x512x64xbf16>, %k: memref<96x512x64xbf16>, %v: memref<96x512x64xbf16>, %o: memref<96x512x64xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<96x512x64xbf16>, memref<96x512x64xbf16>, memref<96x512x64xbf16>) outs(%o : memref<96x512x64xbf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}

// Fewer blocks of more keys.
// CHECK-LABEL: func @long
// CHECK:         schedule <workgroup = [128, 160], {{.*}}persistent = 132, {{.*}}stageOutput = true
func.func @long(%q: memref<32x2048x128xbf16>, %k: memref<32x2048x128xbf16>, %v: memref<32x2048x128xbf16>, %o: memref<32x2048x128xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<32x2048x128xbf16>, memref<32x2048x128xbf16>, memref<32x2048x128xbf16>) outs(%o : memref<32x2048x128xbf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}

// With 64 columns and no mask, registers are left for even more.
// CHECK-LABEL: func @narrow
// CHECK:         schedule <workgroup = [128, 208], {{.*}}persistent = 132, {{.*}}stageOutput = true
func.func @narrow(%q: memref<16x4096x64xbf16>, %k: memref<16x4096x64xbf16>, %v: memref<16x4096x64xbf16>, %o: memref<16x4096x64xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<16x4096x64xbf16>, memref<16x4096x64xbf16>, memref<16x4096x64xbf16>) outs(%o : memref<16x4096x64xbf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}

// A mask takes them, and so do more columns.
// CHECK-LABEL: func @narrow_causal
// CHECK:         schedule <workgroup = [128, 128], {{.*}}persistent = 132, {{.*}}stageOutput = true
func.func @narrow_causal(%q: memref<16x4096x64xbf16>, %k: memref<16x4096x64xbf16>, %v: memref<16x4096x64xbf16>, %o: memref<16x4096x64xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<16x4096x64xbf16>, memref<16x4096x64xbf16>, memref<16x4096x64xbf16>) outs(%o : memref<16x4096x64xbf16>) maps [#q, #k, #v, #o] scale 0.125 causal 0
  return
}

// CHECK-LABEL: func @wide_values
// CHECK:         schedule <workgroup = [128, 160], {{.*}}persistent = 132, {{.*}}stageOutput = true
func.func @wide_values(%q: memref<16x4096x64xbf16>, %k: memref<16x4096x64xbf16>, %v: memref<16x4096x128xbf16>, %o: memref<16x4096x128xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<16x4096x64xbf16>, memref<16x4096x64xbf16>, memref<16x4096x128xbf16>) outs(%o : memref<16x4096x128xbf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}

// The diagonal is in one block of 128 keys, and in two of 160.
// CHECK-LABEL: func @causal
// CHECK:         schedule <workgroup = [128, 128], {{.*}}persistent = 132, {{.*}}stageOutput = true
func.func @causal(%q: memref<32x2048x128xbf16>, %k: memref<32x2048x128xbf16>, %v: memref<32x2048x128xbf16>, %o: memref<32x2048x128xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<32x2048x128xbf16>, memref<32x2048x128xbf16>, memref<32x2048x128xbf16>) outs(%o : memref<32x2048x128xbf16>) maps [#q, #k, #v, #o] scale 0.125 causal 0
  return
}

// It is a small share of the blocks here.
// CHECK-LABEL: func @long_causal
// CHECK:         schedule <workgroup = [128, 160], {{.*}}persistent = 132, {{.*}}stageOutput = true
func.func @long_causal(%q: memref<8x16384x128xbf16>, %k: memref<8x16384x128xbf16>, %v: memref<8x16384x128xbf16>, %o: memref<8x16384x128xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<8x16384x128xbf16>, memref<8x16384x128xbf16>, memref<8x16384x128xbf16>) outs(%o : memref<8x16384x128xbf16>) maps [#q, #k, #v, #o] scale 0.125 causal 0
  return
}

// With the output, 80 keys fill the memory.
// CHECK-LABEL: func @wide
// CHECK:         schedule <workgroup = [128, 80], {{.*}}persistent = 132, {{.*}}stageOutput = true
func.func @wide(%q: memref<96x512x192xbf16>, %k: memref<96x512x192xbf16>, %v: memref<96x512x192xbf16>, %o: memref<96x512x192xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<96x512x192xbf16>, memref<96x512x192xbf16>, memref<96x512x192xbf16>) outs(%o : memref<96x512x192xbf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}

// Less of the blocks is hidden.
// CHECK-LABEL: func @wide_causal
// CHECK:         schedule <workgroup = [128, 64], {{.*}}persistent = 132, {{.*}}stageOutput = true
func.func @wide_causal(%q: memref<96x512x192xbf16>, %k: memref<96x512x192xbf16>, %v: memref<96x512x192xbf16>, %o: memref<96x512x192xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<96x512x192xbf16>, memref<96x512x192xbf16>, memref<96x512x192xbf16>) outs(%o : memref<96x512x192xbf16>) maps [#q, #k, #v, #o] scale 0.125 causal 0
  return
}

// With few keys, the output takes more time than the blocks.
// CHECK-LABEL: func @widest
// CHECK:         schedule <workgroup = [128, 48], {{.*}}persistent = 132, {{.*}}stageOutput = true
func.func @widest(%q: memref<96x512x256xbf16>, %k: memref<96x512x256xbf16>, %v: memref<96x512x256xbf16>, %o: memref<96x512x256xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<96x512x256xbf16>, memref<96x512x256xbf16>, memref<96x512x256xbf16>) outs(%o : memref<96x512x256xbf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}

// With many, blocks of 64 keys leave no memory for the output, which is stored directly.
// CHECK-LABEL: func @widest_long
// CHECK:         schedule <workgroup = [128, 64], {{.*}}persistent = 132, subgroupsPerFragment = 4>
func.func @widest_long(%q: memref<16x4096x256xbf16>, %k: memref<16x4096x256xbf16>, %v: memref<16x4096x256xbf16>, %o: memref<16x4096x256xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<16x4096x256xbf16>, memref<16x4096x256xbf16>, memref<16x4096x256xbf16>) outs(%o : memref<16x4096x256xbf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}

// A workgroup for each tile, if each is of one block.
// CHECK-LABEL: func @one_block
// CHECK:         schedule <{{.*}}swizzle = true, subgroupsPerFragment = 4, stageOutput = true>
func.func @one_block(%q: memref<64x77x64xbf16>, %k: memref<64x77x64xbf16>, %v: memref<64x77x64xbf16>, %o: memref<64x77x64xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<64x77x64xbf16>, memref<64x77x64xbf16>, memref<64x77x64xbf16>) outs(%o : memref<64x77x64xbf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}

// Few queries divide the keys into parts instead.
// CHECK-LABEL: func @decode
// CHECK:         schedule <workgroup = [64, 128], {{.*}}swizzle = true, splitK = 4, subgroupsPerFragment = 4>
func.func @decode(%q: memref<32x1x128xbf16>, %k: memref<32x16384x128xbf16>, %v: memref<32x16384x128xbf16>, %o: memref<32x1x128xbf16>) {
  tessera.attention ins(%q, %k, %v : memref<32x1x128xbf16>, memref<32x16384x128xbf16>, memref<32x16384x128xbf16>) outs(%o : memref<32x1x128xbf16>) maps [#q, #k, #v, #o] scale 0.125
  return
}
