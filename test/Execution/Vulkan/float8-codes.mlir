// Every code of every 8-bit float, extended to f32, f16 and bf16: no step may depend on whether a device
// takes subnormal numbers for zero. Signs are compared as bits, since -0 equals 0.
//
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify | FileCheck %s
// RUN: %if can-run-vulkan-lavapipe %{ %software lavapipe gpu-runner %s --target=vulkan --verify | FileCheck %s %}
// On another device: gpu-runner test/Execution/Vulkan/float8-codes.mlir --target=vulkan --verify
// CHECK-COUNT-12: verified (max abs err 0, max rel err 0, checked 256, exact{{[,)]}}
// CHECK: {{^}}verified

#map = affine_map<(i) -> (i)>
func.func @main() -> (tensor<256xi32>, tensor<256xi16>, tensor<256xi16>, tensor<256xi32>, tensor<256xi16>, tensor<256xi16>, tensor<256xi32>, tensor<256xi16>, tensor<256xi16>, tensor<256xi32>, tensor<256xi16>, tensor<256xi16>) {
  %e0 = tensor.empty() : tensor<256xi32>
  %r0 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e0 : tensor<256xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E4M3FN
    %y = arith.extf %x : f8E4M3FN to f32
    %bits = arith.bitcast %y : f32 to i32
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : f32
    %one = arith.constant -1 : i32
    %z = arith.select %nan, %one, %bits : i32
    linalg.yield %z : i32
  } -> tensor<256xi32>
  %e1 = tensor.empty() : tensor<256xi16>
  %r1 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e1 : tensor<256xi16>) {
  ^bb0(%out: i16):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E4M3FN
    %y = arith.extf %x : f8E4M3FN to f16
    %bits = arith.bitcast %y : f16 to i16
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : f16
    %one = arith.constant -1 : i16
    %z = arith.select %nan, %one, %bits : i16
    linalg.yield %z : i16
  } -> tensor<256xi16>
  %e2 = tensor.empty() : tensor<256xi16>
  %r2 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e2 : tensor<256xi16>) {
  ^bb0(%out: i16):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E4M3FN
    %y = arith.extf %x : f8E4M3FN to bf16
    %bits = arith.bitcast %y : bf16 to i16
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : bf16
    %one = arith.constant -1 : i16
    %z = arith.select %nan, %one, %bits : i16
    linalg.yield %z : i16
  } -> tensor<256xi16>
  %e3 = tensor.empty() : tensor<256xi32>
  %r3 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e3 : tensor<256xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E5M2
    %y = arith.extf %x : f8E5M2 to f32
    %bits = arith.bitcast %y : f32 to i32
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : f32
    %one = arith.constant -1 : i32
    %z = arith.select %nan, %one, %bits : i32
    linalg.yield %z : i32
  } -> tensor<256xi32>
  %e4 = tensor.empty() : tensor<256xi16>
  %r4 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e4 : tensor<256xi16>) {
  ^bb0(%out: i16):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E5M2
    %y = arith.extf %x : f8E5M2 to f16
    %bits = arith.bitcast %y : f16 to i16
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : f16
    %one = arith.constant -1 : i16
    %z = arith.select %nan, %one, %bits : i16
    linalg.yield %z : i16
  } -> tensor<256xi16>
  %e5 = tensor.empty() : tensor<256xi16>
  %r5 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e5 : tensor<256xi16>) {
  ^bb0(%out: i16):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E5M2
    %y = arith.extf %x : f8E5M2 to bf16
    %bits = arith.bitcast %y : bf16 to i16
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : bf16
    %one = arith.constant -1 : i16
    %z = arith.select %nan, %one, %bits : i16
    linalg.yield %z : i16
  } -> tensor<256xi16>
  %e6 = tensor.empty() : tensor<256xi32>
  %r6 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e6 : tensor<256xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E4M3FNUZ
    %y = arith.extf %x : f8E4M3FNUZ to f32
    %bits = arith.bitcast %y : f32 to i32
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : f32
    %one = arith.constant -1 : i32
    %z = arith.select %nan, %one, %bits : i32
    linalg.yield %z : i32
  } -> tensor<256xi32>
  %e7 = tensor.empty() : tensor<256xi16>
  %r7 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e7 : tensor<256xi16>) {
  ^bb0(%out: i16):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E4M3FNUZ
    %y = arith.extf %x : f8E4M3FNUZ to f16
    %bits = arith.bitcast %y : f16 to i16
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : f16
    %one = arith.constant -1 : i16
    %z = arith.select %nan, %one, %bits : i16
    linalg.yield %z : i16
  } -> tensor<256xi16>
  %e8 = tensor.empty() : tensor<256xi16>
  %r8 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e8 : tensor<256xi16>) {
  ^bb0(%out: i16):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E4M3FNUZ
    %y = arith.extf %x : f8E4M3FNUZ to bf16
    %bits = arith.bitcast %y : bf16 to i16
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : bf16
    %one = arith.constant -1 : i16
    %z = arith.select %nan, %one, %bits : i16
    linalg.yield %z : i16
  } -> tensor<256xi16>
  %e9 = tensor.empty() : tensor<256xi32>
  %r9 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e9 : tensor<256xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E5M2FNUZ
    %y = arith.extf %x : f8E5M2FNUZ to f32
    %bits = arith.bitcast %y : f32 to i32
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : f32
    %one = arith.constant -1 : i32
    %z = arith.select %nan, %one, %bits : i32
    linalg.yield %z : i32
  } -> tensor<256xi32>
  %e10 = tensor.empty() : tensor<256xi16>
  %r10 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e10 : tensor<256xi16>) {
  ^bb0(%out: i16):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E5M2FNUZ
    %y = arith.extf %x : f8E5M2FNUZ to f16
    %bits = arith.bitcast %y : f16 to i16
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : f16
    %one = arith.constant -1 : i16
    %z = arith.select %nan, %one, %bits : i16
    linalg.yield %z : i16
  } -> tensor<256xi16>
  %e11 = tensor.empty() : tensor<256xi16>
  %r11 = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%e11 : tensor<256xi16>) {
  ^bb0(%out: i16):
    %i = linalg.index 0 : index
    %code = arith.index_cast %i : index to i8
    %x = arith.bitcast %code : i8 to f8E5M2FNUZ
    %y = arith.extf %x : f8E5M2FNUZ to bf16
    %bits = arith.bitcast %y : bf16 to i16
    // A NaN's sign and payload are the device's.
    %nan = arith.cmpf uno, %y, %y : bf16
    %one = arith.constant -1 : i16
    %z = arith.select %nan, %one, %bits : i16
    linalg.yield %z : i16
  } -> tensor<256xi16>
  return %r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8, %r9, %r10, %r11 : tensor<256xi32>, tensor<256xi16>, tensor<256xi16>, tensor<256xi32>, tensor<256xi16>, tensor<256xi16>, tensor<256xi32>, tensor<256xi16>, tensor<256xi16>, tensor<256xi32>, tensor<256xi16>, tensor<256xi16>
}
