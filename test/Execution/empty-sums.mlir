// A sum over several loops, one of which is empty at run time: tiles that are
// requested ahead do not divide by its size.

// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify --arg=int:5x27x0x3 --arg=int:5x9x3x0 --arg=int:27x9x5 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --arg=int:5x27x0x3 --arg=int:5x9x3x0 --arg=int:27x9x5 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --arg=int:5x27x4x3 --arg=int:5x9x3x4 --arg=int:27x9x5 | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%a: memref<?x27x?x3xf16>, %b: memref<?x?x3x?xf16>, %out: memref<?x?x5xf32>) {
  linalg.contract indexing_maps = [affine_map<(b, n, m, k, l) -> (b, m, l, k)>, affine_map<(b, n, m, k, l) -> (b, n, k, l)>, affine_map<(b, n, m, k, l) -> (m, n, b)>]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 32, kFragment = 16, stages = 2>}
      ins(%a, %b : memref<?x27x?x3xf16>, memref<?x?x3x?xf16>) outs(%out : memref<?x?x5xf32>)
  return
}
