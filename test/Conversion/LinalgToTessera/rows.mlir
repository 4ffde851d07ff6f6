// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --convert-linalg-to-tessera | FileCheck %s
// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_80" --convert-linalg-to-tessera | FileCheck %s
// RUN: not gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_81" --convert-linalg-to-tessera 2>&1 | FileCheck %s --check-prefix=CHIP

// Reductions of a contraction's rows, with the ops that use them.

// CHIP: unknown chip 'sm_81' of target 'cuda'

#mn = affine_map<(m, n) -> (m, n)>
#m = affine_map<(m, n) -> (m)>

// CHECK: #[[M:.+]] = affine_map<(d0, d1, d2) -> (d0)>

// A diamond: the result of the matmul and the sum of its rows meet again.

// CHECK-LABEL: func @normalize
// CHECK-NOT:     linalg
// CHECK:         tessera.contract
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: f32):
// CHECK-NEXT:      %[[SQUARE:.+]] = arith.mulf %[[ACC]], %[[ACC]]
// CHECK-NEXT:      %[[SUM:.+]] = tessera.row_reduce add %[[SQUARE]] : f32
// CHECK-NEXT:      %[[MEAN:.+]] = arith.divf %[[SUM]], %{{.+}}
// CHECK-NEXT:      %[[ROOT:.+]] = math.rsqrt %[[MEAN]]
// CHECK-NEXT:      %[[Y:.+]] = arith.mulf %[[ACC]], %[[ROOT]]
// CHECK-NEXT:      tessera.yield %[[Y]] : f32
// CHECK-NEXT:    } -> tensor<32x48xf32>
// CHECK-NOT:     linalg
func.func @normalize(%a: tensor<32x16xf16>, %b: tensor<16x48xf16>) -> tensor<32x48xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 48.0 : f32
  %e = tensor.empty() : tensor<32x48xf32>
  %er = tensor.empty() : tensor<32xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<32x48xf32>) -> tensor<32x48xf32>
  %none = linalg.fill ins(%zero : f32) outs(%er : tensor<32xf32>) -> tensor<32xf32>
  %c = linalg.matmul ins(%a, %b : tensor<32x16xf16>, tensor<16x48xf16>) outs(%init : tensor<32x48xf32>) -> tensor<32x48xf32>
  %sum = linalg.generic {indexing_maps = [#mn, #m], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<32x48xf32>) outs(%none : tensor<32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.mulf %x, %x : f32
    %z = arith.addf %y, %o : f32
    linalg.yield %z : f32
  } -> tensor<32xf32>
  %root = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
      ins(%sum : tensor<32xf32>) outs(%er : tensor<32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %y = arith.divf %x, %count : f32
    %z = math.rsqrt %y : f32
    linalg.yield %z : f32
  } -> tensor<32xf32>
  %r = linalg.generic {indexing_maps = [#mn, #m, #mn], iterator_types = ["parallel", "parallel"]}
      ins(%c, %root : tensor<32x48xf32>, tensor<32xf32>) outs(%e : tensor<32x48xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %z = arith.mulf %x, %y : f32
    linalg.yield %z : f32
  } -> tensor<32x48xf32>
  return %r : tensor<32x48xf32>
}

// The reduction alone: the output has no N. Its initial value is combined afterwards.

// CHECK-LABEL: func @row_min
// CHECK-SAME:    %[[OLD:[a-z0-9]+]]: tensor<32xi32>
// CHECK-NOT:     linalg
// CHECK:         tessera.contract
// CHECK-SAME:      extras(%[[OLD]] : tensor<32xi32>)
// CHECK-SAME:      #[[M]], #[[M]]]
// CHECK-NEXT:    ^bb0(%[[ACC:.+]]: i32, %[[X:.+]]: i32):
// CHECK-NEXT:      %[[MIN:.+]] = tessera.row_reduce umin %[[ACC]] : i32
// CHECK-NEXT:      %[[Y:.+]] = arith.minui %[[MIN]], %[[X]]
// CHECK-NEXT:      tessera.yield %[[Y]] : i32
// CHECK-NEXT:    } -> tensor<32xi32>
func.func @row_min(%a: tensor<32x16xi8>, %b: tensor<16x48xi8>, %old: tensor<32xi32>) -> tensor<32xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<32x48xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<32x48xi32>) -> tensor<32x48xi32>
  %c = linalg.matmul ins(%a, %b : tensor<32x16xi8>, tensor<16x48xi8>) outs(%init : tensor<32x48xi32>) -> tensor<32x48xi32>
  %r = linalg.reduce { arith.minui } ins(%c : tensor<32x48xi32>) outs(%old : tensor<32xi32>) dimensions = [1]
  return %r : tensor<32xi32>
}

