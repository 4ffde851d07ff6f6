// A staged tile whose columns are read has a k-packed layout: the copying threads interleave its rows.
// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=hip chip=gfx942},gpu.module(tessera-legalize-fragments,convert-tessera-to-rocdl))" | FileCheck %s

#shared = #gpu.address_space<workgroup>
gpu.module @tiles {
  // Four rows of f16. a is read along its rows and is not changed.
  // CHECK-LABEL: gpu.func @halves(
  // CHECK-SAME:      %[[A:[^:]+]]: memref<64x32xf16>, %[[B:[^:]+]]: memref<32x64xf16>
  // CHECK-COUNT-2: amdgpu.raw_buffer_load %[[A]]{{.+}} -> vector<8xf16>
  // CHECK:         %[[R0:.+]] = amdgpu.raw_buffer_load %[[B]]{{.+}} -> vector<4xf16>
  // CHECK:         %[[R1:.+]] = amdgpu.raw_buffer_load %[[B]]{{.+}} -> vector<4xf16>
  // CHECK:         %[[R2:.+]] = amdgpu.raw_buffer_load %[[B]]{{.+}} -> vector<4xf16>
  // CHECK:         %[[R3:.+]] = amdgpu.raw_buffer_load %[[B]]{{.+}} -> vector<4xf16>
  // CHECK:         %[[UPPER:.+]] = vector.shuffle %[[R0]], %[[R1]] [0, 4, 1, 5, 2, 6, 3, 7]
  // CHECK:         %[[LOWER:.+]] = vector.shuffle %[[R2]], %[[R3]] [0, 4, 1, 5, 2, 6, 3, 7]
  // CHECK:         %[[WORDS:.+]] = vector.shuffle %[[UPPER]], %[[LOWER]] [0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15]
  // CHECK:         %[[TO:.+]] = memref.reinterpret_cast %{{.+}} to offset: [0], sizes: [2, 32, 128], strides: [1024, 32, 1]
  // CHECK:         %[[LOW:.+]] = vector.extract_strided_slice %[[WORDS]] {offsets = [0], sizes = [8]
  // CHECK:         vector.store %[[LOW]], %[[TO]][{{.+}}] {alignment = 16 : i64} : {{.+}}, vector<8xf16>
  // CHECK:         %[[HIGH:.+]] = vector.extract_strided_slice %[[WORDS]] {offsets = [8], sizes = [8]
  // CHECK:         vector.store %[[HIGH]], %[[TO]][{{.+}}] {alignment = 16 : i64} : {{.+}}, vector<8xf16>
  // CHECK:         amdgpu.lds_barrier
  // CHECK:         vector.load {{.+}} : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<4xf16>
  // CHECK:         %[[FROM:.+]] = memref.reinterpret_cast %{{.+}} to offset: [0], sizes: [2, 32, 128], strides: [1024, 32, 1]
  // CHECK:         vector.load %[[FROM]][{{.+}}] {alignment = 8 : i64} : {{.+}}, vector<4xf16>
  // CHECK-NOT:     rocdl.update.dpp
  // CHECK:         amdgpu.mfma 32x32x8
  gpu.func @halves(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>)
      workgroup(%A: memref<64x32xf16, #shared>, %B: memref<32x64xf16, #shared>) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    tessera.copy %a[%c0, %c0], %A[%c0, %c0] shape [64, 32] : memref<64x32xf16>, memref<64x32xf16, #shared>
    tessera.copy %b[%c0, %c0], %B[%c0, %c0] shape [32, 64] : memref<32x64xf16>, memref<32x64xf16, #shared>
    gpu.barrier
    %x = tessera.load %A[%c0, %c0] : memref<64x32xf16, #shared> -> !tessera.fragment<32x8xf16, a>
    %y = tessera.load %B[%c0, %c0] : memref<32x64xf16, #shared> -> !tessera.fragment<8x32xf16, b>
    %z = tessera.fill %zero : !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %x, %y, %z
        : !tessera.fragment<32x8xf16, a>, !tessera.fragment<8x32xf16, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<32x32xf32, acc>, memref<64x64xf32>
    gpu.return
  }

  // Four rows of bytes; chunks are shorter, so that all threads have one.
  // CHECK-LABEL: gpu.func @bytes(
  // CHECK-COUNT-4: amdgpu.raw_buffer_load {{.+}} : memref<32x64xi8>{{.*}} -> vector<4xi8>
  // CHECK:         %[[R0:.+]] = vector.extract %{{.+}}[0] : i32 from vector<1xi32>
  // CHECK:         %[[R1:.+]] = vector.extract %{{.+}}[0] : i32 from vector<1xi32>
  // CHECK:         %[[PAIRS:.+]] = arith.constant 83952640 : i32
  // CHECK:         %[[UPPER:.+]] = llvm.call_intrinsic "llvm.amdgcn.perm"(%[[R1]], %[[R0]], %[[PAIRS]])
  // CHECK:         %[[LOWER:.+]] = llvm.call_intrinsic "llvm.amdgcn.perm"
  // CHECK:         %[[HALVES:.+]] = arith.constant 84148480 : i32
  // CHECK:         %[[W0:.+]] = llvm.call_intrinsic "llvm.amdgcn.perm"(%[[LOWER]], %[[UPPER]], %[[HALVES]])
  // CHECK-COUNT-5: llvm.call_intrinsic "llvm.amdgcn.perm"
  // CHECK-NOT:     llvm.call_intrinsic
  // CHECK:         %[[ALL:.+]] = vector.from_elements %[[W0]], {{.+}} : vector<4xi32>
  // CHECK:         %[[WORDS:.+]] = vector.bitcast %[[ALL]] : vector<4xi32> to vector<16xi8>
  // CHECK:         vector.store %[[WORDS]], {{.+}} {alignment = 16 : i64} : {{.+}}, vector<16xi8>
  // CHECK:         amdgpu.lds_barrier
  // CHECK-COUNT-2: vector.load {{.+}} {alignment = 4 : i64} : {{.+}}, vector<4xi8>
  // CHECK:         amdgpu.mfma 32x32x16
  gpu.func @bytes(%a: memref<64x32xi8>, %b: memref<32x64xi8>, %c: memref<64x64xi32>)
      workgroup(%B: memref<32x64xi8, #shared>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    tessera.copy %b[%c0, %c0], %B[%c0, %c0] shape [32, 64] : memref<32x64xi8>, memref<32x64xi8, #shared>
    gpu.barrier
    %y = tessera.load %B[%c0, %c0] : memref<32x64xi8, #shared> -> !tessera.fragment<16x32xi8, b>
    %x = tessera.load %a[%c0, %c0] : memref<64x32xi8> -> !tessera.fragment<32x16xi8, a>
    %z = tessera.fill %zero : !tessera.fragment<32x32xi32, acc>
    %d = tessera.mma %x, %y, %z
        : !tessera.fragment<32x16xi8, a>, !tessera.fragment<16x32xi8, b> -> !tessera.fragment<32x32xi32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<32x32xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // Eight rows of bytes, where each thread has four columns of them: the lane's eight elements of K are one load.
  // CHECK-LABEL: gpu.func @eight_bytes(
  // CHECK-COUNT-8: amdgpu.raw_buffer_load {{.+}} : memref<64x64xi8>{{.*}} -> vector<4xi8>
  // CHECK-COUNT-16: llvm.call_intrinsic "llvm.amdgcn.perm"
  // CHECK-NOT:     llvm.call_intrinsic
  // CHECK:         vector.from_elements {{.+}} : vector<8xi32>
  // CHECK:         amdgpu.lds_barrier
  // CHECK:         vector.load {{.+}} {alignment = 8 : i64} : {{.+}}, vector<8xi8>
  // CHECK:         amdgpu.mfma 32x32x16
  gpu.func @eight_bytes(%a: memref<64x64xi8>, %b: memref<64x64xi8>, %c: memref<64x64xi32>)
      workgroup(%B: memref<64x64xi8, #shared>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0 : i32
    tessera.copy %b[%c0, %c0], %B[%c0, %c0] shape [64, 64] : memref<64x64xi8>, memref<64x64xi8, #shared>
    gpu.barrier
    %y = tessera.load %B[%c0, %c0] : memref<64x64xi8, #shared> -> !tessera.fragment<16x32xi8, b>
    %x = tessera.load %a[%c0, %c0] : memref<64x64xi8> -> !tessera.fragment<32x16xi8, a>
    %z = tessera.fill %zero : !tessera.fragment<32x32xi32, acc>
    %d = tessera.mma %x, %y, %z
        : !tessera.fragment<32x16xi8, a>, !tessera.fragment<16x32xi8, b> -> !tessera.fragment<32x32xi32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<32x32xi32, acc>, memref<64x64xi32>
    gpu.return
  }

  // Something else reads the tile too: it stays as it is.
  // CHECK-LABEL: gpu.func @shared_use(
  // CHECK-NOT:     memref.reinterpret_cast
  // CHECK:         rocdl.update.dpp
  // CHECK:         gpu.return
  gpu.func @shared_use(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>, %first: memref<1xf16>)
      workgroup(%B: memref<32x64xf16, #shared>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    tessera.copy %b[%c0, %c0], %B[%c0, %c0] shape [32, 64] : memref<32x64xf16>, memref<32x64xf16, #shared>
    gpu.barrier
    %v = memref.load %B[%c0, %c0] : memref<32x64xf16, #shared>
    memref.store %v, %first[%c0] : memref<1xf16>
    %x = tessera.load %a[%c0, %c0] : memref<64x32xf16> -> !tessera.fragment<32x8xf16, a>
    %y = tessera.load %B[%c0, %c0] : memref<32x64xf16, #shared> -> !tessera.fragment<8x32xf16, b>
    %z = tessera.fill %zero : !tessera.fragment<32x32xf32, acc>
    %d = tessera.mma %x, %y, %z
        : !tessera.fragment<32x8xf16, a>, !tessera.fragment<8x32xf16, b> -> !tessera.fragment<32x32xf32, acc>
    tessera.store %d, %c[%c0, %c0] : !tessera.fragment<32x32xf32, acc>, memref<64x64xf32>
    gpu.return
  }
}
