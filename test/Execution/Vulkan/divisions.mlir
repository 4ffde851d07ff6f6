// Divisions of 64 bits, which are computed of 32 bits where numbers have no
// more, and bit by bit elsewhere.

// REQUIRES: can-run-vulkan-lavapipe
// RUN: %software lavapipe gpu-runner %s --target=vulkan --verify | FileCheck %s
// CHECK: out 0: verified ({{.*}}, exact{{[,)]}}
// CHECK: out 1: verified ({{.*}}, exact{{[,)]}}
// CHECK: out 2: verified ({{.*}}, exact{{[,)]}}
// CHECK: out 3: verified ({{.*}}, exact{{[,)]}}
// CHECK: {{^}}verified

#map = affine_map<(d0) -> (d0)>
func.func @main() -> (tensor<12xi64>, tensor<12xi64>, tensor<12xi64>, tensor<12xi64>) {
  // The most that 32 and 64 bits hold, neighbours of powers of two, negative
  // ones, which are large without a sign.
  %a = arith.constant dense<[0, 7, 4294967295, 4294967296, 9223372036854775807, -1, -9223372036854775807, -7, 123456789012345678, 4294967297, -4294967297, 6148914691236517205]> : tensor<12xi64>
  %b = arith.constant dense<[3, 2, 3, 3, 10, 3, 7, 2, 4294967299, -1, 65537, -5]> : tensor<12xi64>
  %e = tensor.empty() : tensor<12xi64>
  %0 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<12xi64>, tensor<12xi64>) outs(%e : tensor<12xi64>) {
  ^bb0(%x: i64, %y: i64, %o: i64):
    %q = arith.divui %x, %y : i64
    linalg.yield %q : i64
  } -> tensor<12xi64>
  %1 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<12xi64>, tensor<12xi64>) outs(%e : tensor<12xi64>) {
  ^bb0(%x: i64, %y: i64, %o: i64):
    %q = arith.remui %x, %y : i64
    linalg.yield %q : i64
  } -> tensor<12xi64>
  %2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<12xi64>, tensor<12xi64>) outs(%e : tensor<12xi64>) {
  ^bb0(%x: i64, %y: i64, %o: i64):
    %q = arith.divsi %x, %y : i64
    linalg.yield %q : i64
  } -> tensor<12xi64>
  %3 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel"]}
      ins(%a, %b : tensor<12xi64>, tensor<12xi64>) outs(%e : tensor<12xi64>) {
  ^bb0(%x: i64, %y: i64, %o: i64):
    %q = arith.remsi %x, %y : i64
    linalg.yield %q : i64
  } -> tensor<12xi64>
  return %0, %1, %2, %3 : tensor<12xi64>, tensor<12xi64>, tensor<12xi64>, tensor<12xi64>
}
