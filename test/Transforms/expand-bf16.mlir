// RUN: gpu-opt %s --tessera-expand-bf16 | FileCheck %s

// CHECK-LABEL: func @widen
// CHECK:         %[[BITS:.+]] = arith.bitcast %{{.+}} : vector<8xbf16> to vector<8xi16>
// CHECK:         %[[WIDE:.+]] = arith.extui %[[BITS]] : vector<8xi16> to vector<8xi32>
// CHECK:         %[[HIGH:.+]] = arith.shli %[[WIDE]], %{{.+}} : vector<8xi32>
// CHECK:         arith.bitcast %[[HIGH]] : vector<8xi32> to vector<8xf32>
func.func @widen(%x: vector<8xbf16>) -> vector<8xf32> {
  %y = arith.extf %x : vector<8xbf16> to vector<8xf32>
  return %y : vector<8xf32>
}

// To nearest even, and a NaN to one NaN.
// CHECK-LABEL: func @round
// CHECK-NOT:     arith.truncf
// CHECK:         arith.cmpf une
// CHECK:         arith.trunci %{{.+}} : i32 to i16
// CHECK:         arith.select
// CHECK:         arith.bitcast %{{.+}} : i16 to bf16
func.func @round(%x: f32) -> bf16 {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}

// CHECK-LABEL: func @interleave
// CHECK:         %[[S:.+]] = vector.shuffle %{{.+}}, %{{.+}} [0, 2, 1, 3] : vector<2xi16>, vector<2xi16>
// CHECK:         arith.bitcast %[[S]] : vector<4xi16> to vector<4xbf16>
func.func @interleave(%a: vector<2xbf16>, %b: vector<2xbf16>) -> vector<4xbf16> {
  %s = vector.shuffle %a, %b [0, 2, 1, 3] : vector<2xbf16>, vector<2xbf16>
  return %s : vector<4xbf16>
}

// Others are as they were.
// CHECK-LABEL: func @others
// CHECK:         arith.truncf %{{.+}} : f32 to f16
// CHECK:         vector.shuffle %{{.+}} : vector<2xf16>, vector<2xf16>
func.func @others(%x: f32, %a: vector<2xf16>) -> (f16, vector<4xf16>) {
  %y = arith.truncf %x : f32 to f16
  %s = vector.shuffle %a, %a [0, 2, 1, 3] : vector<2xf16>, vector<2xf16>
  return %y, %s : f16, vector<4xf16>
}
