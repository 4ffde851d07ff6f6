// Attention of few queries for many keys: keys are divided into parts, each with workgroups of its own, and a
// second kernel combines the parts.
//
// REQUIRES: long_tests
// RUN: gpu-runner %s --target=cpu --emit=tessera | FileCheck %s --check-prefix=SPLIT
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=tessera | FileCheck %s --check-prefixes=SPLIT,GROUPS
// Each takes several seconds to compile for the CPU, so that it has a third of them.
// RUN: sed 's|PROGRAM|%s|; s|TARGET|--target=cpu|' %S/Inputs/attention-decode.batch | awk 'NR % 3 == 0' | gpu-runner --batch=- | FileCheck %s --check-prefix=THIRD
// RUN: sed 's|PROGRAM|%s|; s|TARGET|--target=cpu:emulate=sm_90a|' %S/Inputs/attention-decode.batch | gpu-runner --batch=- | FileCheck %s
// RUN: sed 's|PROGRAM|%s|; s|TARGET|--target=cpu:emulate=gfx942|' %S/Inputs/attention-decode.batch | gpu-runner --batch=- | FileCheck %s
// THIRD-COUNT-4: {{^}}verified
// THIRD-NOT: exit status {{[1-9]}}
// CHECK-COUNT-14: {{^}}verified
// CHECK-NOT: exit status {{[1-9]}}

// One query for each head, and an odd number of keys.
// SPLIT-LABEL: func.func @one_query(
// SPLIT: gpu.launch_func
// SPLIT: gpu.launch_func
// SPLIT-NOT: gpu.launch_func
// SPLIT: return
func.func @one_query(%q: tensor<2x1x32xf16>, %k: tensor<2x8191x32xf16>, %v: tensor<2x8191x32xf16>) -> tensor<2x1x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x1x8191xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x1x8191xf32>) -> tensor<2x1x8191xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, x)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, n)>]
      ins(%q, %k : tensor<2x1x32xf16>, tensor<2x8191x32xf16>) outs(%i : tensor<2x1x8191xf32>) -> tensor<2x1x8191xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x1x8191xf32>) outs(%e : tensor<2x1x8191xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x1x8191xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x1x8191xf32>) outs(%e : tensor<2x1x8191xf32>) -> tensor<2x1x8191xf32>
  %w = arith.truncf %p : tensor<2x1x8191xf32> to tensor<2x1x8191xf16>
  %f = tensor.empty() : tensor<2x1x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x1x32xf32>) -> tensor<2x1x32xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, n)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, x)>]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 5>}
      ins(%w, %v : tensor<2x1x8191xf16>, tensor<2x8191x32xf16>) outs(%j : tensor<2x1x32xf32>) -> tensor<2x1x32xf32>
  %short = arith.truncf %r : tensor<2x1x32xf32> to tensor<2x1x32xf16>
  return %short : tensor<2x1x32xf16>
}

// The heads that share keys are rows of one tile.
// SPLIT-LABEL: func.func @heads_share_keys(
// SPLIT: gpu.launch_func
// SPLIT: gpu.launch_func
// SPLIT-NOT: gpu.launch_func
// SPLIT: return
func.func @heads_share_keys(%q: tensor<2x4x1x64xbf16>, %k: tensor<2x1000x64xbf16>, %v: tensor<2x1000x64xbf16>) -> tensor<2x4x1x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x4x1x1000xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x1x1000xf32>) -> tensor<2x4x1x1000xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, x)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, n)>]
      ins(%q, %k : tensor<2x4x1x64xbf16>, tensor<2x1000x64xbf16>) outs(%i : tensor<2x4x1x1000xf32>) -> tensor<2x4x1x1000xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x4x1x1000xf32>) outs(%e : tensor<2x4x1x1000xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x4x1x1000xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x4x1x1000xf32>) outs(%e : tensor<2x4x1x1000xf32>) -> tensor<2x4x1x1000xf32>
  %w = arith.truncf %p : tensor<2x4x1x1000xf32> to tensor<2x4x1x1000xbf16>
  %f = tensor.empty() : tensor<2x4x1x64xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x4x1x64xf32>) -> tensor<2x4x1x64xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, n)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, x)>]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 64, kFragment = 16, stages = 1, splitK = 4>}
      ins(%w, %v : tensor<2x4x1x1000xbf16>, tensor<2x1000x64xbf16>) outs(%j : tensor<2x4x1x64xf32>) -> tensor<2x4x1x64xf32>
  %short = arith.truncf %r : tensor<2x4x1x64xf32> to tensor<2x4x1x64xbf16>
  return %short : tensor<2x4x1x64xbf16>
}

