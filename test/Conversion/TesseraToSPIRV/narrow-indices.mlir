// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices that provably fit are computed in 32 bits: a device multiplies 64
// bits by several instructions. Addresses have 64. The sum over a window may be
// contracted: each of its terms is one fused multiply-add.
//
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper --emit=llvm | FileCheck %s
//
// On OpenCL indices keep their bits: its compilers may change the arithmetic.
// RUN: gpu-runner %s --target=opencl:pvc --emit=llvm | FileCheck %s --check-prefix=OPENCL
//
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --verify | FileCheck %s --check-prefix=VERIFIED %}
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --verify --entry=depthwise | FileCheck %s --check-prefix=VERIFIED %}
// VERIFIED: {{^}}verified

// The number of the thread, and then indices.
// CHECK-LABEL: spirv.func @main_kernel
// CHECK:       spirv.IMul %{{[0-9]+}}, %cst32_i64 : i64
// CHECK-NOT:   spirv.IMul {{.*}} : i64
// CHECK:       spirv.SConvert %{{[0-9]+}} : i64 to i32
// CHECK:       %[[OFFSET:.*]] = spirv.IMul %{{[0-9]+}}, %cst2_i32{{[_0-9]*}} : i32
// CHECK:       %[[WIDE:.*]] = spirv.UConvert %[[OFFSET]] : i32 to i64
// CHECK:       %[[ADDRESS:.*]] = spirv.IAdd %{{.*}}, %[[WIDE]] : i64
// CHECK:       spirv.ConvertUToPtr %[[ADDRESS]]
// CHECK-NOT:   spirv.IMul {{.*}} : i64
// CHECK:       spirv.EntryPoint
//
// 8 GiB: the number of an element fits in 32 bits, and its offset does not.
// CHECK-LABEL: spirv.func @far_kernel
// CHECK:       %[[AT:.*]] = spirv.IMul %{{[0-9]+}}, %cst65536_i32 : i32
// CHECK:       spirv.IMul %{{[0-9]+}}, %cst2_i64 : i64
//
// CHECK-LABEL:   spirv.func @depthwise_kernel
// CHECK-COUNT-9: spirv.GL.Fma
// CHECK-NOT:     spirv.FMul
// CHECK:         spirv.EntryPoint
//
// OPENCL-LABEL: spirv.func @main_kernel
// OPENCL:       spirv.IMul %{{[0-9]+}}, %cst14_i64 : i64

func.func @main(%x: tensor<2x30x30x64xf16>) -> tensor<2x14x14x64xf16> {
  %w = tensor.empty() : tensor<3x3xf16>
  %lowest = arith.constant 0xFC00 : f16
  %e = tensor.empty() : tensor<2x14x14x64xf16>
  %i = linalg.fill ins(%lowest : f16) outs(%e : tensor<2x14x14x64xf16>) -> tensor<2x14x14x64xf16>
  %r = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>}
      ins(%x, %w : tensor<2x30x30x64xf16>, tensor<3x3xf16>)
      outs(%i : tensor<2x14x14x64xf16>) -> tensor<2x14x14x64xf16>
  return %r : tensor<2x14x14x64xf16>
}

// 8 GiB of elements.
func.func @far(%x: tensor<65536x65536xf16>) -> tensor<65536x65536xf16> {
  %e = tensor.empty() : tensor<65536x65536xf16>
  %r = linalg.transpose ins(%x : tensor<65536x65536xf16>)
      outs(%e : tensor<65536x65536xf16>) permutation = [1, 0]
  return %r : tensor<65536x65536xf16>
}

func.func @depthwise(%x: tensor<2x16x16x64xf16>, %w: tensor<3x3x64xf16>) -> tensor<2x14x14x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x14x14x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x14x14x64xf32>) -> tensor<2x14x14x64xf32>
  %r = linalg.depthwise_conv_2d_nhwc_hwc
      ins(%x, %w : tensor<2x16x16x64xf16>, tensor<3x3x64xf16>)
      outs(%i : tensor<2x14x14x64xf32>) -> tensor<2x14x14x64xf32>
  return %r : tensor<2x14x14x64xf32>
}
