// Transfers between vectors and memory whose dimensions are permuted, repeated or out of bounds.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify | FileCheck %s

// CHECK: {{^}}verified

#transposed = affine_map<(i, j) -> (j, i)>
#repeated = affine_map<(i, j) -> (i, 0)>
#outer = affine_map<(i, j, k) -> (k, i)>

func.func @main(%a: memref<8x6xf32>, %b: memref<4x3x5xf32>, %t: memref<8x8xf32>, %r: memref<8x4xf32>,
                %o: memref<8x8xf32>) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %pad = arith.constant 7.0 : f32
    %row = arith.muli %bx, %c4 : index
    // The last two columns are out of bounds.
    %x = vector.transfer_read %a[%row, %c0], %pad : memref<8x6xf32>, vector<4x8xf32>
    vector.transfer_write %x, %t[%c0, %row] {in_bounds = [true, true], permutation_map = #transposed}
        : vector<4x8xf32>, memref<8x8xf32>
    %y = vector.transfer_read %a[%row, %c1], %pad {in_bounds = [true, true], permutation_map = #repeated}
        : memref<8x6xf32>, vector<4x4xf32>
    vector.transfer_write %y, %r[%row, %c0] {in_bounds = [true, true]} : vector<4x4xf32>, memref<8x4xf32>
    %z = vector.transfer_read %b[%c0, %bx, %c1], %pad {permutation_map = #outer}
        : memref<4x3x5xf32>, vector<4x8xf32>
    vector.transfer_write %z, %o[%row, %c0] {in_bounds = [true, true]} : vector<4x8xf32>, memref<8x8xf32>
    gpu.terminator
  }
  return
}
