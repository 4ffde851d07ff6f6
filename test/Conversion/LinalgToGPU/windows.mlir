// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-map-linalg-to-simt),canonicalize,cse)" -split-input-file | FileCheck %s

// A window for four channels at once, at eight positions of a row, which share
// the filter: for each row of the window, 3 loads of it, and 24 of elements (of
// which LLVM leaves 10). The loads of all rows precede the first wait.
// CHECK-LABEL: func.func @depthwise
// CHECK:       gpu.launch
// CHECK-NOT:     scf.for
// CHECK-COUNT-81: vector.load {{.*}} : memref<{{.+}}>, vector<4xf16>
// CHECK-NOT:     vector.load
// CHECK-NOT:     memref.load
// CHECK-COUNT-8: vector.store {{.*}} : memref<32x64x64x32xf16>, vector<4xf16>
// CHECK-NOT:     store
func.func @depthwise(%in: memref<32x66x66x32xf16>, %filter: memref<3x3x32xf16>, %out: memref<32x64x64x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<32x64x64x32xf16>) attrs = {tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 8, threads = 128>} {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %sum = scf.for %y = %c0 to %c3 step %c1 iter_args(%rows = %zero) -> f32 {
      %row = scf.for %x = %c0 to %c3 step %c1 iter_args(%part = %rows) -> f32 {
        %i = affine.apply affine_map<(a, b) -> (a + b)>(%h, %y)
        %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
        %e = memref.load %in[%n, %i, %j, %c] : memref<32x66x66x32xf16>
        %f = memref.load %filter[%y, %x, %c] : memref<3x3x32xf16>
        %ee = arith.extf %e : f16 to f32
        %ff = arith.extf %f : f16 to f32
        %p = arith.mulf %ee, %ff : f32
        %s = arith.addf %part, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    %r = arith.truncf %sum : f32 to f16
    linalg.yield %r : f16
  }
  return
}

// -----

// Few points: each thread has one row and a vector of 4 bytes, so that all SMs have work.
// CHECK-LABEL: func.func @few
// CHECK:       scf.for {{.*}} iter_args({{.+}}) -> (vector<2xf16>)
// CHECK-COUNT-1: vector.store
// CHECK-NOT:     store
func.func @few(%in: memref<8x64xf16>, %out: memref<4x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %low = arith.constant 0xFC00 : f16
  linalg.generic {indexing_maps = [affine_map<(w, c) -> (w, c)>], iterator_types = ["parallel", "parallel"]}
      outs(%out : memref<4x64xf16>) {
  ^bb0(%o: f16):
    %w = linalg.index 0 : index
    %c = linalg.index 1 : index
    %max = scf.for %x = %c0 to %c9 step %c1 iter_args(%most = %low) -> f16 {
      %j = affine.apply affine_map<(a, b) -> ((a + b) mod 8)>(%w, %x)
      %e = memref.load %in[%j, %c] : memref<8x64xf16>
      %m = arith.maximumf %most, %e : f16
      scf.yield %m : f16
    }
    linalg.yield %max : f16
  }
  return
}

// -----

// Elements whose index depends on the channel in another way are computed point
// by point: the channel is an index of another dimension, or counts backwards.
// CHECK-LABEL: func.func @gathered
// CHECK-NOT:   vector
// CHECK:       memref.load
func.func @gathered(%in: memref<64x64xf16>, %out: memref<64x64xf16>) {
  linalg.generic {indexing_maps = [affine_map<(w, c) -> (w, c)>], iterator_types = ["parallel", "parallel"]}
      outs(%out : memref<64x64xf16>) {
  ^bb0(%o: f16):
    %w = linalg.index 0 : index
    %c = linalg.index 1 : index
    %e = memref.load %in[%c, %w] : memref<64x64xf16>
    linalg.yield %e : f16
  }
  return
}

// CHECK-LABEL: func.func @reversed
// CHECK-NOT:   vector
// CHECK:       memref.load
func.func @reversed(%in: memref<64x64xf16>, %out: memref<64x64xf16>) {
  linalg.generic {indexing_maps = [affine_map<(w, c) -> (w, c)>], iterator_types = ["parallel", "parallel"]}
      outs(%out : memref<64x64xf16>) {
  ^bb0(%o: f16):
    %w = linalg.index 0 : index
    %c = linalg.index 1 : index
    %j = affine.apply affine_map<(a) -> (63 - a)>(%c)
    %e = memref.load %in[%w, %j] : memref<64x64xf16>
    linalg.yield %e : f16
  }
  return
}

// -----

// Rows of 33 channels: vectors of them are not aligned.
// CHECK-LABEL: func.func @unaligned
// CHECK-NOT:   vector
// CHECK:       memref.load
func.func @unaligned(%in: memref<64x33xf16>, %out: memref<64x33xf16>) {
  linalg.generic {indexing_maps = [affine_map<(w, c) -> (w, c)>], iterator_types = ["parallel", "parallel"]}
      outs(%out : memref<64x33xf16>) {
  ^bb0(%o: f16):
    %w = linalg.index 0 : index
    %c = linalg.index 1 : index
    %j = affine.apply affine_map<(a) -> (63 - a)>(%w)
    %e = memref.load %in[%j, %c] : memref<64x33xf16>
    linalg.yield %e : f16
  }
  return
}

// -----

// The channels of a group: a thread has eight filters at four positions of a row.
// For each row of the window, an access reads the four channels of a pixel (LLVM
// leaves 6 of 12), and 12 read filters, which the positions share.
// CHECK-LABEL: func.func @groups
// CHECK:       gpu.launch
// CHECK:         scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-NOT:       scf.for
// CHECK:           vector.load {{.*}} : memref<32x66x66x32x4xf16>, vector<4xf16>
// CHECK:           arith.extf {{.*}} : vector<4xf16> to vector<4xf32>
// CHECK:           vector.extract
// CHECK-NOT:       memref.load
// CHECK:           vector.load {{.*}} : memref<3x3x4x32x8xf16>, vector<8xf16>
// CHECK-NOT:       memref.load
// CHECK-COUNT-4: vector.store {{.*}} : memref<32x64x64x32x8xf16>, vector<8xf16>
// CHECK-NOT:     store
func.func @groups(%in: memref<32x66x66x32x4xf16>, %filter: memref<3x3x4x32x8xf16>, %out: memref<32x64x64x32x8xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, h, w, g, f) -> (n, h, w, g, f)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<32x64x64x32x8xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %g = linalg.index 3 : index
    %k = linalg.index 4 : index
    %sum = scf.for %y = %c0 to %c3 step %c1 iter_args(%rows = %zero) -> f32 {
      %row = scf.for %x = %c0 to %c3 step %c1 iter_args(%points = %rows) -> f32 {
        %point = scf.for %c = %c0 to %c4 step %c1 iter_args(%part = %points) -> f32 {
          %i = affine.apply affine_map<(a, b) -> (a + b)>(%h, %y)
          %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
          %e = memref.load %in[%n, %i, %j, %g, %c] : memref<32x66x66x32x4xf16>
          %f = memref.load %filter[%y, %x, %c, %g, %k] : memref<3x3x4x32x8xf16>
          %ee = arith.extf %e : f16 to f32
          %ff = arith.extf %f : f16 to f32
          %p = arith.mulf %ee, %ff : f32
          %s = arith.addf %part, %p : f32
          scf.yield %s : f32
        }
        scf.yield %point : f32
      }
      scf.yield %row : f32
    }
    %r = arith.truncf %sum : f32 to f16
    linalg.yield %r : f16
  }
  return
}

