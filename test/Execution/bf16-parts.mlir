// Matmuls of bf16 on the CPU, by schedules for which LLVM takes halves of
// vectors as integers of 256 bits, and its X86 back end would crash.
//
// RUN: gpu-runner %s --target=cpu --verify --entry=contraction | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=matvec | FileCheck %s
// CHECK: {{^}}verified

func.func @contraction(%a: tensor<8x8x15xbf16>, %b: tensor<8x7x15xbf16>) -> tensor<8x8x7xbf16> {
  %zero = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<8x8x7xbf16>
  %init = linalg.fill ins(%zero : bf16) outs(%e : tensor<8x8x7xbf16>) -> tensor<8x8x7xbf16>
  %c = linalg.contract indexing_maps = [affine_map<(i, n, m, k) -> (i, m, k)>, affine_map<(i, n, m, k) -> (m, n, k)>, affine_map<(i, n, m, k) -> (i, m, n)>]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 8], subgroup = [16, 8], k = 128, kFragment = 32, stages = 1, vthread = [1, 1]>}
      ins(%a, %b : tensor<8x8x15xbf16>, tensor<8x7x15xbf16>) outs(%init : tensor<8x8x7xbf16>) -> tensor<8x8x7xbf16>
  return %c : tensor<8x8x7xbf16>
}

func.func @matvec(%a: tensor<10x1x120xbf16>, %x: tensor<10x120xbf16>) -> tensor<10x1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10x1xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<10x1xf32>) -> tensor<10x1xf32>
  %y = linalg.batch_matvec {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 32, kFragment = 16, stages = 4, interleave = 1>}
      ins(%a, %x : tensor<10x1x120xbf16>, tensor<10x120xbf16>) outs(%init : tensor<10x1xf32>) -> tensor<10x1xf32>
  return %y : tensor<10x1xf32>
}
