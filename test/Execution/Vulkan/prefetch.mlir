// Tiles of the next step are loaded before the matmuls of this one: without steps, with one, and with
// several; each iteration over tiles starts with a barrier, since the previous output may be in flight.
//
// REQUIRES: can-run-vulkan-lavapipe
// DEFINE: %{run} = %software lavapipe gpu-runner %s --target=vulkan --verify --require-mma
// RUN: %{run} --arg=int:1:45x77 --arg=int:2:77x33 | FileCheck %s
// RUN: %{run} --arg=int:1:48x8 --arg=int:2:8x32 | FileCheck %s
// RUN: %{run} --arg=int:1:45x0 --arg=int:2:0x33 | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 8, kFragment = 8, stages = 1, persistent = 3>} ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%i : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
