// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// LLVM's operations on matrices that are stored by rows, as an option of mlir-runner selects.

// RUN: gpu-runner %s --target=cpu -O0 -enable-matrix -matrix-allow-contract -matrix-default-layout=row-major 2> %t.notes | FileCheck %s --check-prefix=ROWS
// RUN: FileCheck %s --input-file=%t.notes --check-prefix=NOTE
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a --matrix-default-layout=row-major | FileCheck %s --check-prefix=ROWS
// RUN: gpu-runner %s --target=cpu -matrix-default-layout=column-major | FileCheck %s --check-prefix=COLUMNS
// RUN: not gpu-runner %s --target=cpu -matrix-default-layout=diagonal 2>&1 | FileCheck %s --check-prefix=WRONG

// NOTE: note: -O0 to -O3, -enable-matrix and -matrix-allow-contract of mlir-runner have no effect
// NOTE-NOT: have no effect
// WRONG: error: unknown value 'diagonal' for --matrix-default-layout; expected column-major or row-major

// [1 2 3]   [1 0]
// [4 5 6] * [2 0]
//           [1 3]
// ROWS: {{^}}( 8, 9, 20, 18 )
// ROWS-NEXT: {{^}}( 1, 4, 2, 5, 3, 6 )
// [1 3 5]   [1 0]
// [2 4 6] * [0 1]
//           [2 3]
// COLUMNS: {{^}}( 11, 14, 18, 22 )
// COLUMNS-NEXT: {{^}}( 1, 3, 5, 2, 4, 6 )

func.func @main() {
  %a = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]> : vector<6xf32>
  %b = arith.constant dense<[1.0, 0.0, 2.0, 0.0, 1.0, 3.0]> : vector<6xf32>
  %product = llvm.intr.matrix.multiply %a, %b {lhs_rows = 2 : i32, lhs_columns = 3 : i32, rhs_columns = 2 : i32} : (vector<6xf32>, vector<6xf32>) -> vector<4xf32>
  vector.print %product : vector<4xf32>
  %transposed = llvm.intr.matrix.transpose %a {rows = 2 : i32, columns = 3 : i32} : vector<6xf32> into vector<6xf32>
  vector.print %transposed : vector<6xf32>
  return
}
