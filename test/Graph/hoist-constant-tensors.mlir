// RUN: gpu-opt %s --tessera-lift-constants --tessera-hoist-constant-tensors | FileCheck %s

// The loader computes the tensors that follow from constants alone. A reshape
// of a constant is a constant.

// CHECK:       memref.global "private" @[[GLOBAL:__tessera_computed_0]] : memref<16x16xf16> = uninitialized

// CHECK-LABEL: func @cast
// CHECK-NOT:     linalg.generic
// CHECK:         %[[M:.+]] = memref.get_global @[[GLOBAL]]
// CHECK:         %[[T:.+]] = bufferization.to_tensor %[[M]] restrict
// CHECK:         linalg.matmul ins(%{{.+}}, %[[T]] :
func.func @cast(%x: tensor<16x16xf16>, %init: tensor<16x16xf16>) -> tensor<16x16xf16> {
  %flat = arith.constant dense_resource<w> : tensor<256xf32>
  %w = tensor.expand_shape %flat [[0, 1]] output_shape [16, 16] : tensor<256xf32> into tensor<16x16xf32>
  %e = tensor.empty() : tensor<16x16xf16>
  %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<16x16xf32>) outs(%e : tensor<16x16xf16>) {
  ^bb0(%a: f32, %b: f16):
    %r = arith.truncf %a : f32 to f16
    linalg.yield %r : f16
  } -> tensor<16x16xf16>
  %p = linalg.matmul ins(%x, %c : tensor<16x16xf16>, tensor<16x16xf16>)
      outs(%init : tensor<16x16xf16>) -> tensor<16x16xf16>
  return %p : tensor<16x16xf16>
}

// A fill, a broadcast, and a value that is overwritten cost less in a run.

// CHECK-LABEL: func @stays
// CHECK:         linalg.fill
// CHECK:         linalg.broadcast
// CHECK:         linalg.negf
func.func @stays(%x: tensor<256x16xf32>, %y: tensor<16x256xf32>) -> (tensor<16x16xf32>, tensor<16x256xf32>, tensor<256xf32>) {
  %zero = arith.constant 0.0 : f32
  %w = arith.constant dense_resource<w> : tensor<256xf32>
  %e = tensor.empty() : tensor<16x16xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %p = linalg.matmul ins(%y, %x : tensor<16x256xf32>, tensor<256x16xf32>)
      outs(%f : tensor<16x16xf32>) -> tensor<16x16xf32>
  %d = tensor.empty() : tensor<16x256xf32>
  %b = linalg.broadcast ins(%w : tensor<256xf32>) outs(%d : tensor<16x256xf32>) dimensions = [0]
  %s = linalg.add ins(%b, %y : tensor<16x256xf32>, tensor<16x256xf32>)
      outs(%d : tensor<16x256xf32>) -> tensor<16x256xf32>
  %n = tensor.empty() : tensor<256xf32>
  %neg = linalg.negf ins(%w : tensor<256xf32>) outs(%n : tensor<256xf32>) -> tensor<256xf32>
  %sum = linalg.reduce { arith.addf } ins(%x : tensor<256x16xf32>) outs(%neg : tensor<256xf32>) dimensions = [1]
  return %p, %s, %sum : tensor<16x16xf32>, tensor<16x256xf32>, tensor<256xf32>
}

// CHECK-LABEL: func @tessera_load
// CHECK:         %[[W:.+]] = arith.constant dense_resource<tessera_{{.+}}> : tensor<16x16xf32>
// CHECK:         %[[C:.+]] = linalg.generic {{.*}} ins(%[[W]] :
// CHECK:         %[[TO:.+]] = memref.get_global @[[GLOBAL]]
// CHECK:         bufferization.materialize_in_destination %[[C]] in restrict writable %[[TO]]

{-#
  dialect_resources: {
    builtin: {
      w: "0x04000000000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040000080400000A0400000C040000000000000803F0000004000004040"
    }
  }
#-}
