// gpu-reduce keeps the part that a test marks as interesting, here any addition, and drops the rest.
// RUN: gpu-reduce %s --reduction-tree='traversal-mode=0 test=%S/Inputs/has-addf.sh' | FileCheck %s
// CHECK: @kept
// CHECK: arith.addf
// CHECK-NOT: @dropped

func.func @dropped(%a: f32) -> f32 {
  %0 = arith.mulf %a, %a : f32
  return %0 : f32
}

func.func @kept(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  return %0 : f32
}
