// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Convolutions of groups, for fuse-windows.mlir.

// CHIP: error:

// The channels of a group are a loop, and the filter is transposed.
// CHECK-LABEL:   func.func @last
// CHECK-SAME:      %[[IN:.+]]: tensor<1x8x8x3x4xf16>, %[[FILTER:.+]]: tensor<3x8x3x3x4xf16>
// CHECK:           %[[TRANSPOSED:.+]] = linalg.transpose ins(%[[FILTER]] : {{.*}} outs(%{{.+}} : tensor<3x3x4x3x8xf16>) permutation = [2, 3, 4, 0, 1]
// CHECK:           linalg.generic
// CHECK-SAME:        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]
// CHECK:             %[[G:.+]] = linalg.index 3
// CHECK:             %[[F:.+]] = linalg.index 4
// CHECK:             scf.for %[[H:.+]] = %c0 to %c3
// CHECK:               scf.for %[[W:.+]] = %c0 to %c3
// CHECK:                 scf.for %[[C:.+]] = %c0 to %c4
// CHECK:                   tensor.extract %[[IN]][%{{.+}}, %{{.+}}, %{{.+}}, %[[G]], %[[C]]]
// CHECK:                   tensor.extract %[[TRANSPOSED]][%[[H]], %[[W]], %[[C]], %[[G]], %[[F]]]
// MATMULS-LABEL: func.func @last
// MATMULS:         linalg.conv_2d_nhwgc_gfhwc
func.func @last(%in: tensor<1x8x8x3x4xf16>, %filter: tensor<3x8x3x3x4xf16>, %out: tensor<1x6x6x3x8xf32>) -> tensor<1x6x6x3x8xf32> {
  %c = linalg.conv_2d_nhwgc_gfhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%in, %filter : tensor<1x8x8x3x4xf16>, tensor<3x8x3x3x4xf16>) outs(%out : tensor<1x6x6x3x8xf32>) -> tensor<1x6x6x3x8xf32>
  return %c : tensor<1x6x6x3x8xf32>
}

// With the columns last, threads of a row read the same filter.
// CHECK-LABEL:   func.func @first
// CHECK-SAME:      %[[IN:.+]]: tensor<1x3x5x8x8xf16>, %[[FILTER:.+]]: tensor<3x6x5x3x3xf16>
// CHECK-NOT:       linalg.transpose
// CHECK:           scf.for %[[C:.+]] = %c0 to %c5
// CHECK:             tensor.extract %[[IN]][%{{.+}}, %{{.+}}, %[[C]], %{{.+}}, %{{.+}}]
// CHECK:             tensor.extract %[[FILTER]][%{{.+}}, %{{.+}}, %[[C]], %{{.+}}, %{{.+}}]
// MATMULS-LABEL: func.func @first
// MATMULS:         linalg.conv_2d_ngchw_gfchw
func.func @first(%in: tensor<1x3x5x8x8xf16>, %filter: tensor<3x6x5x3x3xf16>, %out: tensor<1x3x6x6x6xf32>) -> tensor<1x3x6x6x6xf32> {
  %c = linalg.conv_2d_ngchw_gfchw {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%in, %filter : tensor<1x3x5x8x8xf16>, tensor<3x6x5x3x3xf16>) outs(%out : tensor<1x3x6x6x6xf32>) -> tensor<1x3x6x6x6xf32>
  return %c : tensor<1x3x6x6x6xf32>
}

// Not those of many channels or filters, of a number of channels that is not a
// vector, or of integers; and not those of eight channels in a small image.
// CHECK-LABEL:   func.func @others
// CHECK-COUNT-4:   linalg.conv_2d_nhwgc_gfhwc
// CHECK-LABEL:   func.func @small
// CHECK:           linalg.conv_2d_nhwgc_gfhwc
func.func @others(%a: tensor<1x8x8x3x16xf16>, %b: tensor<1x8x8x3x4xf16>, %c: tensor<1x8x8x3x3xf16>, %d: tensor<1x8x8x3x4xi8>,
                  %fa: tensor<3x4x3x3x16xf16>, %fb: tensor<3x16x3x3x4xf16>, %fc: tensor<3x4x3x3x3xf16>, %fd: tensor<3x4x3x3x4xi8>,
                  %out: tensor<1x6x6x3x4xf32>, %wide: tensor<1x6x6x3x16xf32>, %sum: tensor<1x6x6x3x4xi32>)
    -> (tensor<1x6x6x3x4xf32>, tensor<1x6x6x3x16xf32>, tensor<1x6x6x3x4xf32>, tensor<1x6x6x3x4xi32>) {
  %0 = linalg.conv_2d_nhwgc_gfhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%a, %fa : tensor<1x8x8x3x16xf16>, tensor<3x4x3x3x16xf16>) outs(%out : tensor<1x6x6x3x4xf32>) -> tensor<1x6x6x3x4xf32>
  %1 = linalg.conv_2d_nhwgc_gfhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%b, %fb : tensor<1x8x8x3x4xf16>, tensor<3x16x3x3x4xf16>) outs(%wide : tensor<1x6x6x3x16xf32>) -> tensor<1x6x6x3x16xf32>
  %2 = linalg.conv_2d_nhwgc_gfhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%c, %fc : tensor<1x8x8x3x3xf16>, tensor<3x4x3x3x3xf16>) outs(%out : tensor<1x6x6x3x4xf32>) -> tensor<1x6x6x3x4xf32>
  %3 = linalg.conv_2d_nhwgc_gfhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%d, %fd : tensor<1x8x8x3x4xi8>, tensor<3x4x3x3x4xi8>) outs(%sum : tensor<1x6x6x3x4xi32>) -> tensor<1x6x6x3x4xi32>
  return %0, %1, %2, %3 : tensor<1x6x6x3x4xf32>, tensor<1x6x6x3x16xf32>, tensor<1x6x6x3x4xf32>, tensor<1x6x6x3x4xi32>
}

func.func @small(%in: tensor<1x8x8x3x8xf16>, %filter: tensor<3x8x3x3x8xf16>, %out: tensor<1x6x6x3x8xf32>) -> tensor<1x6x6x3x8xf32> {
  %c = linalg.conv_2d_nhwgc_gfhwc {strides = dense<1> : tensor<2xi64>, dilations = dense<1> : tensor<2xi64>}
      ins(%in, %filter : tensor<1x8x8x3x8xf16>, tensor<3x8x3x3x8xf16>) outs(%out : tensor<1x6x6x3x8xf32>) -> tensor<1x6x6x3x8xf32>
  return %c : tensor<1x6x6x3x8xf32>
}
