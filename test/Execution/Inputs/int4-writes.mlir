#id = affine_map<(i, j) -> (i, j)>
#flip = affine_map<(i, j) -> (32 - i, j)>

// Rows of 63 elements begin within a byte.
func.func @op(%a: tensor<33x63xi8>) -> tensor<33x63xi8> {
  %e = tensor.empty() : tensor<33x63xi4>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<33x63xi8>) outs(%e : tensor<33x63xi4>) {
  ^bb0(%x: i8, %o: i4):
    %t = arith.trunci %x : i8 to i4
    linalg.yield %t : i4
  } -> tensor<33x63xi4>
  %f = tensor.empty() : tensor<33x63xi8>
  %s = linalg.generic {indexing_maps = [#flip, #id], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<33x63xi4>) outs(%f : tensor<33x63xi8>) {
  ^bb0(%x: i4, %o: i8):
    %t = arith.extsi %x : i4 to i8
    linalg.yield %t : i8
  } -> tensor<33x63xi8>
  return %s : tensor<33x63xi8>
}

func.func @result(%a: tensor<32x64xi8>) -> tensor<32x64xi4> {
  %e = tensor.empty() : tensor<32x64xi4>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<32x64xi8>) outs(%e : tensor<32x64xi4>) {
  ^bb0(%x: i8, %o: i4):
    %t = arith.trunci %x : i8 to i4
    linalg.yield %t : i4
  } -> tensor<32x64xi4>
  return %r : tensor<32x64xi4>
}

func.func @fill(%o: memref<7x3xi4>, %p: memref<7x3xi4>) {
  %c = arith.constant 5 : i4
  linalg.fill ins(%c : i4) outs(%o : memref<7x3xi4>)
  memref.copy %o, %p : memref<7x3xi4> to memref<7x3xi4>
  return
}

// In the middle of a byte.
func.func @vector(%a: memref<8x16xi8>, %o: memref<8x16xi4>) {
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c8, %gy = %c1, %gz = %c1)
      threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = vector.load %a[%bx, %c1] : memref<8x16xi8>, vector<4xi8>
    %y = arith.trunci %x : vector<4xi8> to vector<4xi4>
    vector.store %y, %o[%bx, %c1] : memref<8x16xi4>, vector<4xi4>
    gpu.terminator
  }
  return
}

func.func @host() -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %m = memref.alloc() : memref<5xi4>
  scf.for %i = %c0 to %c5 step %c1 {
    %n = arith.index_cast %i : index to i4
    %c = arith.constant 3 : i4
    %v = arith.subi %n, %c : i4
    memref.store %v, %m[%i] : memref<5xi4>
  }
  %z = arith.constant 0 : i32
  %r = scf.for %i = %c0 to %c5 step %c1 iter_args(%s = %z) -> i32 {
    %v = memref.load %m[%i] : memref<5xi4>
    %w = arith.extsi %v : i4 to i32
    %ten = arith.constant 10 : i32
    %t = arith.muli %s, %ten : i32
    %u = arith.addi %t, %w : i32
    scf.yield %u : i32
  }
  return %r : i32
}
