// Every op on fragments, computed and compared element by element: transposed
// accesses, coordinates, vectors along rows and columns, reductions, casts.
//
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%A: memref<48x40xf32>, %row: memref<40xf32>, %col: memref<48xf32>,
                %T: memref<40x48xf32>, %coords: memref<48x40xf32>, %bias: memref<48x40xf32>,
                %rowsum: memref<48x8xf32>, %colmax: memref<16x40xf32>, %half: memref<48x40xf16>,
                %ints: memref<48x40xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %hundred = arith.constant 100.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c5, %gy = %c3, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %i = arith.muli %by, %c16 : index
    %j = arith.muli %bx, %c8 : index
    %a = tessera.load %A[%i, %j] : memref<48x40xf32> -> !tessera.fragment<16x8xf32, acc>

    // Stored transposed, and loaded from there transposed again.
    tessera.store %a, %T[%j, %i] transpose : !tessera.fragment<16x8xf32, acc>, memref<40x48xf32>
    %back = tessera.load %T[%j, %i] transpose : memref<40x48xf32> -> !tessera.fragment<16x8xf32, acc>

    // Each element depends on where it is.
    %placed = tessera.map %back : !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<16x8xf32, acc> {
    ^bb0(%x: f32, %r: index, %c: index):
      %ri = arith.index_cast %r : index to i32
      %ci = arith.index_cast %c : index to i32
      %rf = arith.sitofp %ri : i32 to f32
      %cf = arith.sitofp %ci : i32 to f32
      %s = arith.mulf %rf, %hundred : f32
      %t = arith.addf %s, %cf : f32
      %below = arith.cmpi sge, %r, %c : index
      %y = arith.select %below, %t, %x : f32
      tessera.yield %y : f32
    }
    tessera.store %placed, %coords[%i, %j] : !tessera.fragment<16x8xf32, acc>, memref<48x40xf32>

    // Vectors from memory along both dimensions.
    %rows = tessera.broadcast %row[%j] dimension 0 : memref<40xf32> -> !tessera.fragment<16x8xf32, acc>
    %cols = tessera.broadcast %col[%i] dimension 1 : memref<48xf32> -> !tessera.fragment<16x8xf32, acc>
    %biased = tessera.map %a, %rows, %cols
        : !tessera.fragment<16x8xf32, acc>, !tessera.fragment<16x8xf32, acc>, !tessera.fragment<16x8xf32, acc>
        -> !tessera.fragment<16x8xf32, acc> {
    ^bb0(%x: f32, %r: f32, %c: f32):
      %p = arith.mulf %x, %r : f32
      %q = arith.subf %p, %c : f32
      tessera.yield %q : f32
    }
    tessera.store %biased, %bias[%i, %j] : !tessera.fragment<16x8xf32, acc>, memref<48x40xf32>

    // Reductions, broadcast again. Five workgroups store the same rows: the
    // first one writes to a separate column.
    %sum = tessera.reduce add %a dimension 1 : !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<16x1xf32, acc>
    %sums = tessera.broadcast %sum dimension 1 : !tessera.fragment<16x1xf32, acc> -> !tessera.fragment<16x8xf32, acc>
    %first = arith.cmpi eq, %bx, %c0 : index
    scf.if %first {
      tessera.store %sums, %rowsum[%i, %c0] : !tessera.fragment<16x8xf32, acc>, memref<48x8xf32>
    }
    %max = tessera.reduce max %a dimension 0 : !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<1x8xf32, acc>
    %maxes = tessera.broadcast %max dimension 0 : !tessera.fragment<1x8xf32, acc> -> !tessera.fragment<16x8xf32, acc>
    %last = arith.cmpi eq, %by, %c1 : index
    scf.if %last {
      tessera.store %maxes, %colmax[%c0, %j] : !tessera.fragment<16x8xf32, acc>, memref<16x40xf32>
    }

    // Casts.
    %h = tessera.convert %a : !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<16x8xf16, acc>
    tessera.store %h, %half[%i, %j] : !tessera.fragment<16x8xf16, acc>, memref<48x40xf16>
    %n = tessera.convert %biased : !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<16x8xi32, acc>
    tessera.store %n, %ints[%i, %j] : !tessera.fragment<16x8xi32, acc>, memref<48x40xi32>
    gpu.terminator
  }
  return
}
