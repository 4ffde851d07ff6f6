// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --convert-linalg-to-tessera --tessera-tile-contract | FileCheck %s --check-prefix=SM80
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_75" --convert-linalg-to-tessera --tessera-tile-contract | FileCheck %s --check-prefix=SM75
// RUN: gpu-opt %s --tessera-attach-chip="target=cpu chip=x86-64-avx2" --convert-linalg-to-tessera --tessera-tile-contract | FileCheck %s --check-prefix=AVX2

// The schedules that are chosen where the program has none.

// SM80-LABEL: func @large
// SM80:         workgroup = [128, 128], subgroup = [32, 64], k = 64, kFragment = 16, stages = 2,
// SM75-LABEL: func @large
// SM75:         workgroup = [128, 128], subgroup = [64, 64], k = 32, kFragment = 8, stages = 1,
// AVX2-LABEL: func @large
// AVX2:         workgroup = [6, 16], subgroup = [6, 16], k = 2, kFragment = 2, stages = 0,
func.func @large(%a: memref<?x?xf16>, %b: memref<?x?xf16>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf16>, memref<?x?xf16>) outs(%c : memref<?x?xf32>)
  return
}

// Halved while larger than the problem, down to the instruction's shape; no more
// stages than steps.

// SM80-LABEL: func @small
// SM80:         workgroup = [16, 32], subgroup = [16, 32], k = 32, kFragment = 16, stages = 2,
// AVX2-LABEL: func @small
// AVX2:         workgroup = [6, 16], subgroup = [6, 16],
func.func @small(%a: memref<5x64xf16>, %b: memref<64x20xf16>, %c: memref<5x20xf32>) {
  linalg.matmul ins(%a, %b : memref<5x64xf16>, memref<64x20xf16>) outs(%c : memref<5x20xf32>)
  return
}

// Without a matrix instruction for the types, and with one where tf32 is
// permitted.

// SM80-LABEL: func @f32
// SM80:         workgroup = [64, 64], subgroup = [32, 64], k = 16, kFragment = 4, stages = 3,
// SM80:         workgroup = [128, 128], subgroup = [64, 64], k = 16, kFragment = 8, stages = 4,
// SM75-LABEL: func @f32
// SM75:         workgroup = [64, 64], subgroup = [32, 64], k = 16, kFragment = 4, stages = 1,
// SM75:         workgroup = [64, 64], subgroup = [32, 64], k = 16, kFragment = 4, stages = 1,
func.func @f32(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  linalg.matmul {tessera.allow_tf32} ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// Wide accumulators: half the columns.

// SM80-LABEL: func @f64
// SM80:         workgroup = [128, 64], subgroup = [64, 32], k = 8, kFragment = 4, stages = 4,
// AVX2-LABEL: func @f64
// AVX2:         workgroup = [6, 8], subgroup = [6, 8], k = 1,
func.func @f64(%a: memref<?x?xf64>, %b: memref<?x?xf64>, %c: memref<?x?xf64>) {
  linalg.matmul ins(%a, %b : memref<?x?xf64>, memref<?x?xf64>) outs(%c : memref<?x?xf64>)
  return
}

// A vector.

// SM80-LABEL: func @vector
// SM80:         workgroup = [128, 8], subgroup = [32, 8], k = 64, kFragment = 16, stages = 2,
func.func @vector(%a: memref<?x?xf16>, %x: memref<?xf16>, %y: memref<?xf32>) {
  linalg.matvec ins(%a, %x : memref<?x?xf16>, memref<?xf16>) outs(%y : memref<?xf32>)
  return
}
