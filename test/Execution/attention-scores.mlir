// Attention for decoding with changed scores, bounds that depend on a sequence, and pages of keys: one kernel, and
// one that combines the parts. The scores and the gathered keys are never stored.
//
// REQUIRES: long_tests
// RUN: python3 %S/Inputs/write-integers.py %t.lengths.npy 4 2 150 37
// RUN: python3 %S/Inputs/write-integers.py %t.beyond.npy 4 2 1000 64
// RUN: python3 %S/Inputs/write-integers.py %t.wide.npy 8 2 500 260
// RUN: python3 %S/Inputs/write-integers.py %t.table.npy 4 2x12 15 37 34 8 23 30 4 0 38 36 17 7 6 22 39 29 24 25 12 20 33 28 19 16
// RUN: python3 %S/Inputs/write-integers.py %t.signed.npy 8 2x12 -25 37 34 -32 23 30 -36 0 38 -4 17 7 -34 22 39 -11 24 25 -28 20 33 -12 19 16
// RUN: python3 %S/Inputs/write-integers.py %t.slots.npy 4 2x192 multiples 37 640
// RUN: gpu-runner %s --target=cpu --emit=tessera | FileCheck %s --check-prefix=FUSED
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=tessera | FileCheck %s --check-prefix=FUSED
// DEFINE: %{batch} = sed 's|PROGRAM|%s|; s|TEMP|%t|g; s|TARGET|--target=cpu
// Each takes several seconds to compile for the CPU, so that it has a third of them.
// RUN: %{batch}|' %S/Inputs/attention-scores.batch | awk 'NR % 3 == 1' | gpu-runner --batch=- | FileCheck %s --check-prefix=THIRD
// RUN: %{batch}:emulate=sm_80|' %S/Inputs/attention-scores.batch | gpu-runner --batch=- | FileCheck %s
// RUN: %{batch}:emulate=sm_90a|' %S/Inputs/attention-scores.batch | gpu-runner --batch=- | FileCheck %s
// RUN: %{batch}:emulate=gfx942|' %S/Inputs/attention-scores.batch | gpu-runner --batch=- | FileCheck %s
// THIRD-COUNT-4: {{^}}verified
// THIRD-NOT: exit status {{[1-9]}}
// CHECK-COUNT-12: {{^}}verified
// CHECK-NOT: exit status {{[1-9]}}

#space = affine_map<(b, h, t, m, n) -> (b, h, t, m, n)>
#score = affine_map<(b, h, t, m, n, x) -> (b, h, t, m, n)>
#query = affine_map<(b, h, t, m, n, x) -> (b, h, t, m, x)>
#key = affine_map<(b, h, t, m, n, x) -> (b, h, n, x)>
#heads = affine_map<(b, h, t, m, n) -> (h, t)>
#batch = affine_map<(b, h, t, m, n) -> (b)>
#bias = affine_map<(b, h, t, m, n) -> (h, t, m, n)>
#visible = affine_map<(b, h, t, m, n) -> (b, n)>

// A slope of each head.
// FUSED-LABEL: func.func @alibi(
// FUSED: gpu.launch_func
// FUSED: gpu.launch_func
// FUSED-NOT: gpu.launch_func
// FUSED: return
func.func @alibi(%q: tensor<2x2x4x1x32xf16>, %k: tensor<2x2x200x32xf16>, %v: tensor<2x2x200x32xf16>, %slopes: tensor<2x4xf32>) -> tensor<2x2x4x1x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x4x1x200xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x4x1x200xf32>) -> tensor<2x2x4x1x200xf32>
  %qk = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<2x2x4x1x32xf16>, tensor<2x2x200x32xf16>) outs(%i : tensor<2x2x4x1x200xf32>) -> tensor<2x2x4x1x200xf32>
  %s = linalg.generic {indexing_maps = [#space, #heads, #space], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%qk, %slopes : tensor<2x2x4x1x200xf32>, tensor<2x4xf32>) outs(%e : tensor<2x2x4x1x200xf32>) {
  ^bb0(%x: f32, %slope: f32, %old: f32):
    %scale = arith.constant 0.25 : f32
    %y = arith.mulf %x, %scale : f32
    %n = linalg.index 4 : index
    %ni = arith.index_cast %n : index to i32
    %nf = arith.sitofp %ni : i32 to f32
    %b = arith.mulf %slope, %nf : f32
    %z = arith.addf %y, %b : f32
    linalg.yield %z : f32
  } -> tensor<2x2x4x1x200xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x2x4x1x200xf32>) outs(%e : tensor<2x2x4x1x200xf32>) -> tensor<2x2x4x1x200xf32>
  %w = arith.truncf %p : tensor<2x2x4x1x200xf32> to tensor<2x2x4x1x200xf16>
  %f = tensor.empty() : tensor<2x2x4x1x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  %r = linalg.contract indexing_maps = [#score, #key, #query]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x4x1x200xf16>, tensor<2x2x200x32xf16>) outs(%j : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  return %r : tensor<2x2x4x1x32xf32>
}

