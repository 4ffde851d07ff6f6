// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-legalize-fragments))" | FileCheck %s --check-prefix=ROWS
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},gpu.module(tessera-legalize-fragments,convert-tessera-to-nvvm,canonicalize,cse))" | FileCheck %s

// Bytes of b with N along the rows: a lane receives two columns of four rows
// with one ldmatrix, of which it makes words by permutations of bytes, for two
// instructions.

#wg = #gpu.address_space<workgroup>

gpu.module @m {
  // ROWS-LABEL: gpu.func @pairs
  // ROWS:         tessera.load %{{.+}} -> <32x16xi8, b, "mma.m16n16k32.i32.i8.pairs">
  // ROWS:         tessera.mma
  // ROWS-SAME:    <16x16xi32, acc, "mma.m16n16k32.i32.i8.pairs">
  // CHECK-LABEL: gpu.func @pairs
  // CHECK:         %[[B:.+]] = nvvm.ldmatrix %{{.+}} {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout = #nvvm.mma_layout<col>, num = 4 : i32
  // CHECK-DAG:     %[[W0:.+]] = llvm.extractvalue %[[B]][0]
  // CHECK-DAG:     %[[W1:.+]] = llvm.extractvalue %[[B]][1]
  // CHECK-DAG:     %[[W2:.+]] = llvm.extractvalue %[[B]][2]
  // CHECK-DAG:     %[[W3:.+]] = llvm.extractvalue %[[B]][3]
  // The selectors 0x6420 and 0x7531, of the upper lanes 0x2064 and 0x3175.
  // CHECK-DAG:     %[[UPPER:.+]] = arith.muli %{{.+}}, %c-17340
  // CHECK-DAG:     %[[SUM:.+]] = arith.addi %[[UPPER]], %c25632
  // CHECK-DAG:     %[[NEXT:.+]] = arith.addi %[[UPPER]], %c30001
  // CHECK-DAG:     %[[LOW:.+]] = arith.index_cast %[[SUM]]
  // CHECK-DAG:     %[[HIGH:.+]] = arith.index_cast %[[NEXT]]
  // CHECK:         llvm.call_intrinsic "llvm.nvvm.prmt"(%[[W0]], %[[W1]], %[[LOW]]) :
  // CHECK:         llvm.call_intrinsic "llvm.nvvm.prmt"(%[[W0]], %[[W1]], %[[HIGH]]) :
  // CHECK:         llvm.call_intrinsic "llvm.nvvm.prmt"(%[[W2]], %[[W3]], %[[LOW]]) :
  // CHECK:         llvm.call_intrinsic "llvm.nvvm.prmt"(%[[W2]], %[[W3]], %[[HIGH]]) :
  // CHECK-COUNT-2: mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32
  // A lane has four adjacent columns of the sums.
  // CHECK-COUNT-2: vector.store %{{.+}} : memref<16x16xi32>, vector<4xi32>
  // CHECK-NOT:     vector.store
  // CHECK:         gpu.return
  gpu.func @pairs(%out: memref<16x16xi32>) workgroup(%wa: memref<16x32xi8, #wg>, %wb: memref<32x64xi8, #wg>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %a = tessera.load %wa[%c0, %c0] in_bounds : memref<16x32xi8, #wg> -> !tessera.fragment<16x32xi8, a>
    %b = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<32x64xi8, #wg> -> !tessera.fragment<32x16xi8, b>
    %init = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
    %sum = tessera.mma %a, %b, %init : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
    tessera.store %sum, %out[%c0, %c0] in_bounds : !tessera.fragment<16x16xi32, acc>, memref<16x16xi32>
    gpu.return
  }

  // One instruction's columns, and K along the rows: the instruction itself.
  // ROWS-LABEL: gpu.func @narrow
  // ROWS:         tessera.load %{{.+}} -> <32x8xi8, b, "mma.m16n8k32.i32.i8">
  // ROWS:         tessera.load %{{.+}} -> <32x16xi8, b, "mma.m16n8k32.i32.i8">
  // CHECK-LABEL: gpu.func @narrow
  // CHECK-NOT:     nvvm.prmt
  // CHECK:         gpu.return
  gpu.func @narrow(%out: memref<16x16xi32>) workgroup(%wa: memref<16x32xi8, #wg>, %wb: memref<32x64xi8, #wg>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    %a = tessera.load %wa[%c0, %c0] in_bounds : memref<16x32xi8, #wg> -> !tessera.fragment<16x32xi8, a>
    %b = tessera.load %wb[%c0, %c0] in_bounds swizzled : memref<32x64xi8, #wg> -> !tessera.fragment<32x8xi8, b>
    %init = tessera.fill %zero : !tessera.fragment<16x8xi32, acc>
    %sum = tessera.mma %a, %b, %init : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x8xi8, b> -> !tessera.fragment<16x8xi32, acc>
    tessera.store %sum, %out[%c0, %c0] in_bounds : !tessera.fragment<16x8xi32, acc>, memref<16x16xi32>
    %bt = tessera.load %wb[%c0, %c0] transpose in_bounds swizzled : memref<32x64xi8, #wg> -> !tessera.fragment<32x16xi8, b>
    %init2 = tessera.fill %zero : !tessera.fragment<16x16xi32, acc>
    %sum2 = tessera.mma %a, %bt, %init2 : !tessera.fragment<16x32xi8, a>, !tessera.fragment<32x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
    tessera.store %sum2, %out[%c0, %c0] in_bounds : !tessera.fragment<16x16xi32, acc>, memref<16x16xi32>
    gpu.return
  }
}
