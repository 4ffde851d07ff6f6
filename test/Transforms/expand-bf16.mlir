// RUN: gpu-opt %s --tessera-expand-bf16 | FileCheck %s

// CHECK-LABEL: func @widen(
// CHECK-SAME:    %[[BITS:.+]]: vector<8xi16>
// CHECK:         %[[WIDE:.+]] = arith.extui %[[BITS]] : vector<8xi16> to vector<8xi32>
// CHECK:         %[[HIGH:.+]] = arith.shli %[[WIDE]], %{{.+}} : vector<8xi32>
// CHECK:         arith.bitcast %[[HIGH]] : vector<8xi32> to vector<8xf32>
func.func @widen(%x: vector<8xbf16>) -> vector<8xf32> {
  %y = arith.extf %x : vector<8xbf16> to vector<8xf32>
  return %y : vector<8xf32>
}

// To nearest even, and a NaN to one NaN.
// CHECK-LABEL: func @round(
// CHECK-SAME:    -> i16
// CHECK-NOT:     arith.truncf
// CHECK:         arith.cmpf une
// CHECK:         arith.trunci %{{.+}} : i32 to i16
// CHECK:         %[[R:.+]] = arith.select {{.+}} : i16
// CHECK-NEXT:    return %[[R]] : i16
func.func @round(%x: f32) -> bf16 {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}

// Memory, constants and results of branches have the bits: 1.0 is 0x3f80, -2.0 is 0xc000.
// CHECK-LABEL: func @moves(
// CHECK-SAME:    memref<?xi16>
// CHECK-NOT:     bf16
// CHECK-DAG:     arith.constant dense<16256> : vector<2xi16>
// CHECK-DAG:     arith.constant -16384 : i16
// CHECK:         scf.if %{{.+}} -> (vector<2xi16>)
// CHECK:           vector.load {{.+}} : memref<?xi16>, vector<2xi16>
// CHECK:         vector.shuffle %{{.+}}, %{{.+}} [0, 2, 1, 3] : vector<2xi16>, vector<2xi16>
// CHECK-NOT:     bf16
// CHECK:         return
func.func @moves(%m: memref<?xbf16>, %i: index, %c: i1) -> vector<4xbf16> {
  %one = arith.constant dense<1.0> : vector<2xbf16>
  %two = arith.constant -2.0 : bf16
  %v = scf.if %c -> vector<2xbf16> {
    %l = vector.load %m[%i] : memref<?xbf16>, vector<2xbf16>
    scf.yield %l : vector<2xbf16>
  } else {
    scf.yield %one : vector<2xbf16>
  }
  memref.store %two, %m[%i] : memref<?xbf16>
  %s = vector.shuffle %v, %one [0, 2, 1, 3] : vector<2xbf16>, vector<2xbf16>
  return %s : vector<4xbf16>
}

// Arithmetic of bf16 is left, with its type.
// CHECK-LABEL: func @computes(
// CHECK-SAME:    bf16
// CHECK:         arith.addf %{{.+}} : bf16
func.func @computes(%x: bf16) -> bf16 {
  %y = arith.addf %x, %x : bf16
  return %y : bf16
}

// A function that is called keeps its type.
// CHECK-LABEL: func @called(
// CHECK-SAME:    %{{.+}}: bf16) -> bf16
func.func @called(%x: bf16) -> bf16 {
  return %x : bf16
}

// CHECK-LABEL: func @calls(
// CHECK-SAME:    %[[X:.+]]: bf16
// CHECK:         call @called(%[[X]]) : (bf16) -> bf16
func.func @calls(%x: bf16) -> bf16 {
  %y = func.call @called(%x) : (bf16) -> bf16
  return %y : bf16
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
