// Matmuls of i4 with i4 in steps of one: the CPU has an instruction for them,
// other chips report that their matrix units have none.
//
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// CHECK: checked {{[1-9][0-9]*}}, exact
// CHECK: {{^}}verified
// RUN: not gpu-runner %s --target=cuda:sm_90a --emit=ptx 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: schedule_c7: kFragment = 1: no matrix instruction of sm_90a for i8 x i8 -> i32 divides 1 element of K
// REFUSED-NOT: error:

#id = affine_map<(i, j) -> (i, j)>

func.func @main(%a: tensor<21x13xi4>, %b: tensor<13x35xi4>) -> tensor<21x35xi32> {
  %zero = arith.constant 0 : i32
  %ea = tensor.empty() : tensor<21x13xi8>
  %eb = tensor.empty() : tensor<13x35xi8>
  %wa = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<21x13xi4>) outs(%ea : tensor<21x13xi8>) {
  ^bb0(%x: i4, %o: i8):
    %w = arith.extsi %x : i4 to i8
    linalg.yield %w : i8
  } -> tensor<21x13xi8>
  %wb = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<13x35xi4>) outs(%eb : tensor<13x35xi8>) {
  ^bb0(%x: i4, %o: i8):
    %w = arith.extsi %x : i4 to i8
    linalg.yield %w : i8
  } -> tensor<13x35xi8>
  %e = tensor.empty() : tensor<21x35xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<21x35xi32>) -> tensor<21x35xi32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 16], k = 1, stages = 1>}
      ins(%wa, %wb : tensor<21x13xi8>, tensor<13x35xi8>) outs(%i : tensor<21x35xi32>) -> tensor<21x35xi32>
  return %r : tensor<21x35xi32>
}
