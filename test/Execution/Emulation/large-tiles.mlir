// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedules that large matmuls have by default on gfx942 and gfx950, for smaller ones: whole tiles, partial
// tiles, and on devices of several dies 17x17 tiles, which are one window of tiles and a rest.
//
// REQUIRES: long_tests
// RUN: gpu-runner %s -e f16 --target=cpu:emulate=gfx942 --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s -e f16_partial --target=cpu:emulate=gfx942 --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s -e i8 --target=cpu:emulate=gfx942 --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s -e bf16 --target=cpu:emulate=gfx950 --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s -e bf16_partial --target=cpu:emulate=gfx950 --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s -e i8_long --target=cpu:emulate=gfx950 --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s -e f8_long --target=cpu:emulate=gfx950 --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s -e f8_eight --target=cpu:emulate=gfx950 --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s -e dies --target=cpu:emulate=gfx942 --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s -e dies --target=cpu:emulate=gfx950 --verify --require-mma | FileCheck %s
// CHECK: {{^}}verified

#s942 = #tessera.schedule<workgroup = [256, 256], subgroup = [64, 128], k = 32, kFragment = 16, stages = 2,
                          vthread = [4, 8], swizzle = true, raster = 8>
#s942i8 = #tessera.schedule<workgroup = [256, 256], subgroup = [64, 128], k = 64, kFragment = 32, stages = 2,
                            vthread = [4, 8], swizzle = true, raster = 8>
#s950 = #tessera.schedule<workgroup = [256, 256], subgroup = [128, 64], k = 64, kFragment = 32, stages = 2,
                          vthread = [8, 4], swizzle = true, raster = 8>
#s950i8 = #tessera.schedule<workgroup = [256, 256], subgroup = [128, 64], k = 128, kFragment = 64, stages = 2,
                            vthread = [8, 4], swizzle = true, raster = 8>
#s950f8 = #tessera.schedule<workgroup = [256, 256], subgroup = [128, 128], k = 128, kFragment = 128, stages = 2,
                            vthread = [8, 8], swizzle = true, raster = 8>
#s950f8eight = #tessera.schedule<workgroup = [256, 256], subgroup = [128, 64], k = 128, kFragment = 128, stages = 2,
                                 vthread = [8, 4], swizzle = true, raster = 8>
#small = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 16, kFragment = 16, stages = 1, raster = 8>

func.func @f16(%a: tensor<256x96xf16>, %b: tensor<96x256xf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul {tessera.schedule = #s942} ins(%a, %b : tensor<256x96xf16>, tensor<96x256xf16>)
      outs(%init : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %c : tensor<256x256xf32>
}

func.func @i8_long(%a: tensor<256x384xi8>, %b: tensor<384x256xi8>) -> tensor<256x256xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<256x256xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<256x256xi32>) -> tensor<256x256xi32>
  %c = linalg.matmul {tessera.schedule = #s950i8} ins(%a, %b : tensor<256x384xi8>, tensor<384x256xi8>)
      outs(%init : tensor<256x256xi32>) -> tensor<256x256xi32>
  return %c : tensor<256x256xi32>
}

func.func @f8_long(%a: tensor<256x384xf8E4M3FN>, %b: tensor<384x256xf8E4M3FN>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul {tessera.schedule = #s950f8} ins(%a, %b : tensor<256x384xf8E4M3FN>, tensor<384x256xf8E4M3FN>)
      outs(%init : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %c : tensor<256x256xf32>
}

func.func @f8_eight(%a: tensor<256x384xf8E4M3FN>, %b: tensor<384x256xf8E4M3FN>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul {tessera.schedule = #s950f8eight} ins(%a, %b : tensor<256x384xf8E4M3FN>, tensor<384x256xf8E4M3FN>)
      outs(%init : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %c : tensor<256x256xf32>
}

func.func @f16_partial(%a: tensor<264x72xf16>, %b: tensor<72x272xf16>) -> tensor<264x272xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<264x272xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<264x272xf32>) -> tensor<264x272xf32>
  %c = linalg.matmul {tessera.schedule = #s942} ins(%a, %b : tensor<264x72xf16>, tensor<72x272xf16>)
      outs(%init : tensor<264x272xf32>) -> tensor<264x272xf32>
  return %c : tensor<264x272xf32>
}

func.func @i8(%a: tensor<256x192xi8>, %b: tensor<192x256xi8>) -> tensor<256x256xi32> {
  %zero = arith.constant 0 : i32
  %empty = tensor.empty() : tensor<256x256xi32>
  %init = linalg.fill ins(%zero : i32) outs(%empty : tensor<256x256xi32>) -> tensor<256x256xi32>
  %c = linalg.matmul {tessera.schedule = #s942i8} ins(%a, %b : tensor<256x192xi8>, tensor<192x256xi8>)
      outs(%init : tensor<256x256xi32>) -> tensor<256x256xi32>
  return %c : tensor<256x256xi32>
}

func.func @bf16(%a: tensor<256x192xbf16>, %b: tensor<192x256xbf16>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<256x256xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<256x256xf32>) -> tensor<256x256xf32>
  %c = linalg.matmul {tessera.schedule = #s950} ins(%a, %b : tensor<256x192xbf16>, tensor<192x256xbf16>)
      outs(%init : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %c : tensor<256x256xf32>
}

func.func @bf16_partial(%a: tensor<264x136xbf16>, %b: tensor<136x272xbf16>) -> tensor<264x272xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<264x272xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<264x272xf32>) -> tensor<264x272xf32>
  %c = linalg.matmul {tessera.schedule = #s950} ins(%a, %b : tensor<264x136xbf16>, tensor<136x272xbf16>)
      outs(%init : tensor<264x272xf32>) -> tensor<264x272xf32>
  return %c : tensor<264x272xf32>
}

func.func @dies(%a: tensor<544x32xf16>, %b: tensor<32x544xf16>) -> tensor<544x544xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<544x544xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<544x544xf32>) -> tensor<544x544xf32>
  %c = linalg.matmul {tessera.schedule = #small} ins(%a, %b : tensor<544x32xf16>, tensor<32x544xf16>)
      outs(%init : tensor<544x544xf32>) -> tensor<544x544xf32>
  return %c : tensor<544x544xf32>
}
