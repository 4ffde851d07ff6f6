// Branches and loops of TOSA.

// RUN: gpu-runner %s --target=cpu --entry=cond_if --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=cond_if --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=cond_if --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=cond_if --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=cond_if_arguments --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=cond_if_arguments --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=cond_if_arguments --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=cond_if_arguments --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=while_loop --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=while_loop --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=while_loop --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=while_loop --verify | FileCheck %s

// CHECK: {{^}}verified

func.func @cond_if(%c: tensor<i1>, %a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %r = tosa.cond_if %c : tensor<i1> -> tensor<16xf32> {
    %s = tosa.add %a, %b : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    tosa.yield %s : tensor<16xf32>
  } else {
    %s = tosa.sub %a, %b : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    tosa.yield %s : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}

func.func @cond_if_arguments(%c: tensor<i1>, %a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> {
  %r = tosa.cond_if %c (%x = %a, %y = %b) : tensor<i1> (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32> {
    ^bb0(%x: tensor<16xf32>, %y: tensor<16xf32>):
    %s = tosa.add %x, %y : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    tosa.yield %s : tensor<16xf32>
  } else {
    ^bb0(%x: tensor<16xf32>, %y: tensor<16xf32>):
    %s = tosa.sub %x, %y : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    tosa.yield %s : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}

func.func @while_loop(%a: tensor<16xf32>) -> (tensor<i32>, tensor<16xf32>) {
  %i = "tosa.const"() {values = dense<0> : tensor<i32>} : () -> tensor<i32>
  %r:2 = tosa.while_loop (%k = %i, %x = %a) : (tensor<i32>, tensor<16xf32>) -> (tensor<i32>, tensor<16xf32>) {
    %n = "tosa.const"() {values = dense<3> : tensor<i32>} : () -> tensor<i32>
    %c = tosa.greater %n, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %c : tensor<i1>
  } do {
  ^bb0(%k: tensor<i32>, %x: tensor<16xf32>):
    %one = "tosa.const"() {values = dense<1> : tensor<i32>} : () -> tensor<i32>
    %k1 = tosa.add %k, %one : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %x1 = tosa.add %x, %x : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
    tosa.yield %k1, %x1 : tensor<i32>, tensor<16xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<16xf32>
}