// -----

// With the columns last, a thread has a strip of four points in each of eight
// rows. Their windows' elements are those of a vector, which needs no bounds, and
// one at each end.
// CHECK-LABEL: func.func @strip
// CHECK:       gpu.launch
// CHECK-NOT:     scf.for
// CHECK:         %[[LEFT:.+]] = memref.load {{.*}} : memref<32x32x64x64xf16>
// CHECK:         arith.select %{{.+}}, %[[LEFT]]
// CHECK:         %[[MIDDLE:.+]] = vector.load {{.*}} {alignment = 8 : i64} : memref<32x32x64x64xf16>, vector<4xf16>
// CHECK:         vector.extract %[[MIDDLE]][0]
// CHECK-COUNT-8: vector.store {{.*}} : memref<32x32x64x64xf16>, vector<4xf16>
// CHECK-NOT:     store
func.func @strip(%in: memref<32x32x64x64xf16>, %filter: memref<32x3x3xf16>, %out: memref<32x32x64x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c63 = arith.constant 63 : index
  %none = arith.constant 0.0 : f16
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, c, h, w) -> (n, c, h, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<32x32x64x64xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %h = linalg.index 2 : index
    %w = linalg.index 3 : index
    %sum = scf.for %y = %c0 to %c3 step %c1 iter_args(%rows = %zero) -> f32 {
      %row = scf.for %x = %c0 to %c3 step %c1 iter_args(%part = %rows) -> f32 {
        %i = affine.apply affine_map<(a, b) -> (a + b - 1)>(%h, %y)
        %i0 = arith.maxsi %i, %c0 : index
        %i1 = arith.minsi %i0, %c63 : index
        %is = arith.cmpi eq, %i1, %i : index
        %j = affine.apply affine_map<(a, b) -> (a + b - 1)>(%w, %x)
        %j0 = arith.maxsi %j, %c0 : index
        %j1 = arith.minsi %j0, %c63 : index
        %js = arith.cmpi eq, %j1, %j : index
        %both = arith.andi %is, %js : i1
        %e = memref.load %in[%n, %c, %i1, %j1] : memref<32x32x64x64xf16>
        %padded = arith.select %both, %e, %none : f16
        %f = memref.load %filter[%c, %y, %x] : memref<32x3x3xf16>
        %ee = arith.extf %padded : f16 to f32
        %ff = arith.extf %f : f16 to f32
        %p = arith.mulf %ee, %ff : f32
        %s = arith.addf %part, %p : f32
        scf.yield %s : f32
      }
      scf.yield %row : f32
    }
    %r = arith.truncf %sum : f32 to f16
    linalg.yield %r : f16
  }
  return
}

