// Reductions of rows and the element-wise ops around them: one kernel, which is
// one step of the verification.
//
// RUN: gpu-runner %s --target=cpu --verify --entry=softmax --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify --entry=softmax --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=softmax --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --verify --entry=softmax --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=softmax_f16 --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify --entry=softmax_f16 --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=normalize --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify --entry=normalize --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --entry=normalize --arg=random --arg=random | FileCheck %s
// CHECK: {{^}}verified

// Without checkpoints the result is the same, bit by bit.
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --repeat=3 --entry=normalize --arg=random --arg=random

// RUN: gpu-runner %s --target=cpu --verify --entry=steps --arg=random --arg=random | FileCheck %s --check-prefix=STEPS
// RUN: gpu-runner %s --target=cpu --verify=sample --entry=steps --arg=random --arg=random | FileCheck %s --check-prefix=STEPS
// STEPS: kernels: 2 of 2 verified

// A sum that begins with what is in memory.
// RUN: gpu-runner %s --target=cpu --verify --entry=continue --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify --entry=continue --arg=random --arg=random | FileCheck %s

// The second half of the kernels of @between is another one: the maximum of all
// rows depends on every row.
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify --entry=between --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_80 --emit=tessera | FileCheck %s --check-prefix=KERNELS
// KERNELS-LABEL: func.func @softmax(
// KERNELS-COUNT-1: gpu.launch_func
// KERNELS-NOT: gpu.launch_func
// KERNELS-LABEL: func.func @softmax_f16(
// KERNELS-COUNT-1: gpu.launch_func
// KERNELS-NOT: gpu.launch_func
// KERNELS-LABEL: func.func @normalize(
// KERNELS-COUNT-1: gpu.launch_func
// KERNELS-NOT: gpu.launch_func
// KERNELS-LABEL: func.func @between(
// KERNELS-COUNT-3: gpu.launch_func
// KERNELS-NOT: gpu.launch_func
// KERNELS-LABEL: func.func @continue(
// KERNELS-COUNT-2: gpu.launch_func
// KERNELS-NOT: gpu.launch_func
// KERNELS-LABEL: func.func @steps(
// KERNELS-COUNT-2: gpu.launch_func
// KERNELS-NOT: gpu.launch_func

#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>
#columns = affine_map<(i, j) -> (j)>

func.func @softmax(%x: tensor<7x1000xf32>) -> tensor<7x1000xf32> {
  %e = tensor.empty() : tensor<7x1000xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<7x1000xf32>) outs(%e : tensor<7x1000xf32>) -> tensor<7x1000xf32>
  return %r : tensor<7x1000xf32>
}

// Rows of a length that no vector divides, over two dimensions.
func.func @softmax_f16(%x: tensor<2x30x37xf16>) -> tensor<2x30x37xf16> {
  %e = tensor.empty() : tensor<2x30x37xf16>
  %r = linalg.softmax dimension(2) ins(%x : tensor<2x30x37xf16>) outs(%e : tensor<2x30x37xf16>) -> tensor<2x30x37xf16>
  return %r : tensor<2x30x37xf16>
}

