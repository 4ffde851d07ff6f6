// With sums in few bits, tiles, rows and columns are compared as a whole, and the result line has how
// much a tile may be off by.

// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify --arg=random:1 --arg=random:2 | FileCheck %s
// CHECK: out 0: verified (max abs err {{.*}}, checked 1024, within {{.*}}, sums of 11 bits: rms of each tile within 0.0{{[0-9]+}})
// CHECK: {{^}}verified
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify --arg=random:1 --arg=random:2 --json | FileCheck %s --check-prefix=JSON
// JSON: "blocks": {
// JSON-NEXT: "compared": 68,
// JSON-NEXT: "wrong": 0

// A row of zeros is within the bounds of single elements, or nearly so.
// RUN: not gpu-runner %s --target=cpu:emulate=sm_80 --verify --arg=random:1 --arg=random:2 --debug-corrupt-output=0:zero-row 2>&1 | FileCheck %s --check-prefix=WRONG
// WRONG: out 0: FAILED
// WRONG: {{[0-9]+}} of 68 tiles, rows and columns are wrong as a whole; the worst: the row of 1x32 at [16, 0] differs by {{.*}} (root mean square), and sums of few bits lose at most 0.{{[0-9]+}}

// Targets are compared in the same way, whatever their order of sums.
// RUN: gpu-runner %s --diff=cpu:emulate=sm_80,cpu:emulate=gfx1100 --arg=random:1 --arg=random:2 | FileCheck %s --check-prefix=DIFF
// DIFF: out 0: cpu:emulate=gfx1100 agrees with cpu:emulate=sm_80 (max abs err {{.*}}, sums of 11 bits: rms of each tile within {{.*}})

func.func @main(%A: memref<32x4096xf16>, %B: memref<4096x32xf16>, %C: memref<32x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
  %length = arith.constant 4096 : index
  %zero = arith.constant 0.0 : f16
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c2, %gy = %c2, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %row = arith.muli %by, %c16 : index
    %column = arith.muli %bx, %c16 : index
    %init = tessera.fill %zero : !tessera.fragment<16x16xf16, acc>
    %sum = scf.for %k = %c0 to %length step %c16
        iter_args(%acc = %init) -> !tessera.fragment<16x16xf16, acc> {
      %a = tessera.load %A[%row, %k] in_bounds : memref<32x4096xf16> -> !tessera.fragment<16x16xf16, a>
      %b = tessera.load %B[%k, %column] in_bounds : memref<4096x32xf16> -> !tessera.fragment<16x16xf16, b>
      %next = tessera.mma %a, %b, %acc
          : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b>
          -> !tessera.fragment<16x16xf16, acc>
      scf.yield %next : !tessera.fragment<16x16xf16, acc>
    }
    tessera.store %sum, %C[%row, %column] in_bounds : !tessera.fragment<16x16xf16, acc>, memref<32x32xf16>
    gpu.terminator
  }
  return
}
