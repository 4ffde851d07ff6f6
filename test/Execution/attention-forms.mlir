// Attention in other forms than example 07 has it: each is one kernel, and right.
//
// REQUIRES: long_tests
// RUN: gpu-runner %s --target=cpu --emit=tessera | FileCheck %s --check-prefix=KERNELS
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=tessera | FileCheck %s --check-prefix=KERNELS
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=tessera | FileCheck %s --check-prefix=KERNELS
// RUN: gpu-runner %s --target=cpu --verify --entry=plain --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=ragged --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=bfloat --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=causal --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=ahead --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=more_queries --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=unlike --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=added --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=one_key --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=swapped --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=middle --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=shared --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=kept_dims --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=staged --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=pipelined --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=steps --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=reshaped --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=narrow --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic --arg=random:1:45x32 --arg=random:2:61x32 --arg=random:3:61x32 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic --arg=random:1:5x32 --arg=random:2:0x32 --arg=random:3:0x32 | FileCheck %s
// CHECK: {{^}}verified

// Nothing sticks out.
// KERNELS-LABEL: func.func @plain(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @plain(%q: tensor<2x64x64xf16>, %k: tensor<2x128x64xf16>, %v: tensor<2x128x64xf16>) -> tensor<2x64x64xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x64x128xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x64x64xf16>, tensor<2x128x64xf16>) outs(%i : tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x128xf32>) outs(%e : tensor<2x64x128xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x128xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x128xf32>) outs(%e : tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
  %w = arith.truncf %p : tensor<2x64x128xf32> to tensor<2x64x128xf16>
  %f = tensor.empty() : tensor<2x64x64xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%w, %v : tensor<2x64x128xf16>, tensor<2x128x64xf16>) outs(%j : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %r = arith.truncf %pv : tensor<2x64x64xf32> to tensor<2x64x64xf16>
  return %r : tensor<2x64x64xf16>
}

// Queries and keys that fill no tile; values of another width.
// KERNELS-LABEL: func.func @ragged(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @ragged(%q: tensor<3x70x32xf16>, %k: tensor<3x133x32xf16>, %v: tensor<3x133x48xf16>) -> tensor<3x70x48xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<3x70x133xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<3x70x133xf32>) -> tensor<3x70x133xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<3x70x32xf16>, tensor<3x133x32xf16>) outs(%i : tensor<3x70x133xf32>) -> tensor<3x70x133xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<3x70x133xf32>) outs(%e : tensor<3x70x133xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<3x70x133xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<3x70x133xf32>) outs(%e : tensor<3x70x133xf32>) -> tensor<3x70x133xf32>
  %w = arith.truncf %p : tensor<3x70x133xf32> to tensor<3x70x133xf16>
  %f = tensor.empty() : tensor<3x70x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<3x70x48xf32>) -> tensor<3x70x48xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%w, %v : tensor<3x70x133xf16>, tensor<3x133x48xf16>) outs(%j : tensor<3x70x48xf32>) -> tensor<3x70x48xf32>
  %r = arith.truncf %pv : tensor<3x70x48xf32> to tensor<3x70x48xf16>
  return %r : tensor<3x70x48xf16>
}

// The same of bf16, in f32.
// KERNELS-LABEL: func.func @bfloat(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @bfloat(%q: tensor<2x70x64xbf16>, %k: tensor<2x133x64xbf16>, %v: tensor<2x133x64xbf16>) -> tensor<2x70x64xf32> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x70x133xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x70x133xf32>) -> tensor<2x70x133xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x70x64xbf16>, tensor<2x133x64xbf16>) outs(%i : tensor<2x70x133xf32>) -> tensor<2x70x133xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x70x133xf32>) outs(%e : tensor<2x70x133xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x70x133xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x70x133xf32>) outs(%e : tensor<2x70x133xf32>) -> tensor<2x70x133xf32>
  %w = arith.truncf %p : tensor<2x70x133xf32> to tensor<2x70x133xbf16>
  %f = tensor.empty() : tensor<2x70x64xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x70x64xf32>) -> tensor<2x70x64xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%w, %v : tensor<2x70x133xbf16>, tensor<2x133x64xbf16>) outs(%j : tensor<2x70x64xf32>) -> tensor<2x70x64xf32>
  return %pv : tensor<2x70x64xf32>
}

