// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=nvidia-hopper" --tessera-choose-schedule | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// The second tile of 128x256 would be half empty for 384 columns. Tiles of
// 128x128 take three rounds of 264, and those of 96x128, whose rounds are
// shorter, as many; tiles of 64x128 three of 396, which take a little longer.

// CHECK-LABEL: func @half
// CHECK:       schedule <workgroup = [96, 128], subgroup = [48, 64], k = 32,
func.func @half(%a: memref<25088x512xf16>, %b: memref<512x384xf16>, %c: memref<25088x384xf16>) {
  tessera.contract ins(%a, %b : memref<25088x512xf16>, memref<512x384xf16>) outs(%c : memref<25088x384xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// One round of each.

// CHECK-LABEL: func @narrow
// CHECK:       schedule <workgroup = [96, 128], subgroup = [48, 64], k = 32,
func.func @narrow(%a: memref<25088x512xf16>, %b: memref<512x128xf16>, %c: memref<25088x128xf16>) {
  tessera.contract ins(%a, %b : memref<25088x512xf16>, memref<512x128xf16>) outs(%c : memref<25088x128xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// Few tiles: K is divided where it has 12 steps or more. In tiles of half the
// rows, the parts are as many, and each SM has two of them.

// CHECK-LABEL: func @few
// CHECK:       schedule <workgroup = [32, 64], subgroup = [16, 32], k = 64, {{.*}} splitK = 4>
func.func @few(%a: memref<256x1024xf16>, %b: memref<1024x512xf16>, %c: memref<256x512xf16>) {
  tessera.contract ins(%a, %b : memref<256x1024xf16>, memref<1024x512xf16>) outs(%c : memref<256x512xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// CHECK-LABEL: func @short
// CHECK-NOT:   splitK
// CHECK:       return
func.func @short(%a: memref<256x640xf16>, %b: memref<640x512xf16>, %c: memref<256x512xf16>) {
  tessera.contract ins(%a, %b : memref<256x640xf16>, memref<640x512xf16>) outs(%c : memref<256x512xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// Two rounds of each, of which those of 96x128 are the shortest.

// CHECK-LABEL: func @wide
// CHECK:       schedule <workgroup = [96, 128], subgroup = [48, 64],
func.func @wide(%a: memref<25088x512xf16>, %b: memref<512x256xf16>, %c: memref<25088x256xf16>) {
  tessera.contract ins(%a, %b : memref<25088x512xf16>, memref<512x256xf16>) outs(%c : memref<25088x256xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// One step: columns beyond the matrix would take most of the time.

// CHECK-LABEL: func @beyond
// CHECK:       schedule <workgroup = [64, 64], subgroup = [32, 32],
func.func @beyond(%a: memref<100352x24xf16>, %b: memref<24x144xf16>, %c: memref<100352x144xf16>) {
  tessera.contract ins(%a, %b : memref<100352x24xf16>, memref<24x144xf16>) outs(%c : memref<100352x144xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// 400 tiles of 64x128 would take two rounds, 208 of 128x128 take one.

// CHECK-LABEL: func @round
// CHECK:       schedule <workgroup = [128, 128], subgroup = [64, 64], k = 32,
func.func @round(%a: memref<1568x1024xf16>, %b: memref<1024x2048xf16>, %c: memref<1568x2048xf16>) {
  tessera.contract ins(%a, %b : memref<1568x1024xf16>, memref<1024x2048xf16>) outs(%c : memref<1568x2048xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// Where the rounds are as many and K is long, the largest tiles read the least.

// CHECK-LABEL: func @long
// CHECK:       schedule <workgroup = [128, 256], subgroup = [64, 64], k = 32,
func.func @long(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<4096x4096xf16>) {
  tessera.contract ins(%a, %b : memref<4096x4096xf16>, memref<4096x4096xf16>) outs(%c : memref<4096x4096xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// 392 small tiles fit on 132 SMs at once, with shorter steps. With twice the
// rows, the tiles are larger.

// CHECK-LABEL: func @once
// CHECK:       schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32,
func.func @once(%a: memref<25088x1024xf16>, %b: memref<1024x64xf16>, %c: memref<25088x64xf16>) {
  tessera.contract ins(%a, %b : memref<25088x1024xf16>, memref<1024x64xf16>) outs(%c : memref<25088x64xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// CHECK-LABEL: func @twice
// CHECK:       schedule <workgroup = [128, 64], subgroup = [64, 32], k = 32,
func.func @twice(%a: memref<50176x1024xf16>, %b: memref<1024x64xf16>, %c: memref<50176x64xf16>) {
  tessera.contract ins(%a, %b : memref<50176x1024xf16>, memref<1024x64xf16>) outs(%c : memref<50176x64xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// 132 tiles of 96x128 are one for each SM; so are 40 of 160x128 in three parts
// of K. This was not measured for bytes; and short parts have other tiles.

// CHECK-LABEL: func @alone
// CHECK:       schedule <workgroup = [96, 128], subgroup = [48, 64], k = 64, kFragment = 16, stages = 1, vthread = [1, 1]>
func.func @alone(%a: memref<6272x1024xf16>, %b: memref<1024x256xf16>, %c: memref<6272x256xf16>) {
  tessera.contract ins(%a, %b : memref<6272x1024xf16>, memref<1024x256xf16>) outs(%c : memref<6272x256xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// CHECK-LABEL: func @parts
// CHECK:       schedule <workgroup = [160, 128], subgroup = [80, 32], k = 64, {{.*}} splitK = 3>
func.func @parts(%a: memref<1568x4608xf16>, %b: memref<4608x512xf16>, %c: memref<1568x512xf16>) {
  tessera.contract ins(%a, %b : memref<1568x4608xf16>, memref<4608x512xf16>) outs(%c : memref<1568x512xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// 66 tiles of 96x128 are 132 in two parts of K.

// CHECK-LABEL: func @two_parts
// CHECK:       schedule <workgroup = [96, 128], subgroup = [48, 64], k = 64, {{.*}} splitK = 2>
func.func @two_parts(%a: memref<3136x2304xf16>, %b: memref<2304x256xf16>, %c: memref<3136x256xf16>) {
  tessera.contract ins(%a, %b : memref<3136x2304xf16>, memref<2304x256xf16>) outs(%c : memref<3136x256xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// Their parts would be short: 196 smaller tiles.

// CHECK-LABEL: func @two_short_parts
// CHECK:       schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, kFragment = 16, stages = 1, vthread = [1, 1]>
func.func @two_short_parts(%a: memref<3136x1152xf16>, %b: memref<1152x256xf16>, %c: memref<3136x256xf16>) {
  tessera.contract ins(%a, %b : memref<3136x1152xf16>, memref<1152x256xf16>) outs(%c : memref<3136x256xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// A K that is not divided may be short.

// CHECK-LABEL: func @whole
// CHECK:       schedule <workgroup = [96, 128], subgroup = [48, 64], k = 64, kFragment = 16, stages = 1, vthread = [1, 1]>
func.func @whole(%a: memref<12544x576xf16>, %b: memref<576x128xf16>, %c: memref<12544x128xf16>) {
  tessera.contract ins(%a, %b : memref<12544x576xf16>, memref<576x128xf16>) outs(%c : memref<12544x128xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// 20 tiles of 160x128 in six parts are 120, of which each multiplies less than
// one of 36 of 96x128 in three parts. Half of K would be too short for six.

// CHECK-LABEL: func @six_parts
// CHECK:       schedule <workgroup = [160, 128], subgroup = [80, 32], k = 64, {{.*}} splitK = 6>
func.func @six_parts(%a: memref<784x4608xf16>, %b: memref<4608x512xf16>, %c: memref<784x512xf16>) {
  tessera.contract ins(%a, %b : memref<784x4608xf16>, memref<4608x512xf16>) outs(%c : memref<784x512xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// CHECK-LABEL: func @three_parts
// CHECK:       schedule <workgroup = [96, 128], subgroup = [48, 64], k = 64, {{.*}} splitK = 3>
func.func @three_parts(%a: memref<784x2304xf16>, %b: memref<2304x512xf16>, %c: memref<784x512xf16>) {
  tessera.contract ins(%a, %b : memref<784x2304xf16>, memref<2304x512xf16>) outs(%c : memref<784x512xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// 32 small tiles in eight parts of 9 steps are two for each SM; four parts of 9
// steps are not made shorter. 28 of half the rows in nine parts are two for each
// SM, where 16 would have five steps in eight parts.

// CHECK-LABEL: func @paired
// CHECK:       schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, {{.*}} splitK = 8>
func.func @paired(%a: memref<196x4608xf16>, %b: memref<4608x512xf16>, %c: memref<196x512xf16>) {
  tessera.contract ins(%a, %b : memref<196x4608xf16>, memref<4608x512xf16>) outs(%c : memref<196x512xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// CHECK-LABEL: func @single
// CHECK:       schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, {{.*}} splitK = 4>
func.func @single(%a: memref<196x2304xf16>, %b: memref<2304x512xf16>, %c: memref<196x512xf16>) {
  tessera.contract ins(%a, %b : memref<196x2304xf16>, memref<2304x512xf16>) outs(%c : memref<196x512xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// CHECK-LABEL: func @half_rows
// CHECK:       schedule <workgroup = [32, 64], subgroup = [16, 32], k = 64, {{.*}} splitK = 9>
func.func @half_rows(%a: memref<196x2304xf16>, %b: memref<2304x256xf16>, %c: memref<196x256xf16>) {
  tessera.contract ins(%a, %b : memref<196x2304xf16>, memref<2304x256xf16>) outs(%c : memref<196x256xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// Six tiles of 13 steps: all of them at the same time. Twelve tiles would be
// more than SMs.

// CHECK-LABEL: func @steps
// CHECK:       schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, {{.*}} splitK = 13>
func.func @steps(%a: memref<36x832xf16>, %b: memref<832x384xf16>, %c: memref<36x384xf16>) {
  tessera.contract ins(%a, %b : memref<36x832xf16>, memref<832x384xf16>) outs(%c : memref<36x384xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// CHECK-LABEL: func @many_steps
// CHECK:       schedule <workgroup = [64, 64], subgroup = [32, 32], k = 64, {{.*}} splitK = 6>
func.func @many_steps(%a: memref<72x832xf16>, %b: memref<832x384xf16>, %c: memref<72x384xf16>) {
  tessera.contract ins(%a, %b : memref<72x832xf16>, memref<832x384xf16>) outs(%c : memref<72x384xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// CHECK-LABEL: func @bytes
// CHECK-NOT:   workgroup = [96, 128]
// CHECK:       return
func.func @bytes(%a: memref<6272x1024xi8>, %b: memref<1024x256xi8>, %c: memref<6272x256xi32>) {
  tessera.contract ins(%a, %b : memref<6272x1024xi8>, memref<1024x256xi8>) outs(%c : memref<6272x256xi32>)
      maps [#mk, #kn, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}

// CHECK-LABEL: func @short_parts
// CHECK-NOT:   workgroup = [160, 128]
// CHECK:       return
func.func @short_parts(%a: memref<1568x2048xf16>, %b: memref<2048x512xf16>, %c: memref<1568x512xf16>) {
  tessera.contract ins(%a, %b : memref<1568x2048xf16>, memref<2048x512xf16>) outs(%c : memref<1568x512xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
