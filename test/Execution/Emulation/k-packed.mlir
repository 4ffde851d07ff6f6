// Tiles in a k-packed (VNNI) layout in workgroup memory, as lanes read them: with two types, any
// alignment of the rows, of either operand, and with bounds that are known at run time only.
//
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=f16 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=odd | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx1201 --verify --entry=i8 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --entry=ta | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx906 --verify --entry=f16 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --entry=dyn --arg=int:100x70 --arg=int:70x90 --arg=zeros:100x90 | FileCheck %s
// CHECK: {{^}}verified

func.func @f16(%a: tensor<200x160xf16>, %b: tensor<160x136xf16>, %c: tensor<200x136xf32>) -> tensor<200x136xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<200x160xf16>, tensor<160x136xf16>) outs(%c : tensor<200x136xf32>) -> tensor<200x136xf32>
  return %r : tensor<200x136xf32>
}
func.func @odd(%a: tensor<200x161xf16>, %b: tensor<161x133xf16>, %c: tensor<200x133xf32>) -> tensor<200x133xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<200x161xf16>, tensor<161x133xf16>) outs(%c : tensor<200x133xf32>) -> tensor<200x133xf32>
  return %r : tensor<200x133xf32>
}
func.func @i8(%a: tensor<200x160xi8>, %b: tensor<160x136xi8>, %c: tensor<200x136xi32>) -> tensor<200x136xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<200x160xi8>, tensor<160x136xi8>) outs(%c : tensor<200x136xi32>) -> tensor<200x136xi32>
  return %r : tensor<200x136xi32>
}
func.func @ta(%a: tensor<160x200xf16>, %b: tensor<160x136xf16>, %c: tensor<200x136xf32>) -> tensor<200x136xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m,n,k)->(k,m)>, affine_map<(m,n,k)->(k,n)>, affine_map<(m,n,k)->(m,n)>], iterator_types=["parallel","parallel","reduction"]} ins(%a, %b : tensor<160x200xf16>, tensor<160x136xf16>) outs(%c : tensor<200x136xf32>) {
  ^bb0(%x: f16, %y: f16, %s: f32):
    %xe = arith.extf %x : f16 to f32
    %ye = arith.extf %y : f16 to f32
    %p = arith.mulf %xe, %ye : f32
    %t = arith.addf %s, %p : f32
    linalg.yield %t : f32
  } -> tensor<200x136xf32>
  return %r : tensor<200x136xf32>
}
func.func @dyn(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
