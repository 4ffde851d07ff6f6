// 03: virtual threads, and a program that breaks elsewhere.
//
// C[v] = A[v] @ B for two virtual threads v, which one subgroup processes
// interleaved. B is loaded outside and shared; the fragments of A and C are
// created inside and belong to each vthread, because a fragment is a value.
// TVM's combination of vthread and tensorize compiles this program to two loads
// and two stores into one fragment and a single matmul. Here each vthread has a
// matmul of its own:
//
//     gpu-opt examples/03-vthreads.mlir --tessera-expand-vthreads
//
// prints both loads, then both matmuls, then both stores. Other orders are
// `order depth_first`, one vthread after the other, and `order groups(N)`;
// --vthread-order=ORDER sets all of them. benchmarks/vthreads.py compares them.
//
// RUN: gpu-runner %s --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --vthread-order=depth_first | FileCheck %s
// CHECK: {{^}}verified
//
// RUN: gpu-opt %s --tessera-expand-vthreads | FileCheck %s --check-prefix=EXPANDED
// EXPANDED: tessera.load {{.*}} -> <16x16xf16, b>
// EXPANDED: tessera.load {{.*}} -> <16x16xf16, a>
// EXPANDED: tessera.load {{.*}} -> <16x16xf16, a>
// EXPANDED: tessera.mma
// EXPANDED: tessera.mma
// EXPANDED: tessera.store
// EXPANDED: tessera.store

func.func @main(%A: memref<2x16x16xf16>, %B: memref<16x16xf16>, %C: memref<2x16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %b = tessera.load %B[%c0, %c0]
        : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
    tessera.vthread (%v) in (2) {
      %a = tessera.load %A[%v, %c0, %c0]
          : memref<2x16x16xf16> -> !tessera.fragment<16x16xf16, a>
      %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      %c = tessera.mma %a, %b, %init
          : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b>
          -> !tessera.fragment<16x16xf32, acc>
      tessera.store %c, %C[%v, %c0, %c0]
          : !tessera.fragment<16x16xf32, acc>, memref<2x16x16xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}
