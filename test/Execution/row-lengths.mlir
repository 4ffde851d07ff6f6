// Rows of many lengths: in registers of lanes, of a subgroup and of several, with a
// last vector that only some threads have, and longer ones, whose elements are
// computed anew.
//
// REQUIRES: long_tests
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=short --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=unaligned --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=vectors --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=subgroups --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=odd --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=short --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=unaligned --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=vectors --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=subgroups --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=odd --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --verify --entry=short --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --verify --entry=unaligned --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --verify --entry=vectors --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --verify --entry=subgroups --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --verify --entry=odd --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=aligned --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=aligned_scaled --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify=sample --entry=aligned_again --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=aligned --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=aligned_scaled --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify=sample --entry=long --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify=sample --entry=long --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify=sample --entry=overwritten --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=kept --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=in_place --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=means --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --verify --entry=of_rows --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=kept --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=in_place --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=means --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --entry=of_rows --arg=random --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=means --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=of_rows --arg=random --arg=random | FileCheck %s
// CHECK: {{^}}verified

// The kernel of the sums includes the ops that compute one element for each row.
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=tessera | FileCheck %s --check-prefix=KERNELS
// KERNELS-LABEL: func.func @means(
// KERNELS-COUNT-1: gpu.launch_func
// KERNELS-NOT: gpu.launch_func
// KERNELS-LABEL: func.func @of_rows(
// KERNELS-COUNT-1: gpu.launch_func
// KERNELS-NOT: gpu.launch_func

func.func @short(%x: tensor<53x8xf16>) -> tensor<53x8xf16> {
  %wide = arith.extf %x : tensor<53x8xf16> to tensor<53x8xf32>
  %e = tensor.empty() : tensor<53x8xf32>
  %y = linalg.softmax dimension(1) ins(%wide : tensor<53x8xf32>) outs(%e : tensor<53x8xf32>) -> tensor<53x8xf32>
  %r = arith.truncf %y : tensor<53x8xf32> to tensor<53x8xf16>
  return %r : tensor<53x8xf16>
}

func.func @unaligned(%x: tensor<53x197xf16>) -> tensor<53x197xf16> {
  %wide = arith.extf %x : tensor<53x197xf16> to tensor<53x197xf32>
  %e = tensor.empty() : tensor<53x197xf32>
  %y = linalg.softmax dimension(1) ins(%wide : tensor<53x197xf32>) outs(%e : tensor<53x197xf32>) -> tensor<53x197xf32>
  %r = arith.truncf %y : tensor<53x197xf32> to tensor<53x197xf16>
  return %r : tensor<53x197xf16>
}

// Vectors are aligned in each row: all numbers of elements are before the first
// and after the last one.
func.func @aligned(%x: tensor<19x2051xf16>) -> tensor<19x2051xf16> {
  %wide = arith.extf %x : tensor<19x2051xf16> to tensor<19x2051xf32>
  %e = tensor.empty() : tensor<19x2051xf32>
  %y = linalg.softmax dimension(1) ins(%wide : tensor<19x2051xf32>) outs(%e : tensor<19x2051xf32>) -> tensor<19x2051xf32>
  %r = arith.truncf %y : tensor<19x2051xf32> to tensor<19x2051xf16>
  return %r : tensor<19x2051xf16>
}

func.func @aligned_scaled(%x: tensor<7x1538xf32>, %scale: tensor<1538xf32>) -> tensor<7x1538xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x1538xf32>
  %f = tensor.empty() : tensor<7xf32>
  %init = linalg.fill ins(%zero : f32) outs(%f : tensor<7xf32>) -> tensor<7xf32>
  %sum = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
                         iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<7x1538xf32>) outs(%init : tensor<7xf32>) {
  ^bb0(%a: f32, %s: f32):
    %t = arith.addf %s, %a : f32
    linalg.yield %t : f32
  } -> tensor<7xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                                        affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %sum, %scale : tensor<7x1538xf32>, tensor<7xf32>, tensor<1538xf32>) outs(%e : tensor<7x1538xf32>) {
  ^bb0(%a: f32, %s: f32, %c: f32, %o: f32):
    %d = arith.subf %a, %s : f32
    %m = arith.mulf %d, %c : f32
    linalg.yield %m : f32
  } -> tensor<7x1538xf32>
  return %y : tensor<7x1538xf32>
}