// A causal mask.
// KERNELS-LABEL: func.func @causal(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @causal(%q: tensor<2x200x64xf16>, %k: tensor<2x200x64xf16>, %v: tensor<2x200x64xf16>) -> tensor<2x200x64xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x200x200xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x200x200xf32>) -> tensor<2x200x200xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x200x64xf16>, tensor<2x200x64xf16>) outs(%i : tensor<2x200x200xf32>) -> tensor<2x200x200xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x200x200xf32>) outs(%e : tensor<2x200x200xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant 0xFF800000 : f32
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi sle, %b, %a : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x200x200xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x200x200xf32>) outs(%e : tensor<2x200x200xf32>) -> tensor<2x200x200xf32>
  %w = arith.truncf %p : tensor<2x200x200xf32> to tensor<2x200x200xf16>
  %f = tensor.empty() : tensor<2x200x64xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x200x64xf32>) -> tensor<2x200x64xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%w, %v : tensor<2x200x200xf16>, tensor<2x200x64xf16>) outs(%j : tensor<2x200x64xf32>) -> tensor<2x200x64xf32>
  %r = arith.truncf %pv : tensor<2x200x64xf32> to tensor<2x200x64xf16>
  return %r : tensor<2x200x64xf16>
}

// Keys before the first query, and a mask that selects the visible ones.
// KERNELS-LABEL: func.func @ahead(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @ahead(%q: tensor<2x70x32xf16>, %k: tensor<2x133x32xf16>, %v: tensor<2x133x32xf16>) -> tensor<2x70x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x70x133xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x70x133xf32>) -> tensor<2x70x133xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x70x32xf16>, tensor<2x133x32xf16>) outs(%i : tensor<2x70x133xf32>) -> tensor<2x70x133xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x70x133xf32>) outs(%e : tensor<2x70x133xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant 0xFF800000 : f32
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %c = arith.constant 63 : index
    %a1 = arith.addi %a, %c : index
    %z = arith.mulf %x, %factor : f32
    %hidden = arith.cmpi sgt, %b, %a1 : index
    %y = arith.select %hidden, %low, %z : f32
    linalg.yield %y : f32
  } -> tensor<2x70x133xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x70x133xf32>) outs(%e : tensor<2x70x133xf32>) -> tensor<2x70x133xf32>
  %w = arith.truncf %p : tensor<2x70x133xf32> to tensor<2x70x133xf16>
  %f = tensor.empty() : tensor<2x70x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x70x32xf32>) -> tensor<2x70x32xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%w, %v : tensor<2x70x133xf16>, tensor<2x133x32xf16>) outs(%j : tensor<2x70x32xf32>) -> tensor<2x70x32xf32>
  %r = arith.truncf %pv : tensor<2x70x32xf32> to tensor<2x70x32xf16>
  return %r : tensor<2x70x32xf16>
}

// More queries than keys.
// KERNELS-LABEL: func.func @more_queries(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @more_queries(%q: tensor<2x150x32xf16>, %k: tensor<2x40x32xf16>, %v: tensor<2x40x32xf16>) -> tensor<2x150x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x150x40xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x150x40xf32>) -> tensor<2x150x40xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x150x32xf16>, tensor<2x40x32xf16>) outs(%i : tensor<2x150x40xf32>) -> tensor<2x150x40xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x150x40xf32>) outs(%e : tensor<2x150x40xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant 0xFF800000 : f32
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi sle, %b, %a : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x150x40xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x150x40xf32>) outs(%e : tensor<2x150x40xf32>) -> tensor<2x150x40xf32>
  %w = arith.truncf %p : tensor<2x150x40xf32> to tensor<2x150x40xf16>
  %f = tensor.empty() : tensor<2x150x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x150x32xf32>) -> tensor<2x150x32xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%w, %v : tensor<2x150x40xf16>, tensor<2x40x32xf16>) outs(%j : tensor<2x150x32xf32>) -> tensor<2x150x32xf32>
  %r = arith.truncf %pv : tensor<2x150x32xf32> to tensor<2x150x32xf16>
  return %r : tensor<2x150x32xf16>
}

