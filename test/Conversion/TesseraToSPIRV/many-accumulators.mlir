// Two accumulators of 16x16 in a chip whose subgroups have one lane: a loop carries 512 scalars. Compilation
// takes seconds, because no pass compares each of them with all others again and again.
//
// RUN: timeout 60 gpu-runner %s --target=opencl:pocl --emit=spirv-asm --cache=off | FileCheck %s
// CHECK: OpEntryPoint Kernel %{{.*}} "main_kernel"
//
// RUN: %if can-run-opencl-pocl %{ %software pocl gpu-runner %s --target=opencl --verify | FileCheck %s --check-prefix=RUNS %}
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s --check-prefix=RUNS
// RUNS: {{^}}verified

func.func @main(%A: memref<3x16x96xf16>, %B: memref<6x96x9xf16>, %C: memref<6x16x9xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c96 = arith.constant 96 : index
  %zero = arith.constant 0.0 : f16
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c3, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %first = arith.muli %bx, %c2 : index
    tessera.vthread (%i0, %i1) in (2, 1) {
      %row = arith.muli %i0, %c1 : index
      %linear = arith.addi %row, %i1 : index
      %which = arith.addi %first, %linear : index
      %init = tessera.fill %zero : !tessera.fragment<16x16xf16, acc>
      %c = scf.for %k = %c0 to %c96 step %c32 iter_args(%sum = %init) -> !tessera.fragment<16x16xf16, acc> {
        %a = tessera.load %A[%bx, %c0, %k] : memref<3x16x96xf16> -> !tessera.fragment<16x32xf16, a>
        %b = tessera.load %B[%which, %k, %c0] : memref<6x96x9xf16> -> !tessera.fragment<32x16xf16, b>
        %next = tessera.mma %a, %b, %sum : !tessera.fragment<16x32xf16, a>, !tessera.fragment<32x16xf16, b> -> !tessera.fragment<16x16xf16, acc>
        scf.yield %next : !tessera.fragment<16x16xf16, acc>
      }
      tessera.store %c, %C[%which, %c0, %c0] : !tessera.fragment<16x16xf16, acc>, memref<6x16x9xf16>
      tessera.yield
    }
    gpu.terminator
  }
  return
}
