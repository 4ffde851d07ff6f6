// All threads of a warp execute the matrix instructions in assembly, also those that store no row of the result: these
// instructions stay outside of the branch that stores.
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --arg=int:1 --arg=int:2 --arg=int:3 --verify \
// RUN:   | FileCheck %s --check-prefix=EXEC
// EXEC: verified (max abs err 0, max rel err 0, checked 112, exact)

// CHECK-COUNT-2: mma.sync.aligned.m16n8k16
// CHECK:         bra [[LOADED:\$.+]];
// CHECK:         [[LOADED]]:
// CHECK-COUNT-2: mma.sync.aligned.m16n8k16
// CHECK:         bra [[END:\$.+]];
// CHECK:         st.global
// CHECK:         [[END]]:

func.func @main(%lhs: memref<7x1x2x16xi8>, %rhs: memref<16x2x16xi8>, %result: memref<7x1x16xi32>) {
  %three = arith.constant 3 : i32
  linalg.fill ins(%three : i32) outs(%result : memref<7x1x16xi32>)
  linalg.contract indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>,
                                   affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4)>,
                                   affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>]
      {tessera.schedule = #tessera.schedule<workgroup = [32, 16], subgroup = [16, 16], k = 32, kFragment = 16,
                                            stages = 0, vthread = [1, 1], interleave = 1>}
      ins(%lhs, %rhs : memref<7x1x2x16xi8>, memref<16x2x16xi8>) outs(%result : memref<7x1x16xi32>)
  return
}