// A scale for each column is read from other memory.
func.func @normalize(%x: tensor<50x96xf32>, %scale: tensor<96xf32>) -> tensor<50x96xf32> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 96.0 : f32
  %epsilon = arith.constant 1.0e-5 : f32
  %e1 = tensor.empty() : tensor<50xf32>
  %e = tensor.empty() : tensor<50x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<50xf32>) -> tensor<50xf32>
  %sum = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<50x96xf32>) outs(%f : tensor<50xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  } -> tensor<50xf32>
  %centered = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<50x96xf32>, tensor<50xf32>) outs(%e : tensor<50x96xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %mean = arith.divf %s, %count : f32
    %d = arith.subf %a, %mean : f32
    linalg.yield %d : f32
  } -> tensor<50x96xf32>
  %squares = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%centered : tensor<50x96xf32>) outs(%f : tensor<50xf32>) {
  ^bb0(%a: f32, %out: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %out, %q : f32
    linalg.yield %s : f32
  } -> tensor<50xf32>
  %r = linalg.generic {indexing_maps = [#id, #rows, #columns, #id], iterator_types = ["parallel", "parallel"]}
      ins(%centered, %squares, %scale : tensor<50x96xf32>, tensor<50xf32>, tensor<96xf32>) outs(%e : tensor<50x96xf32>) {
  ^bb0(%a: f32, %s: f32, %factor: f32, %out: f32):
    %variance = arith.divf %s, %count : f32
    %v = arith.addf %variance, %epsilon : f32
    %q = math.rsqrt %v : f32
    %n = arith.mulf %a, %q : f32
    %m = arith.mulf %n, %factor : f32
    linalg.yield %m : f32
  } -> tensor<50x96xf32>
  return %r : tensor<50x96xf32>
}

func.func @between(%x: tensor<40x64xf32>) -> tensor<40x64xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e1 = tensor.empty() : tensor<40xf32>
  %e0 = tensor.empty() : tensor<f32>
  %e = tensor.empty() : tensor<40x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<40xf32>) -> tensor<40xf32>
  %f0 = linalg.fill ins(%low : f32) outs(%e0 : tensor<f32>) -> tensor<f32>
  %sum = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<40x64xf32>) outs(%f : tensor<40xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  } -> tensor<40xf32>
  %max = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%sum : tensor<40xf32>) outs(%f0 : tensor<f32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.maximumf %out, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#id, #rows, affine_map<(i, j) -> ()>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %max : tensor<40x64xf32>, tensor<40xf32>, tensor<f32>) outs(%e : tensor<40x64xf32>) {
  ^bb0(%a: f32, %s: f32, %m: f32, %out: f32):
    %d = arith.subf %s, %m : f32
    %t = arith.mulf %a, %d : f32
    linalg.yield %t : f32
  } -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
}

func.func @continue(%x: tensor<9x300xf32>, %first: tensor<9xf32>) -> tensor<9x300xf32> {
  %e = tensor.empty() : tensor<9x300xf32>
  %sum = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x300xf32>) outs(%first : tensor<9xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  } -> tensor<9xf32>
  %r = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum : tensor<9x300xf32>, tensor<9xf32>) outs(%e : tensor<9x300xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %t = arith.divf %a, %s : f32
    linalg.yield %t : f32
  } -> tensor<9x300xf32>
  return %r : tensor<9x300xf32>
}

// Two steps of the verification, the second of which has several views of one
// memory: softmax of another shape.
func.func @steps(%a: tensor<4x8xf32>, %b: tensor<8x100xf32>) -> tensor<4x100x1xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x100xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x100xf32>) -> tensor<4x100xf32>
  %c = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x100xf32>) outs(%f : tensor<4x100xf32>) -> tensor<4x100xf32>
  %c3 = tensor.expand_shape %c [[0], [1, 2]] output_shape [4, 100, 1] : tensor<4x100xf32> into tensor<4x100x1xf32>
  %e1 = tensor.empty() : tensor<4xf32>
  %e3 = tensor.empty() : tensor<4x100x1xf32>
  %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<4xf32>) -> tensor<4xf32>
  %max = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<4x100xf32>) outs(%f1 : tensor<4xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.maximumf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %max2 = tensor.expand_shape %max [[0, 1]] output_shape [4, 1] : tensor<4xf32> into tensor<4x1xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, j, k)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c3, %max2 : tensor<4x100x1xf32>, tensor<4x1xf32>) outs(%e3 : tensor<4x100x1xf32>) {
  ^bb0(%x: f32, %m: f32, %out: f32):
    %d = arith.subf %x, %m : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<4x100x1xf32>
  return %r : tensor<4x100x1xf32>
}