// The diagonal crosses blocks.
// KERNELS-LABEL: func.func @unlike(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @unlike(%q: tensor<1x130x32xf16>, %k: tensor<1x200x32xf16>, %v: tensor<1x200x32xf16>) -> tensor<1x130x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<1x130x200xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x130x200xf32>) -> tensor<1x130x200xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<1x130x32xf16>, tensor<1x200x32xf16>) outs(%i : tensor<1x130x200xf32>) -> tensor<1x130x200xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<1x130x200xf32>) outs(%e : tensor<1x130x200xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant -1.0e30 : f32
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %c = arith.constant 37 : index
    %a1 = arith.addi %a, %c : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi sle, %b, %a1 : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<1x130x200xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<1x130x200xf32>) outs(%e : tensor<1x130x200xf32>) -> tensor<1x130x200xf32>
  %w = arith.truncf %p : tensor<1x130x200xf32> to tensor<1x130x200xf16>
  %f = tensor.empty() : tensor<1x130x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<1x130x32xf32>) -> tensor<1x130x32xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%w, %v : tensor<1x130x200xf16>, tensor<1x200x32xf16>) outs(%j : tensor<1x130x32xf32>) -> tensor<1x130x32xf32>
  %r = arith.truncf %pv : tensor<1x130x32xf32> to tensor<1x130x32xf16>
  return %r : tensor<1x130x32xf16>
}

// A mask that is added, in integers.
// KERNELS-LABEL: func.func @added(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @added(%q: tensor<2x100x32xf16>, %k: tensor<2x100x32xf16>, %v: tensor<2x100x32xf16>) -> tensor<2x100x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x100x100xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x100x100xf32>) -> tensor<2x100x100xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x100x32xf16>, tensor<2x100x32xf16>) outs(%i : tensor<2x100x100xf32>) -> tensor<2x100x100xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x100x100xf32>) outs(%e : tensor<2x100x100xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant 0xFF800000 : f32
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %i32 = arith.index_cast %a : index to i32
    %j32 = arith.index_cast %b : index to i32
    %ahead = arith.subi %i32, %j32 : i32
    %c0 = arith.constant 0 : i32
    %seen = arith.cmpi sge, %ahead, %c0 : i32
    %bias = arith.select %seen, %zero, %low : f32
    %z = arith.mulf %x, %factor : f32
    %y = arith.addf %z, %bias : f32
    linalg.yield %y : f32
  } -> tensor<2x100x100xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x100x100xf32>) outs(%e : tensor<2x100x100xf32>) -> tensor<2x100x100xf32>
  %w = arith.truncf %p : tensor<2x100x100xf32> to tensor<2x100x100xf16>
  %f = tensor.empty() : tensor<2x100x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x100x32xf32>) -> tensor<2x100x32xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%w, %v : tensor<2x100x100xf16>, tensor<2x100x32xf16>) outs(%j : tensor<2x100x32xf32>) -> tensor<2x100x32xf32>
  %r = arith.truncf %pv : tensor<2x100x32xf32> to tensor<2x100x32xf16>
  return %r : tensor<2x100x32xf16>
}

