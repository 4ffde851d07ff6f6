// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-map-linalg-to-simt))" -split-input-file -verify-diagnostics

func.func @c3(%in: memref<16x18x32xf16>, %out: memref<16x16x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %low = arith.constant 0xFC00 : f16
  // expected-error @+1 {{window_schedule_c3: points (16) must be at most 8, the elements that a thread of sm_90a can compute at a time here}}
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<16x16x32xf16>) attrs = {tessera.window_schedule = #tessera.window_schedule<points = 16, rows = 1, threads = 64>} {
  ^bb0(%o: f16):
    %h = linalg.index 0 : index
    %w = linalg.index 1 : index
    %c = linalg.index 2 : index
    %max = scf.for %x = %c0 to %c3 step %c1 iter_args(%most = %low) -> f16 {
      %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
      %e = memref.load %in[%h, %j, %c] : memref<16x18x32xf16>
      %m = arith.maximumf %most, %e : f16
      scf.yield %m : f16
    }
    linalg.yield %max : f16
  }
  return
}

// -----

func.func @c4(%in: memref<16x18x32xf16>, %out: memref<16x16x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %low = arith.constant 0xFC00 : f16
  // expected-error @+1 {{window_schedule_c4: rows (3) must divide the extent of the output's dimension that they are along, 16}}
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<16x16x32xf16>) attrs = {tessera.window_schedule = #tessera.window_schedule<points = 8, rows = 3, threads = 64>} {
  ^bb0(%o: f16):
    %h = linalg.index 0 : index
    %w = linalg.index 1 : index
    %c = linalg.index 2 : index
    %max = scf.for %x = %c0 to %c3 step %c1 iter_args(%most = %low) -> f16 {
      %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
      %e = memref.load %in[%h, %j, %c] : memref<16x18x32xf16>
      %m = arith.maximumf %most, %e : f16
      scf.yield %m : f16
    }
    linalg.yield %max : f16
  }
  return
}

// -----

func.func @c5(%in: memref<16x18x32xf16>, %out: memref<16x16x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %low = arith.constant 0xFC00 : f16
  // expected-error @+1 {{window_schedule_c5: threads (2048) must be at most 1024, the limit of a workgroup of sm_90a}}
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<16x16x32xf16>) attrs = {tessera.window_schedule = #tessera.window_schedule<points = 8, rows = 1, threads = 2048>} {
  ^bb0(%o: f16):
    %h = linalg.index 0 : index
    %w = linalg.index 1 : index
    %c = linalg.index 2 : index
    %max = scf.for %x = %c0 to %c3 step %c1 iter_args(%most = %low) -> f16 {
      %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
      %e = memref.load %in[%h, %j, %c] : memref<16x18x32xf16>
      %m = arith.maximumf %most, %e : f16
      scf.yield %m : f16
    }
    linalg.yield %max : f16
  }
  return
}

// -----

// Windows slide along one dimension only.
func.func @c4_lines(%in: memref<16x18x32xf16>, %out: memref<16x16x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %low = arith.constant 0xFC00 : f16
  // expected-error @+1 {{window_schedule_c4: lines must be 1, not 2: a thread of sm_90a can only have one line here}}
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<16x16x32xf16>) attrs = {tessera.window_schedule = #tessera.window_schedule<points = 8, rows = 1, lines = 2, threads = 64>} {
  ^bb0(%o: f16):
    %h = linalg.index 0 : index
    %w = linalg.index 1 : index
    %c = linalg.index 2 : index
    %max = scf.for %x = %c0 to %c3 step %c1 iter_args(%most = %low) -> f16 {
      %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
      %e = memref.load %in[%h, %j, %c] : memref<16x18x32xf16>
      %m = arith.maximumf %most, %e : f16
      scf.yield %m : f16
    }
    linalg.yield %max : f16
  }
  return
}

// -----

func.func @c4_divides(%in: memref<10x18x32xf16>, %filter: memref<3x3x32xf16>, %out: memref<8x16x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{window_schedule_c4: lines (3) must divide the extent of the output's dimension that they are along, 8}}
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<8x16x32xf16>) attrs = {tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 2, lines = 3, threads = 64>} {
  ^bb0(%o: f16):
    %h = linalg.index 0 : index
    %w = linalg.index 1 : index
    %c = linalg.index 2 : index
    %sum = scf.for %y = %c0 to %c3 step %c1 iter_args(%before = %zero) -> f32 {
      %row = scf.for %x = %c0 to %c3 step %c1 iter_args(%partial = %before) -> f32 {
        %i = affine.apply affine_map<(a, b) -> (a + b)>(%h, %y)
        %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
        %e = memref.load %in[%i, %j, %c] : memref<10x18x32xf16>
        %f = memref.load %filter[%y, %x, %c] : memref<3x3x32xf16>
        %a = arith.extf %e : f16 to f32
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

// A record of another version is dropped.
func.func @dropped(%in: memref<16x18x32xf16>, %out: memref<16x16x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %low = arith.constant 0xFC00 : f16
  // expected-warning @+1 {{the tuned schedule of this window (record 7) is not used: window_schedule_c4: rows (3) must divide the extent of the output's dimension that they are along, 16; tune it again}}
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<16x16x32xf16>) attrs = {tessera.schedule_origin = "record 7", tessera.window_schedule = #tessera.window_schedule<points = 8, rows = 3, threads = 64>} {
  ^bb0(%o: f16):
    %h = linalg.index 0 : index
    %w = linalg.index 1 : index
    %c = linalg.index 2 : index
    %max = scf.for %x = %c0 to %c3 step %c1 iter_args(%most = %low) -> f16 {
      %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
      %e = memref.load %in[%h, %j, %c] : memref<16x18x32xf16>
      %m = arith.maximumf %most, %e : f16
      scf.yield %m : f16
    }
    linalg.yield %max : f16
  }
  return
}

// -----

func.func @elementwise(%in: memref<16x16xf16>, %out: memref<16x16xf16>) {
  // expected-warning @+1 {{window_schedule has no effect: this op is not a window that threads compute point by point}}
  linalg.exp {tessera.window_schedule = #tessera.window_schedule<points = 8, rows = 1, threads = 64>} ins(%in : memref<16x16xf16>) outs(%out : memref<16x16xf16>)
  return
}
