// RUN: gpu-opt %s --split-input-file --tessera-attach-chip="target=cuda chip=sm_80" --tessera-tile-attention --canonicalize --cse | FileCheck %s

// Changed scores, bounds and pages.

#q = affine_map<(b, h, m, n, d, e) -> (b, h, m, d)>
#k = affine_map<(b, h, m, n, d, e) -> (n, d)>
#v = affine_map<(b, h, m, n, d, e) -> (n, e)>
#o = affine_map<(b, h, m, n, d, e) -> (b, h, m, e)>

func.func @pages(%q: memref<2x4x1x64xf16>, %k: memref<100x16x64xf16>, %v: memref<100x16x64xf16>, %o: memref<2x4x1x64xf16>,
                 %table: memref<2x32xi32>, %lengths: memref<2xi32>, %slopes: memref<4xf32>) {
  %n = arith.constant 512 : index
  tessera.attention ins(%q, %k, %v : memref<2x4x1x64xf16>, memref<100x16x64xf16>, memref<100x16x64xf16>) outs(%o : memref<2x4x1x64xf16>)
      maps [#q, #k, #v, #o] scale 0.125 first affine_map<(i, l) -> (l - 256)> last affine_map<(i, l) -> (l - 1)> empty_is_nan
      schedule <workgroup = [16, 64], subgroup = [16, 64], k = 64, kFragment = 32, stages = 1, swizzle = true, splitK = 2>
      keys %n
      length {
      ^bb0(%b: index, %h: index):
        %l = memref.load %lengths[%b] : memref<2xi32>
        %length = arith.index_cast %l : i32 to index
        tessera.yield %length : index
      }
      page {
      ^bb0(%b: index, %h: index, %j: index):
        %c16 = arith.constant 16 : index
        %at = arith.divui %j, %c16 : index
        %p = memref.load %table[%b, %at] : memref<2x32xi32>
        %page = arith.index_cast %p : i32 to index
        tessera.yield %page : index
      }
      score {
      ^bb0(%x: f32, %b: index, %h: index, %i: index, %j: index):
        %slope = memref.load %slopes[%h] : memref<4xf32>
        %s = arith.addf %x, %slope : f32
        tessera.yield %s : f32
      }
  return
}
