// A chip whose subgroup is one lane, without gathers: the loads of a map are loads of elements.
//
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=opencl chip=pocl},gpu.module(tessera-legalize-fragments,tessera-pack-workgroup-memory,convert-tessera-to-spirv))" | FileCheck %s

// CHECK-LABEL: @positions
// CHECK-NOT:     vector.gather
// CHECK-COUNT-256: arith.addf %{{.+}}, %{{.+}} : f32
// CHECK-NOT:     vector.gather
gpu.module @m {
  gpu.func @positions(%bias: memref<8x40xf32>, %i: index, %c: memref<8x32xf32>) kernel {
    %c0 = arith.constant 0 : index
    %x = tessera.load %c[%c0, %c0] in_bounds : memref<8x32xf32> -> !tessera.fragment<8x32xf32, acc>
    %y = tessera.map %x : !tessera.fragment<8x32xf32, acc> -> <8x32xf32, acc> {
    ^bb0(%v: f32, %row: index, %col: index):
      %at = arith.addi %col, %i : index
      %b = memref.load %bias[%row, %at] : memref<8x40xf32>
      %r = arith.addf %v, %b : f32
      tessera.yield %r : f32
    }
    tessera.store %y, %c[%c0, %c0] in_bounds : !tessera.fragment<8x32xf32, acc>, memref<8x32xf32>
    gpu.return
  }
}
