// A few columns by a matrix that is read from memory once: each SM has a workgroup, or two, with as many
// stages as there is room for.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-map-matvec --tessera-choose-schedule | FileCheck %s
// A chip whose workgroups do not load in bulk has another schedule.
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-choose-schedule | FileCheck %s --check-prefix=OTHER
// OTHER-NOT: workgroup = [64, 16]

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#nm = affine_map<(m, n, k) -> (n, m)>

// 64 tiles: each in two parts, which a cluster adds up.
// CHECK-LABEL: func @parts
// CHECK:         schedule <workgroup = [64, 16], subgroup = [64, 16], k = 128, kFragment = 128, stages = 11, vthread = [1, 1], swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4>
func.func @parts(%w: memref<4096x11008xbf16>, %a: memref<4x11008xbf16>, %c: memref<4x4096xf32>) {
  tessera.contract ins(%w, %a : memref<4096x11008xbf16>, memref<4x11008xbf16>)
      outs(%c : memref<4x4096xf32>) maps [#mk, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// 112 tiles.
// CHECK-LABEL: func @whole
// CHECK:         schedule <workgroup = [64, 16], subgroup = [64, 16], k = 128, kFragment = 128, stages = 11, vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4>
func.func @whole(%w: memref<4096x7168xf16>, %a: memref<16x4096xf16>, %c: memref<16x7168xf32>) {
  tessera.contract ins(%w, %a : memref<4096x7168xf16>, memref<16x4096xf16>)
      outs(%c : memref<16x7168xf32>) maps [#km, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// 224 tiles, or 112 of twice the rows.
// CHECK-LABEL: func @pairs
// CHECK:         schedule <workgroup = [128, 16], subgroup = [64, 16], k = 128, kFragment = 128, stages = 6, vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4>
func.func @pairs(%w: memref<4096x14336xf16>, %a: memref<8x4096xf16>, %c: memref<8x14336xf32>) {
  tessera.contract ins(%w, %a : memref<4096x14336xf16>, memref<8x4096xf16>)
      outs(%c : memref<8x14336xf32>) maps [#km, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// 172 tiles, or 86 of twice the rows: two tiles on some SMs.
// CHECK-LABEL: func @resident
// CHECK:         schedule <workgroup = [64, 16], subgroup = [64, 16], k = 128, kFragment = 128, stages = 5, vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4>
func.func @resident(%w: memref<11008x4096xf16>, %a: memref<8x4096xf16>, %c: memref<8x11008xf32>) {
  tessera.contract ins(%w, %a : memref<11008x4096xf16>, memref<8x4096xf16>)
      outs(%c : memref<8x11008xf32>) maps [#mk, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// One column is not left to plain threads.
// CHECK-LABEL: func @one
// CHECK-NOT:     gpu.launch
// CHECK:         schedule <workgroup = [64, 16],
// OTHER-LABEL: func @one
func.func @one(%w: memref<4096x11008xbf16>, %a: memref<1x11008xbf16>, %c: memref<1x4096xf32>) {
  tessera.contract ins(%w, %a : memref<4096x11008xbf16>, memref<1x11008xbf16>)
      outs(%c : memref<1x4096xf32>) maps [#mk, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @wide
// CHECK:         schedule <workgroup = [64, 32], subgroup = [64, 32], k = 128, kFragment = 128, stages = 9, vthread = [1, 1], swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4>
func.func @wide(%w: memref<4096x11008xbf16>, %a: memref<32x11008xbf16>, %c: memref<32x4096xf32>) {
  tessera.contract ins(%w, %a : memref<4096x11008xbf16>, memref<32x11008xbf16>)
      outs(%c : memref<32x4096xf32>) maps [#mk, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func @bytes
// CHECK:         schedule <workgroup = [64, 16], subgroup = [64, 16], k = 256, kFragment = 256, stages = 8, vthread = [1, 1], swizzle = true, splitK = 2, splitKReduction = cluster, subgroupsPerFragment = 4>
func.func @bytes(%w: memref<4096x4096xf8E4M3FN>, %a: memref<16x4096xf8E4M3FN>, %c: memref<16x4096xf32>) {
  tessera.contract ins(%w, %a : memref<4096x4096xf8E4M3FN>, memref<16x4096xf8E4M3FN>)
      outs(%c : memref<16x4096xf32>) maps [#mk, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Too many columns, a matrix that stays in the cache, too many tiles, too few, rows that are not aligned.
// CHECK-LABEL: func @others
// CHECK-NOT:     workgroup = [{{64|128}}, {{16|32}}]
// CHECK:         return
func.func @others(%w: memref<4096x11008xbf16>, %a: memref<33x11008xbf16>, %c: memref<33x4096xf32>,
                  %v: memref<4096x1024xbf16>, %b: memref<4x1024xbf16>, %d: memref<4x4096xf32>,
                  %x: memref<65536x1024xbf16>, %e: memref<4x65536xf32>,
                  %y: memref<1024x16384xbf16>, %f: memref<4x16384xbf16>, %g: memref<4x1024xf32>,
                  %z: memref<4096x11009xbf16>, %h: memref<4x11009xbf16>) {
  tessera.contract ins(%w, %a : memref<4096x11008xbf16>, memref<33x11008xbf16>)
      outs(%c : memref<33x4096xf32>) maps [#mk, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%v, %b : memref<4096x1024xbf16>, memref<4x1024xbf16>)
      outs(%d : memref<4x4096xf32>) maps [#mk, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%x, %b : memref<65536x1024xbf16>, memref<4x1024xbf16>)
      outs(%e : memref<4x65536xf32>) maps [#mk, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%y, %f : memref<1024x16384xbf16>, memref<4x16384xbf16>)
      outs(%g : memref<4x1024xf32>) maps [#mk, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  tessera.contract ins(%z, %h : memref<4096x11009xbf16>, memref<4x11009xbf16>)
      outs(%d : memref<4x4096xf32>) maps [#mk, #nk, #nm] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