// The sum of the columns is not a reduction of rows.

// CHECK-LABEL: func @columns
// CHECK:         tessera.contract
// CHECK:         linalg.reduce
func.func @columns(%a: tensor<32x16xi8>, %b: tensor<16x48xi8>, %old: tensor<48xi32>) -> tensor<48xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<32x48xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<32x48xi32>) -> tensor<32x48xi32>
  %c = linalg.matmul ins(%a, %b : tensor<32x16xi8>, tensor<16x48xi8>) outs(%init : tensor<32x48xi32>) -> tensor<32x48xi32>
  %r = linalg.reduce { arith.addi } ins(%c : tensor<32x48xi32>) outs(%old : tensor<48xi32>) dimensions = [0]
  return %r : tensor<48xi32>
}

// The contraction has two results: the sums of its rows, and itself.

// CHECK-LABEL: func @two_results
// CHECK:         tessera.contract
// CHECK:         linalg.reduce
func.func @two_results(%a: tensor<32x16xi8>, %b: tensor<16x48xi8>, %old: tensor<32xi32>) -> (tensor<32xi32>, tensor<32x48xi32>) {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<32x48xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<32x48xi32>) -> tensor<32x48xi32>
  %c = linalg.matmul ins(%a, %b : tensor<32x16xi8>, tensor<16x48xi8>) outs(%init : tensor<32x48xi32>) -> tensor<32x48xi32>
  %r = linalg.reduce { arith.addi } ins(%c : tensor<32x48xi32>) outs(%old : tensor<32xi32>) dimensions = [1]
  return %r, %c : tensor<32xi32>, tensor<32x48xi32>
}

// Its schedule gives half of a row to each of two subgroups.

// CHECK-LABEL: func @scheduled
// CHECK:         tessera.contract
// CHECK:         linalg.reduce
func.func @scheduled(%a: tensor<32x16xi8>, %b: tensor<16x48xi8>, %old: tensor<32xi32>) -> tensor<32xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<32x48xi32>
  %init = linalg.fill ins(%zero : i32) outs(%e : tensor<32x48xi32>) -> tensor<32x48xi32>
  %c = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 64], subgroup = [32, 32], k = 32, kFragment = 32>}
      ins(%a, %b : tensor<32x16xi8>, tensor<16x48xi8>) outs(%init : tensor<32x48xi32>) -> tensor<32x48xi32>
  %r = linalg.reduce { arith.addi } ins(%c : tensor<32x48xi32>) outs(%old : tensor<32xi32>) dimensions = [1]
  return %r : tensor<32xi32>
}

// The longest row, and one that is longer.

// CHECK-LABEL: func @longest
// CHECK:         tessera.row_reduce
func.func @longest(%a: tensor<32x16xf16>, %b: tensor<16x256xf16>, %old: tensor<32xf32>) -> tensor<32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<32x256xf32>) -> tensor<32x256xf32>
  %c = linalg.matmul ins(%a, %b : tensor<32x16xf16>, tensor<16x256xf16>) outs(%init : tensor<32x256xf32>) -> tensor<32x256xf32>
  %r = linalg.reduce { arith.addf } ins(%c : tensor<32x256xf32>) outs(%old : tensor<32xf32>) dimensions = [1]
  return %r : tensor<32xf32>
}

// CHECK-LABEL: func @longer
// CHECK-NOT:     tessera.row_reduce
// CHECK:         linalg.reduce
func.func @longer(%a: tensor<32x16xf16>, %b: tensor<16x257xf16>, %old: tensor<32xf32>) -> tensor<32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x257xf32>
  %init = linalg.fill ins(%zero : f32) outs(%e : tensor<32x257xf32>) -> tensor<32x257xf32>
  %c = linalg.matmul ins(%a, %b : tensor<32x16xf16>, tensor<16x257xf16>) outs(%init : tensor<32x257xf32>) -> tensor<32x257xf32>
  %r = linalg.reduce { arith.addf } ins(%c : tensor<32x257xf32>) outs(%old : tensor<32xf32>) dimensions = [1]
  return %r : tensor<32xf32>
}
