// --debug-only prints which instructions a default schedule is for.
// REQUIRES: asserts

// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_90a" --tessera-choose-schedule --debug-only=tessera-choose-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=GROUP
// GROUP: DefaultSchedule.cpp:{{.+}}choose-schedule-debug.mlir":[[#@LINE+12]]:3): instructions of several subgroups: #tessera.schedule<
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --tessera-choose-schedule --debug-only=tessera-choose-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=MATRIX
// MATRIX: DefaultSchedule.cpp:{{.+}}: the matrix unit{{$}}
// RUN: gpu-opt %s --tessera-attach-chip="target=vulkan chip=lavapipe-simt" --tessera-choose-schedule --debug-only=tessera-choose-schedule -o /dev/null 2>&1 | FileCheck %s --check-prefix=SCALAR
// SCALAR: DefaultSchedule.cpp:{{.+}}: scalar instructions{{$}}

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @large(%a: memref<4096x4096xf16>, %b: memref<4096x4096xf16>, %c: memref<4096x4096xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<4096x4096xf16>, memref<4096x4096xf16>) init(%zero : f32) outs(%c : memref<4096x4096xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}
