// RUN: gpu-opt %s --pass-pipeline="builtin.module(func.func(tessera-fuse-windows,canonicalize))" -split-input-file | FileCheck %s
// RUN: gpu-opt %S/Inputs/groups.mlir --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-fuse-windows,canonicalize))" | FileCheck %S/Inputs/groups.mlir
// RUN: gpu-opt %S/Inputs/groups.mlir --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-fuse-windows{groups=false}))" | FileCheck %S/Inputs/groups.mlir --check-prefix=MATMULS
// RUN: gpu-opt %S/Inputs/groups.mlir --pass-pipeline="builtin.module(tessera-attach-chip{target=cpu chip=x86-64-avx512},func.func(tessera-fuse-windows))" | FileCheck %S/Inputs/groups.mlir --check-prefix=MATMULS
// RUN: not gpu-opt %S/Inputs/groups.mlir --pass-pipeline="builtin.module(func.func(tessera-fuse-windows))" 2>&1 | FileCheck %S/Inputs/groups.mlir --check-prefix=CHIP
// RUN: gpu-runner %S/Inputs/windows.mlir --target=cuda:sm_90a --entry=chain --emit=schedule | FileCheck %s --check-prefix=KERNELS

// The pad and the initial value are part of the loop.
// CHECK-LABEL: func.func @max
// CHECK-SAME:      %[[IN:.+]]: tensor<?x8x8x4xf32>
// CHECK-NOT:     tensor.pad
// CHECK-NOT:     linalg.fill
// CHECK:         linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel"]} outs(
// CHECK-DAG:       %[[N:.+]] = linalg.index 0
// CHECK-DAG:       %[[H:.+]] = linalg.index 1
// CHECK-DAG:       %[[C:.+]] = linalg.index 3
// CHECK:           scf.for %[[KH:.+]] = %{{.+}} to %c3
// CHECK:               %[[Y:.+]] = affine.apply #{{.+}}(%[[KH]])[%[[H]]]
// CHECK:               arith.maxsi %[[Y]], %c0
// CHECK:               %[[ELEMENT:.+]] = tensor.extract %[[IN]][%[[N]], %{{.+}}, %{{.+}}, %[[C]]]
// CHECK:               %[[PADDED:.+]] = arith.select %{{.+}}, %[[ELEMENT]], %{{.+}}
// CHECK:               arith.maximumf %{{.+}}, %[[PADDED]]
func.func @max(%in: tensor<?x8x8x4xf32>, %out: tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %padded = tensor.pad %in low[0, 1, 1, 0] high[0, 0, 0, 0] {
  ^bb0(%0: index, %1: index, %2: index, %3: index):
    tensor.yield %low : f32
  } : tensor<?x8x8x4xf32> to tensor<?x9x9x4xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%low : f32) outs(%out : tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32>
  %p = linalg.pooling_nhwc_max {strides = dense<2> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%padded, %window : tensor<?x9x9x4xf32>, tensor<3x3xf32>) outs(%f : tensor<?x4x4x4xf32>) -> tensor<?x4x4x4xf32>
  return %p : tensor<?x4x4x4xf32>
}

// -----

// An initial value that is a tensor is read. A depthwise convolution reads two.
// CHECK-LABEL: func.func @depthwise
// CHECK:         linalg.generic {{.*}} ins(%[[INIT:.+]] : tensor<1x4x4x8xf32>)
// CHECK:         ^bb0(%[[START:.+]]: f32, %{{.+}}: f32)
// CHECK:           scf.for {{.*}} iter_args(%{{.+}} = %[[START]])
// CHECK:               tensor.extract
// CHECK:               tensor.extract
func.func @depthwise(%in: tensor<1x6x6x8xf32>, %filter: tensor<3x3x8xf32>, %init: tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32> {
  %d = linalg.depthwise_conv_2d_nhwc_hwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%in, %filter : tensor<1x6x6x8xf32>, tensor<3x3x8xf32>) outs(%init : tensor<1x4x4x8xf32>) -> tensor<1x4x4x8xf32>
  return %d : tensor<1x4x4x8xf32>
}

// -----

// Not windows: a matmul over a window, a row, a large window, a schedule.
// CHECK-LABEL: func.func @others
// CHECK:         linalg.conv_2d_nhwc_hwcf
// CHECK:         linalg.reduce
// CHECK:         linalg.pooling_nhwc_sum
// CHECK:         linalg.pooling_nhwc_max
func.func @others(%in: tensor<1x32x32x8xf32>, %filter: tensor<3x3x8x8xf32>, %a: tensor<1x30x30x8xf32>, %b: tensor<1x32x32xf32>,
                  %c: tensor<1x1x1x8xf32>, %d: tensor<1x31x31x8xf32>)
    -> (tensor<1x30x30x8xf32>, tensor<1x32x32xf32>, tensor<1x1x1x8xf32>, tensor<1x31x31x8xf32>) {
  %conv = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%in, %filter : tensor<1x32x32x8xf32>, tensor<3x3x8x8xf32>) outs(%a : tensor<1x30x30x8xf32>) -> tensor<1x30x30x8xf32>
  %row = linalg.reduce { arith.addf } ins(%in : tensor<1x32x32x8xf32>) outs(%b : tensor<1x32x32xf32>) dimensions = [3]
  %all = tensor.empty() : tensor<32x32xf32>
  %sum = linalg.pooling_nhwc_sum {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%in, %all : tensor<1x32x32x8xf32>, tensor<32x32xf32>) outs(%c : tensor<1x1x1x8xf32>) -> tensor<1x1x1x8xf32>
  %two = tensor.empty() : tensor<2x2xf32>
  %max = linalg.pooling_nhwc_max {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>, tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 16], k = 16, stages = 1, vthread = [1, 1]>}
      ins(%in, %two : tensor<1x32x32x8xf32>, tensor<2x2xf32>) outs(%d : tensor<1x31x31x8xf32>) -> tensor<1x31x31x8xf32>
  return %conv, %row, %sum, %max : tensor<1x30x30x8xf32>, tensor<1x32x32xf32>, tensor<1x1x1x8xf32>, tensor<1x31x31x8xf32>
}

// KERNELS-LABEL: func.func @chain
// KERNELS-COUNT-5: gpu.launch blocks
// KERNELS-NOT:     gpu.launch blocks
// KERNELS-LABEL: func.func @shuffle
