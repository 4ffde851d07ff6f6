// Packing and unpacking with dynamic sizes and tiles.

// RUN: gpu-runner %s --target=cpu --entry=pack --arg=int:7x10 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=pack --arg=int:7x10 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=pack --arg=int:7x10 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=pack --arg=int:7x10 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=unpack --arg=int:3x3x3x4 --arg=int:7x10 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=unpack --arg=int:3x3x3x4 --arg=int:7x10 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=unpack --arg=int:3x3x3x4 --arg=int:7x10 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=unpack --arg=int:3x3x3x4 --arg=int:7x10 --verify | FileCheck %s

// CHECK: {{^}}verified

func.func @pack(%a: tensor<?x?xf32>) -> tensor<?x?x?x4xf32> {
  %c = arith.constant 3.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %t = arith.constant 3 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf32>
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %tt = arith.addi %m, %t : index
  %t3 = arith.subi %tt, %m : index
  %mo = arith.ceildivsi %m, %t3 : index
  %no = arith.ceildivsi %n, %c4 : index
  %d = tensor.empty(%mo, %no, %t3) : tensor<?x?x?x4xf32>
  %r = linalg.pack %a padding_value(%c : f32) inner_dims_pos = [0, 1] inner_tiles = [%t3, 4] into %d : tensor<?x?xf32> -> tensor<?x?x?x4xf32>
  return %r : tensor<?x?x?x4xf32>
}

// The result is a part of what the tiles hold, and is returned as dense memory.
func.func @unpack(%a: tensor<?x?x?x4xf32>, %d: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c2 = arith.constant 2 : index
  %t = tensor.dim %a, %c2 : tensor<?x?x?x4xf32>
  %r = linalg.unpack %a inner_dims_pos = [0, 1] inner_tiles = [%t, 4] into %d : tensor<?x?x?x4xf32> -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
