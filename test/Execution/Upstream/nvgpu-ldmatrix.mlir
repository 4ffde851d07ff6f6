// nvgpu.ldmatrix of one, two and four tiles, transposed or not, and of 32-bit and 8-bit elements.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=ptx | FileCheck %s --check-prefix=PTX

// The value of an element is its row times 16 plus its column. Lane 5 has columns 2 and 3 of row 1, or
// rows 2 and 3 of column 1.
// CHECK: {{^}}{{\[\[}}18,   19,   33,   49],
// CHECK-NEXT: {{^}} [146,   147,   26,   27]]
// CHECK: {{^}}verified
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX: ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16
// PTX: ldmatrix.sync.aligned.m8n8.x2.shared.b16
// PTX: ldmatrix.sync.aligned.m8n8.x4.shared.b16

func.func private @printMemrefF16(memref<*xf16>)

func.func @main(%out: memref<32x10xf16>, %words: memref<32x2xf32>, %bytes: memref<32x16xi8>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %shown = memref.alloc() : memref<2x4xf16>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%s : memref<16x16xf16, #gpu.address_space<workgroup>>,
                       %f : memref<16x4xf32, #gpu.address_space<workgroup>>,
                       %b : memref<32x16xi8, #gpu.address_space<workgroup>>) {
    %c4 = arith.constant 4 : index
    %c5 = arith.constant 5 : index
    %c16 = arith.constant 16 : index
    scf.for %i = %tx to %c16 step %c32 {
      scf.for %j = %c0 to %c16 step %c1 {
        %n = affine.apply affine_map<(d0, d1) -> (d0 * 16 + d1)>(%i, %j)
        %w = arith.index_cast %n : index to i32
        %h = arith.sitofp %w : i32 to f16
        memref.store %h, %s[%i, %j] : memref<16x16xf16, #gpu.address_space<workgroup>>
      }
      scf.for %j = %c0 to %c4 step %c1 {
        %n = affine.apply affine_map<(d0, d1) -> (d0 * 4 + d1)>(%i, %j)
        %w = arith.index_cast %n : index to i32
        %v = arith.sitofp %w : i32 to f32
        memref.store %v, %f[%i, %j] : memref<16x4xf32, #gpu.address_space<workgroup>>
      }
    }
    scf.for %j = %c0 to %c16 step %c1 {
      %n = affine.apply affine_map<(d0, d1) -> (d0 * 3 + d1)>(%tx, %j)
      %v = arith.index_cast %n : index to i8
      memref.store %v, %b[%tx, %j] : memref<32x16xi8, #gpu.address_space<workgroup>>
    }
    gpu.barrier
    %row = arith.remui %tx, %c16 : index
    %half = arith.divui %tx, %c16 : index
    %col = arith.muli %half, %c8 : index
    %four = nvgpu.ldmatrix %s[%row, %col] {numTiles = 4 : i32, transpose = false}
        : memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<4x2xf16>
    %one = nvgpu.ldmatrix %s[%row, %c0] {numTiles = 1 : i32, transpose = true}
        : memref<16x16xf16, #gpu.address_space<workgroup>> -> vector<1x2xf16>
    %two = nvgpu.ldmatrix %f[%row, %c0] {numTiles = 2 : i32, transpose = false}
        : memref<16x4xf32, #gpu.address_space<workgroup>> -> vector<2x1xf32>
    %narrow = nvgpu.ldmatrix %b[%tx, %c0] {numTiles = 4 : i32, transpose = false}
        : memref<32x16xi8, #gpu.address_space<workgroup>> -> vector<4x4xi8>
    // All lanes have loaded: a tile may be overwritten.
    %other = arith.constant -1 : i8
    memref.store %other, %b[%tx, %c0] : memref<32x16xi8, #gpu.address_space<workgroup>>
    %t0 = vector.extract %four[0] : vector<2xf16> from vector<4x2xf16>
    %tAt0 = arith.constant 0 : index
    vector.store %t0, %out[%tx, %tAt0] : memref<32x10xf16>, vector<2xf16>
    %t1 = vector.extract %four[1] : vector<2xf16> from vector<4x2xf16>
    %tAt1 = arith.constant 2 : index
    vector.store %t1, %out[%tx, %tAt1] : memref<32x10xf16>, vector<2xf16>
    %t2 = vector.extract %four[2] : vector<2xf16> from vector<4x2xf16>
    %tAt2 = arith.constant 4 : index
    vector.store %t2, %out[%tx, %tAt2] : memref<32x10xf16>, vector<2xf16>
    %t3 = vector.extract %four[3] : vector<2xf16> from vector<4x2xf16>
    %tAt3 = arith.constant 6 : index
    vector.store %t3, %out[%tx, %tAt3] : memref<32x10xf16>, vector<2xf16>
    %v0 = vector.extract %one[0] : vector<2xf16> from vector<1x2xf16>
    %vAt0 = arith.constant 8 : index
    vector.store %v0, %out[%tx, %vAt0] : memref<32x10xf16>, vector<2xf16>
    %w0 = vector.extract %two[0] : vector<1xf32> from vector<2x1xf32>
    %wAt0 = arith.constant 0 : index
    vector.store %w0, %words[%tx, %wAt0] : memref<32x2xf32>, vector<1xf32>
    %w1 = vector.extract %two[1] : vector<1xf32> from vector<2x1xf32>
    %wAt1 = arith.constant 1 : index
    vector.store %w1, %words[%tx, %wAt1] : memref<32x2xf32>, vector<1xf32>
    %n0 = vector.extract %narrow[0] : vector<4xi8> from vector<4x4xi8>
    %nAt0 = arith.constant 0 : index
    vector.store %n0, %bytes[%tx, %nAt0] : memref<32x16xi8>, vector<4xi8>
    %n1 = vector.extract %narrow[1] : vector<4xi8> from vector<4x4xi8>
    %nAt1 = arith.constant 4 : index
    vector.store %n1, %bytes[%tx, %nAt1] : memref<32x16xi8>, vector<4xi8>
    %n2 = vector.extract %narrow[2] : vector<4xi8> from vector<4x4xi8>
    %nAt2 = arith.constant 8 : index
    vector.store %n2, %bytes[%tx, %nAt2] : memref<32x16xi8>, vector<4xi8>
    %n3 = vector.extract %narrow[3] : vector<4xi8> from vector<4x4xi8>
    %nAt3 = arith.constant 12 : index
    vector.store %n3, %bytes[%tx, %nAt3] : memref<32x16xi8>, vector<4xi8>
    %isFive = arith.cmpi eq, %tx, %c5 : index
    scf.if %isFive {
      vector.store %t0, %shown[%c0, %c0] : memref<2x4xf16>, vector<2xf16>
      vector.store %v0, %shown[%c0, %c2] : memref<2x4xf16>, vector<2xf16>
      vector.store %t1, %shown[%c1, %c0] : memref<2x4xf16>, vector<2xf16>
      vector.store %t2, %shown[%c1, %c2] : memref<2x4xf16>, vector<2xf16>
    }
    gpu.terminator
  }
  %view = memref.cast %shown : memref<2x4xf16> to memref<*xf16>
  call @printMemrefF16(%view) : (memref<*xf16>) -> ()
  return
}