// A bias in f16, of several queries and an odd number of keys.
// FUSED-LABEL: func.func @bias(
// FUSED: gpu.launch_func
// FUSED: gpu.launch_func
// FUSED-NOT: gpu.launch_func
// FUSED: return
func.func @bias(%q: tensor<2x2x4x3x32xf16>, %k: tensor<2x2x201x32xf16>, %v: tensor<2x2x201x32xf16>, %bias: tensor<2x4x3x201xf16>) -> tensor<2x2x4x3x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x4x3x201xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x4x3x201xf32>) -> tensor<2x2x4x3x201xf32>
  %qk = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<2x2x4x3x32xf16>, tensor<2x2x201x32xf16>) outs(%i : tensor<2x2x4x3x201xf32>) -> tensor<2x2x4x3x201xf32>
  %s = linalg.generic {indexing_maps = [#space, #bias, #space], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%qk, %bias : tensor<2x2x4x3x201xf32>, tensor<2x4x3x201xf16>) outs(%e : tensor<2x2x4x3x201xf32>) {
  ^bb0(%x: f32, %b: f16, %old: f32):
    %scale = arith.constant 0.25 : f32
    %y = arith.mulf %x, %scale : f32
    %wide = arith.extf %b : f16 to f32
    %z = arith.addf %y, %wide : f32
    linalg.yield %z : f32
  } -> tensor<2x2x4x3x201xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x2x4x3x201xf32>) outs(%e : tensor<2x2x4x3x201xf32>) -> tensor<2x2x4x3x201xf32>
  %w = arith.truncf %p : tensor<2x2x4x3x201xf32> to tensor<2x2x4x3x201xf16>
  %f = tensor.empty() : tensor<2x2x4x3x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x4x3x32xf32>) -> tensor<2x2x4x3x32xf32>
  %r = linalg.contract indexing_maps = [#score, #key, #query]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x4x3x201xf16>, tensor<2x2x201x32xf16>) outs(%j : tensor<2x2x4x3x32xf32>) -> tensor<2x2x4x3x32xf32>
  return %r : tensor<2x2x4x3x32xf32>
}

// A soft cap, and a causal mask after it.
// FUSED-LABEL: func.func @soft_cap(
// FUSED: gpu.launch_func
// FUSED: gpu.launch_func
// FUSED-NOT: gpu.launch_func
// FUSED: return
func.func @soft_cap(%q: tensor<2x2x4x3x32xf16>, %k: tensor<2x2x200x32xf16>, %v: tensor<2x2x200x32xf16>) -> tensor<2x2x4x3x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x4x3x200xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x4x3x200xf32>) -> tensor<2x2x4x3x200xf32>
  %qk = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<2x2x4x3x32xf16>, tensor<2x2x200x32xf16>) outs(%i : tensor<2x2x4x3x200xf32>) -> tensor<2x2x4x3x200xf32>
  %s = linalg.generic {indexing_maps = [#space, #space], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x2x4x3x200xf32>) outs(%e : tensor<2x2x4x3x200xf32>) {
  ^bb0(%x: f32, %old: f32):
    %scale = arith.constant 0.25 : f32
    %y = arith.mulf %x, %scale : f32
    %cap = arith.constant 2.0 : f32
    %share = arith.divf %y, %cap : f32
    %t = math.tanh %share : f32
    %c = arith.mulf %t, %cap : f32
    %m = linalg.index 3 : index
    %n = linalg.index 4 : index
    %offset = arith.constant 197 : index
    %last = arith.addi %m, %offset : index
    %isSeen = arith.cmpi sle, %n, %last : index
    %hidden = arith.constant 0xFF800000 : f32
    %z = arith.select %isSeen, %c, %hidden : f32
    linalg.yield %z : f32
  } -> tensor<2x2x4x3x200xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x2x4x3x200xf32>) outs(%e : tensor<2x2x4x3x200xf32>) -> tensor<2x2x4x3x200xf32>
  %w = arith.truncf %p : tensor<2x2x4x3x200xf32> to tensor<2x2x4x3x200xf16>
  %f = tensor.empty() : tensor<2x2x4x3x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x4x3x32xf32>) -> tensor<2x2x4x3x32xf32>
  %r = linalg.contract indexing_maps = [#score, #key, #query]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x4x3x200xf16>, tensor<2x2x200x32xf16>) outs(%j : tensor<2x2x4x3x32xf32>) -> tensor<2x2x4x3x32xf32>
  return %r : tensor<2x2x4x3x32xf32>
}

