// Variables of the ml_program dialect, and descriptions of target systems, which have no effect.

// RUN: gpu-runner %s --target=cpu --arg=iota | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --arg=iota | FileCheck %s

// CHECK:      out 0 = result 0: 4xf32
// CHECK-NEXT: {{^}} 10 21 32 43

module attributes {
  dlti.target_system_spec = #dlti.target_system_spec<
    "CPU" = #dlti.target_device_spec<"tile_size" = 4 : i32>>
} {
  ml_program.global private mutable @global_seed(dense<0> : tensor<i64>) : tensor<i64>
  ml_program.global private @offset(dense<[10.0, 20.0, 30.0, 40.0]> : tensor<4xf32>) : tensor<4xf32>

  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = ml_program.global_load @offset : tensor<4xf32>
    %z = arith.addf %x, %y : tensor<4xf32>
    return %z : tensor<4xf32>
  }
}
