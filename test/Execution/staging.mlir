// A pipeline of asynchronous copies into three buffers, two subgroups that share
// them, and sizes that divide nothing: the last tiles exceed A, B and C.
//
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%A: memref<45x77xf16>, %B: memref<77x50xf16>, %C: memref<45x50xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%a_tiles : memref<3x32x24xf16, #gpu.address_space<workgroup>>,
                       %b_tiles : memref<3x16x40xf16, #gpu.address_space<workgroup>>) {
    %row = arith.muli %by, %c32 : index
    %col = arith.muli %bx, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %sub_row = arith.muli %subgroup, %c16 : index
    %init = tessera.fill %zero : !tessera.fragment<16x32xf32, acc>
    scf.for %s = %c0 to %c2 step %c1 {
      %k = arith.muli %s, %c16 : index
      %t0 = tessera.async_copy %A[%row, %k], %a_tiles[%s, %c0, %c0] shape [32, 16]
          : memref<45x77xf16>, memref<3x32x24xf16, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %B[%k, %col], %b_tiles[%s, %c0, %c0] shape [16, 32]
          : memref<77x50xf16>, memref<3x16x40xf16, #gpu.address_space<workgroup>>
    }
    %sum = scf.for %step = %c0 to %c5 step %c1
        iter_args(%acc = %init) -> !tessera.fragment<16x32xf32, acc> {
      tessera.wait pending 2
      gpu.barrier
      %ahead = arith.addi %step, %c2 : index
      %next_slot = arith.remui %ahead, %c3 : index
      %k = arith.muli %ahead, %c16 : index
      %t0 = tessera.async_copy %A[%row, %k], %a_tiles[%next_slot, %c0, %c0] shape [32, 16]
          : memref<45x77xf16>, memref<3x32x24xf16, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %B[%k, %col], %b_tiles[%next_slot, %c0, %c0] shape [16, 32]
          : memref<77x50xf16>, memref<3x16x40xf16, #gpu.address_space<workgroup>>
      %slot = arith.remui %step, %c3 : index
      %a = tessera.load %a_tiles[%slot, %sub_row, %c0] in_bounds
          : memref<3x32x24xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
      %b = tessera.load %b_tiles[%slot, %c0, %c0] in_bounds
          : memref<3x16x40xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x32xf16, b>
      %n = tessera.mma %a, %b, %acc
          : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x32xf16, b>
          -> !tessera.fragment<16x32xf32, acc>
      scf.yield %n : !tessera.fragment<16x32xf32, acc>
    }
    tessera.wait
    %c_row = arith.addi %row, %sub_row : index
    tessera.store %sum, %C[%c_row, %col] : !tessera.fragment<16x32xf32, acc>, memref<45x50xf32>
    gpu.terminator
  }
  return
}
