// Instructions of 96, 160 and 192 columns, of operands in both orders and of four types.
//
// REQUIRES: can-run-cuda-sm_90a
//
// RUN: gpu-runner %s --entry=f16_along --arg=random:1 --arg=random:2 --target=cuda --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s --entry=bf16_across --arg=random:1 --arg=random:2 --target=cuda --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s --entry=f16_panels --arg=random:1 --arg=random:2 --target=cuda --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s --entry=i8_along --arg=random:1 --arg=random:2 --target=cuda --verify --require-mma | FileCheck %s
// RUN: gpu-runner %s --entry=f8_along --arg=random:1 --arg=random:2 --target=cuda --verify --require-mma | FileCheck %s
// CHECK: {{^}}verified

#row = affine_map<(m, n, k) -> (m, k)>
#along = affine_map<(m, n, k) -> (n, k)>
#sum = affine_map<(m, n, k) -> (m, n)>

func.func @f16_along(%a: tensor<328x512xf16>, %b: tensor<208x512xf16>) -> tensor<328x208xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<328x208xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<328x208xf32>) -> tensor<328x208xf32>
  %r = linalg.matmul indexing_maps = [#row, #along, #sum] {tessera.schedule = #tessera.schedule<workgroup = [128, 192], subgroup = [64, 96], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4>}
    ins(%a, %b : tensor<328x512xf16>, tensor<208x512xf16>) outs(%c : tensor<328x208xf32>) -> tensor<328x208xf32>
  return %r : tensor<328x208xf32>
}

func.func @bf16_across(%a: tensor<328x512xbf16>, %b: tensor<512x400xbf16>) -> tensor<328x400xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<328x400xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<328x400xf32>) -> tensor<328x400xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 192], subgroup = [64, 192], k = 64, stages = 2, swizzle = true, subgroupsPerFragment = 4>}
    ins(%a, %b : tensor<328x512xbf16>, tensor<512x400xbf16>) outs(%c : tensor<328x400xf32>) -> tensor<328x400xf32>
  return %r : tensor<328x400xf32>
}

// Panels of 64 bytes, of the operand and of the output.
func.func @f16_panels(%a: tensor<328x512xf16>, %b: tensor<512x200xf16>) -> tensor<328x200xf16> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<328x200xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<328x200xf32>) -> tensor<328x200xf32>
  %p = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [128, 160], subgroup = [64, 160], k = 96, stages = 3, swizzle = true, subgroupsPerFragment = 4, stageOutput = true>}
    ins(%a, %b : tensor<328x512xf16>, tensor<512x200xf16>) outs(%c : tensor<328x200xf32>) -> tensor<328x200xf32>
  %r = arith.truncf %p : tensor<328x200xf32> to tensor<328x200xf16>
  return %r : tensor<328x200xf16>
}

func.func @i8_along(%a: tensor<328x512xi8>, %b: tensor<192x512xi8>) -> tensor<328x192xi32> {
  %z = arith.constant 0 : i32
  %e = tensor.empty() : tensor<328x192xi32>
  %c = linalg.fill ins(%z : i32) outs(%e : tensor<328x192xi32>) -> tensor<328x192xi32>
  %r = linalg.matmul indexing_maps = [#row, #along, #sum] {tessera.schedule = #tessera.schedule<workgroup = [64, 96], subgroup = [64, 96], k = 128, stages = 2, swizzle = true, subgroupsPerFragment = 4>}
    ins(%a, %b : tensor<328x512xi8>, tensor<192x512xi8>) outs(%c : tensor<328x192xi32>) -> tensor<328x192xi32>
  return %r : tensor<328x192xi32>
}

func.func @f8_along(%a: tensor<328x512xf8E4M3FN>, %b: tensor<336x512xf8E4M3FN>) -> tensor<328x336xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<328x336xf32>
  %c = linalg.fill ins(%z : f32) outs(%e : tensor<328x336xf32>) -> tensor<328x336xf32>
  %r = linalg.matmul indexing_maps = [#row, #along, #sum] {tessera.schedule = #tessera.schedule<workgroup = [128, 160], subgroup = [64, 160], k = 128, stages = 2, swizzle = true, subgroupsPerFragment = 4>}
    ins(%a, %b : tensor<328x512xf8E4M3FN>, tensor<336x512xf8E4M3FN>) outs(%c : tensor<328x336xf32>) -> tensor<328x336xf32>
  return %r : tensor<328x336xf32>
}
