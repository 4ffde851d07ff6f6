// Floats of 8 and 4 bits as values: printed with their value, converted, and computed in f32.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s

// CHECK: {{^}}3.5
// CHECK-NEXT: {{^}}( 1.375, -0.0625, 448 )
// 2.25 is beyond i2: it saturates.
// CHECK-NEXT: {{^}}1
// CHECK-NEXT: {{^}}-2
// CHECK-NEXT: {{^}}3
// All values of f4E2M1FN, and the largest for what is beyond it.
// CHECK-NEXT: {{^}}( 0, 0.5, 1, 1.5, 2, 3, 4, 6, -0, -0.5, -1, -1.5, -2, -3, -4, -6 )
// CHECK-NEXT: {{^}}6
// CHECK-NEXT: {{^}}-3
// CHECK-NEXT: {{^}}16
// CHECK-NEXT: {{^}}0.25
// CHECK-NEXT: {{^}}( 5.87747e-39, 1.17549e-38, 1, 1.70141e+38, nan )

func.func private @values() -> (f8E4M3FN, f32, i32) {
  %a = arith.constant 1.4 : f8E4M3FN
  %b = arith.constant 2.2 : f32
  %c = arith.constant -100 : i32
  return %a, %b, %c : f8E4M3FN, f32, i32
}

func.func @main() {
  %a, %b, %hundred = call @values() : () -> (f8E4M3FN, f32, i32)
  %narrow = arith.truncf %b : f32 to f8E4M3FN
  %sum = arith.addf %a, %narrow : f8E4M3FN
  vector.print %sum : f8E4M3FN
  %v = arith.constant dense<[1.4, -0.0625, 448.0]> : vector<3xf8E4M3FN>
  vector.print %v : vector<3xf8E4M3FN>
  %to = arith.fptosi %narrow : f8E4M3FN to i2
  vector.print %to : i2
  %negative = arith.negf %narrow : f8E4M3FN
  %least = arith.fptosi %negative : f8E4M3FN to i2
  vector.print %least : i2
  %most = arith.fptoui %v : vector<3xf8E4M3FN> to vector<3xi2>
  %at2 = vector.extract %most[2] : i2 from vector<3xi2>
  %wide = arith.extui %at2 : i2 to i32
  vector.print %wide : i32
  %bits = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7, -8, -7, -6, -5, -4, -3, -2, -1]> : vector<16xi4>
  %four = arith.bitcast %bits : vector<16xi4> to vector<16xf4E2M1FN>
  vector.print %four : vector<16xf4E2M1FN>
  %large = arith.uitofp %hundred : i32 to f4E2M1FN
  vector.print %large : f4E2M1FN
  %minus = arith.negf %b : f32
  %rounded = arith.truncf %minus : f32 to f4E2M1FN
  %one = arith.constant 1.0 : f4E2M1FN
  %less = arith.subf %rounded, %one : f4E2M1FN
  vector.print %less : f4E2M1FN
  %x = arith.constant 4.0 : f8E8M0FNU
  %y = arith.constant 2.0 : f8E8M0FNU
  %z = arith.constant 8.0 : f8E8M0FNU
  %fma = math.fma %x, %y, %z : f8E8M0FNU
  vector.print %fma : f8E8M0FNU
  %eighth = arith.constant 0.125 : f8E8M0FNU
  %product = arith.mulf %y, %eighth : f8E8M0FNU
  vector.print %product : f8E8M0FNU
  %exponents = arith.constant dense<[0, 1, 127, -2, -1]> : vector<5xi8>
  %memory = memref.alloc() : memref<5xi8>
  %zero_index = arith.constant 0 : index
  vector.store %exponents, %memory[%zero_index] : memref<5xi8>, vector<5xi8>
  %loaded = vector.load %memory[%zero_index] : memref<5xi8>, vector<5xi8>
  memref.dealloc %memory : memref<5xi8>
  %powers = arith.bitcast %loaded : vector<5xi8> to vector<5xf8E8M0FNU>
  %wide_powers = arith.extf %powers : vector<5xf8E8M0FNU> to vector<5xf32>
  vector.print %wide_powers : vector<5xf32>
  return
}
