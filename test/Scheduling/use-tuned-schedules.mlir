// RUN: gpu-opt %s --pass-pipeline="builtin.module(func.func(tessera-use-tuned-schedules))" | FileCheck %s
// RUN: sed 's/tessera.tuned/other.tuned/g' %s | gpu-opt --pass-pipeline="builtin.module(func.func(tessera-use-tuned-schedules))" \
// RUN:     | FileCheck %s --check-prefix=NONE

// A record provides the schedule of the contractions of its task that have none.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// NONE-NOT: schedule_origin
module attributes {tessera.tuned_source = "a.db", tessera.tuned = {
    "6ff47d1dcdd470b7" = {schedule = #tessera.schedule<workgroup = [64, 32], subgroup = [32, 32], k = 32>, origin = "record 7"},
    "8fd1a7b18a13b9c7" = {schedule = "#tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 64>", origin = "record 8"},
    "54780a15bab7cbf5" = {schedule = "#tessera.schedule<tile = [32, 32]>", origin = "record 9"}}} {

// CHECK-LABEL: func.func @found
// CHECK:         tessera.contract {{.*}}schedule <workgroup = [64, 32], subgroup = [32, 32], k = 32, {{.*}}tessera.schedule_origin = "record 7"
// NONE-LABEL: func.func @found
// NONE-NOT:     schedule <
// NONE-LABEL: func.func @unknown
func.func @found(%a: memref<128x256xf16>, %b: memref<256x128xf16>, %c: memref<128x128xf32>) {
  tessera.contract ins(%a, %b : memref<128x256xf16>, memref<256x128xf16>)
      outs(%c : memref<128x128xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func.func @unknown
// CHECK-NOT:     schedule <
// CHECK:         tessera.schedule_origin = "the compiler's choice: a.db has no record of 128x128x64 f16 x f16 -> f32"
func.func @unknown(%a: memref<128x64xf16>, %b: memref<64x128xf16>, %c: memref<128x128xf32>) {
  tessera.contract ins(%a, %b : memref<128x64xf16>, memref<64x128xf16>)
      outs(%c : memref<128x128xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// CHECK-LABEL: func.func @by_hand
// CHECK:         tessera.contract {{.*}}schedule <workgroup = [16, 16]
// CHECK-NOT:     schedule_origin
// CHECK:         return
func.func @by_hand(%a: memref<128x256xf16>, %b: memref<256x128xf16>, %c: memref<128x128xf32>) {
  tessera.contract ins(%a, %b : memref<128x256xf16>, memref<256x128xf16>)
      outs(%c : memref<128x128xf32>) maps [#mk, #kn, #mn] accumulate f32
      schedule <workgroup = [16, 16], subgroup = [16, 16], k = 16> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// The schedule may be text, which is parsed where it is used.
// CHECK-LABEL: func.func @text
// CHECK:         tessera.contract {{.*}}schedule <workgroup = [32, 32], subgroup = [32, 32], k = 64, {{.*}}tessera.schedule_origin = "record 8"
func.func @text(%a: memref<32x64xf16>, %b: memref<64x32xf16>, %c: memref<32x32xf32>) {
  tessera.contract ins(%a, %b : memref<32x64xf16>, memref<64x32xf16>)
      outs(%c : memref<32x32xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Another version wrote this record.
// CHECK-LABEL: func.func @unreadable
// CHECK-NOT:     schedule <
// CHECK:         tessera.schedule_origin = "the compiler's choice: this version cannot read the schedule of a record: #tessera.schedule<tile = [32, 32]>"
func.func @unreadable(%a: memref<48x64xf16>, %b: memref<64x32xf16>, %c: memref<48x32xf32>) {
  tessera.contract ins(%a, %b : memref<48x64xf16>, memref<64x32xf16>)
      outs(%c : memref<48x32xf32>) maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
}
