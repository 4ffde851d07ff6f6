// As k-packed.mlir, for an instruction whose lanes have two elements of a column.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx908},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl))" | FileCheck %s

#shared = #gpu.address_space<workgroup>
gpu.module @tiles {
  // CHECK-LABEL: gpu.func @pairs(
  // CHECK:         %[[R0:.+]] = amdgpu.raw_buffer_load %{{.+}} -> vector<8xbf16>
  // CHECK:         %[[R1:.+]] = amdgpu.raw_buffer_load %{{.+}} -> vector<8xbf16>
  // CHECK:         %[[WORDS:.+]] = vector.shuffle %[[R0]], %[[R1]] [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15]
  // CHECK:         memref.reinterpret_cast %{{.+}} to offset: [0], sizes: [2, 32, 64], strides: [1024, 32, 1]
  // CHECK-COUNT-2: vector.store {{.+}} {alignment = 16 : i64} : {{.+}}, vector<8xbf16>
  // CHECK:         %[[FROM:.+]] = memref.reinterpret_cast %{{.+}} to offset: [0], sizes: [2, 32, 64], strides: [1024, 32, 1]
  // CHECK:         vector.load %[[FROM]][{{.+}}] {alignment = 4 : i64} : {{.+}}, vector<2xbf16>
  // CHECK:         amdgpu.mfma 32x32x4
  gpu.func @pairs(%a: memref<64x32xbf16>, %b: memref<32x64xbf16>, %c: memref<64x64xf32>)
      workgroup(%B: memref<32x64xbf16, #shared>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    tessera.copy %b[%c0, %c0], %B[%c0, %c0] shape [32, 64] : memref<32x64xbf16>, memref<32x64xbf16, #shared>
    gpu.barrier
    %y = tessera.load %B[%c0, %c0] : memref<32x64xbf16, #shared> -> !tessera.fragment<4x32xbf16, b>
    %x = tessera.load %a[%c0, %c0] : memref<64x32xbf16> -> !tessera.fragment<32x4xbf16, a>
    %z = tessera.fill %zero : !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %x, %y, %z
        : !tessera.fragment<32x4xbf16, a>, !tessera.fragment<4x32xbf16, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<32x32xf32, acc>, memref<64x64xf32>
    gpu.return
  }
}
