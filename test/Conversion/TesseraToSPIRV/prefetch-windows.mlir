// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A load that may be out of bounds is not in a branch: it reads the memory's
// first elements instead. The loop carries what was loaded, and selects zeros
// when it is stored: a selection before the matmuls would wait for the data.
//
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper --emit=llvm | FileCheck %s
//
// On OpenCL, and for dynamic extents, of which one may be zero, it is.
// RUN: gpu-runner %s --target=opencl:pvc --emit=vendor | FileCheck %s --check-prefix=BRANCH
// RUN: gpu-runner %s --entry=dynamic --target=vulkan:nvidia-hopper --emit=vendor | FileCheck %s --check-prefix=BRANCH

// CHECK-LABEL: spirv.func @main_kernel
// CHECK:       spirv.mlir.loop control(DontUnroll) {
// CHECK:       ^[[HEAD:[^(]*]]({{.*}}: i1, %{{[0-9]+}}: i32,
// CHECK:       spirv.ControlBarrier <Workgroup>
// CHECK-NEXT:  %[[KEPT:.*]] = spirv.Select %{{[0-9]+}}, %{{[0-9]+}}, %cst0_i32{{[_0-9]*}} : i1, i32
// CHECK:       %[[ALL:.*]] = spirv.CompositeConstruct %[[KEPT]],
// CHECK:       spirv.Store "Workgroup" %{{.*}}, %[[ALL]]
// CHECK:       spirv.ControlBarrier <Workgroup>
// CHECK-NOT:   spirv.mlir.selection
// CHECK:       %[[AT:.*]] = spirv.Select %[[NEXT:[0-9]+]], %{{.*}}, %cst0_i64 : i1, i64
// CHECK-NOT:   spirv.mlir.selection
// CHECK:       %[[LOADED:.*]] = spirv.Load "PhysicalStorageBuffer" %{{.*}} ["Aligned", 16] : vector<4xi32>
// CHECK-NEXT:  %[[PART:.*]] = spirv.CompositeExtract %[[LOADED]][0 : i32]
// CHECK-NOT:   spirv.mlir.selection
// CHECK:       spirv.KHR.CooperativeMatrixMulAdd
// CHECK:       spirv.Branch ^[[HEAD]]({{.*}}%[[NEXT]], %[[PART]],

// BRANCH: scf.if %{{.*}} -> (vector<8xf16>)
// BRANCH: vector.load

func.func @main(%x: tensor<2x14x14x64xf16>, %w: tensor<3x3x64x64xf16>) -> tensor<2x14x14x64xf32> {
  %zero = arith.constant 0.0 : f16
  %none = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f16
  } : tensor<2x14x14x64xf16> to tensor<2x16x16x64xf16>
  %e = tensor.empty() : tensor<2x14x14x64xf32>
  %f = linalg.fill ins(%none : f32) outs(%e : tensor<2x14x14x64xf32>) -> tensor<2x14x14x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%padded, %w : tensor<2x16x16x64xf16>, tensor<3x3x64x64xf16>)
      outs(%f : tensor<2x14x14x64xf32>) -> tensor<2x14x14x64xf32>
  return %r : tensor<2x14x14x64xf32>
}

func.func @dynamic(%a: tensor<?x64xf16>, %b: tensor<64x64xf16>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x64xf16>, tensor<64x64xf16>) outs(%c : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %r : tensor<?x64xf32>
}