// A window of 100 keys: two blocks or three of eleven are read.
// FUSED-LABEL: func.func @window(
// FUSED: gpu.launch_func
// FUSED: gpu.launch_func
// FUSED-NOT: gpu.launch_func
// FUSED: return
func.func @window(%q: tensor<2x2x4x2x32xf16>, %k: tensor<2x2x700x32xf16>, %v: tensor<2x2x700x32xf16>) -> tensor<2x2x4x2x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x4x2x700xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x4x2x700xf32>) -> tensor<2x2x4x2x700xf32>
  %qk = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<2x2x4x2x32xf16>, tensor<2x2x700x32xf16>) outs(%i : tensor<2x2x4x2x700xf32>) -> tensor<2x2x4x2x700xf32>
  %s = linalg.generic {indexing_maps = [#space, #space], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x2x4x2x700xf32>) outs(%e : tensor<2x2x4x2x700xf32>) {
  ^bb0(%x: f32, %old: f32):
    %scale = arith.constant 0.25 : f32
    %y = arith.mulf %x, %scale : f32
    %m = linalg.index 3 : index
    %n = linalg.index 4 : index
    %offset = arith.constant 698 : index
    %first = arith.constant 599 : index
    %last = arith.addi %m, %offset : index
    %begin = arith.addi %m, %first : index
    %isSeen = arith.cmpi sle, %n, %last : index
    %isNear = arith.cmpi sge, %n, %begin : index
    %isBoth = arith.andi %isSeen, %isNear : i1
    %hidden = arith.constant 0xFF800000 : f32
    %z = arith.select %isBoth, %y, %hidden : f32
    linalg.yield %z : f32
  } -> tensor<2x2x4x2x700xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x2x4x2x700xf32>) outs(%e : tensor<2x2x4x2x700xf32>) -> tensor<2x2x4x2x700xf32>
  %w = arith.truncf %p : tensor<2x2x4x2x700xf32> to tensor<2x2x4x2x700xf16>
  %f = tensor.empty() : tensor<2x2x4x2x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x4x2x32xf32>) -> tensor<2x2x4x2x32xf32>
  %r = linalg.contract indexing_maps = [#score, #key, #query]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x4x2x700xf16>, tensor<2x2x700x32xf16>) outs(%j : tensor<2x2x4x2x32xf32>) -> tensor<2x2x4x2x32xf32>
  return %r : tensor<2x2x4x2x32xf32>
}

