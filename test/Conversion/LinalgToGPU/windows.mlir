// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-map-linalg-to-simt),canonicalize,cse)" -split-input-file | FileCheck %s

// A window for eight channels at once, at four positions of a row, which share
// the filter: for each row of the window, 3 loads of it, and 12 of elements (of
// which LLVM leaves 6). The loads of all rows precede the first wait.
// CHECK-LABEL: func.func @depthwise
// CHECK:       gpu.launch
// CHECK-NOT:     scf.for
// CHECK-COUNT-45: vector.load {{.*}} : memref<{{.+}}>, vector<8xf16>
// CHECK-NOT:     vector.load
// CHECK-NOT:     memref.load
// CHECK-COUNT-4: vector.store {{.*}} : memref<32x64x64x32xf16>, vector<8xf16>
// CHECK-NOT:     store
func.func @depthwise(%in: memref<32x66x66x32xf16>, %filter: memref<3x3x32xf16>, %out: memref<32x64x64x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(n, h, w, c) -> (n, h, w, c)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      outs(%out : memref<32x64x64x32xf16>) {
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

// Few points: each thread has one row, so that all SMs have work.
// CHECK-LABEL: func.func @few
// CHECK:       scf.for {{.*}} iter_args({{.+}}) -> (vector<8xf16>)
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