// Several queries of such heads, that see different keys.
// SPLIT-LABEL: func.func @several_queries(
// SPLIT: gpu.launch_func
// SPLIT: gpu.launch_func
// SPLIT-NOT: gpu.launch_func
// SPLIT: return
func.func @several_queries(%q: tensor<2x2x3x32xf16>, %k: tensor<2x200x32xf16>, %v: tensor<2x200x32xf16>) -> tensor<2x2x3x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x2x3x200xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x3x200xf32>) -> tensor<2x2x3x200xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, x)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, n)>]
      ins(%q, %k : tensor<2x2x3x32xf16>, tensor<2x200x32xf16>) outs(%i : tensor<2x2x3x200xf32>) -> tensor<2x2x3x200xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x2x3x200xf32>) outs(%e : tensor<2x2x3x200xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant 0xFF800000 : f32
    %ahead = arith.constant 197 : index
    %query = linalg.index 2 : index
    %key = linalg.index 3 : index
    %last = arith.addi %query, %ahead : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi sle, %key, %last : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x2x3x200xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x2x3x200xf32>) outs(%e : tensor<2x2x3x200xf32>) -> tensor<2x2x3x200xf32>
  %w = arith.truncf %p : tensor<2x2x3x200xf32> to tensor<2x2x3x200xf16>
  %f = tensor.empty() : tensor<2x2x3x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x3x32xf32>) -> tensor<2x2x3x32xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, n)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, x)>]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 32], subgroup = [16, 32], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x3x200xf16>, tensor<2x200x32xf16>) outs(%j : tensor<2x2x3x32xf32>) -> tensor<2x2x3x32xf32>
  %short = arith.truncf %r : tensor<2x2x3x32xf32> to tensor<2x2x3x32xf16>
  return %short : tensor<2x2x3x32xf16>
}

// More rows than a subgroup has.
// SPLIT-LABEL: func.func @many_heads(
// SPLIT: gpu.launch_func
// SPLIT: gpu.launch_func
// SPLIT-NOT: gpu.launch_func
// SPLIT: return
func.func @many_heads(%q: tensor<1x12x3x32xf16>, %k: tensor<1x150x32xf16>, %v: tensor<1x150x48xf16>) -> tensor<1x12x3x48xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<1x12x3x150xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x12x3x150xf32>) -> tensor<1x12x3x150xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, x)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, n)>]
      ins(%q, %k : tensor<1x12x3x32xf16>, tensor<1x150x32xf16>) outs(%i : tensor<1x12x3x150xf32>) -> tensor<1x12x3x150xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<1x12x3x150xf32>) outs(%e : tensor<1x12x3x150xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant 0xFF800000 : f32
    %ahead = arith.constant 147 : index
    %query = linalg.index 2 : index
    %key = linalg.index 3 : index
    %last = arith.addi %query, %ahead : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi sle, %key, %last : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<1x12x3x150xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<1x12x3x150xf32>) outs(%e : tensor<1x12x3x150xf32>) -> tensor<1x12x3x150xf32>
  %w = arith.truncf %p : tensor<1x12x3x150xf32> to tensor<1x12x3x150xf16>
  %f = tensor.empty() : tensor<1x12x3x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<1x12x3x48xf32>) -> tensor<1x12x3x48xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, n)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, x)>]
      {tessera.schedule = #tessera.schedule<workgroup = [48, 16], subgroup = [16, 16], k = 32, kFragment = 16, stages = 1, splitK = 4>}
      ins(%w, %v : tensor<1x12x3x150xf16>, tensor<1x150x48xf16>) outs(%j : tensor<1x12x3x48xf32>) -> tensor<1x12x3x48xf32>
  %short = arith.truncf %r : tensor<1x12x3x48xf32> to tensor<1x12x3x48xf16>
  return %short : tensor<1x12x3x48xf16>
}

