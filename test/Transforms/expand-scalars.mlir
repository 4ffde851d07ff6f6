// RUN: gpu-opt %s --tessera-expand-scalars | FileCheck %s

// 8-bit floats become integer operations: only bitcasts of these types remain.
// The results are tested by execution. Operands of the generated code are never
// subnormal, since a device may flush them to zero. Conversions to f16, in
// which some results are subnormal, use integer operations only.
// CHECK-LABEL: func @extend
// CHECK:         arith.bitcast %{{.+}} : f8E4M3FN to i8
// CHECK-NOT:     arith.mulf
// CHECK:         arith.subf
// CHECK:         arith.bitcast %{{.+}} : f8E5M2 to i8
// CHECK-NOT:     f32
// CHECK:         arith.bitcast %{{.+}} : i16 to f16
// CHECK:         arith.bitcast %{{.+}} : vector<4xf8E4M3FNUZ> to vector<4xi8>
// CHECK-NOT:     arith.mulf
// CHECK:         arith.bitcast %{{.+}} : f8E5M2FNUZ to i8
// CHECK:         arith.extf %{{.+}} : f32 to f64
// CHECK-NOT:     arith.extf
// CHECK:         return
func.func @extend(%a: f8E4M3FN, %b: f8E5M2, %c: vector<4xf8E4M3FNUZ>, %d: f8E5M2FNUZ) -> (f32, f16, vector<4xf32>, f64) {
  %0 = arith.extf %a : f8E4M3FN to f32
  %1 = arith.extf %b : f8E5M2 to f16
  %2 = arith.extf %c : vector<4xf8E4M3FNUZ> to vector<4xf32>
  %3 = arith.extf %d : f8E5M2FNUZ to f64
  return %0, %1, %2, %3 : f32, f16, vector<4xf32>, f64
}

// CHECK-LABEL: func @truncate
// CHECK:         arith.bitcast %{{.+}} : i8 to f8E4M3FN
// CHECK:         arith.extf %{{.+}} : f16 to f32
// CHECK:         arith.bitcast %{{.+}} : i8 to f8E5M2
// CHECK:         arith.truncf %{{.+}} : vector<4xf64> to vector<4xf32>
// CHECK:         arith.bitcast %{{.+}} : vector<4xi8> to vector<4xf8E4M3FNUZ>
// CHECK-NOT:     arith.truncf
// CHECK:         return
func.func @truncate(%a: f32, %b: f16, %c: vector<4xf64>) -> (f8E4M3FN, f8E5M2, vector<4xf8E4M3FNUZ>) {
  %0 = arith.truncf %a : f32 to f8E4M3FN
  %1 = arith.truncf %b : f16 to f8E5M2
  %2 = arith.truncf %c : vector<4xf64> to vector<4xf8E4M3FNUZ>
  return %0, %1, %2 : f8E4M3FN, f8E5M2, vector<4xf8E4M3FNUZ>
}

// To and from integers: through f32.
// CHECK-LABEL: func @integers
// CHECK:         arith.sitofp %{{.+}} : i32 to f32
// CHECK:         arith.bitcast %{{.+}} : i8 to f8E4M3FN
// CHECK:         arith.bitcast %{{.+}} : f8E5M2 to i8
// CHECK:         arith.fptoui %{{.+}} : f32 to i8
func.func @integers(%a: i32, %b: f8E5M2) -> (f8E4M3FN, i8) {
  %0 = arith.sitofp %a : i32 to f8E4M3FN
  %1 = arith.fptoui %b : f8E5M2 to i8
  return %0, %1 : f8E4M3FN, i8
}

// Functions that would need a library become polynomials, of f16 in f32.
// CHECK-LABEL: func @functions
// CHECK-NOT:     math.exp
// CHECK-NOT:     math.tanh
// CHECK-NOT:     math.erf
// CHECK-NOT:     math.log
// CHECK:         return
func.func @functions(%x: f32, %h: f16, %v: vector<4xbf16>) -> (f32, f16, vector<4xbf16>, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.tanh %h : f16
  %2 = math.exp %v : vector<4xbf16>
  %3 = math.erf %x : f32
  %4 = math.log %x : f32
  return %0, %1, %2, %3, %4 : f32, f16, vector<4xbf16>, f32, f32
}

// Functions with an instruction are kept.
// CHECK-LABEL: func @instructions
// CHECK:         math.fma %{{.+}} : f16
// CHECK:         math.absf %{{.+}} : f16
// CHECK:         arith.extf %{{.+}} : f16 to f32
// CHECK:         arith.truncf %{{.+}} : f32 to bf16
func.func @instructions(%h: f16, %x: f32) -> (f16, f16, f32, bf16) {
  %0 = math.fma %h, %h, %h : f16
  %1 = math.absf %h : f16
  %2 = arith.extf %h : f16 to f32
  %3 = arith.truncf %x : f32 to bf16
  return %0, %1, %2, %3 : f16, f16, f32, bf16
}

// CHECK-LABEL: func @divisions
// CHECK-NOT:     ceildiv
// CHECK-NOT:     floordiv
// CHECK:         return
func.func @divisions(%a: index, %b: index) -> (index, index, index) {
  %0 = arith.ceildivui %a, %b : index
  %1 = arith.ceildivsi %a, %b : index
  %2 = arith.floordivsi %a, %b : index
  return %0, %1, %2 : index, index, index
}

// Arithmetic of 8-bit floats is computed in f32.
// CHECK-LABEL: func @arithmetic
// CHECK:         arith.addf %{{.+}} : f32
// CHECK:         arith.cmpf olt, %{{.+}} : f32
// CHECK:         math.fma %{{.+}} : vector<4xf32>
// CHECK-NOT:     {{(extf|truncf|addf|fma).*f8}}
// CHECK:         return
func.func @arithmetic(%a: f8E4M3FN, %b: f8E4M3FN, %c: vector<4xf8E5M2>) -> (f8E4M3FN, i1, vector<4xf8E5M2>) {
  %0 = arith.addf %a, %b : f8E4M3FN
  %1 = arith.cmpf olt, %0, %b : f8E4M3FN
  %2 = math.fma %c, %c, %c : vector<4xf8E5M2>
  return %0, %1, %2 : f8E4M3FN, i1, vector<4xf8E5M2>
}