// A single key.
// KERNELS-LABEL: func.func @one_key(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @one_key(%q: tensor<2x20x16xf16>, %k: tensor<2x1x16xf16>, %v: tensor<2x1x16xf16>) -> tensor<2x20x16xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x20x1xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x20x1xf32>) -> tensor<2x20x1xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x20x16xf16>, tensor<2x1x16xf16>) outs(%i : tensor<2x20x1xf32>) -> tensor<2x20x1xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x20x1xf32>) outs(%e : tensor<2x20x1xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x20x1xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x20x1xf32>) outs(%e : tensor<2x20x1xf32>) -> tensor<2x20x1xf32>
  %w = arith.truncf %p : tensor<2x20x1xf32> to tensor<2x20x1xf16>
  %f = tensor.empty() : tensor<2x20x16xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x20x16xf32>) -> tensor<2x20x16xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%w, %v : tensor<2x20x1xf16>, tensor<2x1x16xf16>) outs(%j : tensor<2x20x16xf32>) -> tensor<2x20x16xf32>
  %r = arith.truncf %pv : tensor<2x20x16xf32> to tensor<2x20x16xf16>
  return %r : tensor<2x20x16xf16>
}

// Values by weights, transposed.
// KERNELS-LABEL: func.func @swapped(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @swapped(%q: tensor<2x40x32xf16>, %k: tensor<2x50x32xf16>, %v: tensor<2x50x32xf16>) -> tensor<2x40x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x40x50xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x40x50xf32>) -> tensor<2x40x50xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x40x32xf16>, tensor<2x50x32xf16>) outs(%i : tensor<2x40x50xf32>) -> tensor<2x40x50xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x40x50xf32>) outs(%e : tensor<2x40x50xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x40x50xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x40x50xf32>) outs(%e : tensor<2x40x50xf32>) -> tensor<2x40x50xf32>
  %w = arith.truncf %p : tensor<2x40x50xf32> to tensor<2x40x50xf16>
  %f = tensor.empty() : tensor<2x40x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x40x32xf32>) -> tensor<2x40x32xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%v, %w : tensor<2x50x32xf16>, tensor<2x40x50xf16>) outs(%j : tensor<2x40x32xf32>) -> tensor<2x40x32xf32>
  %r = arith.truncf %pv : tensor<2x40x32xf32> to tensor<2x40x32xf16>
  return %r : tensor<2x40x32xf16>
}

// Heads between rows and columns of all operands, and of the output; two batches.
// KERNELS-LABEL: func.func @middle(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @middle(%q: tensor<2x50x3x32xf16>, %k: tensor<2x60x3x32xf16>, %v: tensor<2x60x3x32xf16>) -> tensor<2x50x3x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x3x50x60xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x50x60xf32>) -> tensor<2x3x50x60xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, m, h, x)>, affine_map<(b, h, m, n, x) -> (b, n, h, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, n)>]
      ins(%q, %k : tensor<2x50x3x32xf16>, tensor<2x60x3x32xf16>) outs(%i : tensor<2x3x50x60xf32>) -> tensor<2x3x50x60xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x3x50x60xf32>) outs(%e : tensor<2x3x50x60xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x3x50x60xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x3x50x60xf32>) outs(%e : tensor<2x3x50x60xf32>) -> tensor<2x3x50x60xf32>
  %w = arith.truncf %p : tensor<2x3x50x60xf32> to tensor<2x3x50x60xf16>
  %f = tensor.empty() : tensor<2x3x50x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x3x50x32xf32>) -> tensor<2x3x50x32xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(b, h, m, n, x) -> (b, h, m, n)>, affine_map<(b, h, m, n, x) -> (b, n, h, x)>, affine_map<(b, h, m, n, x) -> (b, h, m, x)>]
      ins(%w, %v : tensor<2x3x50x60xf16>, tensor<2x60x3x32xf16>) outs(%j : tensor<2x3x50x32xf32>) -> tensor<2x3x50x32xf32>
  %r = arith.truncf %pv : tensor<2x3x50x32xf32> to tensor<2x3x50x32xf16>
  %te = tensor.empty() : tensor<2x50x3x32xf16>
  %tr = linalg.transpose ins(%r : tensor<2x3x50x32xf16>) outs(%te : tensor<2x50x3x32xf16>) permutation = [0, 2, 1, 3]
  return %tr : tensor<2x50x3x32xf16>
}

