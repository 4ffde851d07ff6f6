// Functions of the math dialect in host code, of operands that no pass knows.

// RUN: gpu-runner %s --target=cpu -entry-point-result=void | FileCheck %s

// CHECK:      {{^}}0.962424
// CHECK-NEXT: {{^}}1.19476
// CHECK-NEXT: {{^}}0.549306
// CHECK-NEXT: {{^}}( 0.463648, 0.982794 )
// CHECK-NEXT: {{^}}0.962424
// CHECK-NEXT: {{^}}1.14471
// CHECK-NEXT: {{^}}0.966105
// CHECK-NEXT: {{^}}0.0338949
// CHECK-NEXT: {{^}}0{{$}}
// CHECK-NEXT: {{^}}( 1, 0, 1, 0 )

func.func private @singles(%x: f32, %y: f32, %v: vector<2xf32>) {
  %0 = math.acosh %x : f32
  vector.print %0 : f32
  %1 = math.asinh %x : f32
  vector.print %1 : f32
  %2 = math.atanh %y : f32
  vector.print %2 : f32
  %3 = math.atan %v : vector<2xf32>
  vector.print %3 : vector<2xf32>
  return
}

func.func private @doubles(%x: f64) {
  %0 = math.acosh %x : f64
  vector.print %0 : f64
  %1 = math.cbrt %x : f64
  vector.print %1 : f64
  %2 = math.erf %x : f64
  vector.print %2 : f64
  %3 = math.erfc %x : f64
  vector.print %3 : f64
  return
}

func.func private @infinite(%x: f64, %v: vector<4xf32>) {
  %0 = math.isinf %x : f64
  vector.print %0 : i1
  %1 = math.isinf %v : vector<4xf32>
  vector.print %1 : vector<4xi1>
  return
}

// The result is not printed.
func.func @main() -> f32 {
  %x = arith.constant 1.5 : f32
  %y = arith.constant 0.5 : f32
  %v = arith.constant dense<[0.5, 1.5]> : vector<2xf32>
  %d = arith.constant 1.5 : f64
  %w = arith.constant dense<[0x7f800000, 3.4e38, 0xff800000, 0x7fc00000]> : vector<4xf32>
  call @singles(%x, %y, %v) : (f32, f32, vector<2xf32>) -> ()
  call @doubles(%d) : (f64) -> ()
  call @infinite(%d, %w) : (f64, vector<4xf32>) -> ()
  return %x : f32
}
