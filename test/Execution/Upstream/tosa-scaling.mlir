// Integer multiplications with a shift.

// RUN: gpu-runner %s --target=cpu --entry=rescale --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=rescale --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=rescale --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=rescale --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=apply_scale --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=apply_scale --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=apply_scale --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=apply_scale --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=mul --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --entry=mul --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --entry=mul --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=pvc --entry=mul --verify | FileCheck %s

// CHECK: {{^}}verified

func.func @rescale(%a: tensor<16x3xi32>) -> tensor<16x3xi8> {
  %m = "tosa.const"() {values = dense<[1073741824, 1093741824, 1373741824]> : tensor<3xi32>} : () -> tensor<3xi32>
  %s = "tosa.const"() {values = dense<[34,35,36]> : tensor<3xi8>} : () -> tensor<3xi8>
  %iz = "tosa.const"() {values = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %oz = "tosa.const"() {values = dense<-3> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.rescale %a, %m, %s, %iz, %oz {scale32 = true, rounding_mode = DOUBLE_ROUND, per_channel = true, input_unsigned = false, output_unsigned = false} : (tensor<16x3xi32>, tensor<3xi32>, tensor<3xi8>, tensor<1xi32>, tensor<1xi8>) -> tensor<16x3xi8>
  return %r : tensor<16x3xi8>
}

func.func @apply_scale(%a: tensor<16xi32>) -> tensor<16xi32> {
  %m = arith.constant dense<1073741824> : tensor<16xi32>
  %s = arith.constant dense<32> : tensor<16xi8>
  %e = tensor.empty() : tensor<16xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0)->(d0)>,affine_map<(d0)->(d0)>,affine_map<(d0)->(d0)>,affine_map<(d0)->(d0)>], iterator_types = ["parallel"]} ins(%a, %m, %s : tensor<16xi32>, tensor<16xi32>, tensor<16xi8>) outs(%e : tensor<16xi32>) {
  ^bb0(%x: i32, %y: i32, %z: i8, %o: i32):
    %v = tosa.apply_scale %x, %y, %z {rounding_mode = SINGLE_ROUND} : (i32, i32, i8) -> i32
    linalg.yield %v : i32
  } -> tensor<16xi32>
  return %r : tensor<16xi32>
}

func.func @mul(%a: tensor<16xi32>, %b: tensor<16xi32>) -> tensor<16xi32> {
  %s = "tosa.const"() {values = dense<5> : tensor<1xi8>} : () -> tensor<1xi8>
  %r = tosa.mul %a, %b, %s : (tensor<16xi32>, tensor<16xi32>, tensor<1xi8>) -> tensor<16xi32>
  return %r : tensor<16xi32>
}
