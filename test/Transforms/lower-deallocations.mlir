// RUN: gpu-opt %s --tessera-lower-deallocations | FileCheck %s

// CHECK-LABEL: func @two
// CHECK-SAME:    %[[A:.+]]: memref<4xf32>, %[[B:.+]]: memref<4xf32>, %[[R:.+]]: memref<4xf32>, %[[CA:.+]]: i1, %[[CB:.+]]: i1
// CHECK-DAG:     %[[PA:.+]] = memref.extract_aligned_pointer_as_index %[[A]]
// CHECK-DAG:     %[[PB:.+]] = memref.extract_aligned_pointer_as_index %[[B]]
// CHECK-DAG:     %[[PR:.+]] = memref.extract_aligned_pointer_as_index %[[R]]
// CHECK:         %[[RA:.+]] = arith.cmpi eq, %[[PR]], %[[PA]]
// CHECK:         %[[OA:.+]] = arith.andi %[[RA]], %[[CA]]
// CHECK:         %[[RB:.+]] = arith.cmpi eq, %[[PR]], %[[PB]]
// CHECK:         %[[OB:.+]] = arith.andi %[[RB]], %[[CB]]
// CHECK:         %[[OWNED:.+]] = arith.ori %[[OA]], %[[OB]]
// CHECK:         %[[NA:.+]] = arith.cmpi ne, %[[PA]], %[[PR]]
// CHECK:         %[[FA:.+]] = arith.andi %[[CA]], %[[NA]]
// CHECK:         %[[NB:.+]] = arith.cmpi ne, %[[PB]], %[[PR]]
// CHECK:         %[[FB:.+]] = arith.andi %[[CB]], %[[NB]]
// CHECK:         %[[SAME:.+]] = arith.cmpi eq, %[[PB]], %[[PA]]
// CHECK:         %[[AGAIN:.+]] = arith.andi %[[SAME]], %[[FA]]
// CHECK:         %[[FIRST:.+]] = arith.xori %[[AGAIN]], %true
// CHECK:         %[[FB2:.+]] = arith.andi %[[FB]], %[[FIRST]]
// CHECK:         scf.if %[[FA]] {
// CHECK-NEXT:      memref.dealloc %[[A]]
// CHECK:         scf.if %[[FB2]] {
// CHECK-NEXT:      memref.dealloc %[[B]]
// CHECK:         return %[[OWNED]]
func.func @two(%a: memref<4xf32>, %b: memref<4xf32>, %r: memref<4xf32>, %ca: i1, %cb: i1) -> i1 {
  %owned = bufferization.dealloc (%a, %b : memref<4xf32>, memref<4xf32>) if (%ca, %cb) retain (%r : memref<4xf32>)
  return %owned : i1
}
