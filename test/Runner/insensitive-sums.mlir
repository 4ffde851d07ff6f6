// The verification warns if it would accept the output without a part of its sums. The order in which
// a device sums is unknown for an output of one tile, so that its errors may be large.

// RUN: gpu-runner %s --entry=main --target=cpu:emulate=sm_90a --allow-fast-f8 --verify --arg=random:1 --arg=random:2 | FileCheck %s
// CHECK: out 0: verified (max abs err {{.*}}, sums of 14 bits: rms of each tile within
// CHECK-NEXT:   warning: 1 of 1 tiles of 16x16 would be accepted without 32 terms of their sums: these change a tile by {{1|2}}.{{[0-9]}} (root mean square), and rounding may change it by {{[2-9]}}.{{[0-9]}}
// CHECK: {{^}}verified
// RUN: gpu-runner %s --entry=main --target=cpu:emulate=sm_90a --allow-fast-f8 --verify --arg=random:1 --arg=random:2 --json | FileCheck %s --check-prefix=JSON
// JSON: "blocks": {
// JSON: "insensitive_tiles": 1,
// JSON-NEXT: "tiles": 1,

// Shorter sums lose less.
// RUN: gpu-runner %s --entry=short --target=cpu:emulate=sm_90a --allow-fast-f8 --verify --arg=random:1 --arg=random:2 | FileCheck %s --check-prefix=SHORT --implicit-check-not=warning
// SHORT: sums of 14 bits: rms of each tile within
// SHORT: {{^}}verified

func.func @main(%a: tensor<16x65536xf8E4M3FN>, %b: tensor<65536x16xf8E4M3FN>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<16x65536xf8E4M3FN>, tensor<65536x16xf8E4M3FN>) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

func.func @short(%a: tensor<16x1024xf8E4M3FN>, %b: tensor<1024x16xf8E4M3FN>, %c: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<16x1024xf8E4M3FN>, tensor<1024x16xf8E4M3FN>) outs(%c : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}
