// RUN: gpu-opt %s --tessera-protect-arguments | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK: func.func @arguments(%{{.+}}: tensor<4xf32> {bufferization.writable = false}, %{{.+}}: memref<4xf32>, %{{.+}}: tensor<4xf32> {bufferization.writable = true}, %{{.+}}: f32)
func.func @arguments(%a: tensor<4xf32>, %b: memref<4xf32>, %c: tensor<4xf32> {bufferization.writable = true}, %d: f32) {
  return
}

// CHECK: func.func private @internal(%{{.+}}: tensor<4xf32>)
func.func private @internal(%a: tensor<4xf32>) {
  return
}

// A sum that starts from an argument starts from zero instead.

// CHECK-LABEL: func.func @accumulate
// CHECK-SAME:    %[[C:.+]]: tensor<?x48xf16>
// CHECK-DAG:     %[[ZERO:.+]] = arith.constant 0.000000e+00 : f32
// CHECK-DAG:     %[[DIM:.+]] = tensor.dim %[[C]]
// CHECK-DAG:     %[[EMPTY:.+]] = tensor.empty(%[[DIM]]) : tensor<?x48xf16>
// CHECK:         tessera.contract {{.*}} init(%[[ZERO]] : f32) extras(%[[C]] : tensor<?x48xf16>) outs(%[[EMPTY]] : tensor<?x48xf16>)
// CHECK-SAME:      #[[MN]], #[[MN]]]
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32, %[[OLD:.+]]: f16):
// CHECK-NEXT:      %[[WIDE:.+]] = arith.extf %[[OLD]] : f16 to f32
// CHECK-NEXT:      %[[SUM:.+]] = arith.addf %[[ACC]], %[[WIDE]]
// CHECK-NEXT:      %[[R:.+]] = arith.truncf %[[SUM]] : f32 to f16
// CHECK-NEXT:      tessera.yield %[[R]]
func.func @accumulate(%c: tensor<?x48xf16>, %a: tensor<?x32xf16>, %b: tensor<32x48xf16>) -> tensor<?x48xf16> {
  %r = tessera.contract ins(%a, %b : tensor<?x32xf16>, tensor<32x48xf16>) outs(%c : tensor<?x48xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    %t = arith.truncf %acc : f32 to f16
    tessera.yield %t : f16
  } -> tensor<?x48xf16>
  return %r : tensor<?x48xf16>
}

// The caller's tensor is not written: the result is the source itself.

// CHECK-LABEL: func @destination
// CHECK-SAME:    %[[X:.+]]: tensor<4xf32> {bufferization.writable = false}, %[[D:.+]]: tensor<4xf32> {bufferization.writable = false}
// CHECK:         %[[Y:.+]] = arith.addf
// CHECK-NEXT:    return %[[Y]]
func.func @destination(%x: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %y = arith.addf %x, %x : tensor<4xf32>
  %r = bufferization.materialize_in_destination %y in %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func @writable_destination
// CHECK:         bufferization.materialize_in_destination
func.func @writable_destination(%x: tensor<4xf32>, %d: tensor<4xf32> {bufferization.writable = true})
    -> tensor<4xf32> {
  %r = bufferization.materialize_in_destination %x in %d : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