// Keys and values that all heads share.
// KERNELS-LABEL: func.func @shared(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @shared(%q: tensor<4x50x32xf16>, %k: tensor<60x32xf16>, %v: tensor<60x32xf16>) -> tensor<4x50x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<4x50x60xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x50x60xf32>) -> tensor<4x50x60xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<4x50x32xf16>, tensor<60x32xf16>) outs(%i : tensor<4x50x60xf32>) -> tensor<4x50x60xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<4x50x60xf32>) outs(%e : tensor<4x50x60xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<4x50x60xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<4x50x60xf32>) outs(%e : tensor<4x50x60xf32>) -> tensor<4x50x60xf32>
  %w = arith.truncf %p : tensor<4x50x60xf32> to tensor<4x50x60xf16>
  %f = tensor.empty() : tensor<4x50x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<4x50x32xf32>) -> tensor<4x50x32xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%w, %v : tensor<4x50x60xf16>, tensor<60x32xf16>) outs(%j : tensor<4x50x32xf32>) -> tensor<4x50x32xf32>
  %r = arith.truncf %pv : tensor<4x50x32xf32> to tensor<4x50x32xf16>
  return %r : tensor<4x50x32xf16>
}

// A softmax by reductions that keep their dimension, as torch-mlir writes it.
// KERNELS-LABEL: func.func @kept_dims(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @kept_dims(%q: tensor<2x70x32xf16>, %k: tensor<2x90x32xf16>, %v: tensor<2x90x32xf16>) -> tensor<2x70x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x70x90xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x70x90xf32>) -> tensor<2x70x90xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x70x32xf16>, tensor<2x90x32xf16>) outs(%i : tensor<2x70x90xf32>) -> tensor<2x70x90xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x70x90xf32>) outs(%e : tensor<2x70x90xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x70x90xf32>
  %lowest = arith.constant 0xFF800000 : f32
  %re = tensor.empty() : tensor<2x70x1xf32>
  %mi = linalg.fill ins(%lowest : f32) outs(%re : tensor<2x70x1xf32>) -> tensor<2x70x1xf32>
  %max = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, 0)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%s : tensor<2x70x90xf32>) outs(%mi : tensor<2x70x1xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.maximumf %x, %old : f32
    linalg.yield %y : f32
  } -> tensor<2x70x1xf32>
  %below = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, 0)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%s, %max : tensor<2x70x90xf32>, tensor<2x70x1xf32>) outs(%e : tensor<2x70x90xf32>) {
  ^bb0(%x: f32, %l: f32, %old: f32):
    %y = arith.subf %x, %l : f32
    linalg.yield %y : f32
  } -> tensor<2x70x90xf32>
  %power = math.exp %below : tensor<2x70x90xf32>
  %si = linalg.fill ins(%zero : f32) outs(%re : tensor<2x70x1xf32>) -> tensor<2x70x1xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, 0)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%power : tensor<2x70x90xf32>) outs(%si : tensor<2x70x1xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.addf %x, %old : f32
    linalg.yield %y : f32
  } -> tensor<2x70x1xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, 0)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%power, %sum : tensor<2x70x90xf32>, tensor<2x70x1xf32>) outs(%e : tensor<2x70x90xf32>) {
  ^bb0(%x: f32, %l: f32, %old: f32):
    %y = arith.divf %x, %l : f32
    linalg.yield %y : f32
  } -> tensor<2x70x90xf32>
  %w = arith.truncf %p : tensor<2x70x90xf32> to tensor<2x70x90xf16>
  %f = tensor.empty() : tensor<2x70x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x70x32xf32>) -> tensor<2x70x32xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>]
      ins(%w, %v : tensor<2x70x90xf16>, tensor<2x90x32xf16>) outs(%j : tensor<2x70x32xf32>) -> tensor<2x70x32xf32>
  %r = arith.truncf %pv : tensor<2x70x32xf32> to tensor<2x70x32xf16>
  return %r : tensor<2x70x32xf16>
}

