// Powers and angles become arithmetic on every GPU, without a device library.
// An unsupported function is an error at the op.
//
// RUN: split-file %s %t
// RUN: gpu-runner %t/powers.mlir --target=cuda:sm_80 --emit=ptx | FileCheck %s --check-prefix=PTX
// PTX: .visible .entry main_kernel
// PTX-NOT: call
// PTX: .visible .entry main_kernel_1
// PTX-NOT: call
// RUN: gpu-runner %t/powers.mlir --target=hip:gfx942 --emit=amdgcn | FileCheck %s --check-prefix=AMD
// AMD: s_endpgm
// AMD-NOT: s_swappc
// RUN: gpu-runner %t/powers.mlir --target=cpu --verify | FileCheck %s --check-prefix=VERIFIED
// RUN: gpu-runner %t/powers.mlir --target=cpu:emulate=sm_80 --verify | FileCheck %s --check-prefix=VERIFIED
// RUN: gpu-runner %t/powers.mlir --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefix=VERIFIED
// VERIFIED: {{^}}verified
// RUN: gpu-runner %t/integers.mlir --target=cpu --verify | FileCheck %s --check-prefix=VERIFIED

// RUN: gpu-runner %t/fpowi.mlir --target=cuda:sm_80 --emit=ptx -o %t.ptx
// RUN: gpu-runner %t/fpowi.mlir --target=hip:gfx942 --emit=amdgcn -o %t.s
// RUN: gpu-runner %t/fpowi.mlir --target=cpu:emulate=gfx942 --verify | FileCheck %s --check-prefix=VERIFIED

//--- powers.mlir
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>, %n: tensor<64xi32>, %h: tensor<64xf16>)
    -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi32>, tensor<64xf16>, tensor<64xf64>) {
  %beta = arith.constant dense<0.75> : tensor<64xf32>
  %a = math.powf %x, %beta : tensor<64xf32>
  %b = math.powf %x, %y : tensor<64xf32>
  %c = math.atan2 %x, %y : tensor<64xf32>
  %d = math.ipowi %n, %n : tensor<64xi32>
  %e = math.powf %h, %h : tensor<64xf16>
  %u = arith.extf %x : tensor<64xf32> to tensor<64xf64>
  %v = arith.extf %y : tensor<64xf32> to tensor<64xf64>
  %f = math.powf %u, %v : tensor<64xf64>
  return %a, %b, %c, %d, %e, %f : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xi32>, tensor<64xf16>, tensor<64xf64>
}
//--- integers.mlir
func.func @main() -> (tensor<9x9xi32>, tensor<9x9xi64>, tensor<9x9xi8>, tensor<9x9xindex>) {
  %e = tensor.empty() : tensor<9x9xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e : tensor<9x9xi32>) {
  ^bb0(%o: i32):
    %c4 = arith.constant 4 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is = arith.subi %i, %c4 : index
    %js = arith.subi %j, %c4 : index
    %x = arith.index_cast %is : index to i32
    %n = arith.index_cast %js : index to i32
    %p = math.ipowi %x, %n : i32
    linalg.yield %p : i32
  } -> tensor<9x9xi32>
  %e64 = tensor.empty() : tensor<9x9xi64>
  %r64 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e64 : tensor<9x9xi64>) {
  ^bb0(%o: i64):
    %c4 = arith.constant 4 : index
    %c15 = arith.constant 15 : index
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %is = arith.subi %i, %c4 : index
    %js = arith.muli %j, %c15 : index
    %x = arith.index_cast %is : index to i64
    %n = arith.index_cast %js : index to i64
    %p = math.ipowi %x, %n : i64
    linalg.yield %p : i64
  } -> tensor<9x9xi64>
  %e8 = tensor.empty() : tensor<9x9xi8>
  %r8 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%e8 : tensor<9x9xi8>) {
  ^bb0(%o: i8):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %x = arith.index_cast %i : index to i8
    %n = arith.index_cast %j : index to i8
    %p = math.ipowi %x, %n : i8
    linalg.yield %p : i8
  } -> tensor<9x9xi8>
  %ei = tensor.empty() : tensor<9x9xindex>
  %ri = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      outs(%ei : tensor<9x9xindex>) {
  ^bb0(%o: index):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = math.ipowi %i, %j : index
    linalg.yield %p : index
  } -> tensor<9x9xindex>
  return %r, %r64, %r8, %ri : tensor<9x9xi32>, tensor<9x9xi64>, tensor<9x9xi8>, tensor<9x9xindex>
}
//--- fpowi.mlir
func.func @main(%x: tensor<64xf32>, %n: tensor<64xi32>) -> tensor<64xf32> {
  %r = math.fpowi %x, %n : tensor<64xf32>, tensor<64xi32>
  return %r : tensor<64xf32>
}
