// Operands whose rows begin at any element, in memory that ends within a wide
// access or with one.
//
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=f16_nn | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=f16_one_step | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=bf16_tt | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=i8_nt | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=f8_nt | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify --entry=dynamic --arg=int:37x51 --arg=int:51x65 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify --entry=dynamic --arg=int:24x63 --arg=int:63x130 | FileCheck %s
// CHECK: {{^}}verified

#mk = affine_map<(m, n, k) -> (m, k)>
#km = affine_map<(m, n, k) -> (k, m)>
#kn = affine_map<(m, n, k) -> (k, n)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>

func.func @f16_nn(%a: tensor<33x70xf16>, %b: tensor<70x67xf16>) -> tensor<33x67xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<33x67xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<33x67xf32>) -> tensor<33x67xf32>
  %r = linalg.matmul indexing_maps = [#mk, #kn, #mn] ins(%a, %b : tensor<33x70xf16>, tensor<70x67xf16>) outs(%init : tensor<33x67xf32>) -> tensor<33x67xf32>
  return %r : tensor<33x67xf32>
}

func.func @f16_one_step(%a: tensor<33x51xf16>, %b: tensor<51x65xf16>) -> tensor<33x65xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<33x65xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<33x65xf32>) -> tensor<33x65xf32>
  %r = linalg.matmul indexing_maps = [#mk, #kn, #mn] ins(%a, %b : tensor<33x51xf16>, tensor<51x65xf16>) outs(%init : tensor<33x65xf32>) -> tensor<33x65xf32>
  return %r : tensor<33x65xf32>
}

func.func @bf16_tt(%a: tensor<133x9xbf16>, %b: tensor<39x133xbf16>) -> tensor<9x39xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<9x39xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<9x39xf32>) -> tensor<9x39xf32>
  %r = linalg.matmul indexing_maps = [#km, #nk, #mn] ins(%a, %b : tensor<133x9xbf16>, tensor<39x133xbf16>) outs(%init : tensor<9x39xf32>) -> tensor<9x39xf32>
  return %r : tensor<9x39xf32>
}

func.func @i8_nt(%a: tensor<35x199xi8>, %b: tensor<37x199xi8>) -> tensor<35x37xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<35x37xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<35x37xi32>) -> tensor<35x37xi32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<35x199xi8>, tensor<37x199xi8>) outs(%init : tensor<35x37xi32>) -> tensor<35x37xi32>
  return %r : tensor<35x37xi32>
}

func.func @f8_nt(%a: tensor<34x161xf8E4M3FN>, %b: tensor<41x161xf8E4M3FN>) -> tensor<34x41xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<34x41xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<34x41xf32>) -> tensor<34x41xf32>
  %r = linalg.matmul indexing_maps = [#mk, #nk, #mn] ins(%a, %b : tensor<34x161xf8E4M3FN>, tensor<41x161xf8E4M3FN>) outs(%init : tensor<34x41xf32>) -> tensor<34x41xf32>
  return %r : tensor<34x41xf32>
}

func.func @dynamic(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %empty = tensor.empty(%m, %n) : tensor<?x?xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
