// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_80},gpu.module(tessera-legalize-fragments,convert-tessera-to-nvvm,canonicalize))" --split-input-file | FileCheck %s

// A store that adds: one atomic update for each element that a lane holds.

gpu.module @m {
  // CHECK-LABEL: gpu.func @inside
  // CHECK-NOT:     scf.if
  // CHECK-COUNT-4: memref.atomic_rmw addf %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}] : (f32, memref<16x8xf32>) -> f32
  // CHECK-NOT:     memref.atomic_rmw
  // CHECK-NOT:     store
  // CHECK:         gpu.return
  gpu.func @inside(%o: memref<16x8xf32>, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.fill %x : !tessera.fragment<16x8xf32, acc>
    tessera.store %f, %o[%c0, %c0] atomic_add : !tessera.fragment<16x8xf32, acc>, memref<16x8xf32>
    gpu.return
  }
}

// -----

gpu.module @m {
  // At the edges, each element by itself is tested; integers.
  // CHECK-LABEL: gpu.func @edges
  // CHECK:         scf.if
  // CHECK-COUNT-4:   memref.atomic_rmw addi %{{.+}} : (i32, memref<?x?xi32>) -> i32
  // CHECK:         } else {
  // CHECK:           scf.if
  // CHECK-NEXT:        memref.atomic_rmw addi
  // CHECK-NEXT:      }
  // CHECK-COUNT-3:   memref.atomic_rmw addi
  // CHECK-NOT:     memref.atomic_rmw
  gpu.func @edges(%o: memref<?x?xi32>, %x: i32, %i: index) kernel {
    %f = tessera.fill %x : !tessera.fragment<16x8xi32, acc>
    tessera.store %f, %o[%i, %i] atomic_add : !tessera.fragment<16x8xi32, acc>, memref<?x?xi32>
    gpu.return
  }
}

// -----

gpu.module @m {
  // In a column of sums, the four lanes of a row hold the same element: the first one adds.
  // CHECK-LABEL: gpu.func @replicated
  // CHECK:         %[[SAME:.+]] = arith.andi %{{.+}}, %c3
  // CHECK:         %[[FIRST:.+]] = arith.cmpi eq, %[[SAME]], %c0
  // CHECK:         scf.if %[[FIRST]] {
  // CHECK-COUNT-2:   memref.atomic_rmw addf
  // CHECK-NOT:       memref.atomic_rmw
  // CHECK:         }
  gpu.func @replicated(%o: memref<16x1xf32>, %x: f32) kernel {
    %c0 = arith.constant 0 : index
    %f = tessera.fill %x : !tessera.fragment<16x8xf32, acc>
    %s = tessera.reduce add %f dimension 1 : !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<16x1xf32, acc>
    tessera.store %s, %o[%c0, %c0] in_bounds atomic_add : !tessera.fragment<16x1xf32, acc>, memref<16x1xf32>
    gpu.return
  }
}
