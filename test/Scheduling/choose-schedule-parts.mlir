// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --convert-linalg-to-tessera --tessera-choose-schedule | FileCheck %s

// Parts of K by an estimate, for instructions of single subgroups.

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

// 35 workgroups have 111 steps, whose latency decides.

// CHECK-LABEL: func @few
// CHECK:       workgroup = [16, 128], subgroup = [16, 32], k = 64, {{.*}}stages = 2, {{.*}}splitK = 6>
func.func @few(%a: memref<7085x8xbf16>, %b: memref<4385x7085xbf16>, %c: memref<8x4385xf32>) {
  linalg.matmul indexing_maps = [#km, #nk, #mn]
    ins(%a, %b : memref<7085x8xbf16>, memref<4385x7085xbf16>) outs(%c : memref<8x4385xf32>)
  return
}

// 393 workgroups take all of the memory's bandwidth.

// CHECK-LABEL: func @many
// CHECK:       workgroup = [32, 128], subgroup = [32, 32], k = 32, {{.*}}stages = 2, vthread = [1, 1], stageOutput = true>
func.func @many(%a: memref<32x768xbf16>, %b: memref<768x50257xbf16>, %c: memref<32x50257xf32>) {
  linalg.matmul indexing_maps = [#mk, #kn, #mn]
    ins(%a, %b : memref<32x768xbf16>, memref<768x50257xbf16>) outs(%c : memref<32x50257xf32>)
  return
}

// Elements of one byte that are not stored along K are loaded one by one from
// workgroup memory: more workgroups share this work.

// CHECK-LABEL: func @bytes
// CHECK:       workgroup = [16, 128], {{.*}} splitK = 4>
func.func @bytes(%a: memref<16x4096xi8>, %b: memref<4096x4096xi8>, %c: memref<16x4096xi32>) {
  linalg.matmul indexing_maps = [#mk, #kn, #mn]
    ins(%a, %b : memref<16x4096xi8>, memref<4096x4096xi8>) outs(%c : memref<16x4096xi32>)
  return
}

// With a few workgroups, tiles become smaller than a subgroup's default one.

// CHECK-LABEL: func @small
// CHECK:       workgroup = [32, 32], {{.*}}k = 64, kFragment = 32, stages = 4, vthread = [1, 1]>
func.func @small(%a: memref<80x460xi8>, %b: memref<192x460xi8>, %c: memref<80x192xi32>) {
  linalg.matmul indexing_maps = [#mk, #nk, #mn]
    ins(%a, %b : memref<80x460xi8>, memref<192x460xi8>) outs(%c : memref<80x192xi32>)
  return
}

// Registers can hold all of a short K of rows that begin anywhere, if more
// subgroups share it.

// CHECK-LABEL: func @whole
// CHECK:       workgroup = [64, 64], subgroup = [16, 32], k = 144, kFragment = 16, stages = 1, vthread = [1, 1]
func.func @whole(%a: memref<129x33xf16>, %b: memref<129x65xf16>, %c: memref<33x65xf32>) {
  linalg.matmul indexing_maps = [#km, #kn, #mn]
    ins(%a, %b : memref<129x33xf16>, memref<129x65xf16>) outs(%c : memref<33x65xf32>)
  return
}

// The same for each part of K.

// CHECK-LABEL: func @part
// CHECK:       workgroup = [32, 32], subgroup = [16, 16], k = 112, kFragment = 16, stages = 1, vthread = [1, 1], splitK = 4>
func.func @part(%a: memref<32x407xf16>, %b: memref<384x407xf16>, %c: memref<32x384xf32>) {
  linalg.matmul indexing_maps = [#mk, #nk, #mn]
    ins(%a, %b : memref<32x407xf16>, memref<384x407xf16>) outs(%c : memref<32x384xf32>)
  return
}

// Two workgroups of an SM overlap their steps: twice as many parts as SMs.

// CHECK-LABEL: func @doubles
// CHECK:       workgroup = [128, 64], {{.*}} splitK = 4>
func.func @doubles(%a: memref<128x4096xf64>, %b: memref<4096x4096xf64>, %c: memref<128x4096xf64>) {
  linalg.matmul indexing_maps = [#mk, #kn, #mn]
    ins(%a, %b : memref<128x4096xf64>, memref<4096x4096xf64>) outs(%c : memref<128x4096xf64>)
  return
}

// Parts whose step is rounded up to fragments: 47 parts of 144 cover K.

// CHECK-LABEL: func @rounded
// CHECK:       workgroup = [128, 64], {{.*}}k = 144, kFragment = 16, stages = 1, vthread = [1, 1], splitK = 47>
func.func @rounded(%a: memref<187x6719xbf16>, %b: memref<6719x64xbf16>, %c: memref<187x64xf32>) {
  linalg.matmul indexing_maps = [#mk, #kn, #mn]
    ins(%a, %b : memref<187x6719xbf16>, memref<6719x64xbf16>) outs(%c : memref<187x64xf32>)
  return
}

// A producer that divides takes longer than the matmul of a step: 42 steps of one workgroup are divided into parts of
// one or two. A sum leaves fewer, longer steps.
// CHECK-LABEL: func @slow_producer
// CHECK:         schedule <{{.*}}k = 16, {{.*}}splitK = 24
func.func @slow_producer(%a: memref<32x672xf32>, %b: memref<672x28xf16>, %c: memref<32x28xf16>) {
  %zero = arith.constant 0.0 : f32
  %elements = arith.constant 196.0 : f32
  tessera.contract ins(%a, %b : memref<32x672xf32>, memref<672x28xf16>) init(%zero : f32) outs(%c : memref<32x28xf16>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] accumulate f32
      lhs_producer {
      ^bb0(%x: f32):
        %mean = arith.divf %x, %elements : f32
        %half = arith.truncf %mean : f32 to f16
        tessera.yield %half : f16
      } {
      ^bb0(%x: f32):
        %half = arith.truncf %x : f32 to f16
        tessera.yield %half : f16
      }
  return
}

// CHECK-LABEL: func @fast_producer
// CHECK:         schedule <{{.*}}k = 32, {{.*}}splitK = 12>
func.func @fast_producer(%a: memref<32x672xf32>, %b: memref<672x28xf16>, %c: memref<32x28xf16>) {
  %zero = arith.constant 0.0 : f32
  %elements = arith.constant 196.0 : f32
  tessera.contract ins(%a, %b : memref<32x672xf32>, memref<672x28xf16>) init(%zero : f32) outs(%c : memref<32x28xf16>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>] accumulate f32
      lhs_producer {
      ^bb0(%x: f32):
        %sum = arith.addf %x, %elements : f32
        %half = arith.truncf %sum : f32 to f16
        tessera.yield %half : f16
      } {
      ^bb0(%x: f32):
        %half = arith.truncf %x : f32 to f16
        tessera.yield %half : f16
      }
  return
}
