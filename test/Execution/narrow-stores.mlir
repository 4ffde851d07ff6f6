// Stores of one element of a vector that is truncated write that element alone: the guards after each
// array show a wider store.
// RUN: gpu-runner %s --entry=bytes --target=cpu --arg=int:1 --arg=int:2 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=bytes --target=cpu:x86-64-avx512 --emit=asm -o - | FileCheck %s --check-prefix=ASM
// CHECK: verified (max abs err 0, max rel err 0, checked 136, exact)

// A row of 17 bytes is a vector of 16 and one element more.
// ASM-NOT: vmov{{d|ss}} {{.*}}%xmm{{[0-9]+}}, {{[0-9]*}}(%r

func.func @bytes(%image: tensor<1x10x8x1xi8>, %filter: tensor<7x7x1x17xi8>) -> tensor<1x4x2x17xi8> {
  %zero = arith.constant 0 : i32
  %low = arith.constant -127 : i32
  %high = arith.constant 127 : i32
  %empty = tensor.empty() : tensor<1x4x2x17xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<1x4x2x17xi32>) -> tensor<1x4x2x17xi32>
  %sum = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%image, %filter : tensor<1x10x8x1xi8>, tensor<7x7x1x17xi8>)
      outs(%init : tensor<1x4x2x17xi32>) -> tensor<1x4x2x17xi32>
  %narrow = tensor.empty() : tensor<1x4x2x17xi8>
  %result = linalg.generic {
      indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%sum : tensor<1x4x2x17xi32>) outs(%narrow : tensor<1x4x2x17xi8>) {
  ^bb0(%x: i32, %old: i8):
    %raised = arith.maxsi %x, %low : i32
    %clamped = arith.minsi %raised, %high : i32
    %byte = arith.trunci %clamped : i32 to i8
    linalg.yield %byte : i8
  } -> tensor<1x4x2x17xi8>
  return %result : tensor<1x4x2x17xi8>
}
