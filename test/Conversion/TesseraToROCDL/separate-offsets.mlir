// Reads of workgroup memory that differ by constants have one index, and the constant in the offset of their view.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx950},gpu.module(tessera-separate-offsets),cse)" | FileCheck %s

// RDNA does not need it.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx1100},gpu.module(tessera-separate-offsets),cse)" | FileCheck %s --check-prefix=RDNA
// RDNA-NOT: memref.reinterpret_cast

#shared = #gpu.address_space<workgroup>
gpu.module @reads {
  // CHECK-LABEL: gpu.func @rows(
  // CHECK-SAME:    %[[R:[a-z0-9]+]]: index, %[[C:[a-z0-9]+]]: index
  // CHECK-SAME:    workgroup(%[[T:.+]] : memref<64x32xf16
  // CHECK:         %[[FIRST:.+]] = memref.reinterpret_cast %[[T]] to offset: [0], sizes: [2048], strides: [1]
  // CHECK:         %[[LINE:.+]] = arith.muli %[[R]], %c32
  // CHECK:         %[[I:.+]] = arith.addi %[[LINE]], %[[C]]
  // CHECK:         vector.load %[[FIRST]][%[[I]]] {alignment = 16 : i64} : memref<2048xf16, strided<[1]>, #gpu.address_space<workgroup>>, vector<8xf16>
  // 16 rows of 32 elements, and 8 columns.
  // CHECK:         %[[SECOND:.+]] = memref.reinterpret_cast %[[T]] to offset: [520], sizes: [2048], strides: [1]
  // CHECK:         vector.load %[[SECOND]][%[[I]]]
  gpu.func @rows(%r: index, %c: index, %o: memref<2x8xf16>)
      workgroup(%T: memref<64x32xf16, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %v0 = vector.load %T[%r, %c] {alignment = 16 : i64} : memref<64x32xf16, #shared>, vector<8xf16>
    %r1 = arith.addi %r, %c16 : index
    %k1 = arith.addi %c, %c8 : index
    %v1 = vector.load %T[%r1, %k1] {alignment = 16 : i64} : memref<64x32xf16, #shared>, vector<8xf16>
    vector.store %v0, %o[%c0, %c0] : memref<2x8xf16>, vector<8xf16>
    vector.store %v1, %o[%c1, %c0] : memref<2x8xf16>, vector<8xf16>
    gpu.return
  }

  // The quotient and the remainder of a line of panels are its number, and a
  // multiple of the divisor leaves a quotient.
  // CHECK-LABEL: gpu.func @panels(
  // CHECK-SAME:    %[[L:[a-z0-9]+]]: index, %[[X:[a-z0-9]+]]: index
  // CHECK-SAME:    workgroup(%[[T:.+]] : memref<64x256xi8
  // 8 lines of 128 bytes, and 2 * 5 bytes.
  // CHECK:         memref.reinterpret_cast %[[T]] to offset: [1034], sizes: [16384], strides: [1]
  // CHECK-NOT:     arith.remui
  // CHECK:         %[[LINE:.+]] = arith.muli %[[L]], %c128
  // CHECK-NOT:     arith.remui
  // CHECK:         vector.load
  gpu.func @panels(%l: index, %x: index, %o: memref<16xi8>)
      workgroup(%T: memref<64x256xi8, #shared>) kernel {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c160 = arith.constant 160 : index
    %c128 = arith.constant 128 : index
    %line = arith.addi %l, %c8 : index
    %row = arith.divui %line, %c2 : index
    %panel = arith.remui %line, %c2 : index
    %begin = arith.muli %panel, %c128 : index
    %later = arith.addi %x, %c160 : index
    %chunk = arith.divui %later, %c32 : index
    %twice = arith.muli %chunk, %c2 : index
    %col = arith.addi %begin, %twice : index
    %v = vector.load %T[%row, %col] : memref<64x256xi8, #shared>, vector<16xi8>
    vector.store %v, %o[%c0] : memref<16xi8>, vector<16xi8>
    gpu.return
  }

  // A tile that ends beyond the largest offset begins at a scalar register. Other
  // uses of it, and a tile before it, keep the constant.
  // CHECK-LABEL: gpu.func @late(
  // CHECK:         %[[ALL:.+]] = gpu.dynamic_shared_memory
  // CHECK:         %[[EARLY:.+]] = memref.view %[[ALL]][%c32768]
  // CHECK:         %[[HIDDEN:.+]] = llvm.inline_asm "", "=s,0" %c65536_i32 : (i32) -> i32
  // CHECK:         %[[BEGIN:.+]] = arith.index_castui %[[HIDDEN]] : i32 to index
  // CHECK:         %[[LATE:.+]] = memref.view %[[ALL]][%[[BEGIN]]]
  // CHECK:         memref.reinterpret_cast %[[EARLY]] to offset: [256]
  // CHECK:         vector.load
  // CHECK:         memref.reinterpret_cast %[[LATE]] to offset: [256]
  // CHECK:         vector.load
  gpu.func @late(%r: index, %o: memref<2x8xf16>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32768 = arith.constant 32768 : index
    %c65536 = arith.constant 65536 : index
    %all = gpu.dynamic_shared_memory : memref<?xi8, #shared>
    %a = memref.view %all[%c32768][] : memref<?xi8, #shared> to memref<64x32xf16, #shared>
    %b = memref.view %all[%c65536][] : memref<?xi8, #shared> to memref<64x32xf16, #shared>
    %s = arith.addi %r, %c8 : index
    %v = vector.load %a[%s, %c0] : memref<64x32xf16, #shared>, vector<8xf16>
    %w = vector.load %b[%s, %c0] : memref<64x32xf16, #shared>, vector<8xf16>
    vector.store %v, %o[%c0, %c0] : memref<2x8xf16>, vector<8xf16>
    vector.store %w, %o[%c1, %c0] : memref<2x8xf16>, vector<8xf16>
    gpu.return
  }
}
