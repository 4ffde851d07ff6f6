// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule | FileCheck %s

// The tilings of groups with the shortest time, and the other fields chosen with them.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#n = affine_map<(m, n, k) -> (n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bkn = affine_map<(b, m, n, k) -> (b, k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

// More tiles than SMs: one workgroup per SM iterates over them, in bands; the
// output of two bytes is staged, which leaves room for three stages.

// CHECK-LABEL: func @large
// CHECK:       schedule <workgroup = [128, 256], subgroup = [64, 256], k = 64, kFragment = 64, stages = 3, vthread = [1, 1], swizzle = true, raster = {{[0-9]+}}, persistent = 132, subgroupsPerFragment = 4, stageOutput = true> {{.*}}{
func.func @large(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<4096x4096xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x4096xf16>, memref<4096x4096xf16>) init(%zero : f32) outs(%c : memref<4096x4096xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// Four bytes leave the registers in whole sectors.

// CHECK-LABEL: func @single
// CHECK:       schedule <workgroup = [128, 256], subgroup = [64, 256], k = 64, kFragment = 64, stages = 4, vthread = [1, 1], swizzle = true, raster = {{[0-9]+}}, persistent = 132, subgroupsPerFragment = 4> {{.*}}{
func.func @single(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<4096x4096xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x4096xf16>, memref<4096x4096xf16>) init(%zero : f32) outs(%c : memref<4096x4096xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// At most as many tiles as SMs: one for each workgroup.

// CHECK-LABEL: func @one_wave
// CHECK:       schedule <workgroup = [128, 128], subgroup = [64, 128], k = 64, kFragment = 64, stages = {{[0-9]+}}, vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4, stageOutput = true> {{.*}}{
func.func @one_wave(%a: memref<1024x4096xf16>, %b: memref<4096x2048xf16>, %c: memref<1024x2048xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<1024x4096xf16>, memref<4096x2048xf16>) init(%zero : f32) outs(%c : memref<1024x2048xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// Few rows and a long reduction: parts of it, whose accumulators are not staged.

// CHECK-LABEL: func @few_rows
// CHECK:       schedule <workgroup = [64, 64], subgroup = [64, 64], {{.+}}, swizzle = true, splitK = 4, subgroupsPerFragment = 4> {{.*}}{
func.func @few_rows(%a: memref<64x16384xf16>, %b: memref<16384x2048xf16>, %c: memref<64x2048xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<64x16384xf16>, memref<16384x2048xf16>) init(%zero : f32) outs(%c : memref<64x2048xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// No more stages than a workgroup's only tile has steps.

// CHECK-LABEL: func @four_steps
// CHECK:       schedule <workgroup = [64, 16], subgroup = [64, 16], k = 128, kFragment = 128, stages = 4, vthread = [1, 1], swizzle = true, subgroupsPerFragment = 4, stageOutput = true> {{.*}}{
func.func @four_steps(%a: memref<256x512xf16>, %b: memref<512x256xf16>, %c: memref<256x256xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<256x512xf16>, memref<512x256xf16>) init(%zero : f32) outs(%c : memref<256x256xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// The tiles of all matrices of a batch are walked through.

// CHECK-LABEL: func @batched
// CHECK:       schedule <workgroup = [128, 128], {{.+}}, stages = 6, {{.+}}, swizzle = true, persistent = 132, subgroupsPerFragment = 4, stageOutput = true> {{.*}}{
func.func @batched(%a: memref<96x512x64xf16>, %b: memref<96x64x512xf16>, %c: memref<96x512x512xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<96x512x64xf16>, memref<96x64x512xf16>) init(%zero : f32) outs(%c : memref<96x512x512xf16>)
      maps [#bmk, #bkn, #bmn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// The step is no longer than K, down to rows of 32 bytes. (By rules, as with all epilogues of f8 that have operands.)

// CHECK-LABEL: func @short
// CHECK:       k = 64, kFragment = 64, stages = 1, {{.*}}subgroupsPerFragment = 4> {{.*}}{
func.func @short(%a: memref<64x48xf8E4M3FN>, %b: memref<2421x48xf8E4M3FN>, %v: memref<2421xf32>, %c: memref<64x2421xf32>) {
  tessera.contract ins(%a, %b : memref<64x48xf8E4M3FN>, memref<2421x48xf8E4M3FN>) extras(%v : memref<2421xf32>) outs(%c : memref<64x2421xf32>)
      maps [#mk, #nk, #mn, #n] accumulate f32 {
  ^bb0(%acc: f32, %x: f32):
    %sum = arith.addf %acc, %x : f32
    tessera.yield %sum : f32
  }
  return
}

// CHECK-LABEL: func @shortest
// CHECK:       k = 32, kFragment = 32, {{.*}}subgroupsPerFragment = 4, stageOutput = true> {{.*}}{
func.func @shortest(%a: memref<401408x32xi8>, %b: memref<96x32xi8>, %c: memref<401408x96xi8>) {
  tessera.contract ins(%a, %b : memref<401408x32xi8>, memref<96x32xi8>) outs(%c : memref<401408x96xi8>)
      maps [#mk, #nk, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    %x = arith.trunci %acc : i32 to i8
    tessera.yield %x : i8
  }
  return
}

// Half of the shortest rows would be zeros. Single subgroups have a tile of all columns, and stage bytes.

// CHECK-LABEL: func @too_short
// CHECK:       schedule <workgroup = [128, 96], subgroup = [64, 48], k = 32, kFragment = 32, stages = 1, {{.*}}raster = 8, stageOutput = true> {{.*}}{
func.func @too_short(%a: memref<401408x16xi8>, %b: memref<96x16xi8>, %c: memref<401408x96xi8>) {
  tessera.contract ins(%a, %b : memref<401408x16xi8>, memref<96x16xi8>) outs(%c : memref<401408x96xi8>)
      maps [#mk, #nk, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    %x = arith.trunci %acc : i32 to i8
    tessera.yield %x : i8
  }
  return
}

// The epilogues are all of the time, and of three groups they hide each other's latencies. All tiles of a workgroup
// are in the same columns.

// CHECK-LABEL: func @vectors
// CHECK:       schedule <workgroup = [192, 128], subgroup = [64, 128], k = 64, kFragment = 64, {{.*}}raster = 1, persistent = 132, {{.*}}stageOutput = true> {{.*}}{
func.func @vectors(%a: memref<100352x64xi8>, %b: memref<256x64xi8>, %s: memref<256xf32>, %o: memref<256xf32>, %c: memref<100352x256xi8>) {
  tessera.contract ins(%a, %b : memref<100352x64xi8>, memref<256x64xi8>) extras(%s, %o : memref<256xf32>, memref<256xf32>) outs(%c : memref<100352x256xi8>)
      maps [#mk, #nk, #mn, #n, #n] accumulate i32 {
  ^bb0(%acc: i32, %x: f32, %y: f32):
    %0 = arith.sitofp %acc : i32 to f32
    %1 = math.fma %0, %x, %y : f32
    %2 = arith.fptosi %1 : f32 to i8
    tessera.yield %2 : i8
  }
  return
}

// A longer step: 128x256 leaves no registers for vectors, for which each tile would wait. (By rules: the model was not
// fitted to such long times.)

// CHECK-LABEL: func @late_vectors
// CHECK:       schedule <workgroup = [128, 128], subgroup = [64, 128], k = 128, kFragment = 128, {{.*}}raster = 1, persistent = 132, {{.*}}stageOutput = true> {{.*}}{
func.func @late_vectors(%a: memref<1003520x128xi8>, %b: memref<256x128xi8>, %s: memref<256xf32>, %o: memref<256xf32>, %c: memref<1003520x256xi8>) {
  tessera.contract ins(%a, %b : memref<1003520x128xi8>, memref<256x128xi8>) extras(%s, %o : memref<256xf32>, memref<256xf32>) outs(%c : memref<1003520x256xi8>)
      maps [#mk, #nk, #mn, #n, #n] accumulate i32 {
  ^bb0(%acc: i32, %x: f32, %y: f32):
    %0 = arith.sitofp %acc : i32 to f32
    %1 = math.fma %0, %x, %y : f32
    %2 = arith.fptosi %1 : f32 to i8
    tessera.yield %2 : i8
  }
  return
}

// Two tiles of the output fit: the next one's input is loaded while this one is computed.

// CHECK-LABEL: func @residual
// CHECK:       schedule <workgroup = [192, 128], subgroup = [64, 128], k = 64, kFragment = 64, stages = 8, {{.*}}stageOutput = true> {{.*}}{
func.func @residual(%a: memref<100352x64xi8>, %b: memref<256x64xi8>, %r: memref<100352x256xi8>, %c: memref<100352x256xi8>) {
  tessera.contract ins(%a, %b : memref<100352x64xi8>, memref<256x64xi8>) extras(%r : memref<100352x256xi8>) outs(%c : memref<100352x256xi8>)
      maps [#mk, #nk, #mn, #mn] accumulate i32 {
  ^bb0(%acc: i32, %x: i8):
    %0 = arith.trunci %acc : i32 to i8
    %1 = arith.addi %0, %x : i8
    tessera.yield %1 : i8
  }
  return
}

// Measured on an H200: in bands of 13 rows of tiles it takes 11.3 us, and by rows 10.5.

// CHECK-LABEL: func @residualColumns
// CHECK:       schedule <workgroup = [128, 128], subgroup = [64, 128], k = 128, kFragment = 128, {{.*}}raster = 1, persistent = 132, {{.*}}stageOutput = true> {{.*}}{
func.func @residualColumns(%a: memref<6272x256xi8>, %b: memref<1024x256xi8>, %s: memref<1024xf32>, %o: memref<1024xf32>, %r: memref<6272x1024xi8>, %c: memref<6272x1024xi8>) {
  tessera.contract ins(%a, %b : memref<6272x256xi8>, memref<1024x256xi8>) extras(%s, %o, %r : memref<1024xf32>, memref<1024xf32>, memref<6272x1024xi8>) outs(%c : memref<6272x1024xi8>)
      maps [#mk, #nk, #mn, #n, #n, #mn] accumulate i32 {
  ^bb0(%acc: i32, %x: f32, %y: f32, %z: i8):
    %0 = arith.sitofp %acc : i32 to f32
    %1 = math.fma %0, %x, %y : f32
    %2 = arith.fptosi %1 : f32 to i8
    %3 = arith.addi %2, %z : i8
    tessera.yield %3 : i8
  }
  return
}

// CHECK-LABEL: func @noResidual
// CHECK:       schedule <workgroup = [192, 128], subgroup = [64, 128], k = 64, kFragment = 64, stages = 10, {{.*}}stageOutput = true> {{.*}}{
func.func @noResidual(%a: memref<100352x64xi8>, %b: memref<256x64xi8>, %c: memref<100352x256xi8>) {
  tessera.contract ins(%a, %b : memref<100352x64xi8>, memref<256x64xi8>) outs(%c : memref<100352x256xi8>)
      maps [#mk, #nk, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    %0 = arith.trunci %acc : i32 to i8
    tessera.yield %0 : i8
  }
  return
}

// Workgroups along N would share rows of less than a cache line; but the columns are five tiles, and
// one of six workgroups would be idle.

// CHECK-LABEL: func @fiveTiles
// CHECK:       schedule <{{([^>c]|c[^l])*}}> attributes
func.func @fiveTiles(%a: memref<6272x96xi8>, %b: memref<576x96xi8>, %c: memref<6272x576xi8>) {
  tessera.contract ins(%a, %b : memref<6272x96xi8>, memref<576x96xi8>) outs(%c : memref<6272x576xi8>)
      maps [#mk, #nk, #mn] accumulate i32 {
  ^bb0(%acc: i32):
    %x = arith.trunci %acc : i32 to i8
    tessera.yield %x : i8
  }
  return
}

// These instructions support neither rows that begin anywhere nor operands with a producer.

// CHECK-LABEL: func @unaligned
// CHECK:       schedule <workgroup = [128, 128], subgroup = [32, 64], k = 64, kFragment = 16, stages = 2, vthread = [1, 1], raster = 8> {{.*}}{
func.func @unaligned(%a: memref<4096x4095xf16>, %b: memref<4095x4096xf16>, %c: memref<4096x4096xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x4095xf16>, memref<4095x4096xf16>) init(%zero : f32) outs(%c : memref<4096x4096xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// CHECK-LABEL: func @produced
// CHECK:       schedule <workgroup = [128, 128], subgroup = [64, 64], k = 32, kFragment = 16, stages = 4, vthread = [1, 1], swizzle = true, raster = 8> rhs_producer {
func.func @produced(%a: memref<4096x4096xf16>, %b: memref<4096x4096xi8>, %c: memref<4096x4096xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x4096xf16>, memref<4096x4096xi8>) init(%zero : f32) outs(%c : memref<4096x4096xf16>)
      maps [#mk, #kn, #mn] accumulate f32
      rhs_producer {
  ^bb0(%x: i8):
    %f = arith.sitofp %x : i8 to f16
    tessera.yield %f : f16
  } {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