// Heads between queries and values; the output is of f32.
// SPLIT-LABEL: func.func @heads_inside(
// SPLIT: gpu.launch_func
// SPLIT: gpu.launch_func
// SPLIT-NOT: gpu.launch_func
// SPLIT: return
func.func @heads_inside(%q: tensor<2x1x5x32xf16>, %k: tensor<2x333x32xf16>, %v: tensor<2x333x32xf16>) -> tensor<2x1x5x32xf32> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x5x1x333xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x5x1x333xf32>) -> tensor<2x5x1x333xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, m, h, x)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, n)>]
      ins(%q, %k : tensor<2x1x5x32xf16>, tensor<2x333x32xf16>) outs(%i : tensor<2x5x1x333xf32>) -> tensor<2x5x1x333xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x5x1x333xf32>) outs(%e : tensor<2x5x1x333xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x5x1x333xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x5x1x333xf32>) outs(%e : tensor<2x5x1x333xf32>) -> tensor<2x5x1x333xf32>
  %w = arith.truncf %p : tensor<2x5x1x333xf32> to tensor<2x5x1x333xf16>
  %f = tensor.empty() : tensor<2x1x5x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x1x5x32xf32>) -> tensor<2x1x5x32xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, n)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, m, h, x)>]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 2>}
      ins(%w, %v : tensor<2x5x1x333xf16>, tensor<2x333x32xf16>) outs(%j : tensor<2x1x5x32xf32>) -> tensor<2x1x5x32xf32>
  return %r : tensor<2x1x5x32xf32>
}

// The heads of several queries are not adjacent: they are not rows of one tile.
// SPLIT-LABEL: func.func @queries_outside(
// SPLIT: gpu.launch_func
// SPLIT: gpu.launch_func
// SPLIT-NOT: gpu.launch_func
// SPLIT: return
func.func @queries_outside(%q: tensor<2x3x2x32xf16>, %k: tensor<2x200x32xf16>, %v: tensor<2x200x32xf16>) -> tensor<2x3x2x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x2x3x200xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x3x200xf32>) -> tensor<2x2x3x200xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, m, h, x)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, n)>]
      ins(%q, %k : tensor<2x3x2x32xf16>, tensor<2x200x32xf16>) outs(%i : tensor<2x2x3x200xf32>) -> tensor<2x2x3x200xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x2x3x200xf32>) outs(%e : tensor<2x2x3x200xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x2x3x200xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x2x3x200xf32>) outs(%e : tensor<2x2x3x200xf32>) -> tensor<2x2x3x200xf32>
  %w = arith.truncf %p : tensor<2x2x3x200xf32> to tensor<2x2x3x200xf16>
  %f = tensor.empty() : tensor<2x3x2x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x3x2x32xf32>) -> tensor<2x3x2x32xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, n)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, m, h, x)>]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 32], subgroup = [16, 32], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x3x200xf16>, tensor<2x200x32xf16>) outs(%j : tensor<2x3x2x32xf32>) -> tensor<2x3x2x32xf32>
  %short = arith.truncf %r : tensor<2x3x2x32xf32> to tensor<2x3x2x32xf16>
  return %short : tensor<2x3x2x32xf16>
}