// A length of each sequence.
// FUSED-LABEL: func.func @length(
// FUSED: gpu.launch_func
// FUSED: gpu.launch_func
// FUSED-NOT: gpu.launch_func
// FUSED: return
func.func @length(%q: tensor<2x2x4x1x32xf16>, %k: tensor<2x2x200x32xf16>, %v: tensor<2x2x200x32xf16>, %lengths: tensor<2xi32>) -> tensor<2x2x4x1x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x4x1x200xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x4x1x200xf32>) -> tensor<2x2x4x1x200xf32>
  %qk = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<2x2x4x1x32xf16>, tensor<2x2x200x32xf16>) outs(%i : tensor<2x2x4x1x200xf32>) -> tensor<2x2x4x1x200xf32>
  %s = linalg.generic {indexing_maps = [#space, #batch, #space], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%qk, %lengths : tensor<2x2x4x1x200xf32>, tensor<2xi32>) outs(%e : tensor<2x2x4x1x200xf32>) {
  ^bb0(%x: f32, %l: i32, %old: f32):
    %scale = arith.constant 0.25 : f32
    %y = arith.mulf %x, %scale : f32
    %n = linalg.index 4 : index
    %length = arith.index_cast %l : i32 to index
    %isSeen = arith.cmpi slt, %n, %length : index
    %hidden = arith.constant 0xFF800000 : f32
    %z = arith.select %isSeen, %y, %hidden : f32
    linalg.yield %z : f32
  } -> tensor<2x2x4x1x200xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x2x4x1x200xf32>) outs(%e : tensor<2x2x4x1x200xf32>) -> tensor<2x2x4x1x200xf32>
  %w = arith.truncf %p : tensor<2x2x4x1x200xf32> to tensor<2x2x4x1x200xf16>
  %f = tensor.empty() : tensor<2x2x4x1x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  %r = linalg.contract indexing_maps = [#score, #key, #query]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x4x1x200xf16>, tensor<2x2x200x32xf16>) outs(%j : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  return %r : tensor<2x2x4x1x32xf32>
}

// Queries at the end of a sequence of variable length, with a window.
// FUSED-LABEL: func.func @length_window(
// FUSED: gpu.launch_func
// FUSED: gpu.launch_func
// FUSED-NOT: gpu.launch_func
// FUSED: return
func.func @length_window(%q: tensor<2x2x4x3x32xf16>, %k: tensor<2x2x500x32xf16>, %v: tensor<2x2x500x32xf16>, %lengths: tensor<2xi64>) -> tensor<2x2x4x3x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x4x3x500xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x4x3x500xf32>) -> tensor<2x2x4x3x500xf32>
  %qk = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<2x2x4x3x32xf16>, tensor<2x2x500x32xf16>) outs(%i : tensor<2x2x4x3x500xf32>) -> tensor<2x2x4x3x500xf32>
  %s = linalg.generic {indexing_maps = [#space, #batch, #space], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%qk, %lengths : tensor<2x2x4x3x500xf32>, tensor<2xi64>) outs(%e : tensor<2x2x4x3x500xf32>) {
  ^bb0(%x: f32, %l: i64, %old: f32):
    %scale = arith.constant 0.25 : f32
    %y = arith.mulf %x, %scale : f32
    %m = linalg.index 3 : index
    %n = linalg.index 4 : index
    %length = arith.index_cast %l : i64 to index
    %three = arith.constant 3 : index
    %start = arith.subi %length, %three : index
    %at = arith.addi %start, %m : index
    %distance = arith.subi %at, %n : index
    %c0 = arith.constant 0 : index
    %c70 = arith.constant 70 : index
    %isAfter = arith.cmpi slt, %distance, %c0 : index
    %isFar = arith.cmpi sge, %distance, %c70 : index
    %isHidden = arith.ori %isAfter, %isFar : i1
    %hidden = arith.constant 0xFF800000 : f32
    %z = arith.select %isHidden, %hidden, %y : f32
    linalg.yield %z : f32
  } -> tensor<2x2x4x3x500xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x2x4x3x500xf32>) outs(%e : tensor<2x2x4x3x500xf32>) -> tensor<2x2x4x3x500xf32>
  %w = arith.truncf %p : tensor<2x2x4x3x500xf32> to tensor<2x2x4x3x500xf16>
  %f = tensor.empty() : tensor<2x2x4x3x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x4x3x32xf32>) -> tensor<2x2x4x3x32xf32>
  %r = linalg.contract indexing_maps = [#score, #key, #query]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x4x3x500xf16>, tensor<2x2x500x32xf16>) outs(%j : tensor<2x2x4x3x32xf32>) -> tensor<2x2x4x3x32xf32>
  return %r : tensor<2x2x4x3x32xf32>
}