func.func @aligned_again(%x: tensor<97x33001xbf16>) -> tensor<97x33001xbf16> {
  %wide = arith.extf %x : tensor<97x33001xbf16> to tensor<97x33001xf32>
  %e = tensor.empty() : tensor<97x33001xf32>
  %y = linalg.softmax dimension(1) ins(%wide : tensor<97x33001xf32>) outs(%e : tensor<97x33001xf32>) -> tensor<97x33001xf32>
  %r = arith.truncf %y : tensor<97x33001xf32> to tensor<97x33001xbf16>
  return %r : tensor<97x33001xbf16>
}

func.func @vectors(%x: tensor<9x1000xf16>) -> tensor<9x1000xf16> {
  %wide = arith.extf %x : tensor<9x1000xf16> to tensor<9x1000xf32>
  %e = tensor.empty() : tensor<9x1000xf32>
  %y = linalg.softmax dimension(1) ins(%wide : tensor<9x1000xf32>) outs(%e : tensor<9x1000xf32>) -> tensor<9x1000xf32>
  %r = arith.truncf %y : tensor<9x1000xf32> to tensor<9x1000xf16>
  return %r : tensor<9x1000xf16>
}

func.func @subgroups(%x: tensor<5x4208xbf16>) -> tensor<5x4208xbf16> {
  %wide = arith.extf %x : tensor<5x4208xbf16> to tensor<5x4208xf32>
  %e = tensor.empty() : tensor<5x4208xf32>
  %y = linalg.softmax dimension(1) ins(%wide : tensor<5x4208xf32>) outs(%e : tensor<5x4208xf32>) -> tensor<5x4208xf32>
  %r = arith.truncf %y : tensor<5x4208xf32> to tensor<5x4208xbf16>
  return %r : tensor<5x4208xbf16>
}

func.func @odd(%x: tensor<5x4207xbf16>) -> tensor<5x4207xbf16> {
  %wide = arith.extf %x : tensor<5x4207xbf16> to tensor<5x4207xf32>
  %e = tensor.empty() : tensor<5x4207xf32>
  %y = linalg.softmax dimension(1) ins(%wide : tensor<5x4207xf32>) outs(%e : tensor<5x4207xf32>) -> tensor<5x4207xf32>
  %r = arith.truncf %y : tensor<5x4207xf32> to tensor<5x4207xbf16>
  return %r : tensor<5x4207xbf16>
}

// 1024 threads do not keep a row.
func.func @long(%x: tensor<96x34001xbf16>) -> tensor<96x34001xbf16> {
  %wide = arith.extf %x : tensor<96x34001xbf16> to tensor<96x34001xf32>
  %e = tensor.empty() : tensor<96x34001xf32>
  %y = linalg.softmax dimension(1) ins(%wide : tensor<96x34001xf32>) outs(%e : tensor<96x34001xf32>) -> tensor<96x34001xf32>
  %r = arith.truncf %y : tensor<96x34001xf32> to tensor<96x34001xbf16>
  return %r : tensor<96x34001xbf16>
}

#id = affine_map<(i, j) -> (i, j)>
#rows = affine_map<(i, j) -> (i)>

// The elements between the ops are a result, too.
func.func @kept(%x: tensor<6x1003xf16>) -> (tensor<6x1003xf32>, tensor<6x1003xf16>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x1003xf32>
  %e16 = tensor.empty() : tensor<6x1003xf16>
  %e1 = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6xf32>) -> tensor<6xf32>
  %exp = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<6x1003xf16>) outs(%e : tensor<6x1003xf32>) {
  ^bb0(%a: f16, %out: f32):
    %w = arith.extf %a : f16 to f32
    %p = math.exp %w : f32
    linalg.yield %p : f32
  } -> tensor<6x1003xf32>
  %sum = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%exp : tensor<6x1003xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %out, %a : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%exp, %sum : tensor<6x1003xf32>, tensor<6xf32>) outs(%e16 : tensor<6x1003xf16>) {
  ^bb0(%a: f32, %s: f32, %out: f16):
    %d = arith.divf %a, %s : f32
    %n = arith.truncf %d : f32 to f16
    linalg.yield %n : f16
  } -> tensor<6x1003xf16>
  return %exp, %r, %sum : tensor<6x1003xf32>, tensor<6x1003xf16>, tensor<6xf32>
}