// More parts than blocks of keys, all of which are full.
// SPLIT-LABEL: func.func @few_keys(
// SPLIT: gpu.launch_func
// SPLIT: gpu.launch_func
// SPLIT-NOT: gpu.launch_func
// SPLIT: return
func.func @few_keys(%q: tensor<3x2x32xf16>, %k: tensor<3x32x32xf16>, %v: tensor<3x32x32xf16>) -> tensor<3x2x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<3x2x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x2x32xf32>) -> tensor<3x2x32xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, x)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, n)>]
      ins(%q, %k : tensor<3x2x32xf16>, tensor<3x32x32xf16>) outs(%i : tensor<3x2x32xf32>) -> tensor<3x2x32xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<3x2x32xf32>) outs(%e : tensor<3x2x32xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<3x2x32xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<3x2x32xf32>) outs(%e : tensor<3x2x32xf32>) -> tensor<3x2x32xf32>
  %w = arith.truncf %p : tensor<3x2x32xf32> to tensor<3x2x32xf16>
  %f = tensor.empty() : tensor<3x2x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<3x2x32xf32>) -> tensor<3x2x32xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, n)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, x)>]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 32, kFragment = 16, stages = 1, splitK = 7>}
      ins(%w, %v : tensor<3x2x32xf16>, tensor<3x32x32xf16>) outs(%j : tensor<3x2x32xf32>) -> tensor<3x2x32xf32>
  %short = arith.truncf %r : tensor<3x2x32xf32> to tensor<3x2x32xf16>
  return %short : tensor<3x2x32xf16>
}

// All visible keys are in one block: the other parts have none.
// SPLIT-LABEL: func.func @hidden_parts(
// SPLIT: gpu.launch_func
// SPLIT: gpu.launch_func
// SPLIT-NOT: gpu.launch_func
// SPLIT: return
func.func @hidden_parts(%q: tensor<3x5x32xf16>, %k: tensor<3x320x32xf16>, %v: tensor<3x320x32xf16>) -> tensor<3x5x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<3x5x320xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5x320xf32>) -> tensor<3x5x320xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, x)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, n)>]
      ins(%q, %k : tensor<3x5x32xf16>, tensor<3x320x32xf16>) outs(%i : tensor<3x5x320xf32>) -> tensor<3x5x320xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<3x5x320xf32>) outs(%e : tensor<3x5x320xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant 0xFF800000 : f32
    %ahead = arith.constant 0 : index
    %query = linalg.index 1 : index
    %key = linalg.index 2 : index
    %last = arith.addi %query, %ahead : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi sle, %key, %last : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<3x5x320xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<3x5x320xf32>) outs(%e : tensor<3x5x320xf32>) -> tensor<3x5x320xf32>
  %w = arith.truncf %p : tensor<3x5x320xf32> to tensor<3x5x320xf16>
  %f = tensor.empty() : tensor<3x5x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<3x5x32xf32>) -> tensor<3x5x32xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, n)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, x)>]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 4>}
      ins(%w, %v : tensor<3x5x320xf16>, tensor<3x320x32xf16>) outs(%j : tensor<3x5x32xf32>) -> tensor<3x5x32xf32>
  %short = arith.truncf %r : tensor<3x5x32xf32> to tensor<3x5x32xf16>
  return %short : tensor<3x5x32xf16>
}

