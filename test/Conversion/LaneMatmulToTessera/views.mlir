// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx1100" --convert-lane-matmul-to-tessera --canonicalize --verify-diagnostics | FileCheck %s

// A matrix in memory of one dimension, with rows at a distance that is an argument: a view. The index
// is one of 32 bits. The addend is the same in each row, and equal in all lanes.
// CHECK-LABEL: func @flat
// CHECK-SAME:    %[[A:.+]]: memref<1024xf16>, %{{.+}}: memref<16x16xf16>, %[[C:.+]]: memref<?xf32>, %[[PITCH:.+]]: index, %[[S:.+]]: memref<8xf32>
// CHECK:         %[[V:.+]] = memref.reinterpret_cast %[[A]] to offset: [0], sizes: [16, 16], strides: [32, 1]
// CHECK:         %[[VA:.+]] = memref.cast %[[V]]
// CHECK:         tessera.load %[[VA]][%c0, %c0] in_bounds
// CHECK:         %[[Y:.+]] = memref.load %[[S]][%c4]
// CHECK:         tessera.fill %[[Y]] : !tessera.fragment<16x16xf32, acc>
// CHECK:         tessera.mma
// CHECK:         %[[W:.+]] = memref.reinterpret_cast %[[C]] to offset: [0], sizes: [16, 16], strides: [%[[PITCH]], 1]
// CHECK:         %[[WC:.+]] = memref.cast %[[W]]
// CHECK:         tessera.store %{{.+}}, %[[WC]][%c0, %c0] transpose in_bounds
func.func @flat(%a: memref<1024xf16>, %b: memref<16x16xf16>, %c: memref<?xf32>, %pitch: index, %s: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c1, %sz = %c1) {
    %c4 = arith.constant 4 : index
    %i4 = arith.constant 4 : i32
    %i5 = arith.constant 5 : i32
    %i15 = arith.constant 15 : i32
    %t = arith.index_cast %tx : index to i32
    %line = arith.andi %t, %i15 : i32
    %group = arith.shrui %t, %i4 : i32
    %k = arith.muli %group, %i4 : i32
    %row = arith.shli %line, %i5 : i32
    %sum = arith.addi %row, %k : i32
    %ia = arith.index_cast %sum : i32 to index
    %x = vector.load %a[%ia] : memref<1024xf16>, vector<4xf16>
    %il = arith.index_cast %line : i32 to index
    %ik = arith.index_cast %k : i32 to index
    %y = vector.load %b[%il, %ik] : memref<16x16xf16>, vector<4xf16>
    %start = memref.load %s[%c4] : memref<8xf32>
    %z = vector.broadcast %start : f32 to vector<4xf32>
    // expected-remark@+1 {{'amdgpu.mfma' op is raised to fragments: 16x16x16 'f16' x 'f16' -> 'f32'; hip:gfx1100 multiplies them by wmma.m16n16k16.f32.f16}}
    %d = amdgpu.mfma 16x16x16 %x * %y + %z blgp = none : vector<4xf16>, vector<4xf16>, vector<4xf32>
    // Columns are adjacent in memory.
    %first = arith.muli %il, %pitch : index
    %ic = arith.addi %first, %ik : index
    vector.store %d, %c[%ic] : memref<?xf32>, vector<4xf32>
    gpu.terminator
  }
  return
}
