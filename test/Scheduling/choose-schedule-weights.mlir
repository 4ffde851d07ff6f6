// A few rows by weights of 8 or 4 bits: whole lines of weights in a step, whatever the groups of scales are, and
// parts of K that give each SM several workgroups. Weights along N, more rows, and weights as wide as the other
// operand have other schedules.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-map-matvec --tessera-choose-schedule | FileCheck %s
// A chip without such instructions computes one row by plain threads.
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --tessera-map-matvec | FileCheck %s --check-prefix=OTHER

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#s128 = affine_map<(m, n, k) -> (n, k floordiv 128)>
#s32 = affine_map<(m, n, k) -> (n, k floordiv 32)>

// CHECK-LABEL: func @token
// CHECK-NOT:     gpu.launch
// CHECK:         tessera.contract
// CHECK-SAME:      schedule <workgroup = [16, 64], subgroup = [16, 16], k = 128, kFragment = 64, stages = 4, vthread = [1, 1], swizzle = true, splitK = 4>
// OTHER-LABEL: func @token
// OTHER:         gpu.launch
func.func @token(%a: memref<1x4096xf16>, %w: memref<4096x4096xi8>, %s: memref<4096x32xf16>, %c: memref<1x4096xf32>) {
  tessera.contract ins(%a, %w : memref<1x4096xf16>, memref<4096x4096xi8>) rhs_inputs(%s : memref<4096x32xf16>)
      outs(%c : memref<1x4096xf32>) maps [#mk, #nk, #mn, #s128] accumulate f32
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

// CHECK-LABEL: func @groups
// CHECK-SAME:    memref<16x4096xf16>
// CHECK:         schedule <workgroup = [16, 128], subgroup = [16, 16], k = 256, kFragment = 32, stages = 4,
func.func @groups(%a: memref<16x4096xf16>, %w: memref<4096x4096xi4>, %s: memref<4096x128xf16>, %c: memref<16x4096xf32>) {
  tessera.contract ins(%a, %w : memref<16x4096xf16>, memref<4096x4096xi4>) rhs_inputs(%s : memref<4096x128xf16>)
      outs(%c : memref<16x4096xf32>) maps [#mk, #nk, #mn, #s32] accumulate f32
      rhs_producer {
      ^bb0(%q: i4, %x: f16):
        %f = arith.sitofp %q : i4 to f16
        %d = arith.mulf %f, %x : f16
        tessera.yield %d : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @along_n
// CHECK:         gpu.launch
func.func @along_n(%a: memref<1x4096xf16>, %w: memref<4096x4096xi8>, %c: memref<1x4096xf32>) {
  tessera.contract ins(%a, %w : memref<1x4096xf16>, memref<4096x4096xi8>)
      outs(%c : memref<1x4096xf32>) maps [#mk, #kn, #mn] accumulate f32
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

// CHECK-LABEL: func @many_rows
// CHECK-NOT:     kFragment = 64
// CHECK:         schedule
// CHECK-NOT:     kFragment = 64
// CHECK:         return
func.func @many_rows(%a: memref<512x4096xf16>, %w: memref<4096x4096xi8>, %c: memref<512x4096xf32>) {
  tessera.contract ins(%a, %w : memref<512x4096xf16>, memref<4096x4096xi8>)
      outs(%c : memref<512x4096xf32>) maps [#mk, #nk, #mn] accumulate f32
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

// Weights as lhs.
// CHECK-LABEL: func @turned
// CHECK-NOT:     gpu.launch
// CHECK:         schedule <workgroup = [64, 8], subgroup = [16, 8], k = 256, kFragment = 64, stages = 3, vthread = [1, 1], swizzle = true, splitK = 4>
func.func @turned(%a: memref<1x4096xf16>, %w: memref<4096x4096xi8>, %c: memref<1x4096xf32>) {
  tessera.contract ins(%w, %a : memref<4096x4096xi8>, memref<1x4096xf16>)
      outs(%c : memref<1x4096xf32>) maps [#nk, #mk, #mn] accumulate f32
      lhs_producer {
      ^bb0(%q: i8):
        %f = arith.sitofp %q : i8 to f16
        tessera.yield %f : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Many rows by weights as lhs: instructions of a warpgroup, which read weights from registers. Each SM has two
// workgroups of one group, or one of several. A scale for 32 elements shortens the fragments; the rows are padded to
// a multiple of 32.
// CHECK-LABEL: func @many
// CHECK:         schedule <workgroup = [64, 128], subgroup = [64, 128], k = 64, kFragment = 64, stages = 5, vthread = [1, 1], swizzle = true, splitK = 4, subgroupsPerFragment = 4>
func.func @many(%a: memref<128x4096xbf16>, %w: memref<4096x4096xi8>, %s: memref<4096x32xbf16>, %c: memref<128x4096xf32>) {
  tessera.contract ins(%w, %a : memref<4096x4096xi8>, memref<128x4096xbf16>) lhs_inputs(%s : memref<4096x32xbf16>)
      outs(%c : memref<128x4096xf32>) maps [#nk, #mk, #mn, #s128] accumulate f32
      lhs_producer {
      ^bb0(%q: i8, %x: bf16):
        %f = arith.sitofp %q : i8 to bf16
        %d = arith.mulf %f, %x : bf16
        tessera.yield %d : bf16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @many_short
// CHECK:         schedule <workgroup = [256, 96], subgroup = [64, 96], k = 128, kFragment = 32, stages = 4, vthread = [1, 1], swizzle = true, splitK = 8, subgroupsPerFragment = 4>
func.func @many_short(%a: memref<70x4096xf16>, %w: memref<4096x4096xi4>, %s: memref<4096x128xf16>, %c: memref<70x4096xf32>) {
  tessera.contract ins(%w, %a : memref<4096x4096xi4>, memref<70x4096xf16>) lhs_inputs(%s : memref<4096x128xf16>)
      outs(%c : memref<70x4096xf32>) maps [#nk, #mk, #mn, #s32] accumulate f32
      lhs_producer {
      ^bb0(%q: i4, %x: f16):
        %f = arith.sitofp %q : i4 to f16
        %d = arith.mulf %f, %x : f16
        tessera.yield %d : f16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// 86 tiles of 128 weights would leave a third of the SMs idle.
// CHECK-LABEL: func @many_tiles
// CHECK:         schedule <workgroup = [256, 128], subgroup = [64, 128], k = 128, kFragment = 64, stages = 4, vthread = [1, 1], swizzle = true, splitK = 3, subgroupsPerFragment = 4>
func.func @many_tiles(%a: memref<128x4096xbf16>, %w: memref<11008x4096xi4>, %s: memref<11008x32xbf16>, %c: memref<128x11008xf32>) {
  tessera.contract ins(%w, %a : memref<11008x4096xi4>, memref<128x4096xbf16>) lhs_inputs(%s : memref<11008x32xbf16>)
      outs(%c : memref<128x11008xf32>) maps [#nk, #mk, #mn, #s128] accumulate f32
      lhs_producer {
      ^bb0(%q: i4, %x: bf16):
        %f = arith.sitofp %q : i4 to bf16
        %d = arith.mulf %f, %x : bf16
        tessera.yield %d : bf16
      } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// No rows at all.
// CHECK-LABEL: func @empty
// CHECK:         schedule
func.func @empty(%a: memref<4x4096xf16>, %w: memref<0x4096xi8>, %c: memref<4x0xf32>) {
  tessera.contract ins(%a, %w : memref<4x4096xf16>, memref<0x4096xi8>)
      outs(%c : memref<4x0xf32>) maps [#mk, #nk, #mn] accumulate f32
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
