// Arithmetic of 8-bit floats is computed in f32 and rounded.

// RUN: gpu-runner %s --target=cpu --arg=random --verify -e fn | FileCheck %s
// RUN: gpu-runner %s --target=cpu --arg=random --verify -e e5m2 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --arg=random --verify -e fnuz | FileCheck %s
// RUN: gpu-runner %s --target=cpu --arg=random --verify -e e5m2fnuz | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --arg=random --verify -e fn | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --arg=random --verify -e fnuz | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --arg=random --verify -e e5m2 | FileCheck %s
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx -e fn -o %t.ptx
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper --emit=spirv -e e5m2 -o %t.spv
// CHECK: {{^}}verified

func.func @fn(%a: tensor<8x20xf8E4M3FN>, %b: tensor<8x20xf8E4M3FN>) -> (tensor<8x20xf8E4M3FN>, tensor<8x20xf8E4M3FN>) {
  %empty = tensor.empty() : tensor<8x20xf8E4M3FN>
  %one = arith.constant 1.0 : f8E4M3FN
  %sums = linalg.add ins(%a, %b : tensor<8x20xf8E4M3FN>, tensor<8x20xf8E4M3FN>) outs(%empty : tensor<8x20xf8E4M3FN>) -> tensor<8x20xf8E4M3FN>
  %others = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x20xf8E4M3FN>, tensor<8x20xf8E4M3FN>) outs(%empty : tensor<8x20xf8E4M3FN>) {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN, %old: f8E4M3FN):
    %0 = arith.subf %x, %y : f8E4M3FN
    %1 = arith.mulf %0, %x : f8E4M3FN
    %2 = math.absf %y : f8E4M3FN
    %3 = arith.addf %2, %one : f8E4M3FN
    %4 = arith.divf %1, %3 : f8E4M3FN
    %5 = arith.negf %y : f8E4M3FN
    %6 = arith.maximumf %4, %5 : f8E4M3FN
    %7 = arith.minnumf %6, %x : f8E4M3FN
    %8 = arith.cmpf olt, %7, %y : f8E4M3FN
    %9 = math.sqrt %2 : f8E4M3FN
    %10 = arith.select %8, %7, %9 : f8E4M3FN
    linalg.yield %10 : f8E4M3FN
  } -> tensor<8x20xf8E4M3FN>
  return %sums, %others : tensor<8x20xf8E4M3FN>, tensor<8x20xf8E4M3FN>
}

func.func @e5m2(%a: tensor<8x20xf8E5M2>, %b: tensor<8x20xf8E5M2>) -> (tensor<8x20xf8E5M2>, tensor<8x20xf8E5M2>) {
  %empty = tensor.empty() : tensor<8x20xf8E5M2>
  %one = arith.constant 1.0 : f8E5M2
  %sums = linalg.add ins(%a, %b : tensor<8x20xf8E5M2>, tensor<8x20xf8E5M2>) outs(%empty : tensor<8x20xf8E5M2>) -> tensor<8x20xf8E5M2>
  %others = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x20xf8E5M2>, tensor<8x20xf8E5M2>) outs(%empty : tensor<8x20xf8E5M2>) {
  ^bb0(%x: f8E5M2, %y: f8E5M2, %old: f8E5M2):
    %0 = arith.subf %x, %y : f8E5M2
    %1 = arith.mulf %0, %x : f8E5M2
    %2 = math.absf %y : f8E5M2
    %3 = arith.addf %2, %one : f8E5M2
    %4 = arith.divf %1, %3 : f8E5M2
    %5 = arith.negf %y : f8E5M2
    %6 = arith.maximumf %4, %5 : f8E5M2
    %7 = arith.minnumf %6, %x : f8E5M2
    %8 = arith.cmpf olt, %7, %y : f8E5M2
    %9 = math.sqrt %2 : f8E5M2
    %10 = arith.select %8, %7, %9 : f8E5M2
    linalg.yield %10 : f8E5M2
  } -> tensor<8x20xf8E5M2>
  return %sums, %others : tensor<8x20xf8E5M2>, tensor<8x20xf8E5M2>
}