// Some queries see no key of a part that others see.
// SPLIT-LABEL: func.func @hidden_rows(
// SPLIT: gpu.launch_func
// SPLIT: gpu.launch_func
// SPLIT-NOT: gpu.launch_func
// SPLIT: return
func.func @hidden_rows(%q: tensor<2x70x32xf16>, %k: tensor<2x70x32xf16>, %v: tensor<2x70x32xf16>) -> tensor<2x70x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x70x70xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x70x70xf32>) -> tensor<2x70x70xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, x)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, n)>]
      ins(%q, %k : tensor<2x70x32xf16>, tensor<2x70x32xf16>) outs(%i : tensor<2x70x70xf32>) -> tensor<2x70x70xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x70x70xf32>) outs(%e : tensor<2x70x70xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant 0xFF800000 : f32
    %ahead = arith.constant 0 : index
    %query = linalg.index 1 : index
    %key = linalg.index 2 : index
    %last = arith.addi %query, %ahead : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi sle, %key, %last : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x70x70xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x70x70xf32>) outs(%e : tensor<2x70x70xf32>) -> tensor<2x70x70xf32>
  %w = arith.truncf %p : tensor<2x70x70xf32> to tensor<2x70x70xf16>
  %f = tensor.empty() : tensor<2x70x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x70x32xf32>) -> tensor<2x70x32xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, n)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, x)>]
      {tessera.schedule = #tessera.schedule<workgroup = [80, 16], subgroup = [16, 16], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x70x70xf16>, tensor<2x70x32xf16>) outs(%j : tensor<2x70x32xf32>) -> tensor<2x70x32xf32>
  %short = arith.truncf %r : tensor<2x70x32xf32> to tensor<2x70x32xf16>
  return %short : tensor<2x70x32xf16>
}

// Four queries see no key of any part, and the others few of them.
// SPLIT-LABEL: func.func @unseen(
// SPLIT: gpu.launch_func
// SPLIT: gpu.launch_func
// SPLIT-NOT: gpu.launch_func
// SPLIT: return
func.func @unseen(%q: tensor<2x12x32xf16>, %k: tensor<2x40x32xf16>, %v: tensor<2x40x32xf16>) -> tensor<2x12x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x12x40xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x12x40xf32>) -> tensor<2x12x40xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, x)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, n)>]
      ins(%q, %k : tensor<2x12x32xf16>, tensor<2x40x32xf16>) outs(%i : tensor<2x12x40xf32>) -> tensor<2x12x40xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x12x40xf32>) outs(%e : tensor<2x12x40xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant 0xFF800000 : f32
    %ahead = arith.constant -4 : index
    %query = linalg.index 1 : index
    %key = linalg.index 2 : index
    %last = arith.addi %query, %ahead : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi sle, %key, %last : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x12x40xf32>
  %one = arith.constant 1.0 : f32
  %inf = arith.constant 0xFF800000 : f32
  %re = tensor.empty() : tensor<2x12xf32>
  %lows = linalg.fill ins(%inf : f32) outs(%re : tensor<2x12xf32>) -> tensor<2x12xf32>
  %max = linalg.reduce {arith.maximumf} ins(%s : tensor<2x12x40xf32>) outs(%lows : tensor<2x12xf32>) dimensions = [2]
  %power = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x12x40xf32>, tensor<2x12xf32>) outs(%e : tensor<2x12x40xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %none = arith.cmpf oeq, %y, %inf : f32
    %finite = arith.select %none, %zero, %y : f32
    %below = arith.subf %x, %finite : f32
    %z = math.exp %below : f32
    linalg.yield %z : f32
  } -> tensor<2x12x40xf32>
  %zeros = linalg.fill ins(%zero : f32) outs(%re : tensor<2x12xf32>) -> tensor<2x12xf32>
  %sum = linalg.reduce {arith.addf} ins(%power : tensor<2x12x40xf32>) outs(%zeros : tensor<2x12xf32>) dimensions = [2]
  %p = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%power, %sum : tensor<2x12x40xf32>, tensor<2x12xf32>) outs(%e : tensor<2x12x40xf32>) {
  ^bb0(%x: f32, %y: f32, %old: f32):
    %none = arith.cmpf oeq, %y, %zero : f32
    %divisor = arith.select %none, %one, %y : f32
    %z = arith.divf %x, %divisor : f32
    linalg.yield %z : f32
  } -> tensor<2x12x40xf32>
  %w = arith.truncf %p : tensor<2x12x40xf32> to tensor<2x12x40xf16>
  %f = tensor.empty() : tensor<2x12x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x12x32xf32>) -> tensor<2x12x32xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, n)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, x)>]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 32, kFragment = 16, stages = 1, splitK = 2>}
      ins(%w, %v : tensor<2x12x40xf16>, tensor<2x40x32xf16>) outs(%j : tensor<2x12x32xf32>) -> tensor<2x12x32xf32>
  %short = arith.truncf %r : tensor<2x12x32xf32> to tensor<2x12x32xf16>
  return %short : tensor<2x12x32xf16>
}

