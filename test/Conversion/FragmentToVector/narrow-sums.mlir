// Without a matrix unit, sums in f16 are added in f32 and rounded once per mma: each multiplication would
// otherwise be rounded by several operations where a target has no arithmetic on f16. The matmuls are
// loops over groups of four rows.
//
// RUN: gpu-runner %s --target=cpu:x86-64-avx2 --emit=llvm | FileCheck %s
// RUN: gpu-runner %s --target=opencl:pocl --emit=llvm | wc -l | FileCheck %s --check-prefix=SCALAR
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s --check-prefix=RUNS

// CHECK-NOT:        llvm.intr.fma{{.*}}xf16
// CHECK-COUNT-4:    llvm.intr.fma({{.*}}) : (vector<16xf32>
// CHECK-NOT:        llvm.intr.fma
// CHECK-COUNT-16:   llvm.fptrunc
// CHECK-NOT:        llvm.fptrunc
// CHECK-COUNT-4:    llvm.intr.fma({{.*}}) : (vector<16xf32>
// CHECK-NOT:        llvm.intr.fma
// CHECK-COUNT-16:   llvm.fptrunc
// CHECK-NOT:        llvm.{{fptrunc|intr.fma}}

// 69,000 lines; sums in f32 take 49,000, and sums that are rounded 16,384 times ten times as many.
// SCALAR: {{^[67][0-9]...$}}

// RUNS: {{^}}out 0: verified (max abs err 0, {{.*}}exact)

func.func @main(%A: memref<64x64xf16>, %B: memref<64x64xf16>, %C: memref<64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f16
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c4, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %row = arith.muli %by, %c16 : index
    %col0 = arith.muli %bx, %c32 : index
    tessera.vthread (%v) in (2) {
      %o = arith.muli %v, %c16 : index
      %col = arith.addi %col0, %o : index
      %init = tessera.fill %zero : !tessera.fragment<16x16xf16, acc>
      %sum = scf.for %k = %c0 to %c64 step %c32 iter_args(%a0 = %init) -> !tessera.fragment<16x16xf16, acc> {
        %a = tessera.load %A[%row, %k] in_bounds : memref<64x64xf16> -> !tessera.fragment<16x32xf16, a>
        %b = tessera.load %B[%k, %col] in_bounds : memref<64x64xf16> -> !tessera.fragment<32x16xf16, b>
        %n = tessera.mma %a, %b, %a0 : !tessera.fragment<16x32xf16, a>, !tessera.fragment<32x16xf16, b> -> !tessera.fragment<16x16xf16, acc>
        scf.yield %n : !tessera.fragment<16x16xf16, acc>
      }
      tessera.store %sum, %C[%row, %col] in_bounds : !tessera.fragment<16x16xf16, acc>, memref<64x64xf16>
      tessera.yield
    }
    gpu.terminator
  }
  return
}