// Several subgroups, whose tiles are staged and swizzled.
// KERNELS-LABEL: func.func @staged(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @staged(%q: tensor<2x100x32xf16>, %k: tensor<2x100x32xf16>, %v: tensor<2x100x32xf16>) -> tensor<2x100x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x100x100xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x100x100xf32>) -> tensor<2x100x100xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x100x32xf16>, tensor<2x100x32xf16>) outs(%i : tensor<2x100x100xf32>) -> tensor<2x100x100xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x100x100xf32>) outs(%e : tensor<2x100x100xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant 0xFF800000 : f32
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi sle, %b, %a : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x100x100xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x100x100xf32>) outs(%e : tensor<2x100x100xf32>) -> tensor<2x100x100xf32>
  %w = arith.truncf %p : tensor<2x100x100xf32> to tensor<2x100x100xf16>
  %f = tensor.empty() : tensor<2x100x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x100x32xf32>) -> tensor<2x100x32xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>] {tessera.schedule = #tessera.schedule<workgroup = [64, 16], subgroup = [16, 16], k = 32, kFragment = 16, stages = 1, swizzle = true>}
      ins(%w, %v : tensor<2x100x100xf16>, tensor<2x100x32xf16>) outs(%j : tensor<2x100x32xf32>) -> tensor<2x100x32xf32>
  %r = arith.truncf %pv : tensor<2x100x32xf32> to tensor<2x100x32xf16>
  return %r : tensor<2x100x32xf16>
}

// Copies that run ahead; one block may have two masked ones after it.
// KERNELS-LABEL: func.func @pipelined(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @pipelined(%q: tensor<2x100x32xf16>, %k: tensor<2x150x32xf16>, %v: tensor<2x150x48xf16>) -> tensor<2x100x48xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x100x150xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x100x150xf32>) -> tensor<2x100x150xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x100x32xf16>, tensor<2x150x32xf16>) outs(%i : tensor<2x100x150xf32>) -> tensor<2x100x150xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x100x150xf32>) outs(%e : tensor<2x100x150xf32>) {
  ^bb0(%x: f32, %old: f32):
    %low = arith.constant 0xFF800000 : f32
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %c = arith.constant 51 : index
    %a1 = arith.addi %a, %c : index
    %z = arith.mulf %x, %factor : f32
    %seen = arith.cmpi sle, %b, %a1 : index
    %y = arith.select %seen, %z, %low : f32
    linalg.yield %y : f32
  } -> tensor<2x100x150xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x100x150xf32>) outs(%e : tensor<2x100x150xf32>) -> tensor<2x100x150xf32>
  %w = arith.truncf %p : tensor<2x100x150xf32> to tensor<2x100x150xf16>
  %f = tensor.empty() : tensor<2x100x48xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x100x48xf32>) -> tensor<2x100x48xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>] {tessera.schedule = #tessera.schedule<workgroup = [32, 16], subgroup = [16, 16], k = 32, stages = 2>}
      ins(%w, %v : tensor<2x100x150xf16>, tensor<2x150x48xf16>) outs(%j : tensor<2x100x48xf32>) -> tensor<2x100x48xf32>
  %r = arith.truncf %pv : tensor<2x100x48xf32> to tensor<2x100x48xf16>
  return %r : tensor<2x100x48xf16>
}

// The number of blocks is known.
// KERNELS-LABEL: func.func @steps(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @steps(%q: tensor<2x64x32xf16>, %k: tensor<2x128x32xf16>, %v: tensor<2x128x32xf16>) -> tensor<2x64x32xf16> {
  %zero = arith.constant 0.0 : f32
  %factor = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x64x128xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x64x32xf16>, tensor<2x128x32xf16>) outs(%i : tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x64x128xf32>) outs(%e : tensor<2x64x128xf32>) {
  ^bb0(%x: f32, %old: f32):
    %y = arith.mulf %x, %factor : f32
    linalg.yield %y : f32
  } -> tensor<2x64x128xf32>
  %p = linalg.softmax dimension(2) ins(%s : tensor<2x64x128xf32>) outs(%e : tensor<2x64x128xf32>) -> tensor<2x64x128xf32>
  %w = arith.truncf %p : tensor<2x64x128xf32> to tensor<2x64x128xf16>
  %f = tensor.empty() : tensor<2x64x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x64x32xf32>) -> tensor<2x64x32xf32>
  %pv = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, n)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, x)>] {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 32], k = 32, stages = 3, swizzle = true>}
      ins(%w, %v : tensor<2x64x128xf16>, tensor<2x128x32xf16>) outs(%j : tensor<2x64x32xf32>) -> tensor<2x64x32xf32>
  %r = arith.truncf %pv : tensor<2x64x32xf32> to tensor<2x64x32xf16>
  return %r : tensor<2x64x32xf16>
}

