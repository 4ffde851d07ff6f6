// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --convert-tessera-to-nvvm --canonicalize --cse | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_75" --convert-tessera-to-nvvm | FileCheck %s --check-prefix=SYNC

// Rows that begin at any element are read by pairs of aligned accesses, and
// shifted after them. Reads of all chunks precede the first write.

gpu.module @kernels {
  // The memory is a whole number of accesses: the last one is read as the
  // others are, and no access begins beyond the end, byte 8320.
  // CHECK-LABEL: gpu.func @whole(
  // CHECK-DAG:     %[[END:.+]] = arith.constant 8320 : index
  // CHECK:         %[[FITS:.+]] = arith.cmpi sle, %{{.+}}, %[[END]]
  // CHECK:         %[[WORDS:.+]] = scf.if %[[FITS]] -> (vector<8xi32>) {
  // CHECK-COUNT-2:   vector.load {{.*}} {alignment = 16 : i64} : memref<16xi8, strided<[1], offset: ?>>, vector<16xi8>
  // CHECK:         } else {
  // CHECK:           vector.load {{.*}} {alignment = 16 : i64} : memref<16xi8, strided<[1], offset: ?>>, vector<16xi8>
  // CHECK-NOT:       vector.load
  // CHECK:         scf.if
  // CHECK:         nvvm.bar.warp.sync
  // CHECK:         nvvm.cp.async.commit.group
  // CHECK:         vector.extract %[[WORDS]]
  // CHECK:         arith.shrui {{.*}} : i64
  // CHECK-COUNT-2: vector.store {{.*}} {alignment = 16 : i64} : memref<64x64xf16, #gpu.address_space<workgroup>>, vector<8xf16>
  // CHECK:         nvvm.cp.async.wait.group
  // SYNC-LABEL:  gpu.func @whole(
  // SYNC-NOT:      memref<16xi8
  // SYNC:          gpu.return
  gpu.func @whole(%g: memref<64x65xf16>, %w: memref<64x64xf16, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %g[%c0, %c0], %w[%c0, %c0] shape [64, 64] : memref<64x65xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
    tessera.wait for %t pending 0
    gpu.return
  }

  // The last 14 bytes, at 8176, are read in pieces of 4, 4, 4 and 2.
  // CHECK-LABEL: gpu.func @rest(
  // CHECK-DAG:     arith.constant 8190 : index
  // CHECK:         scf.if
  // CHECK-COUNT-2:   vector.load {{.*}} {alignment = 16 : i64} : memref<16xi8, strided<[1], offset: ?>>, vector<16xi8>
  // CHECK:         } else {
  // CHECK-COUNT-3:   vector.load {{.*}} {alignment = 4 : i64} : memref<4xi8, {{.*}}, vector<4xi8>
  // CHECK-NEXT:      vector.bitcast
  // CHECK:           vector.load {{.*}} {alignment = 2 : i64} : memref<2xi8, {{.*}}, vector<2xi8>
  gpu.func @rest(%g: memref<65x63xf16>, %w: memref<64x64xf16, #gpu.address_space<workgroup>>, %i: index) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %g[%i, %c0], %w[%c0, %c0] shape [64, 64] : memref<65x63xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
    tessera.wait for %t pending 0
    gpu.return
  }

  // Rows of whole asynchronous copies, and elements as wide as one, are not
  // shifted.
  // CHECK-LABEL: gpu.func @even(
  // CHECK-NOT:     memref<16xi8
  // CHECK:         nvgpu.device_async_copy {{.*}}, 2 : memref<64x66xf16>
  // CHECK:         nvgpu.device_async_copy {{.*}}, 1 : memref<64x65xf32>
  gpu.func @even(%g: memref<64x66xf16>, %h: memref<64x65xf32>, %w: memref<64x64xf16, #gpu.address_space<workgroup>>, %v: memref<64x64xf32, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %t = tessera.async_copy %g[%c0, %c0], %w[%c0, %c0] shape [64, 64] : memref<64x66xf16>, memref<64x64xf16, #gpu.address_space<workgroup>>
    %u = tessera.async_copy %h[%c0, %c0], %v[%c0, %c0] shape [64, 64] : memref<64x65xf32>, memref<64x64xf32, #gpu.address_space<workgroup>>
    tessera.wait for %t, %u pending 0
    gpu.return
  }
}
