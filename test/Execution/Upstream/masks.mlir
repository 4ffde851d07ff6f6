// Masks in host code: constants, and transfers in the region of a mask beside a buffer that must be freed.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// CHECK: {{^}}1
// CHECK-NEXT: {{^}}0
// CHECK-NEXT: {{^}}( 1, 2, 3, -1 )
// CHECK-NEXT: {{^}}( 7, 7, 9, 9 )

func.func @main() {
  %c0 = arith.constant 0 : index
  %pad = arith.constant -1 : i32
  %nine = arith.constant 9 : i32
  %c2 = arith.constant 2 : index
  %three = vector.constant_mask [3] : vector<4xi1>
  %at2 = vector.extract %three[2] : i1 from vector<4xi1>
  %at3 = vector.extract %three[3] : i1 from vector<4xi1>
  vector.print %at2 : i1
  vector.print %at3 : i1
  %a = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %0 = vector.mask %three { vector.transfer_read %a[%c0], %pad {in_bounds = [true]} : tensor<4xi32>, vector<4xi32> } : vector<4xi1> -> vector<4xi32>
  vector.print %0 : vector<4xi32>
  %two = vector.create_mask %c2 : vector<4xi1>
  %sevens = arith.constant dense<7> : vector<4xi32>
  %empty = tensor.empty() : tensor<4xi32>
  %nines = linalg.fill ins(%nine : i32) outs(%empty : tensor<4xi32>) -> tensor<4xi32>
  %1 = vector.mask %two { vector.transfer_write %sevens, %nines[%c0] {in_bounds = [true]} : vector<4xi32>, tensor<4xi32> } : vector<4xi1> -> tensor<4xi32>
  %2 = vector.transfer_read %1[%c0], %pad {in_bounds = [true]} : tensor<4xi32>, vector<4xi32>
  vector.print %2 : vector<4xi32>
  return
}
