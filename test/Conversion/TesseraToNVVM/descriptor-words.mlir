// The two words of a descriptor in workgroup memory are separate. ptxas 13.0 lost the high word of the sums that LLVM
// makes of `or` and the steps of the loop over the last slots: matmuls in it read with another layout.
//
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s --implicit-check-not="{{add.s64.*, 46116862}}"
// CHECK-LABEL: .entry main_kernel
// The loop over all slots but one, then the one over the rest.
// CHECK: cp.async.wait_group 4;
// CHECK: wgmma.mma_async
// CHECK: cp.async.wait_group 0;
// CHECK: add.s32
// CHECK: or.b64 {{.*}}, 4611686293305294848;
// CHECK: wgmma.mma_async

func.func @main(%image: tensor<32x30x30x72xf16>, %filter: tensor<3x3x72x40xf16>) -> tensor<32x28x28x40xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x28x28x40xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x28x28x40xf32>) -> tensor<32x28x28x40xf32>
  %result = linalg.conv_2d_nhwc_hwcf {
      dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>,
      tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [64, 64], k = 64, kFragment = 64, stages = 4, swizzle = true, subgroupsPerFragment = 4>}
      ins(%image, %filter : tensor<32x30x30x72xf16>, tensor<3x3x72x40xf16>) outs(%init : tensor<32x28x28x40xf32>) -> tensor<32x28x28x40xf32>
  return %result : tensor<32x28x28x40xf32>
}
