// 02: the kernel of 01, written with fragments.
//
// One kernel for every target. It uses `gpu.subgroup_id` and `gpu.subgroup_size`,
// never a number of lanes: a subgroup has 32 lanes on an NVIDIA GPU and one on
// the CPU. Four subgroups compute a 64x64 tile of C, each a 32x32 quarter of it;
// all threads together stage the operands' tiles in workgroup memory. A fragment
// is an SSA value. The program does not define which lane holds which of its
// elements: the instruction of the target does
// (see --explain).
//
// RUN: gpu-runner %s --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%A: memref<256x192xf16>, %B: memref<192x320xf16>, %C: memref<256x320xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c192 = arith.constant 192 : index
  %zero = arith.constant 0.0 : f32

  // Four subgroups, whatever their size.
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c4 : index

  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c5, %gy = %c4, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%a_tile : memref<64x32xf16, #gpu.address_space<workgroup>>,
                       %b_tile : memref<32x64xf16, #gpu.address_space<workgroup>>) {
    %row = arith.muli %by, %c64 : index
    %col = arith.muli %bx, %c64 : index
    %subgroup = gpu.subgroup_id : index
    %sub_y = arith.divui %subgroup, %c2 : index
    %sub_x = arith.remui %subgroup, %c2 : index
    %sub_row = arith.muli %sub_y, %c32 : index
    %sub_col = arith.muli %sub_x, %c32 : index

    %init = tessera.fill %zero : !tessera.fragment<32x32xf32, acc>
    %sum = scf.for %k = %c0 to %c192 step %c32
        iter_args(%acc = %init) -> !tessera.fragment<32x32xf32, acc> {
      gpu.barrier
      tessera.copy %A[%row, %k], %a_tile[%c0, %c0] shape [64, 32]
          : memref<256x192xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      tessera.copy %B[%k, %col], %b_tile[%c0, %c0] shape [32, 64]
          : memref<192x320xf16>, memref<32x64xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %a = tessera.load %a_tile[%sub_row, %c0] in_bounds
          : memref<64x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf16, a>
      %b = tessera.load %b_tile[%c0, %sub_col] in_bounds
          : memref<32x64xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xf16, b>
      %next = tessera.mma %a, %b, %acc
          : !tessera.fragment<32x32xf16, a>, !tessera.fragment<32x32xf16, b>
          -> !tessera.fragment<32x32xf32, acc>
      scf.yield %next : !tessera.fragment<32x32xf32, acc>
    }
    %c_row = arith.addi %row, %sub_row : index
    %c_col = arith.addi %col, %sub_col : index
    tessera.store %sum, %C[%c_row, %c_col]
        : !tessera.fragment<32x32xf32, acc>, memref<256x320xf32>
    gpu.terminator
  }
  return
}