// A mask in memory.
// FUSED-LABEL: func.func @mask(
// FUSED: gpu.launch_func
// FUSED: gpu.launch_func
// FUSED-NOT: gpu.launch_func
// FUSED: return
func.func @mask(%q: tensor<2x2x4x1x32xf16>, %k: tensor<2x2x200x32xf16>, %v: tensor<2x2x200x32xf16>, %mask: tensor<2x200xi1>) -> tensor<2x2x4x1x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x2x4x1x200xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x4x1x200xf32>) -> tensor<2x2x4x1x200xf32>
  %qk = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<2x2x4x1x32xf16>, tensor<2x2x200x32xf16>) outs(%i : tensor<2x2x4x1x200xf32>) -> tensor<2x2x4x1x200xf32>
  %s = linalg.generic {indexing_maps = [#space, #visible, #space], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%qk, %mask : tensor<2x2x4x1x200xf32>, tensor<2x200xi1>) outs(%e : tensor<2x2x4x1x200xf32>) {
  ^bb0(%x: f32, %isSeen: i1, %old: f32):
    %scale = arith.constant 0.25 : f32
    %y = arith.mulf %x, %scale : f32
    %hidden = arith.constant 0xFF800000 : f32
    %z = arith.select %isSeen, %y, %hidden : f32
    linalg.yield %z : f32
  } -> tensor<2x2x4x1x200xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x2x4x1x200xf32>) outs(%e : tensor<2x2x4x1x200xf32>) -> tensor<2x2x4x1x200xf32>
  %w = arith.truncf %p : tensor<2x2x4x1x200xf32> to tensor<2x2x4x1x200xf16>
  %f = tensor.empty() : tensor<2x2x4x1x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  %r = linalg.contract indexing_maps = [#score, #key, #query]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x4x1x200xf16>, tensor<2x2x200x32xf16>) outs(%j : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  return %r : tensor<2x2x4x1x32xf32>
}

