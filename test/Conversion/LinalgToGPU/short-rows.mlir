// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-map-linalg-to-simt),canonicalize,cse)" | FileCheck %s

// A thread stores the whole of a short last dimension, of a body with branches: its indices are
// constants, so that only two elements are loaded.

// CHECK-LABEL: func @copy
// CHECK:       gpu.launch {{.*}} threads
// CHECK:         %[[A:.+]] = scf.if
// CHECK:         %[[B:.+]] = scf.if
// CHECK-NOT:     scf.if
// CHECK:         %[[V:.+]] = vector.from_elements %[[A]], %[[B]], %[[Z:.+]], %[[Z]] : vector<4xi8>
// CHECK-NEXT:    vector.store %[[V]]
// CHECK-NOT:     memref.store
// CHECK:         gpu.terminator
func.func @copy(%image: memref<30x50x2xi8>, %out: memref<30x52x4xi8>) {
  linalg.generic {indexing_maps = [affine_map<(y, x, c) -> (y, x, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<30x52x4xi8>) {
  ^bb0(%o: i8):
    %y = linalg.index 0 : index
    %x = linalg.index 1 : index
    %c = linalg.index 2 : index
    %width = arith.constant 50 : index
    %channels = arith.constant 2 : index
    %inside = arith.cmpi ult, %x, %width : index
    %real = arith.cmpi ult, %c, %channels : index
    %both = arith.andi %inside, %real : i1
    %value = scf.if %both -> i8 {
      %0 = memref.load %image[%y, %x, %c] : memref<30x50x2xi8>
      scf.yield %0 : i8
    } else {
      %zero = arith.constant 0 : i8
      scf.yield %zero : i8
    }
    linalg.yield %value : i8
  }
  return
}

// No access has seven elements.

// CHECK-LABEL: func @seven
// CHECK:       gpu.launch
// CHECK:         memref.store
// CHECK-NOT:     vector.store
func.func @seven(%image: memref<30x5xi8>, %out: memref<30x7xi8>) {
  linalg.generic {indexing_maps = [affine_map<(y, x) -> (y, x)>], iterator_types = ["parallel", "parallel"]}
      outs(%out : memref<30x7xi8>) {
  ^bb0(%o: i8):
    %y = linalg.index 0 : index
    %x = linalg.index 1 : index
    %width = arith.constant 5 : index
    %inside = arith.cmpi ult, %x, %width : index
    %value = scf.if %inside -> i8 {
      %0 = memref.load %image[%y, %x] : memref<30x5xi8>
      scf.yield %0 : i8
    } else {
      %zero = arith.constant 0 : i8
      scf.yield %zero : i8
    }
    linalg.yield %value : i8
  }
  return
}

// A loop of each element is one of its own thread.

// CHECK-LABEL: func @loop
// CHECK:       gpu.launch
// CHECK:         scf.for
// CHECK:         memref.store
// CHECK-NOT:     vector.store
func.func @loop(%x: memref<30x9x4xf32>, %out: memref<30x4xf32>) {
  linalg.generic {indexing_maps = [affine_map<(y, c) -> (y, c)>], iterator_types = ["parallel", "parallel"]}
      outs(%out : memref<30x4xf32>) {
  ^bb0(%o: f32):
    %y = linalg.index 0 : index
    %c = linalg.index 1 : index
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c9 = arith.constant 9 : index
    %three = arith.constant 3 : index
    %zero = arith.constant 0.0 : f32
    %channel = arith.xori %c, %three : index
    %sum = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %zero) -> f32 {
      %0 = memref.load %x[%y, %i, %channel] : memref<30x9x4xf32>
      %1 = arith.addf %s, %0 : f32
      scf.yield %1 : f32
    }
    linalg.yield %sum : f32
  }
  return
}

// Rows of 24 bytes are three vectors of 8, rather than one of 16 and eight bytes.

// CHECK-LABEL: func @row_of_24
// CHECK:         vector.load {{.*}} vector<8xi8>
// CHECK-NOT:     scf.for
// CHECK:         gpu.terminator
func.func @row_of_24(%a: memref<1000x24xi8>, %b: memref<1000x24xi8, strided<[32, 1]>>) {
  linalg.copy ins(%a : memref<1000x24xi8>) outs(%b : memref<1000x24xi8, strided<[32, 1]>>)
  return
}

// Six vectors of 16 and four bytes are the fewest accesses of a row of 100.

// CHECK-LABEL: func @row_of_100
// CHECK:         vector.load {{.*}} vector<16xi8>
// CHECK:         scf.for
// CHECK:         gpu.terminator
func.func @row_of_100(%a: memref<1000x100xi8>, %b: memref<1000x100xi8, strided<[112, 1]>>) {
  linalg.copy ins(%a : memref<1000x100xi8>) outs(%b : memref<1000x100xi8, strided<[112, 1]>>)
  return
}
