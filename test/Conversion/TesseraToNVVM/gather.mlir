// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_80},gpu.module(tessera-legalize-fragments,convert-tessera-to-nvvm,canonicalize,cse))" | FileCheck %s

gpu.module @m {
  // For each chunk, the region computes whether and where to read; a chunk that
  // is not read still has a valid address.
  // CHECK-LABEL: gpu.func @async(
  // CHECK-SAME:    %[[H:[a-z0-9]+]]: index)
  // CHECK-DAG:     %[[ROW:.+]] = arith.divui %thread_id_x, %c4
  // CHECK-DAG:     %[[CHUNK:.+]] = arith.remui %thread_id_x, %c4
  // CHECK-DAG:     %[[COL:.+]] = arith.muli %[[CHUNK]], %c8
  // CHECK-DAG:     %[[X:.+]] = arith.subi %[[ROW]], %c1
  // CHECK-DAG:     %[[INSIDE:.+]] = arith.cmpi ult, %[[X]], %c56
  // CHECK-DAG:     %[[COUNT:.+]] = arith.select %[[INSIDE]], %c8, %c0
  // CHECK-DAG:     %[[AT_H:.+]] = arith.select %[[INSIDE]], %[[H]], %c0
  // CHECK-DAG:     %[[AT_X:.+]] = arith.select %[[INSIDE]], %[[X]], %c0
  // CHECK-DAG:     %[[AT_C:.+]] = arith.select %[[INSIDE]], %[[COL]], %c0
  // CHECK:         nvgpu.device_async_copy %{{.+}}[%[[AT_H]], %[[AT_X]], %[[AT_C]]], %{{.+}}[%[[ROW]], %[[COL]]], 8, %[[COUNT]] {bypassL1}
  // CHECK-NEXT:    nvvm.cp.async.commit.group
  gpu.func @async(%g: memref<56x56x32xf16>, %w: memref<64x32xf16, #gpu.address_space<workgroup>>, %h: index) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c56 = arith.constant 56 : index
    %t = tessera.async_copy %g[], %w[%c0, %c0] shape [64, 32] contiguous 8 gather {
    ^bb0(%i: index, %j: index):
      %x = arith.subi %i, %c1 : index
      %inside = arith.cmpi ult, %x, %c56 : index
      tessera.yield %h, %x, %j, %inside : index, index, index, i1
    } : memref<56x56x32xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
    tessera.wait for %t
    gpu.return
  }


  // Four elements at once, as many as lie side by side.
  // CHECK-LABEL: gpu.func @sync(
  // CHECK-SAME:    %[[H:[a-z0-9]+]]: index)
  // CHECK:         %[[INSIDE:.+]] = arith.cmpi ult
  // CHECK:         %[[CHUNK:.+]] = scf.if %[[INSIDE]] -> (vector<4xf16>) {
  // CHECK-NEXT:      vector.load %{{.+}}[%[[H]], %{{.+}}, %{{.+}}] {alignment = 8 : i64} : memref<56x56x32xf16>, vector<4xf16>
  // CHECK-NEXT:      scf.yield
  // CHECK-NEXT:    } else {
  // CHECK-NEXT:      scf.yield %cst
  // CHECK-NEXT:    }
  // CHECK-NEXT:    vector.store %[[CHUNK]], {{.*}} vector<4xf16>
  gpu.func @sync(%g: memref<56x56x32xf16>, %w: memref<64x32xf16, #gpu.address_space<workgroup>>, %h: index) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c56 = arith.constant 56 : index
    tessera.copy %g[], %w[%c0, %c0] shape [64, 32] contiguous 4 gather {
    ^bb0(%i: index, %j: index):
      %inside = arith.cmpi ult, %i, %c56 : index
      tessera.yield %h, %i, %j, %inside : index, index, index, i1
    } : memref<56x56x32xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
    gpu.return
  }


  // Elements of 2 bytes, which cp.async cannot copy; no test where all is inside.
  // CHECK-LABEL: gpu.func @async_narrow(
  // CHECK-NOT:     scf.if
  // CHECK:         %[[VALUE:.+]] = memref.load %{{.+}}[%{{.+}}] : memref<?xf16>
  // CHECK-NEXT:    nvvm.bar.warp.sync
  // CHECK-NEXT:    nvvm.cp.async.commit.group
  // CHECK-NEXT:    memref.store %[[VALUE]]
  gpu.func @async_narrow(%g: memref<?xf16>, %w: memref<32x32xf16, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 1024, 1, 1>} {
    %c0 = arith.constant 0 : index
    %true = arith.constant true
    %t = tessera.async_copy %g[], %w[%c0, %c0] shape [32, 32] gather {
    ^bb0(%i: index, %j: index):
      %x = arith.addi %i, %j : index
      tessera.yield %x, %true : index, i1
    } : memref<?xf16>, memref<32x32xf16, #gpu.address_space<workgroup>>
    gpu.return
  }


  // Alignment follows from where a group starts: at a multiple of 8 of 16.
  // CHECK-LABEL: gpu.func @apply(
  // CHECK:         vector.load {{.*}} {alignment = 16 : i64} : memref<9x16xf16>, vector<8xf16>
  // CHECK-NEXT:    vector.store {{.*}} {alignment = 16 : i64}
  gpu.func @apply(%g: memref<9x16xf16>, %w: memref<32x64xf16, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %true = arith.constant true
    tessera.copy %g[], %w[%c0, %c0] shape [32, 64] contiguous 8 gather {
    ^bb0(%i: index, %j: index):
      %y = affine.apply affine_map<(d0) -> (d0 floordiv 16)>(%j)
      %x = affine.apply affine_map<(d0) -> (d0 mod 16)>(%j)
      tessera.yield %y, %x, %true : index, index, i1
    } : memref<9x16xf16>, memref<32x64xf16, #gpu.address_space<workgroup>>
    gpu.return
  }

  // Rows of the target that are not aligned narrow the chunks as well.
  // CHECK-LABEL: gpu.func @target(
  // CHECK:         nvgpu.device_async_copy {{.*}}, 2 : memref<64x32xf16>
  // CHECK-NOT:     nvgpu.device_async_copy {{.*}}, 8
  gpu.func @target(%g: memref<64x32xf16>, %w: memref<32x34xf16, #gpu.address_space<workgroup>>) kernel attributes {known_block_size = array<i32: 512, 1, 1>} {
    %c0 = arith.constant 0 : index
    %true = arith.constant true
    %t = tessera.async_copy %g[], %w[%c0, %c0] shape [32, 32] contiguous 8 gather {
    ^bb0(%i: index, %j: index):
      tessera.yield %i, %j, %true : index, index, i1
    } : memref<64x32xf16>, memref<32x34xf16, #gpu.address_space<workgroup>>
    gpu.return
  }
}