// Keys and values in pages of 16.
// FUSED-LABEL: func.func @paged_collapse(
// FUSED: gpu.launch_func
// FUSED: gpu.launch_func
// FUSED-NOT: gpu.launch_func
// FUSED: return
func.func @paged_collapse(%q: tensor<2x2x4x1x32xf16>, %kc: tensor<40x16x2x32xf16>, %vc: tensor<40x16x2x32xf16>, %table: tensor<2x12xi64>, %lengths: tensor<2xi32>) -> tensor<2x2x4x1x32xf32> {
  %zero = arith.constant 0.0 : f32
  %ke = tensor.empty() : tensor<2x12x16x2x32xf16>
  %kg = linalg.generic {indexing_maps = [affine_map<(b, p, s, h, d) -> (b, p)>, affine_map<(b, p, s, h, d) -> (b, p, s, h, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%table : tensor<2x12xi64>) outs(%ke : tensor<2x12x16x2x32xf16>) {
  ^bb0(%index: i64, %old: f16):
    %c0 = arith.constant 0 : i64
    %pages = arith.constant 40 : i64
    %isNegative = arith.cmpi slt, %index, %c0 : i64
    %fromEnd = arith.addi %index, %pages : i64
    %wrapped = arith.select %isNegative, %fromEnd, %index : i64
    %page = arith.index_cast %wrapped : i64 to index
    %s = linalg.index 2 : index
    %h = linalg.index 3 : index
    %d = linalg.index 4 : index
    %x = tensor.extract %kc[%page, %s, %h, %d] : tensor<40x16x2x32xf16>
    linalg.yield %x : f16
  } -> tensor<2x12x16x2x32xf16>
  %km = tensor.collapse_shape %kg [[0], [1, 2], [3], [4]] : tensor<2x12x16x2x32xf16> into tensor<2x192x2x32xf16>
  %kt = tensor.empty() : tensor<2x2x192x32xf16>
  %k = linalg.transpose ins(%km : tensor<2x192x2x32xf16>) outs(%kt : tensor<2x2x192x32xf16>) permutation = [0, 2, 1, 3]
  %ve = tensor.empty() : tensor<2x12x16x2x32xf16>
  %vg = linalg.generic {indexing_maps = [affine_map<(b, p, s, h, d) -> (b, p)>, affine_map<(b, p, s, h, d) -> (b, p, s, h, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%table : tensor<2x12xi64>) outs(%ve : tensor<2x12x16x2x32xf16>) {
  ^bb0(%index: i64, %old: f16):
    %c0 = arith.constant 0 : i64
    %pages = arith.constant 40 : i64
    %isNegative = arith.cmpi slt, %index, %c0 : i64
    %fromEnd = arith.addi %index, %pages : i64
    %wrapped = arith.select %isNegative, %fromEnd, %index : i64
    %page = arith.index_cast %wrapped : i64 to index
    %s = linalg.index 2 : index
    %h = linalg.index 3 : index
    %d = linalg.index 4 : index
    %x = tensor.extract %vc[%page, %s, %h, %d] : tensor<40x16x2x32xf16>
    linalg.yield %x : f16
  } -> tensor<2x12x16x2x32xf16>
  %vm = tensor.collapse_shape %vg [[0], [1, 2], [3], [4]] : tensor<2x12x16x2x32xf16> into tensor<2x192x2x32xf16>
  %vt = tensor.empty() : tensor<2x2x192x32xf16>
  %v = linalg.transpose ins(%vm : tensor<2x192x2x32xf16>) outs(%vt : tensor<2x2x192x32xf16>) permutation = [0, 2, 1, 3]
  %e = tensor.empty() : tensor<2x2x4x1x192xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %qk = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<2x2x4x1x32xf16>, tensor<2x2x192x32xf16>) outs(%i : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %s = linalg.generic {indexing_maps = [#space, #batch, #space], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%qk, %lengths : tensor<2x2x4x1x192xf32>, tensor<2xi32>) outs(%e : tensor<2x2x4x1x192xf32>) {
  ^bb0(%x: f32, %l: i32, %old: f32):
    %scale = arith.constant 0.25 : f32
    %y = arith.mulf %x, %scale : f32
    %n = linalg.index 4 : index
    %length = arith.index_cast %l : i32 to index
    %isSeen = arith.cmpi slt, %n, %length : index
    %hidden = arith.constant 0xFF800000 : f32
    %z = arith.select %isSeen, %y, %hidden : f32
    linalg.yield %z : f32
  } -> tensor<2x2x4x1x192xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x2x4x1x192xf32>) outs(%e : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %w = arith.truncf %p : tensor<2x2x4x1x192xf32> to tensor<2x2x4x1x192xf16>
  %f = tensor.empty() : tensor<2x2x4x1x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  %r = linalg.contract indexing_maps = [#score, #key, #query]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x4x1x192xf16>, tensor<2x2x192x32xf16>) outs(%j : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  return %r : tensor<2x2x4x1x32xf32>
}

// Keys and values in pages of 16.
// FUSED-LABEL: func.func @paged_extract(
// FUSED: gpu.launch_func
// FUSED: gpu.launch_func
// FUSED-NOT: gpu.launch_func
// FUSED: return
func.func @paged_extract(%q: tensor<2x2x4x1x32xf16>, %kc: tensor<40x16x2x32xf16>, %vc: tensor<40x16x2x32xf16>, %table: tensor<2x12xi32>, %lengths: tensor<2xi32>) -> tensor<2x2x4x1x32xf32> {
  %zero = arith.constant 0.0 : f32
  %ke = tensor.empty() : tensor<2x2x192x32xf16>
  %k = linalg.generic {indexing_maps = [affine_map<(b, h, n, d) -> (b, h, n, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%ke : tensor<2x2x192x32xf16>) {
  ^bb0(%old: f16):
    %size = arith.constant 16 : index
    %b = linalg.index 0 : index
    %h = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = linalg.index 3 : index
    %at = arith.divui %j, %size : index
    %row = arith.remui %j, %size : index
    %entry = tensor.extract %table[%b, %at] : tensor<2x12xi32>
    %page = arith.index_cast %entry : i32 to index
    %x = tensor.extract %kc[%page, %row, %h, %d] : tensor<40x16x2x32xf16>
    linalg.yield %x : f16
  } -> tensor<2x2x192x32xf16>
  %ve = tensor.empty() : tensor<2x2x192x32xf16>
  %v = linalg.generic {indexing_maps = [affine_map<(b, h, n, d) -> (b, h, n, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%ve : tensor<2x2x192x32xf16>) {
  ^bb0(%old: f16):
    %size = arith.constant 16 : index
    %b = linalg.index 0 : index
    %h = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = linalg.index 3 : index
    %at = arith.divui %j, %size : index
    %row = arith.remui %j, %size : index
    %entry = tensor.extract %table[%b, %at] : tensor<2x12xi32>
    %page = arith.index_cast %entry : i32 to index
    %x = tensor.extract %vc[%page, %row, %h, %d] : tensor<40x16x2x32xf16>
    linalg.yield %x : f16
  } -> tensor<2x2x192x32xf16>
  %e = tensor.empty() : tensor<2x2x4x1x192xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %qk = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<2x2x4x1x32xf16>, tensor<2x2x192x32xf16>) outs(%i : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %s = linalg.generic {indexing_maps = [#space, #batch, #space], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%qk, %lengths : tensor<2x2x4x1x192xf32>, tensor<2xi32>) outs(%e : tensor<2x2x4x1x192xf32>) {
  ^bb0(%x: f32, %l: i32, %old: f32):
    %scale = arith.constant 0.25 : f32
    %y = arith.mulf %x, %scale : f32
    %n = linalg.index 4 : index
    %length = arith.index_cast %l : i32 to index
    %isSeen = arith.cmpi slt, %n, %length : index
    %hidden = arith.constant 0xFF800000 : f32
    %z = arith.select %isSeen, %y, %hidden : f32
    linalg.yield %z : f32
  } -> tensor<2x2x4x1x192xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x2x4x1x192xf32>) outs(%e : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %w = arith.truncf %p : tensor<2x2x4x1x192xf32> to tensor<2x2x4x1x192xf16>
  %f = tensor.empty() : tensor<2x2x4x1x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  %r = linalg.contract indexing_maps = [#score, #key, #query]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x4x1x192xf16>, tensor<2x2x192x32xf16>) outs(%j : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  return %r : tensor<2x2x4x1x32xf32>
}

// A slot of the cache for each key, and a length.
// FUSED-LABEL: func.func @slots(
// FUSED: gpu.launch_func
// FUSED: gpu.launch_func
// FUSED-NOT: gpu.launch_func
// FUSED: return
func.func @slots(%q: tensor<2x2x4x1x32xf16>, %kc: tensor<640x2x32xf16>, %vc: tensor<640x2x32xf16>, %slots: tensor<2x192xi32>, %lengths: tensor<2xi32>) -> tensor<2x2x4x1x32xf32> {
  %zero = arith.constant 0.0 : f32
  %ke = tensor.empty() : tensor<2x2x192x32xf16>
  %k = linalg.generic {indexing_maps = [affine_map<(b, h, n, d) -> (b, h, n, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%ke : tensor<2x2x192x32xf16>) {
  ^bb0(%old: f16):
    %b = linalg.index 0 : index
    %h = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = linalg.index 3 : index
    %entry = tensor.extract %slots[%b, %j] : tensor<2x192xi32>
    %page = arith.index_cast %entry : i32 to index
    %x = tensor.extract %kc[%page, %h, %d] : tensor<640x2x32xf16>
    linalg.yield %x : f16
  } -> tensor<2x2x192x32xf16>
  %ve = tensor.empty() : tensor<2x2x192x32xf16>
  %v = linalg.generic {indexing_maps = [affine_map<(b, h, n, d) -> (b, h, n, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%ve : tensor<2x2x192x32xf16>) {
  ^bb0(%old: f16):
    %b = linalg.index 0 : index
    %h = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = linalg.index 3 : index
    %entry = tensor.extract %slots[%b, %j] : tensor<2x192xi32>
    %page = arith.index_cast %entry : i32 to index
    %x = tensor.extract %vc[%page, %h, %d] : tensor<640x2x32xf16>
    linalg.yield %x : f16
  } -> tensor<2x2x192x32xf16>
  %e = tensor.empty() : tensor<2x2x4x1x192xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %qk = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<2x2x4x1x32xf16>, tensor<2x2x192x32xf16>) outs(%i : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %s = linalg.generic {indexing_maps = [#space, #batch, #space], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%qk, %lengths : tensor<2x2x4x1x192xf32>, tensor<2xi32>) outs(%e : tensor<2x2x4x1x192xf32>) {
  ^bb0(%x: f32, %l: i32, %old: f32):
    %scale = arith.constant 0.25 : f32
    %y = arith.mulf %x, %scale : f32
    %n = linalg.index 4 : index
    %length = arith.index_cast %l : i32 to index
    %isSeen = arith.cmpi slt, %n, %length : index
    %hidden = arith.constant 0xFF800000 : f32
    %z = arith.select %isSeen, %y, %hidden : f32
    linalg.yield %z : f32
  } -> tensor<2x2x4x1x192xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x2x4x1x192xf32>) outs(%e : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %w = arith.truncf %p : tensor<2x2x4x1x192xf32> to tensor<2x2x4x1x192xf16>
  %f = tensor.empty() : tensor<2x2x4x1x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  %r = linalg.contract indexing_maps = [#score, #key, #query]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1, splitK = 3>}
      ins(%w, %v : tensor<2x2x4x1x192xf16>, tensor<2x2x192x32xf16>) outs(%j : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  return %r : tensor<2x2x4x1x32xf32>
}

// All keys of pages of 16, in one part.
// FUSED-LABEL: func.func @paged_all(
// FUSED: gpu.launch_func
//
// FUSED-NOT: gpu.launch_func
// FUSED: return
func.func @paged_all(%q: tensor<2x2x4x1x32xf16>, %kc: tensor<40x16x2x32xf16>, %vc: tensor<40x16x2x32xf16>, %table: tensor<2x12xi32>) -> tensor<2x2x4x1x32xf32> {
  %zero = arith.constant 0.0 : f32
  %ke = tensor.empty() : tensor<2x2x192x32xf16>
  %k = linalg.generic {indexing_maps = [affine_map<(b, h, n, d) -> (b, h, n, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%ke : tensor<2x2x192x32xf16>) {
  ^bb0(%old: f16):
    %size = arith.constant 16 : index
    %b = linalg.index 0 : index
    %h = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = linalg.index 3 : index
    %at = arith.divui %j, %size : index
    %row = arith.remui %j, %size : index
    %entry = tensor.extract %table[%b, %at] : tensor<2x12xi32>
    %page = arith.index_cast %entry : i32 to index
    %x = tensor.extract %kc[%page, %row, %h, %d] : tensor<40x16x2x32xf16>
    linalg.yield %x : f16
  } -> tensor<2x2x192x32xf16>
  %ve = tensor.empty() : tensor<2x2x192x32xf16>
  %v = linalg.generic {indexing_maps = [affine_map<(b, h, n, d) -> (b, h, n, d)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%ve : tensor<2x2x192x32xf16>) {
  ^bb0(%old: f16):
    %size = arith.constant 16 : index
    %b = linalg.index 0 : index
    %h = linalg.index 1 : index
    %j = linalg.index 2 : index
    %d = linalg.index 3 : index
    %at = arith.divui %j, %size : index
    %row = arith.remui %j, %size : index
    %entry = tensor.extract %table[%b, %at] : tensor<2x12xi32>
    %page = arith.index_cast %entry : i32 to index
    %x = tensor.extract %vc[%page, %row, %h, %d] : tensor<40x16x2x32xf16>
    linalg.yield %x : f16
  } -> tensor<2x2x192x32xf16>
  %e = tensor.empty() : tensor<2x2x4x1x192xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %qk = linalg.contract indexing_maps = [#query, #key, #score]
      ins(%q, %k : tensor<2x2x4x1x32xf16>, tensor<2x2x192x32xf16>) outs(%i : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %s = linalg.generic {indexing_maps = [#space, #space], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x2x4x1x192xf32>) outs(%e : tensor<2x2x4x1x192xf32>) {
  ^bb0(%x: f32, %old: f32):
    %scale = arith.constant 0.25 : f32
    %y = arith.mulf %x, %scale : f32
    linalg.yield %y : f32
  } -> tensor<2x2x4x1x192xf32>
  %p = linalg.softmax dimension(4) ins(%s : tensor<2x2x4x1x192xf32>) outs(%e : tensor<2x2x4x1x192xf32>) -> tensor<2x2x4x1x192xf32>
  %w = arith.truncf %p : tensor<2x2x4x1x192xf32> to tensor<2x2x4x1x192xf16>
  %f = tensor.empty() : tensor<2x2x4x1x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  %r = linalg.contract indexing_maps = [#score, #key, #query]
      {tessera.schedule = #tessera.schedule<workgroup = [16, 64], subgroup = [16, 64], k = 32, kFragment = 16, stages = 1>}
      ins(%w, %v : tensor<2x2x4x1x192xf16>, tensor<2x2x192x32xf16>) outs(%j : tensor<2x2x4x1x32xf32>) -> tensor<2x2x4x1x32xf32>
  return %r : tensor<2x2x4x1x32xf32>
}