// The number of keys is known when it is run; there may be none.
// SPLIT-LABEL: func.func @any_keys(
// SPLIT: gpu.launch_func
// SPLIT: gpu.launch_func
// SPLIT-NOT: gpu.launch_func
// SPLIT: return
func.func @any_keys(%q: tensor<2x3x32xf16>, %k: tensor<2x?x32xf16>, %v: tensor<2x?x32xf16>) -> tensor<2x3x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %c1 = arith.constant 1 : index
  %n = tensor.dim %k, %c1 : tensor<2x?x32xf16>
  %e = tensor.empty(%n) : tensor<2x3x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x?xf32>) -> tensor<2x3x?xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, x)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, n)>]
      ins(%q, %k : tensor<2x3x32xf16>, tensor<2x?x32xf16>) outs(%i : tensor<2x3x?xf32>) -> tensor<2x3x?xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x3x?xf32>) outs(%e : tensor<2x3x?xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x3x?xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x3x?xf32>) outs(%e : tensor<2x3x?xf32>) -> tensor<2x3x?xf32>
  %w = arith.truncf %p : tensor<2x3x?xf32> to tensor<2x3x?xf16>
  %f = tensor.empty() : tensor<2x3x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x3x32xf32>) -> tensor<2x3x32xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, m, n, x) -> (b, m, n)>, affine_map<(b, m, n, x) -> (b, n, x)>, affine_map<(b, m, n, x) -> (b, m, x)>]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 32], subgroup = [16, 32], k = 32, kFragment = 16, stages = 1, splitK = 4>}
      ins(%w, %v : tensor<2x3x?xf16>, tensor<2x?x32xf16>) outs(%j : tensor<2x3x32xf32>) -> tensor<2x3x32xf32>
  %short = arith.truncf %r : tensor<2x3x32xf32> to tensor<2x3x32xf16>
  return %short : tensor<2x3x32xf16>
}

// The default schedule: on a chip with groups of subgroups, a tile of 64 rows.
// GROUPS-LABEL: func.func @by_default(
// GROUPS: gpu.launch_func
// GROUPS: gpu.launch_func
// GROUPS-NOT: gpu.launch_func
// GROUPS: return
func.func @by_default(%q: tensor<2x4x1x64xbf16>, %k: tensor<2x4099x64xbf16>, %v: tensor<2x4099x64xbf16>) -> tensor<2x4x1x64xbf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<2x4x1x4099xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x4x1x4099xf32>) -> tensor<2x4x1x4099xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, x)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, n)>]
      ins(%q, %k : tensor<2x4x1x64xbf16>, tensor<2x4099x64xbf16>) outs(%i : tensor<2x4x1x4099xf32>) -> tensor<2x4x1x4099xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x4x1x4099xf32>) outs(%e : tensor<2x4x1x4099xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x4x1x4099xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x4x1x4099xf32>) outs(%e : tensor<2x4x1x4099xf32>) -> tensor<2x4x1x4099xf32>
  %w = arith.truncf %p : tensor<2x4x1x4099xf32> to tensor<2x4x1x4099xbf16>
  %f = tensor.empty() : tensor<2x4x1x64xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x4x1x64xf32>) -> tensor<2x4x1x64xf32>
  %r = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, n)>, affine_map<(b, h, m, n, x) -> (b, n, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, x)>]
      ins(%w, %v : tensor<2x4x1x4099xbf16>, tensor<2x4099x64xbf16>) outs(%j : tensor<2x4x1x64xf32>) -> tensor<2x4x1x64xf32>
  %short = arith.truncf %r : tensor<2x4x1x64xf32> to tensor<2x4x1x64xbf16>
  return %short : tensor<2x4x1x64xbf16>
}
