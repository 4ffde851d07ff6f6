// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// On a device of eight dies, which get workgroups in turn, a die computes tiles that follow each other: 32 of each
// window of 256, four columns of a band of eight rows.
//
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --tessera-tile-contract --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,DIES
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx950" --tessera-tile-contract --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,DIES
// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx90a" --tessera-tile-contract --canonicalize --cse | FileCheck %s --check-prefixes=CHECK,ONE

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// 16x16 tiles are one window.
// CHECK-LABEL: func @window(
// CHECK:       gpu.launch blocks(%[[X:[a-z0-9]+]],
// ONE-NEXT:    %[[LINEAR:.*]] = arith.remui %[[X]], %c256
// ONE-NEXT:    arith.divui %[[LINEAR]], %c128
// DIES-DAG:    %[[DIE:.*]] = arith.remui %{{.*}}, %c8
// DIES-DAG:    %[[FIRST:.*]] = arith.muli %[[DIE]], %c32
// DIES-DAG:    %[[OF_DIE:.*]] = arith.divui %{{.*}}, %c8
// DIES:        arith.addi %[[FIRST]], %[[OF_DIE]]
// DIES-NOT:    arith.select
// CHECK:       gpu.terminator
func.func @window(%a: memref<512x16xf16>, %b: memref<16x512xf16>, %c: memref<512x512xf32>) {
  tessera.contract ins(%a, %b : memref<512x16xf16>, memref<16x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [32, 32], k = 16, kFragment = 16, stages = 1, raster = 8> {
  ^bb0(%s: f32):
    tessera.yield %s : f32
  }
  return
}

// The last 33 of 17x17 tiles are not a window, and keep their order.
// CHECK-LABEL: func @rest(
// CHECK:       gpu.launch
// DIES:        %[[ORDERED:.*]] = arith.addi
// DIES:        %[[WHOLE:.*]] = arith.cmpi ult, %[[LINEAR:.*]], %c256
// DIES:        arith.select %[[WHOLE]], %{{.*}}, %[[LINEAR]]
// ONE-NOT:     arith.select
// CHECK:       gpu.terminator
func.func @rest(%a: memref<544x16xf16>, %b: memref<16x544xf16>, %c: memref<544x544xf32>) {
  tessera.contract ins(%a, %b : memref<544x16xf16>, memref<16x544xf16>) outs(%c : memref<544x544xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [32, 32], k = 16, kFragment = 16, stages = 1, raster = 8> {
  ^bb0(%s: f32):
    tessera.yield %s : f32
  }
  return
}

// Without bands the grid has two dimensions, and keeps its order.
// CHECK-LABEL: func @columns(
// CHECK:       gpu.launch
// CHECK-NOT:   arith.remui
// CHECK:       gpu.terminator
func.func @columns(%a: memref<512x16xf16>, %b: memref<16x512xf16>, %c: memref<512x512xf32>) {
  tessera.contract ins(%a, %b : memref<512x16xf16>, memref<16x512xf16>) outs(%c : memref<512x512xf32>)
      maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [32, 32], k = 16, kFragment = 16, stages = 1> {
  ^bb0(%s: f32):
    tessera.yield %s : f32
  }
  return
}