// Batches of matrices, whose scores are reshaped to heads for the softmax, and the result to heads before it is
// rounded.
// KERNELS-LABEL: func.func @reshaped(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @reshaped(%q: tensor<2x3x50x32xf16>, %k: tensor<2x3x60x32xf16>, %v: tensor<2x3x60x32xf16>) -> tensor<2x3x50x32xf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %factor = arith.constant 0.125 : f32
  %qs = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x3x50x32xf16> into tensor<6x50x32xf16>
  %ks = tensor.collapse_shape %k [[0, 1], [2], [3]] : tensor<2x3x60x32xf16> into tensor<6x60x32xf16>
  %vs = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x3x60x32xf16> into tensor<6x60x32xf16>
  %te = tensor.empty() : tensor<6x32x60xf16>
  %kt = linalg.transpose ins(%ks : tensor<6x60x32xf16>) outs(%te : tensor<6x32x60xf16>) permutation = [0, 2, 1]
  %e = tensor.empty() : tensor<6x50x60xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<6x50x60xf32>) -> tensor<6x50x60xf32>
  %qk = linalg.batch_matmul ins(%qs, %kt : tensor<6x50x32xf16>, tensor<6x32x60xf16>) outs(%i : tensor<6x50x60xf32>) -> tensor<6x50x60xf32>
  %x = tensor.expand_shape %qk [[0, 1], [2], [3]] output_shape [2, 3, 50, 60] : tensor<6x50x60xf32> into tensor<2x3x50x60xf32>
  %xe = tensor.empty() : tensor<2x3x50x60xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, h, m, n) -> (b, h, m, n)>, affine_map<(b, h, m, n) -> (b, h, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x3x50x60xf32>) outs(%xe : tensor<2x3x50x60xf32>) {
  ^bb0(%y: f32, %old: f32):
    %a = linalg.index 2 : index
    %b = linalg.index 3 : index
    %c10 = arith.constant 10 : index
    %end = arith.addi %a, %c10 : index
    %z = arith.mulf %y, %factor : f32
    %seen = arith.cmpi sle, %b, %end : index
    %w = arith.select %seen, %z, %low : f32
    linalg.yield %w : f32
  } -> tensor<2x3x50x60xf32>
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x3x50x60xf32>) outs(%xe : tensor<2x3x50x60xf32>) -> tensor<2x3x50x60xf32>
  %w = arith.truncf %p : tensor<2x3x50x60xf32> to tensor<2x3x50x60xf16>
  %ws = tensor.collapse_shape %w [[0, 1], [2], [3]] : tensor<2x3x50x60xf16> into tensor<6x50x60xf16>
  %f = tensor.empty() : tensor<6x50x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<6x50x32xf32>) -> tensor<6x50x32xf32>
  %pv = linalg.batch_matmul ins(%ws, %vs : tensor<6x50x60xf16>, tensor<6x60x32xf16>) outs(%j : tensor<6x50x32xf32>) -> tensor<6x50x32xf32>
  %o = tensor.expand_shape %pv [[0, 1], [2], [3]] output_shape [2, 3, 50, 32] : tensor<6x50x32xf32> into tensor<2x3x50x32xf32>
  %r = arith.truncf %o : tensor<2x3x50x32xf32> to tensor<2x3x50x32xf16>
  return %r : tensor<2x3x50x32xf16>
}