// The elements of another kernel are overwritten by the result.
func.func @in_place(%a: tensor<5x8xf32>, %b: tensor<8x301xf32>) -> tensor<5x301xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x301xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x301xf32>) -> tensor<5x301xf32>
  %c = linalg.matmul ins(%a, %b : tensor<5x8xf32>, tensor<8x301xf32>) outs(%f : tensor<5x301xf32>) -> tensor<5x301xf32>
  %r = linalg.softmax dimension(1) ins(%c : tensor<5x301xf32>) outs(%c : tensor<5x301xf32>) -> tensor<5x301xf32>
  return %r : tensor<5x301xf32>
}

// The first op overwrites the elements that it reads, so that it cannot be
// computed again for the second.
func.func @overwritten(%a: tensor<96x4xf32>, %b: tensor<4x34001xf32>) -> (tensor<96x34001xf32>, tensor<96xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x34001xf32>
  %e1 = tensor.empty() : tensor<96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x34001xf32>) -> tensor<96x34001xf32>
  %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<96xf32>) -> tensor<96xf32>
  %c = linalg.matmul ins(%a, %b : tensor<96x4xf32>, tensor<4x34001xf32>) outs(%f : tensor<96x34001xf32>) -> tensor<96x34001xf32>
  %low = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%c : tensor<96x34001xf32>) outs(%f1 : tensor<96xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.minimumf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  %d = linalg.generic {indexing_maps = [#rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%low : tensor<96xf32>) outs(%c : tensor<96x34001xf32>) {
  ^bb0(%m: f32, %x: f32):
    %t = arith.subf %x, %m : f32
    linalg.yield %t : f32
  } -> tensor<96x34001xf32>
  %sum = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%d : tensor<96x34001xf32>) outs(%f1 : tensor<96xf32>) {
  ^bb0(%x: f32, %out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<96xf32>
  return %d, %sum : tensor<96x34001xf32>, tensor<96xf32>
}

func.func @means(%x: tensor<70x256xf16>) -> tensor<70xf16> {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 256.0 : f32
  %e = tensor.empty() : tensor<70xf32>
  %e16 = tensor.empty() : tensor<70xf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<70xf32>) -> tensor<70xf32>
  %wide = arith.extf %x : tensor<70x256xf16> to tensor<70x256xf32>
  %sum = linalg.reduce {arith.addf} ins(%wide : tensor<70x256xf32>) outs(%f : tensor<70xf32>) dimensions = [1]
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%sum : tensor<70xf32>) outs(%e16 : tensor<70xf16>) {
  ^bb0(%s: f32, %out: f16):
    %d = arith.divf %s, %count : f32
    %n = arith.truncf %d : f32 to f16
    linalg.yield %n : f16
  } -> tensor<70xf16>
  return %r : tensor<70xf16>
}

// The scale of a row is a result; rows have factors of their own, too.
func.func @of_rows(%x: tensor<6x1003xf32>, %factors: tensor<6xf32>) -> (tensor<6x1003xf32>, tensor<6xf32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<6x1003xf32>
  %e1 = tensor.empty() : tensor<6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<6xf32>) -> tensor<6xf32>
  %sum = linalg.generic {indexing_maps = [#id, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<6x1003xf32>) outs(%f : tensor<6xf32>) {
  ^bb0(%a: f32, %out: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %out, %q : f32
    linalg.yield %s : f32
  } -> tensor<6xf32>
  %scale = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%sum, %factors : tensor<6xf32>, tensor<6xf32>) outs(%e1 : tensor<6xf32>) {
  ^bb0(%s: f32, %a: f32, %out: f32):
    %p = arith.addf %s, %one : f32
    %r = math.rsqrt %p : f32
    %t = arith.mulf %r, %a : f32
    linalg.yield %t : f32
  } -> tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id, #rows, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %scale : tensor<6x1003xf32>, tensor<6xf32>) outs(%e : tensor<6x1003xf32>) {
  ^bb0(%a: f32, %s: f32, %out: f32):
    %d = arith.mulf %a, %s : f32
    linalg.yield %d : f32
  } -> tensor<6x1003xf32>
  return %r, %scale : tensor<6x1003xf32>, tensor<6xf32>
}
