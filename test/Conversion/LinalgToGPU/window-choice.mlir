// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-map-linalg-to-simt),canonicalize,cse)" -split-input-file | FileCheck %s

// The compiler's choice for windows that were measured on an H200. A chip with few outputs is not filled by the
// threads of wide vectors: those access 4 bytes. All loads of a window are issued together then.

// CHECK-LABEL: func.func @pooling
// CHECK-NOT:       scf.for
// CHECK:         tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 1, threads = 256>
func.func @pooling(%image: memref<1x7x7x2048xf16>, %out: memref<1x2048xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, c) -> (n, c)>], iterator_types = ["parallel", "parallel"]}
      outs(%out : memref<1x2048xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %sum = scf.for %y = %c0 to %c7 step %c1 iter_args(%before = %zero) -> f32 {
      %row = scf.for %x = %c0 to %c7 step %c1 iter_args(%partial = %before) -> f32 {
        %e = memref.load %image[%n, %y, %x, %c] : memref<1x7x7x2048xf16>
        %a = arith.extf %e : f16 to f32
        %s = arith.addf %partial, %a : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    %result = arith.truncf %sum : f32 to f16
    linalg.yield %result : f16
  }
  return
}

// -----

// CHECK-LABEL: func.func @batch_of_poolings
// CHECK-NOT:       scf.for
// CHECK:         tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 1, threads = 256>
func.func @batch_of_poolings(%image: memref<32x7x7x1024xf16>, %out: memref<32x1024xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c7 = arith.constant 7 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, c) -> (n, c)>], iterator_types = ["parallel", "parallel"]}
      outs(%out : memref<32x1024xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %sum = scf.for %y = %c0 to %c7 step %c1 iter_args(%before = %zero) -> f32 {
      %row = scf.for %x = %c0 to %c7 step %c1 iter_args(%partial = %before) -> f32 {
        %e = memref.load %image[%n, %y, %x, %c] : memref<32x7x7x1024xf16>
        %a = arith.extf %e : f16 to f32
        %s = arith.addf %partial, %a : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    %result = arith.truncf %sum : f32 to f16
    linalg.yield %result : f16
  }
  return
}

// -----

// CHECK-LABEL: func.func @depthwise
// CHECK-NOT:       scf.for
// CHECK:         tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 1, lines = 2, threads = 128>
func.func @depthwise(%image: memref<1x14x14x480xf16>, %filter: memref<5x5x480xf16>, %out: memref<1x14x14x480xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 5 : index
  %last = arith.constant 13 : index
  %none = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<1x14x14x480xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %sum = scf.for %y = %c0 to %size step %c1 iter_args(%before = %zero) -> f32 {
      %row = scf.for %x = %c0 to %size step %c1 iter_args(%partial = %before) -> f32 {
        %i = affine.apply affine_map<(a)[b] -> (a + b - 2)>(%y)[%h]
        %i0 = arith.maxsi %i, %c0 : index
        %i1 = arith.minsi %i0, %last : index
        %inRows = arith.cmpi eq, %i1, %i : index
        %j = affine.apply affine_map<(a)[b] -> (a + b - 2)>(%x)[%w]
        %j0 = arith.maxsi %j, %c0 : index
        %j1 = arith.minsi %j0, %last : index
        %inColumns = arith.cmpi eq, %j1, %j : index
        %inside = arith.andi %inRows, %inColumns : i1
        %e = memref.load %image[%n, %i1, %j1, %c] : memref<1x14x14x480xf16>
        %e1 = arith.select %inside, %e, %none : f16
        %f = memref.load %filter[%y, %x, %c] : memref<5x5x480xf16>
        %a = arith.extf %e1 : f16 to f32
        %b = arith.extf %f : f16 to f32
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %partial, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    %result = arith.truncf %sum : f32 to f16
    linalg.yield %result : f16
  }
  return
}

// -----

// Many outputs: each thread computes a block of two lines of seven positions. The sums of more lines of a window of this
// height do not fit into registers.
// CHECK-LABEL: func.func @many
// CHECK-NOT:       scf.for
// CHECK:         tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 7, lines = 2, threads = 128>
func.func @many(%image: memref<32x14x14x672xf16>, %filter: memref<5x5x672xf16>, %out: memref<32x14x14x672xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 5 : index
  %last = arith.constant 13 : index
  %none = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<32x14x14x672xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %sum = scf.for %y = %c0 to %size step %c1 iter_args(%before = %zero) -> f32 {
      %row = scf.for %x = %c0 to %size step %c1 iter_args(%partial = %before) -> f32 {
        %i = affine.apply affine_map<(a)[b] -> (a + b - 2)>(%y)[%h]
        %i0 = arith.maxsi %i, %c0 : index
        %i1 = arith.minsi %i0, %last : index
        %inRows = arith.cmpi eq, %i1, %i : index
        %j = affine.apply affine_map<(a)[b] -> (a + b - 2)>(%x)[%w]
        %j0 = arith.maxsi %j, %c0 : index
        %j1 = arith.minsi %j0, %last : index
        %inColumns = arith.cmpi eq, %j1, %j : index
        %inside = arith.andi %inRows, %inColumns : i1
        %e = memref.load %image[%n, %i1, %j1, %c] : memref<32x14x14x672xf16>
        %e1 = arith.select %inside, %e, %none : f16
        %f = memref.load %filter[%y, %x, %c] : memref<5x5x672xf16>
        %a = arith.extf %e1 : f16 to f32
        %b = arith.extf %f : f16 to f32
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %partial, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    %result = arith.truncf %sum : f32 to f16
    linalg.yield %result : f16
  }
  return
}

// -----

// Neighboring rows share nothing where the window is along the channels.
// CHECK-LABEL: func.func @channels
// CHECK:         tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 2, threads = 256>
func.func @channels(%image: memref<32x56x56x192xf16>, %out: memref<32x56x56x192xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %last = arith.constant 191 : index
  %none = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<32x56x56x192xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %sum = scf.for %x = %c0 to %c5 step %c1 iter_args(%partial = %zero) -> f32 {
      %i = affine.apply affine_map<(a)[b] -> (a + b - 2)>(%x)[%c]
      %i0 = arith.maxsi %i, %c0 : index
      %i1 = arith.minsi %i0, %last : index
      %inside = arith.cmpi eq, %i1, %i : index
      %e = memref.load %image[%n, %h, %w, %i1] : memref<32x56x56x192xf16>
      %e1 = arith.select %inside, %e, %none : f16
      %a = arith.extf %e1 : f16 to f32
      %p = arith.mulf %a, %a : f32
      %s = arith.addf %partial, %p : f32
      scf.yield %s : f32
    }
    %result = arith.truncf %sum : f32 to f16
    linalg.yield %result : f16
  }
  return
}

// -----

// Neighboring windows share one of three columns: each thread has one.
// CHECK-LABEL: func.func @strided
// CHECK:         tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 1, threads = 256>
func.func @strided(%image: memref<32x113x113x64xf16>, %out: memref<32x56x56x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %low = arith.constant 0xFC00 : f16
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<32x56x56x64xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %max = scf.for %y = %c0 to %c3 step %c1 iter_args(%before = %low) -> f16 {
      %row = scf.for %x = %c0 to %c3 step %c1 iter_args(%most = %before) -> f16 {
        %i = affine.apply affine_map<(a)[b] -> (a + b * 2)>(%y)[%h]
        %j = affine.apply affine_map<(a)[b] -> (a + b * 2)>(%x)[%w]
        %e = memref.load %image[%n, %i, %j, %c] : memref<32x113x113x64xf16>
        %m = arith.maximumf %most, %e : f16
        scf.yield %m : f16
      }
      scf.yield %row : f16
    }
    linalg.yield %max : f16
  }
  return
}

// -----

// A window of three rows: the block that reads the fewest elements for each output.
// CHECK-LABEL: func.func @lines
// CHECK-NOT:       scf.for
// CHECK:         tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 4, lines = 7, threads = 128>
func.func @lines(%image: memref<32x28x28x192xf16>, %filter: memref<3x3x192xf16>, %out: memref<32x28x28x192xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 3 : index
  %last = arith.constant 27 : index
  %none = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<32x28x28x192xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %sum = scf.for %y = %c0 to %size step %c1 iter_args(%before = %zero) -> f32 {
      %row = scf.for %x = %c0 to %size step %c1 iter_args(%partial = %before) -> f32 {
        %i = affine.apply affine_map<(a)[b] -> (a + b - 1)>(%y)[%h]
        %i0 = arith.maxsi %i, %c0 : index
        %i1 = arith.minsi %i0, %last : index
        %inRows = arith.cmpi eq, %i1, %i : index
        %j = affine.apply affine_map<(a)[b] -> (a + b - 1)>(%x)[%w]
        %j0 = arith.maxsi %j, %c0 : index
        %j1 = arith.minsi %j0, %last : index
        %inColumns = arith.cmpi eq, %j1, %j : index
        %inside = arith.andi %inRows, %inColumns : i1
        %e = memref.load %image[%n, %i1, %j1, %c] : memref<32x28x28x192xf16>
        %e1 = arith.select %inside, %e, %none : f16
        %f = memref.load %filter[%y, %x, %c] : memref<3x3x192xf16>
        %a = arith.extf %e1 : f16 to f32
        %b = arith.extf %f : f16 to f32
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %partial, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    %result = arith.truncf %sum : f32 to f16
    linalg.yield %result : f16
  }
  return
}

// -----

// Windows that move by two share less.
// CHECK-LABEL: func.func @two_apart
// CHECK-NOT:       scf.for
// CHECK:         tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 4, lines = 2, threads = 128>
func.func @two_apart(%image: memref<32x56x56x192xf16>, %filter: memref<3x3x192xf16>, %out: memref<32x28x28x192xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 3 : index
  %last = arith.constant 55 : index
  %none = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<32x28x28x192xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %sum = scf.for %y = %c0 to %size step %c1 iter_args(%before = %zero) -> f32 {
      %row = scf.for %x = %c0 to %size step %c1 iter_args(%partial = %before) -> f32 {
        %i = affine.apply affine_map<(a)[b] -> (a + b * 2 - 1)>(%y)[%h]
        %i0 = arith.maxsi %i, %c0 : index
        %i1 = arith.minsi %i0, %last : index
        %inRows = arith.cmpi eq, %i1, %i : index
        %j = affine.apply affine_map<(a)[b] -> (a + b * 2 - 1)>(%x)[%w]
        %j0 = arith.maxsi %j, %c0 : index
        %j1 = arith.minsi %j0, %last : index
        %inColumns = arith.cmpi eq, %j1, %j : index
        %inside = arith.andi %inRows, %inColumns : i1
        %e = memref.load %image[%n, %i1, %j1, %c] : memref<32x56x56x192xf16>
        %e1 = arith.select %inside, %e, %none : f16
        %f = memref.load %filter[%y, %x, %c] : memref<3x3x192xf16>
        %a = arith.extf %e1 : f16 to f32
        %b = arith.extf %f : f16 to f32
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %partial, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    %result = arith.truncf %sum : f32 to f16
    linalg.yield %result : f16
  }
  return
}

// -----

// Elements of 4 bytes have one line.
// CHECK-LABEL: func.func @floats
// CHECK-NOT:       scf.for
// CHECK:         tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 7, threads = 128>
func.func @floats(%image: memref<32x28x28x192xf32>, %filter: memref<3x3x192xf32>, %out: memref<32x28x28x192xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %size = arith.constant 3 : index
  %last = arith.constant 27 : index
  %none = arith.constant 0.0 : f32
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<32x28x28x192xf32>) {
  ^bb0(%o: f32):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %sum = scf.for %y = %c0 to %size step %c1 iter_args(%before = %zero) -> f32 {
      %row = scf.for %x = %c0 to %size step %c1 iter_args(%partial = %before) -> f32 {
        %i = affine.apply affine_map<(a)[b] -> (a + b - 1)>(%y)[%h]
        %i0 = arith.maxsi %i, %c0 : index
        %i1 = arith.minsi %i0, %last : index
        %inRows = arith.cmpi eq, %i1, %i : index
        %j = affine.apply affine_map<(a)[b] -> (a + b - 1)>(%x)[%w]
        %j0 = arith.maxsi %j, %c0 : index
        %j1 = arith.minsi %j0, %last : index
        %inColumns = arith.cmpi eq, %j1, %j : index
        %inside = arith.andi %inRows, %inColumns : i1
        %e = memref.load %image[%n, %i1, %j1, %c] : memref<32x28x28x192xf32>
        %e1 = arith.select %inside, %e, %none : f32
        %f = memref.load %filter[%y, %x, %c] : memref<3x3x192xf32>
        %p = arith.mulf %e1, %f : f32
        %s = arith.addf %partial, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    linalg.yield %sum : f32
  }
  return
}