// All types in the program are f16, but it is computed in f32. Masked elements are the lowest
// number of f16.
// KERNELS-LABEL: func.func @narrow(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @narrow(%q: tensor<2x50x32xf16>, %k: tensor<2x60x32xf16>, %v: tensor<2x60x32xf16>) -> tensor<2x50x32xf16> {
  %zero = arith.constant 0.0 : f16
  %low = arith.constant -65504.0 : f16
  %factor = arith.constant 0.125 : f16
  %e = tensor.empty() : tensor<2x50x60xf16>
  %i = linalg.fill ins(%zero : f16) outs(%e : tensor<2x50x60xf16>) -> tensor<2x50x60xf16>
  %qk = linalg.contract indexing_maps = [affine_map<(h, m, n, x) -> (h, m, x)>, affine_map<(h, m, n, x) -> (h, n, x)>, affine_map<(h, m, n, x) -> (h, m, n)>]
      ins(%q, %k : tensor<2x50x32xf16>, tensor<2x60x32xf16>) outs(%i : tensor<2x50x60xf16>) -> tensor<2x50x60xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(h, m, n) -> (h, m, n)>, affine_map<(h, m, n) -> (h, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%qk : tensor<2x50x60xf16>) outs(%e : tensor<2x50x60xf16>) {
  ^bb0(%x: f16, %old: f16):
    %a = linalg.index 1 : index
    %b = linalg.index 2 : index
    %z = arith.mulf %x, %factor : f16
    %hidden = arith.cmpi slt, %a, %b : index
    %y = arith.select %hidden, %low, %z : f16
    linalg.yield %y : f16
  } -> tensor<2x50x60xf16>
  %wide = arith.extf %s : tensor<2x50x60xf16> to tensor<2x50x60xf32>
  %we = tensor.empty() : tensor<2x50x60xf32>
  %p = linalg.softmax dimension(2) ins(%wide : tensor<2x50x60xf32>) outs(%we : tensor<2x50x60xf32>) -> tensor<2x50x60xf32>
  %w = arith.truncf %p : tensor<2x50x60xf32> to tensor<2x50x60xf16>
  %f = tensor.empty() : tensor<2x50x32xf16>
  %j = linalg.fill ins(%zero : f16) outs(%f : tensor<2x50x32xf16>) -> tensor<2x50x32xf16>
  %pv = linalg.batch_matmul ins(%w, %v : tensor<2x50x60xf16>, tensor<2x60x32xf16>) outs(%j : tensor<2x50x32xf16>) -> tensor<2x50x32xf16>
  return %pv : tensor<2x50x32xf16>
}

// Queries and keys whose numbers are known when it is run, if there are any.
// KERNELS-LABEL: func.func @dynamic(
// KERNELS:       gpu.launch_func
// KERNELS-NOT:   gpu.launch_func
func.func @dynamic(%q: tensor<?x32xf16>, %k: tensor<?x32xf16>, %v: tensor<?x32xf16>) -> tensor<?x32xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %q, %c0 : tensor<?x32xf16>
  %n = tensor.dim %k, %c0 : tensor<?x32xf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %qk = linalg.contract indexing_maps = [affine_map<(m, n, x) -> (m, x)>, affine_map<(m, n, x) -> (n, x)>, affine_map<(m, n, x) -> (m, n)>]
      ins(%q, %k : tensor<?x32xf16>, tensor<?x32xf16>) outs(%i : tensor<?x?xf32>) -> tensor<?x?xf32>
  %p = linalg.softmax dimension(1) ins(%qk : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %w = arith.truncf %p : tensor<?x?xf32> to tensor<?x?xf16>
  %f = tensor.empty(%m) : tensor<?x32xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<?x32xf32>) -> tensor<?x32xf32>
  %pv = linalg.matmul ins(%w, %v : tensor<?x?xf16>, tensor<?x32xf16>) outs(%j : tensor<?x32xf32>) -> tensor<?x32xf32>
  return %pv : tensor<?x32xf32>
}
