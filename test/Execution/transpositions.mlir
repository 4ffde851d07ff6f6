// Element-wise ops on the CPU of which an operand is transposed: whole blocks,
// parts of blocks, several types, other operands, dimensions before them, and
// extents that are not known.
//
// RUN: gpu-runner %s --target=cpu --verify --entry=whole --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=parts --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu:generic --verify --entry=parts --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=bytes | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=booleans | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=doubles --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=channels --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=mixed --arg=random | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=unknown --arg=random:53x71 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=unknown --arg=random:5x200 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=indexed --arg=random | FileCheck %s
// CHECK: {{^}}verified

#ij = affine_map<(i, j) -> (i, j)>
#ji = affine_map<(i, j) -> (j, i)>

func.func @whole(%a: tensor<96x64xf32>) -> tensor<64x96xf32> {
  %e = tensor.empty() : tensor<64x96xf32>
  %t = linalg.transpose ins(%a : tensor<96x64xf32>) outs(%e : tensor<64x96xf32>) permutation = [1, 0]
  return %t : tensor<64x96xf32>
}

func.func @parts(%a: tensor<95x77xf16>) -> tensor<77x95xf16> {
  %e = tensor.empty() : tensor<77x95xf16>
  %t = linalg.transpose ins(%a : tensor<95x77xf16>) outs(%e : tensor<77x95xf16>) permutation = [1, 0]
  return %t : tensor<77x95xf16>
}

func.func @bytes(%a: tensor<90x130xi8>) -> tensor<130x90xi8> {
  %e = tensor.empty() : tensor<130x90xi8>
  %t = linalg.transpose ins(%a : tensor<90x130xi8>) outs(%e : tensor<130x90xi8>) permutation = [1, 0]
  return %t : tensor<130x90xi8>
}

func.func @booleans(%a: tensor<96x64xi1>) -> tensor<64x96xi1> {
  %e = tensor.empty() : tensor<64x96xi1>
  %t = linalg.transpose ins(%a : tensor<96x64xi1>) outs(%e : tensor<64x96xi1>) permutation = [1, 0]
  return %t : tensor<64x96xi1>
}

func.func @doubles(%a: tensor<41x23xf64>) -> tensor<23x41xf64> {
  %e = tensor.empty() : tensor<23x41xf64>
  %t = linalg.transpose ins(%a : tensor<41x23xf64>) outs(%e : tensor<23x41xf64>) permutation = [1, 0]
  return %t : tensor<23x41xf64>
}

// Channels become the last dimension.
func.func @channels(%a: tensor<2x24x9x7xf32>) -> tensor<2x9x7x24xf32> {
  %e = tensor.empty() : tensor<2x9x7x24xf32>
  %t = linalg.transpose ins(%a : tensor<2x24x9x7xf32>) outs(%e : tensor<2x9x7x24xf32>) permutation = [0, 2, 3, 1]
  return %t : tensor<2x9x7x24xf32>
}

// Operands of two types in either order, one that is the same for all rows, and
// a scalar.
func.func @mixed(%a: tensor<50x70xf16>, %b: tensor<70x50xf32>, %row: tensor<50xf32>, %x: f32) -> tensor<70x50xf32> {
  %e = tensor.empty() : tensor<70x50xf32>
  %t = linalg.generic {indexing_maps = [#ji, #ij, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> ()>, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %row, %x : tensor<50x70xf16>, tensor<70x50xf32>, tensor<50xf32>, f32) outs(%e : tensor<70x50xf32>) {
  ^bb0(%p: f16, %q: f32, %r: f32, %s: f32, %out: f32):
    %0 = arith.extf %p : f16 to f32
    %1 = arith.mulf %0, %q : f32
    %2 = arith.addf %1, %r : f32
    %3 = arith.subf %2, %s : f32
    linalg.yield %3 : f32
  } -> tensor<70x50xf32>
  return %t : tensor<70x50xf32>
}

func.func @unknown(%a: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?xf32>
  %t = linalg.transpose ins(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) permutation = [1, 0]
  return %t : tensor<?x?xf32>
}

// The body reads both indices.
func.func @indexed(%a: tensor<40x33xf32>) -> tensor<33x40xf32> {
  %e = tensor.empty() : tensor<33x40xf32>
  %t = linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<40x33xf32>) outs(%e : tensor<33x40xf32>) {
  ^bb0(%p: f32, %out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %above = arith.cmpi ult, %i, %j : index
    %half = arith.constant 0.5 : f32
    %scaled = arith.mulf %p, %half : f32
    %chosen = arith.select %above, %p, %scaled : f32
    linalg.yield %chosen : f32
  } -> tensor<33x40xf32>
  return %t : tensor<33x40xf32>
}
