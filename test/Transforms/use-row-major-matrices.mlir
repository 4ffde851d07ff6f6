// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: gpu-opt %s --tessera-use-row-major-matrices | FileCheck %s

// The operands and the outer sizes are exchanged.
// CHECK-LABEL: func @product
// CHECK-SAME:    (%[[A:.+]]: vector<6xf32>, %[[B:.+]]: vector<12xf32>)
// CHECK-NEXT:    llvm.intr.matrix.multiply %[[B]], %[[A]] {lhs_columns = 3 : i32, lhs_rows = 4 : i32, rhs_columns = 2 : i32}
// CHECK-SAME:      (vector<12xf32>, vector<6xf32>) -> vector<8xf32>
func.func @product(%a: vector<6xf32>, %b: vector<12xf32>) -> vector<8xf32> {
  %c = llvm.intr.matrix.multiply %a, %b {lhs_rows = 2 : i32, lhs_columns = 3 : i32, rhs_columns = 4 : i32} : (vector<6xf32>, vector<12xf32>) -> vector<8xf32>
  return %c : vector<8xf32>
}

// CHECK-LABEL: func @others
// CHECK:         %[[T:.+]] = llvm.intr.matrix.transpose %{{.+}} {columns = 2 : i32, rows = 3 : i32}
// CHECK:         %[[LOADED:.+]] = llvm.intr.matrix.column.major.load %{{.+}}, <stride = %{{.+}}> {columns = 3 : i32, isVolatile = false, rows = 2 : i32}
// CHECK:         %[[ROWS:.+]] = llvm.intr.matrix.transpose %[[LOADED]] {columns = 3 : i32, rows = 2 : i32}
// CHECK:         %[[COLUMNS:.+]] = llvm.intr.matrix.transpose %[[ROWS]] {columns = 2 : i32, rows = 3 : i32}
// CHECK:         llvm.intr.matrix.column.major.store %[[COLUMNS]], %{{.+}}, <stride = %{{.+}}> {columns = 3 : i32, isVolatile = false, rows = 2 : i32}
// CHECK:         return %[[T]]
func.func @others(%p: !llvm.ptr, %s: i64, %a: vector<6xf32>) -> vector<6xf32> {
  %0 = llvm.intr.matrix.transpose %a {rows = 2 : i32, columns = 3 : i32} : vector<6xf32> into vector<6xf32>
  %1 = llvm.intr.matrix.column.major.load %p, <stride = %s> {isVolatile = false, rows = 2 : i32, columns = 3 : i32} : vector<6xf32> from !llvm.ptr stride i64
  llvm.intr.matrix.column.major.store %1, %p, <stride = %s> {isVolatile = false, rows = 2 : i32, columns = 3 : i32} : vector<6xf32> to !llvm.ptr stride i64
  return %0 : vector<6xf32>
}
