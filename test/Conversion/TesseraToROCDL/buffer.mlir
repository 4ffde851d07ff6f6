// Copies of tiles that exceed memory of known size: one buffer load each, from behind the memory's end where there
// is nothing. All indices are chosen, since those of a window may be negative.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(convert-tessera-to-rocdl))" | FileCheck %s

#shared = #gpu.address_space<workgroup>
gpu.module @copies {
  // CHECK-LABEL: gpu.func @edge(
  // CHECK:         %[[ROWS:.+]] = arith.constant 70 : i32
  // CHECK:         %[[ROW:.+]] = arith.select %[[WHOLE:.+]], %{{.+}}, %[[ROWS]] : i32
  // CHECK:         %[[ZERO:.+]] = arith.constant 0 : i32
  // CHECK:         %[[COL:.+]] = arith.select %[[WHOLE]], %{{.+}}, %[[ZERO]] : i32
  // CHECK:         amdgpu.raw_buffer_load %{{.+}}[%[[ROW]], %[[COL]]] : memref<70x40xf16>, i32, i32 -> vector<8xf16>
  // CHECK-NOT:     scf.if
  // CHECK:         vector.store
  gpu.func @edge(%A: memref<70x40xf16>, %i: index) workgroup(%s: memref<32x64xf16, #shared>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %row = arith.muli %i, %c32 : index
    tessera.copy %A[%row, %c0], %s[%c0, %c0] shape [32, 64] : memref<70x40xf16>, memref<32x64xf16, #shared>
    gpu.return
  }
}