func.func @fnuz(%a: tensor<8x20xf8E4M3FNUZ>, %b: tensor<8x20xf8E4M3FNUZ>) -> (tensor<8x20xf8E4M3FNUZ>, tensor<8x20xf8E4M3FNUZ>) {
  %empty = tensor.empty() : tensor<8x20xf8E4M3FNUZ>
  %one = arith.constant 1.0 : f8E4M3FNUZ
  %sums = linalg.add ins(%a, %b : tensor<8x20xf8E4M3FNUZ>, tensor<8x20xf8E4M3FNUZ>) outs(%empty : tensor<8x20xf8E4M3FNUZ>) -> tensor<8x20xf8E4M3FNUZ>
  %others = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x20xf8E4M3FNUZ>, tensor<8x20xf8E4M3FNUZ>) outs(%empty : tensor<8x20xf8E4M3FNUZ>) {
  ^bb0(%x: f8E4M3FNUZ, %y: f8E4M3FNUZ, %old: f8E4M3FNUZ):
    %0 = arith.subf %x, %y : f8E4M3FNUZ
    %1 = arith.mulf %0, %x : f8E4M3FNUZ
    %2 = math.absf %y : f8E4M3FNUZ
    %3 = arith.addf %2, %one : f8E4M3FNUZ
    %4 = arith.divf %1, %3 : f8E4M3FNUZ
    %5 = arith.negf %y : f8E4M3FNUZ
    %6 = arith.maximumf %4, %5 : f8E4M3FNUZ
    %7 = arith.minnumf %6, %x : f8E4M3FNUZ
    %8 = arith.cmpf olt, %7, %y : f8E4M3FNUZ
    %9 = math.sqrt %2 : f8E4M3FNUZ
    %10 = arith.select %8, %7, %9 : f8E4M3FNUZ
    linalg.yield %10 : f8E4M3FNUZ
  } -> tensor<8x20xf8E4M3FNUZ>
  return %sums, %others : tensor<8x20xf8E4M3FNUZ>, tensor<8x20xf8E4M3FNUZ>
}

func.func @e5m2fnuz(%a: tensor<8x20xf8E5M2FNUZ>, %b: tensor<8x20xf8E5M2FNUZ>) -> (tensor<8x20xf8E5M2FNUZ>, tensor<8x20xf8E5M2FNUZ>) {
  %empty = tensor.empty() : tensor<8x20xf8E5M2FNUZ>
  %one = arith.constant 1.0 : f8E5M2FNUZ
  %sums = linalg.add ins(%a, %b : tensor<8x20xf8E5M2FNUZ>, tensor<8x20xf8E5M2FNUZ>) outs(%empty : tensor<8x20xf8E5M2FNUZ>) -> tensor<8x20xf8E5M2FNUZ>
  %others = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%a, %b : tensor<8x20xf8E5M2FNUZ>, tensor<8x20xf8E5M2FNUZ>) outs(%empty : tensor<8x20xf8E5M2FNUZ>) {
  ^bb0(%x: f8E5M2FNUZ, %y: f8E5M2FNUZ, %old: f8E5M2FNUZ):
    %0 = arith.subf %x, %y : f8E5M2FNUZ
    %1 = arith.mulf %0, %x : f8E5M2FNUZ
    %2 = math.absf %y : f8E5M2FNUZ
    %3 = arith.addf %2, %one : f8E5M2FNUZ
    %4 = arith.divf %1, %3 : f8E5M2FNUZ
    %5 = arith.negf %y : f8E5M2FNUZ
    %6 = arith.maximumf %4, %5 : f8E5M2FNUZ
    %7 = arith.minnumf %6, %x : f8E5M2FNUZ
    %8 = arith.cmpf olt, %7, %y : f8E5M2FNUZ
    %9 = math.sqrt %2 : f8E5M2FNUZ
    %10 = arith.select %8, %7, %9 : f8E5M2FNUZ
    linalg.yield %10 : f8E5M2FNUZ
  } -> tensor<8x20xf8E5M2FNUZ>
  return %sums, %others : tensor<8x20xf8E5M2FNUZ>, tensor<8x20xf8E5M2FNUZ>
}
