// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx2" --tessera-choose-schedule | FileCheck %s --check-prefix=CPU

// Small matrices of a batch: the number per workgroup and subgroup, and direct loads from memory.

// CPU-NOT: batches

#bmk = affine_map<(b, m, n, k) -> (b, m, k)>
#bkn = affine_map<(b, m, n, k) -> (b, k, n)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

// A subgroup for each matrix, eight of them in a workgroup.

// CHECK-LABEL: func @sixteen
// CHECK:       schedule <workgroup = [16, 16], subgroup = [16, 16], k = 16, kFragment = 16, stages = 0, vthread = [1, 1], batches = 8> {
func.func @sixteen(%a: memref<4096x16x16xf16>, %b: memref<4096x16x16xf16>, %c: memref<4096x16x16xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x16x16xf16>, memref<4096x16x16xf16>) init(%zero : f32) outs(%c : memref<4096x16x16xf16>)
      maps [#bmk, #bkn, #bmn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// More matrices than there is room for subgroups; no instruction is longer than K.

// CHECK-LABEL: func @eight
// CHECK:       schedule <workgroup = [16, 8], subgroup = [16, 8], k = 8, kFragment = 8, stages = 0, vthread = [1, 1], batches = 32, subgroupBatches = 4> {
func.func @eight(%a: memref<16384x8x8xf16>, %b: memref<16384x8x8xf16>, %c: memref<16384x8x8xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<16384x8x8xf16>, memref<16384x8x8xf16>) init(%zero : f32) outs(%c : memref<16384x8x8xf16>)
      maps [#bmk, #bkn, #bmn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// With eight per workgroup, SMs would be idle.

// CHECK-LABEL: func @thirty_two
// CHECK:       schedule <workgroup = [32, 32], subgroup = [32, 32], k = 32, kFragment = 16, stages = 0, vthread = [1, 1], batches = 4> {
func.func @thirty_two(%a: memref<1024x32x32xf16>, %b: memref<1024x32x32xf16>, %c: memref<1024x32x32xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<1024x32x32xf16>, memref<1024x32x32xf16>) init(%zero : f32) outs(%c : memref<1024x32x32xf16>)
      maps [#bmk, #bkn, #bmn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// Few matrices stay with workgroups of their own.

// CHECK-LABEL: func @few
// CHECK:       schedule <workgroup = [16, 16], subgroup = [16, 16], k = 16, kFragment = 16, stages = 0, vthread = [1, 1]> {
func.func @few(%a: memref<100x16x16xf16>, %b: memref<100x16x16xf16>, %c: memref<100x16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<100x16x16xf16>, memref<100x16x16xf16>) init(%zero : f32) outs(%c : memref<100x16x16xf32>)
      maps [#bmk, #bkn, #bmn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// How many there are is not known.

// CHECK-LABEL: func @unknown
// CHECK:       schedule <workgroup = [16, 16], subgroup = [16, 16], k = 16, kFragment = 16, stages = 0, vthread = [1, 1], batches = 8> {
func.func @unknown(%a: memref<?x16x16xf16>, %b: memref<?x16x16xf16>, %c: memref<?x16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<?x16x16xf16>, memref<?x16x16xf16>) init(%zero : f32) outs(%c : memref<?x16x16xf32>)
      maps [#bmk, #bkn, #bmn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Scalar multiplications read each element often.

// CHECK-LABEL: func @single
// CHECK:       schedule <workgroup = [16, 16], subgroup = [16, 16], k = 16, kFragment = 4, stages = 1, vthread = [1, 1], swizzle = true, batches = 8> {
func.func @single(%a: memref<4096x16x16xf32>, %b: memref<4096x16x16xf32>, %c: memref<4096x16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x16x16xf32>, memref<4096x16x16xf32>) init(%zero : f32) outs(%c : memref<4096x16x16xf32>)
      maps [#bmk, #bkn, #bmn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Rows of odd lengths.

// CHECK-LABEL: func @odd
// CHECK:       schedule <workgroup = [16, 16], subgroup = [16, 16], k = 16, kFragment = 16, stages = 0, vthread = [1, 1], batches = 8> {
func.func @odd(%a: memref<4096x15x11xbf16>, %b: memref<4096x11x13xbf16>, %c: memref<4096x15x13xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x15x11xbf16>, memref<4096x11x13xbf16>) init(%zero : f32) outs(%c : memref<4096x15x13xf32>)
      maps [#bmk, #bkn, #bmn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Bytes, in the shortest instructions.

// CHECK-LABEL: func @bytes
// CHECK:       schedule <workgroup = [8, 8], subgroup = [8, 8], k = 16, kFragment = 16, stages = 0, vthread = [1, 1], batches = 32, subgroupBatches = 4> {
func.func @bytes(%a: memref<16384x8x8xi8>, %b: memref<16384x8x8xi8>, %c: memref<16384x8x8xi32>) {
  %zero = arith.constant 0 : i32
  tessera.contract ins(%a, %b : memref<16384x8x8xi8>, memref<16384x8x8xi8>) init(%zero : i32) outs(%c : memref<16384x8x8xi32>)
      maps [#bmk, #bkn, #bmn] accumulate i32 {
  ^bb0(%acc: i32):
    tessera.yield %acc : i32
  }
  return
}

// A reduction of many fragments is staged.

// CHECK-LABEL: func @long
// CHECK:       schedule <workgroup = [16, 16], subgroup = [16, 16], k = 32, kFragment = 16, stages = 4, vthread = [1, 1], swizzle = true, batches = 8> {
func.func @long(%a: memref<4096x16x512xf16>, %b: memref<4096x512x16xf16>, %c: memref<4096x16x16xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x16x512xf16>, memref<4096x512x16xf16>) init(%zero : f32) outs(%c : memref<4096x16x16xf32>)
      maps [#bmk, #bkn, #bmn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// The operands of all steps would fill the registers.

// CHECK-LABEL: func @doubles
// CHECK:       schedule <workgroup = [32, 32], subgroup = [32, 32], k = 16, kFragment = 16, stages = 2, vthread = [1, 1], swizzle = true, batches = 4> {
func.func @doubles(%a: memref<1024x32x32xf64>, %b: memref<1024x32x32xf64>, %c: memref<1024x32x32xf64>) {
  %zero = arith.constant 0.0 : f64
  tessera.contract ins(%a, %b : memref<1024x32x32xf64>, memref<1024x32x32xf64>) init(%zero : f64) outs(%c : memref<1024x32x32xf64>)
      maps [#bmk, #bkn, #bmn] accumulate f64 {
  ^bb0(%acc: f64):
    tessera.yield %acc : f64
  }
  return
}
