// RUN: gpu-opt %s --pass-pipeline="builtin.module(tessera-attach-chip{target=cuda chip=sm_90a},func.func(tessera-map-linalg-to-simt),canonicalize,cse)" -split-input-file | FileCheck %s

// A thread computes two channels of four columns: 1024 threads, in 8 workgroups of 128.
// CHECK-LABEL: func.func @scheduled
// CHECK-DAG:     %[[BLOCKS:.+]] = arith.constant 8 : index
// CHECK-DAG:     %[[THREADS:.+]] = arith.constant 128 : index
// CHECK:         gpu.launch blocks({{.*}}) in (%{{.+}} = %[[BLOCKS]], {{.*}} threads({{.*}}) in (%{{.+}} = %[[THREADS]],
// CHECK-NOT:       scf.for
// CHECK-COUNT-4:   vector.store {{.*}}, vector<2xf16>
// CHECK-NOT:       vector.store
// CHECK:         } {tessera.schedule_origin = "set in the program", tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 4, threads = 128>}
func.func @scheduled(%in: memref<16x18x32xf16>, %out: memref<16x16x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %low = arith.constant 0xFC00 : f16
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<16x16x32xf16>) attrs = {tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 4, threads = 128>} {
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

// Without one, the launch has the compiler's choice, and no origin.
// CHECK-LABEL: func.func @default
// CHECK-COUNT-1:   vector.store {{.*}}, vector<2xf16>
// CHECK-NOT:       vector.store
// CHECK:         } {tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 1, threads = 256>}
func.func @default(%in: memref<16x18x32xf16>, %out: memref<16x16x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %low = arith.constant 0xFC00 : f16
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<16x16x32xf16>) {
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

// A record.
// CHECK-LABEL: func.func @tuned
// CHECK-COUNT-2:   vector.store {{.*}}, vector<4xf16>
// CHECK-NOT:       vector.store
// CHECK:         } {tessera.schedule_origin = "record 7", tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 2, threads = 64>}
func.func @tuned(%in: memref<16x18x32xf16>, %out: memref<16x16x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %low = arith.constant 0xFC00 : f16
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<16x16x32xf16>) attrs = {tessera.schedule_origin = "record 7", tessera.window_schedule = #tessera.window_schedule<points = 4, rows = 2, threads = 64>} {
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

// Two lines of two columns: the elements of a row of the image are used for both lines, one after the other, before
// those of the next row are. Line 0 is complete, and rounded, before the last row.
// CHECK-LABEL: func.func @lines
// CHECK-SAME:    (%[[IN:.+]]: memref<10x18x32xf16>, %[[FILTER:.+]]: memref<3x3x32xf16>
// CHECK-DAG:     %[[C0:.+]] = arith.constant 0 : index
// CHECK-DAG:     %[[C1:.+]] = arith.constant 1 : index
// CHECK-DAG:     %[[C2:.+]] = arith.constant 2 : index
// CHECK:         gpu.launch
// CHECK-NOT:       scf.for
// CHECK:           vector.load %[[FILTER]][%[[C0]], %[[C0]], %{{.+}}]
// CHECK:           vector.load %[[FILTER]][%[[C1]], %[[C0]], %{{.+}}]
// CHECK-NOT:       arith.truncf
// CHECK:           vector.load %[[FILTER]][%[[C2]], %[[C2]], %{{.+}}]
// CHECK-COUNT-2:   arith.truncf
// CHECK-NOT:       arith.truncf
// CHECK-COUNT-12:  vector.load %[[IN]]
// CHECK-NOT:       vector.load
// CHECK-COUNT-2:   arith.truncf
// CHECK-COUNT-4:   vector.store {{.*}}, vector<2xf16>
// CHECK:         tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 2, lines = 2, threads = 64>
func.func @lines(%in: memref<10x18x32xf16>, %filter: memref<3x3x32xf16>, %out: memref<8x16x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<8x16x32xf16>) attrs = {tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 2, lines = 2, threads = 64>} {
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

// Windows that are so far apart that lines share no row: one line after the other.
// CHECK-LABEL: func.func @far
// CHECK-COUNT-2:   arith.truncf
// CHECK:           vector.load
// CHECK-COUNT-2:   arith.truncf
// CHECK-COUNT-4:   vector.store {{.*}}, vector<2xf16>
func.func @far(%in: memref<?x18x32xf16>, %filter: memref<3x3x32xf16>, %out: memref<8x16x32xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  linalg.generic {indexing_maps = [affine_map<(h, w, c) -> (h, w, c)>], iterator_types = ["parallel", "parallel", "parallel"]}
      outs(%out : memref<8x16x32xf16>) attrs = {tessera.window_schedule = #tessera.window_schedule<points = 2, rows = 2, lines = 2, threads = 64>} {
  ^bb0(%o: f16):
    %h = linalg.index 0 : index
    %w = linalg.index 1 : index
    %c = linalg.index 2 : index
    %sum = scf.for %y = %c0 to %c3 step %c1 iter_args(%before = %zero) -> f32 {
      %row = scf.for %x = %c0 to %c3 step %c1 iter_args(%partial = %before) -> f32 {
        %i = affine.apply affine_map<(a, b) -> (a * 1099511627776 + b)>(%h, %y)
        %j = affine.apply affine_map<(a, b) -> (a + b)>(%w, %x)
        %e = memref.load %in[%i, %j, %c] : memref<?x18x32xf16>
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
