// LLVM's operations on matrices, which are stored by columns.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s

// [1 3 5]   [1 4]
// [2 4 6] * [2 5]
//           [3 6]
// CHECK: {{^}}( 22, 28, 49, 64 )
// CHECK-NEXT: {{^}}( 1, 3, 5, 2, 4, 6 )
// CHECK-NEXT: {{^}}( 5, 7, 9 )

func.func @main() {
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : vector<6xf32>
  %product = llvm.intr.matrix.multiply %a, %a {lhs_rows = 2 : i32, lhs_columns = 3 : i32, rhs_columns = 2 : i32} : (vector<6xf32>, vector<6xf32>) -> vector<4xf32>
  vector.print %product : vector<4xf32>
  %transposed = llvm.intr.matrix.transpose %a {rows = 2 : i32, columns = 3 : i32} : vector<6xf32> into vector<6xf32>
  vector.print %transposed : vector<6xf32>
  %one = arith.constant dense<1.0> : vector<2xf32>
  %b = arith.constant dense<[2.0, 3.0, 3.0, 4.0, 4.0, 5.0]> : vector<6xf32>
  %sums = llvm.intr.matrix.multiply %one, %b {lhs_rows = 1 : i32, lhs_columns = 2 : i32, rhs_columns = 3 : i32} : (vector<2xf32>, vector<6xf32>) -> vector<3xf32>
  vector.print %sums : vector<3xf32>
  return
}
