// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s --check-prefix=PTX
// CHECK: verified

// Weights of 8 bits, widened in registers, are operand a of a warpgroup's instructions; TMA loads them.
// PTX:     cp.async.bulk.tensor
// PTX:     wgmma.mma_async.sync.aligned.m64n96k16.f32.bf16.bf16 {{.*}}, {%r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}, %r{{[0-9]+}}}, %rd{{[0-9]+}},
func.func @main(%a: tensor<72x256xbf16>, %w: tensor<80x256xi8>, %s: tensor<80x2xbf16>) -> tensor<72x80xbf16> {
  %grouped = tensor.expand_shape %w [[0], [1, 2]] output_shape [80, 2, 128] : tensor<80x256xi8> into tensor<80x2x128xi8>
  %empty = tensor.empty() : tensor<80x2x128xbf16>
  %wide = linalg.generic {
      indexing_maps = [affine_map<(n, g, i) -> (n, g, i)>, affine_map<(n, g, i) -> (n, g)>, affine_map<(n, g, i) -> (n, g, i)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%grouped, %s : tensor<80x2x128xi8>, tensor<80x2xbf16>) outs(%empty : tensor<80x2x128xbf16>) {
  ^bb0(%x: i8, %scale: bf16, %o: bf16):
    %f = arith.sitofp %x : i8 to bf16
    %p = arith.mulf %f, %scale : bf16
    linalg.yield %p : bf16
  } -> tensor<80x2x128xbf16>
  %b = tensor.collapse_shape %wide [[0], [1, 2]] : tensor<80x2x128xbf16> into tensor<80x256xbf16>
  %zero_init = arith.constant 0.0 : f32
  %empty_init = tensor.empty() : tensor<72x80xf32>
  %init = linalg.fill ins(%zero_init : f32) outs(%empty_init : tensor<72x80xf32>) -> tensor<72x80xf32>
  %product = linalg.generic {indexing_maps = [affine_map<(n, m, k) -> (n, k)>, affine_map<(n, m, k) -> (m, k)>, affine_map<(n, m, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%b, %a : tensor<80x256xbf16>, tensor<72x256xbf16>) outs(%init : tensor<72x80xf32>) attrs = {tessera.schedule = #tessera.schedule<workgroup = [64, 96], subgroup = [64, 96], k = 64, kFragment = 64, stages = 3, swizzle = true, subgroupsPerFragment = 4>} {
  ^bb0(%x: bf16, %y: bf16, %z: f32):
    %x1 = arith.extf %x : bf16 to f32
    %y1 = arith.extf %y : bf16 to f32
    %p1 = arith.mulf %x1, %y1 : f32
    %s1 = arith.addf %z, %p1 : f32
    linalg.yield %s1 : f32
  } -> tensor<72x80xf32>
  %result = arith.truncf %product : tensor<72x80xf32> to tensor<72x80xbf16>
  return %result : tensor<72x80xbf16>
}
