// ptxas of CUDA 13.0 makes 0x50 of the zeros by which K of an 8-bit matrix instruction is padded, where it converts
// the upper halves of registers to f16 (sm_90, sm_100): it must not know that they are zeros.
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --arg=int:1 --arg=int:2 --arg=int:3 --verify | FileCheck %s --check-prefix=EXEC
// EXEC: verified (max abs err 0, max rel err 0, checked 14784, exact)

// CHECK:      mov.u32 a, %laneid; add.u32 b, a, 1; mul.lo.u32 a, a, b; and.b32 [[ZERO:%r[0-9]+]], a, 1;
// CHECK:      mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32
// CHECK-SAME: {%r{{[0-9]+}}, %r{{[0-9]+}}, [[ZERO]], [[ZERO]]}, {%r{{[0-9]+}}, [[ZERO]]}

func.func @main(%a: tensor<11x7x16xf8E5M2>, %b: tensor<7x4x16x3x16xf8E4M3FN>, %c: tensor<3x7x4x11x16xf16>) -> (tensor<3x7x4x11x16xf16>) {
  %result = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2, d3, d4, d5) -> (d2, d0, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d3, d5)>, affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d0, d1, d2, d4)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<11x7x16xf8E5M2>, tensor<7x4x16x3x16xf8E4M3FN>) outs(%c : tensor<3x7x4x11x16xf16>) {
  ^bb0(%x: f8E5M2, %y: f8E4M3FN, %sum: f16):
    %left = arith.extf %x : f8E5M2 to f16
    %right = arith.extf %y : f8E4M3FN to f16
    %product = arith.mulf %right, %left : f16
    %next = arith.addf %sum, %product : f16
    linalg.yield %next : f16
  } -> tensor<3x7x4x11x16xf16>
  return %result : tensor<3x7x4x11x16xf16>
}