// -----

// Rows of seven elements have no strips, and neither has a window of many columns,
// whose loop remains.
// CHECK-LABEL: func.func @no_strips
// CHECK-NOT:   vector
// CHECK:       return
func.func @no_strips(%in: memref<8x7xf16>, %long: memref<8x79xf16>, %out: memref<8x7xf16>, %wide: memref<8x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c6 = arith.constant 6 : index
  %c16 = arith.constant 16 : index
  %low = arith.constant 0xFC00 : f16
  linalg.generic {indexing_maps = [affine_map<(h, w) -> (h, w)>], iterator_types = ["parallel", "parallel"]} outs(%out : memref<8x7xf16>) {
  ^bb0(%o: f16):
    %h = linalg.index 0 : index
    %w = linalg.index 1 : index
    %max = scf.for %x = %c0 to %c3 step %c1 iter_args(%most = %low) -> f16 {
      %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
      %j1 = arith.minsi %j, %c6 : index
      %e = memref.load %in[%h, %j1] : memref<8x7xf16>
      %m = arith.maximumf %most, %e : f16
      scf.yield %m : f16
    }
    linalg.yield %max : f16
  }
  linalg.generic {indexing_maps = [affine_map<(h, w) -> (h, w)>], iterator_types = ["parallel", "parallel"]} outs(%wide : memref<8x64xf16>) {
  ^bb0(%o: f16):
    %h = linalg.index 0 : index
    %w = linalg.index 1 : index
    %max = scf.for %x = %c0 to %c16 step %c1 iter_args(%most = %low) -> f16 {
      %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
      %e = memref.load %long[%h, %j] : memref<8x79xf16>
      %m = arith.maximumf %most, %e : f16
      scf.yield %m : f16
    }
    linalg.yield %max : f16
  }
  return
}

// -----

// A branch on an index that is compared with a multiple of the width is one of a
// vector; with another number, vectors are narrower.
// CHECK-LABEL: func.func @branch
// CHECK:         %[[V:.+]] = scf.if %{{.+}} -> (vector<8xf16>)
// CHECK:           vector.load {{.*}} : memref<64x24xf16>, vector<8xf16>
// CHECK:         vector.store %[[V]]
// CHECK:         scf.if %{{.+}} -> (vector<4xf16>)
func.func @branch(%in: memref<64x24xf16>, %narrow: memref<64x20xf16>, %out: memref<64x32xf16>, %out1: memref<64x32xf16>) {
  %c24 = arith.constant 24 : index
  %c20 = arith.constant 20 : index
  %none = arith.constant 0.0 : f16
  linalg.generic {indexing_maps = [affine_map<(w, c) -> (w, c)>], iterator_types = ["parallel", "parallel"]} outs(%out : memref<64x32xf16>) {
  ^bb0(%o: f16):
    %w = linalg.index 0 : index
    %c = linalg.index 1 : index
    %is = arith.cmpi ult, %c, %c24 : index
    %e = scf.if %is -> f16 {
      %l = memref.load %in[%w, %c] : memref<64x24xf16>
      scf.yield %l : f16
    } else {
      scf.yield %none : f16
    }
    linalg.yield %e : f16
  }
  linalg.generic {indexing_maps = [affine_map<(w, c) -> (w, c)>], iterator_types = ["parallel", "parallel"]} outs(%out1 : memref<64x32xf16>) {
  ^bb0(%o: f16):
    %w = linalg.index 0 : index
    %c = linalg.index 1 : index
    %is = arith.cmpi ult, %c, %c20 : index
    %e = scf.if %is -> f16 {
      %l = memref.load %narrow[%w, %c] : memref<64x20xf16>
      scf.yield %l : f16
    } else {
      scf.yield %none : f16
    }
    linalg.yield %e : f16
  }
  return
}

// -----

// Few vectors for a row of positions each: narrower ones, at seven positions that
// share the filter.
// CHECK-LABEL: func.func @narrower
// CHECK:       gpu.launch
// CHECK:         vector<2xf16>
// CHECK-COUNT-7: vector.store {{.*}} : memref<32x7x7x960xf16>, vector<2xf16>
// CHECK-NOT:     store
func.func @narrower(%in: memref<32x7x11x960xf16>, %filter: memref<5x960xf16>, %out: memref<32x7x7x960xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c5 = arith.constant 5 : index
  %low = arith.constant 0xFC00 : f16
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<32x7x7x960xf16>) {
  ^bb0(%o: f16):
    %n = linalg.index 0 : index
    %h = linalg.index 1 : index
    %w = linalg.index 2 : index
    %c = linalg.index 3 : index
    %max = scf.for %x = %c0 to %c5 step %c1 iter_args(%most = %low) -> f16 {
      %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
      %e = memref.load %in[%n, %h, %j, %c] : memref<32x7x11x960xf16>
      %f = memref.load %filter[%x, %c] : memref<5x960xf16>
      %s = arith.addf %f, %e : f16
      %m = arith.maximumf %most, %s : f16
      scf.yield %m : f16
    }
    linalg.yield %max : f16
  }
  return
}
