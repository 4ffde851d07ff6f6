// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule | FileCheck %s

// The model was fitted to matmuls of quantized networks, whose epilogues read scales and offsets of columns: a tile of all
// columns, where the rules take 256.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(m, n, k) -> (n)>

// CHECK-LABEL: func @matmul
// CHECK:       schedule <workgroup = [128, 160], subgroup = [64, 160]
// CHECK:       tessera.schedule_prediction = "{{.*}}; by rules, {{.*}}<workgroup = [128, 256]
func.func @matmul(%a: memref<12544x960xi8>, %b: memref<160x960xi8>, %s: memref<160xf32>, %o: memref<160xf32>,
                  %c: memref<12544x160xi8>) {
  tessera.contract ins(%a, %b : memref<12544x960xi8>, memref<160x960xi8>)
      extras(%s, %o : memref<160xf32>, memref<160xf32>) outs(%c : memref<12544x160xi8>)
      maps [#mk, #nk, #mn, #n, #n] accumulate i32 {
  ^bb0(%acc: i32, %scale: f32, %offset: f32):
    %0 = arith.sitofp %acc : i32 to f32
    %1 = math.fma %0, %scale, %offset : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.fptosi %2 : f32 to i8
    tessera.yield %3 : i8
  }
  return
}

// For images, rules decide.

#image = affine_map<(n, h, w, f, r, s, c) -> (n, h + r - 1, w + s - 1, c)>
#frsc = affine_map<(n, h, w, f, r, s, c) -> (f, r, s, c)>
#out = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>
#f = affine_map<(n, h, w, f, r, s, c) -> (f)>

// CHECK-LABEL: func @image
// CHECK:       schedule <workgroup = [64, 64], subgroup = [64, 64], k = 256
// CHECK-NOT:   by rules
// CHECK:       return
func.func @image(%a: memref<1x14x14x256xi8>, %b: memref<256x3x3x256xi8>, %s: memref<256xf32>, %c: memref<1x14x14x256xi8>) {
  tessera.contract ins(%a, %b : memref<1x14x14x256xi8>, memref<256x3x3x256xi8>)
      extras(%s : memref<256xf32>) outs(%c : memref<1x14x14x256xi8>) maps [#image, #frsc, #out, #f] accumulate i32 {
  ^bb0(%acc: i32, %scale: f32):
    %0 = arith.sitofp %acc : i32 to f32
    %1 = arith.mulf %0, %scale : f32
    %2 = math.roundeven %1 : f32
    %3 = arith.fptosi %2 : f32 to i8
    tessera.yield %3 : i8
  }
  return
}
