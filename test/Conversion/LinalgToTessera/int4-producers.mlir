// RUN: gpu-opt %s --tessera-attach-chip="target=cpu" --convert-linalg-to-tessera --split-input-file | FileCheck %s --check-prefixes=CHECK,WIDE
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx1100" --convert-linalg-to-tessera --split-input-file | FileCheck %s --check-prefixes=CHECK,OWN

#id = affine_map<(g, i, j) -> (g, i, j)>
#group = affine_map<(g, i, j) -> (g, j)>

// Weights of 4 bits stay so in memory, as their zero points do.

// CHECK-LABEL: func @groups
// CHECK-SAME:    %[[A:.+]]: tensor<64x128xf16>, %[[W:.+]]: tensor<128x48xi4>, %[[S:.+]]: tensor<4x48xf16>, %[[Z:.+]]: tensor<4x48xi4>
// CHECK-NOT:     linalg.generic
// CHECK:         tessera.contract ins(%[[A]], %[[W]] : tensor<64x128xf16>, tensor<128x48xi4>)
// CHECK-SAME:      rhs_inputs(%[[S]], %[[Z]] : tensor<4x48xf16>, tensor<4x48xi4>)
// CHECK-SAME:      rhs_producer {
// CHECK-NEXT:    ^bb0(%[[X:.+]]: i4, %{{.*}}: f16, %{{.*}}: i4):
// CHECK-NEXT:      arith.extui %[[X]] : i4 to i8
func.func @groups(%a: tensor<64x128xf16>, %w: tensor<128x48xi4>, %scale: tensor<4x48xf16>, %zero: tensor<4x48xi4>,
                  %c: tensor<64x48xf32>) -> tensor<64x48xf32> {
  %wg = tensor.expand_shape %w [[0, 1], [2]] output_shape [4, 32, 48] : tensor<128x48xi4> into tensor<4x32x48xi4>
  %e = tensor.empty() : tensor<4x32x48xf16>
  %d = linalg.generic {indexing_maps = [#id, #group, #group, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %scale, %zero : tensor<4x32x48xi4>, tensor<4x48xf16>, tensor<4x48xi4>) outs(%e : tensor<4x32x48xf16>) {
  ^bb0(%x: i4, %s: f16, %z: i4, %out: f16):
    %x8 = arith.extui %x : i4 to i8
    %z8 = arith.extui %z : i4 to i8
    %t = arith.subi %x8, %z8 : i8
    %f = arith.sitofp %t : i8 to f16
    %p = arith.mulf %f, %s : f16
    linalg.yield %p : f16
  } -> tensor<4x32x48xf16>
  %k = tensor.collapse_shape %d [[0, 1], [2]] : tensor<4x32x48xf16> into tensor<128x48xf16>
  %r = linalg.matmul ins(%a, %k : tensor<64x128xf16>, tensor<128x48xf16>)
      outs(%c : tensor<64x48xf32>) -> tensor<64x48xf32>
  return %r : tensor<64x48xf32>
}

// -----

// i8 x i4 is not supported: the operand is extended to i8, and still loaded as 4 bits.

// CHECK-LABEL: func @integers
// CHECK-SAME:    %[[A:.+]]: tensor<64x128xi8>, %[[W:.+]]: tensor<128x48xi4>
// CHECK:         tessera.contract ins(%[[A]], %[[W]] : tensor<64x128xi8>, tensor<128x48xi4>)
// CHECK-SAME:      accumulate i32 rhs_producer {
// CHECK-NEXT:    ^bb0(%[[X:.+]]: i4):
// CHECK-NEXT:      %[[Y:.+]] = arith.extsi %[[X]] : i4 to i8
// CHECK-NEXT:      tessera.yield %[[Y]] : i8
func.func @integers(%a: tensor<64x128xi8>, %w: tensor<128x48xi4>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  %r = linalg.matmul ins(%a, %w : tensor<64x128xi8>, tensor<128x48xi4>) outs(%c : tensor<64x48xi32>) -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}

// -----

// A matmul of i4 is preserved if the chip's matrix unit supports it.

// CHECK-LABEL: func @both
// CHECK:         tessera.contract ins(%{{.*}}, %{{.*}} : tensor<64x128xi4>, tensor<128x48xi4>)
// WIDE-SAME:       accumulate i32 lhs_producer {
// WIDE:            rhs_producer {
// OWN-NOT:       producer
// OWN:           return
func.func @both(%a: tensor<64x128xi4>, %w: tensor<128x48xi4>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  %r = linalg.matmul ins(%a, %w : tensor<64x128xi4>, tensor<128x48xi4>) outs(%c : tensor<64x48xi32>) -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}

// -----

// Not on memrefs, which have no producers, and so no extension either.

// CHECK-LABEL: func @memory
// WIDE:          linalg.matmul
// OWN:           tessera.contract ins(%{{.*}}, %{{.*}} : memref<64x128xi4>, memref<128x48xi4>)
func.func @memory(%a: memref<64x128xi4>, %w: memref<128x48xi4>, %c: memref<64x48xi32>) {
  linalg.matmul ins(%a, %w : memref<64x128xi4>, memref<128x48xi4>) outs(%c : memref<64x48xi32>)
  return
}
