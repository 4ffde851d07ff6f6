// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-attach-chip="target=hip chip=gfx90a" --tessera-map-fragments | FileCheck %s
// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-attach-chip="target=hip chip=gfx950" --tessera-map-fragments | FileCheck %s --check-prefix=MATRIX
// RUN: gpu-opt %s --allow-unregistered-dialect --tessera-map-fragments | FileCheck %s --check-prefix=MATRIX
// RUN: gpu-runner %S/Inputs/long-scalars.mlir --target=cpu:emulate=gfx90a --arg=random --verify

// A matmul of f8 by scalar instructions, since the chip's matrix unit does not have the type: a lane would have 4,096
// multiply-adds, which compilers take minutes for. They are a loop over parts of 16.

#schedule = #tessera.schedule<workgroup = [64, 16], subgroup = [64, 16], k = 256, kFragment = 64, stages = 1>

// CHECK-LABEL: func @long
// CHECK:         scf.for %{{.+}} = %c0{{.*}} to %c256{{.*}} step %c16
// CHECK-COUNT-1:   tessera.mma {{.*}} : <64x16xf8E4M3FN, a>, <16x16xf8E4M3FN, b> -> <64x16xf32, acc>
// CHECK-NOT:     tessera.mma

// With an instruction, or where the chip is not known, four parts are unrolled.
// MATRIX-LABEL: func @long
// MATRIX-NOT:     scf.for
// MATRIX-COUNT-4: tessera.mma {{.*}} : <64x64xf8E4M3FN, a>, <64x16xf8E4M3FN, b> -> <64x16xf32, acc>
func.func @long(%a: memref<64x256xf8E4M3FN>, %b: memref<256x16xf8E4M3FN>, %i: index, %acc: !tessera.fragment<64x16xf32, acc>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    %fa = tessera.load %a[%i, %i] in_bounds : memref<64x256xf8E4M3FN> -> !tessera.fragment<64x256xf8E4M3FN, a>
    %fb = tessera.load %b[%i, %i] in_bounds : memref<256x16xf8E4M3FN> -> !tessera.fragment<256x16xf8E4M3FN, b>
    %d = tessera.mma %fa, %fb, %acc : !tessera.fragment<64x256xf8E4M3FN, a>, !tessera.fragment<256x16xf8E4M3FN, b>
        -> !tessera.fragment<64x16xf32, acc>
    "test.use"(%d) : (!tessera.fragment<64x16xf32, acc>) -> ()
    gpu.terminator
  } {tessera.schedule = #schedule}
  return
}

// A quarter of it, four times: the matmuls of virtual threads count together.

#virtual = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 256, kFragment = 64, stages = 1, vthread = [2, 2]>

// CHECK-LABEL: func @virtual
// CHECK:         scf.for %{{.+}} = %c0{{.*}} to %c256{{.*}} step %c64
// CHECK:           tessera.mma {{.*}} : <8x64xf8E4M3FN, a>, <64x8xf8E4M3FN, b> -> <8x8xf32, acc>
func.func @virtual(%a: memref<16x256xf8E4M3FN>, %b: memref<256x16xf8E4M3FN>, %i: index, %acc: !tessera.fragment<8x8xf32, acc>) {
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%x, %y, %z) in (%gx = %c1, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%bx = %c1, %by = %c1, %bz = %c1) {
    %fa = tessera.load %a[%i, %i] in_bounds : memref<16x256xf8E4M3FN> -> !tessera.fragment<8x256xf8E4M3FN, a>
    %fb = tessera.load %b[%i, %i] in_bounds : memref<256x16xf8E4M3FN> -> !tessera.fragment<256x8xf8E4M3FN, b>
    %d = tessera.mma %fa, %fb, %acc : !tessera.fragment<8x256xf8E4M3FN, a>, !tessera.fragment<256x8xf8E4M3FN, b>
        -> !tessera.fragment<8x8xf32, acc>
    "test.use"(%d) : (!tessera.fragment<8x8xf32, acc>) -> ()
    gpu.terminator
  } {tessera.schedule = #virtual}
  return
}
