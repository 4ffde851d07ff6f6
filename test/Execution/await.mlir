// A tessera.await written by hand does not change values: on the CPU, in the reference,
// and for chips with synchronous matmuls, where the accumulators keep their lane map.

// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// CHECK: {{^}}verified
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=ptx | FileCheck %s --check-prefix=PTX
// PTX:     mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX-NOT: shfl.sync
// PTX:     st.global

func.func @main(%a: memref<16x16xf16>, %b: memref<16x16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %threads = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
    %x = tessera.load %a[%c0, %c0] in_bounds : memref<16x16xf16> -> !tessera.fragment<16x16xf16, a>
    %y = tessera.load %b[%c0, %c0] in_bounds : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
    %none = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
    %p = tessera.mma %x, %y, %none : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
    %r = tessera.await %p keeping %x pending 0 : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf16, a>
    tessera.store %r, %c[%c0, %c0] in_bounds : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
    gpu.terminator
  }
  return
}
