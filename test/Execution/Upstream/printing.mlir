// The functions of upstream's runner libraries print in upstream's format.

// RUN: gpu-runner %s --target=cpu | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s

// CHECK: Unranked Memref base@ = 0x{{[0-9a-f]+}} rank = 1 offset = 0 sizes = [3] strides = [1] data =
// CHECK-NEXT: {{^}}[65,  -2,  300]
// CHECK-NEXT: rank = 2 offset = 0 sizes = [2, 2] strides = [2, 1] data =
// CHECK-NEXT: {{^}}{{\[\[}}1.5,   -0],
// CHECK-NEXT: {{^}} [6.09756e-05,   1.19209e-07]]
// CHECK-NEXT: rank = 2 offset = 0 sizes = [2, 2] strides = [2, 1] data =
// CHECK-NEXT: {{^}}{{\[\[}}1.5,   2],
// CHECK-NEXT: {{^}} [3.00648e+10,   inf]]
// CHECK-NEXT: rank = 3 offset = 0 sizes = [2, 1, 2] strides = [2, 2, 1] data =
// CHECK-NEXT: {{^}}{{\[\[\[}}1.5,    2]],
// CHECK-NEXT: {{^}} {{\[\[}}3e+10,    1e-07]]]
// CHECK-NEXT: {{^}}Unranked Memref base@ = 0x{{[0-9a-f]+}} rank = 3 offset = 0 sizes = [2, 1, 2] strides = [2, 2, 1]{{$}}
// CHECK-NEXT: {{^}}Memref base@ = 0x{{[0-9a-f]+}} rank = 1 offset = 0 sizes = [2] strides = [1] data =
// CHECK-NEXT: {{^}}[0.5,  -1e+300]
// CHECK-NEXT: rank = 0 offset = 0 sizes = [] strides = [] data =
// CHECK-NEXT: {{^}}[8]
// CHECK-NEXT: {{^}}0{{$}}
// CHECK-NEXT: {{^}}0.1 18446744073709551615{{$}}
// CHECK-NEXT: {{^}}( ( 1.5, 2 ), ( 3, 4 ) )
// CHECK-NEXT: {{^}}( 1, 0 )
// CHECK-NEXT: {{^}}hello

func.func private @printMemrefI32(memref<*xi32>)
func.func private @printMemrefI64(memref<*xi64>)
func.func private @printMemrefF16(memref<*xf16>) attributes {llvm.emit_c_interface}
func.func private @printMemrefBF16(memref<*xbf16>) attributes {llvm.emit_c_interface}
func.func private @printMemrefF32(memref<*xf32>)
func.func private @printMemref1dF64(memref<?xf64>) attributes {llvm.emit_c_interface}
func.func private @printMemrefShapeF32(memref<*xf32>) attributes {llvm.emit_c_interface}
func.func private @verifyMemRefF32(memref<*xf32>, memref<*xf32>) -> i64 attributes {llvm.emit_c_interface}
llvm.func @printF32(f32)
llvm.func @printU64(i64)
llvm.func @printI64(i64)
llvm.func @printNewline()

memref.global "private" constant @i32 : memref<3xi32> = dense<[65, -2, 300]>
memref.global "private" constant @f16 : memref<2x2xf16> = dense<[[1.5, -0.0], [6.1e-5, 1.0e-7]]>
memref.global "private" constant @bf16 : memref<2x2xbf16> = dense<[[1.5, 2.0], [3.0e10, 0x7F80]]>
memref.global "private" constant @f32 : memref<2x1x2xf32> = dense<[[[1.5, 2.0]], [[3.0e10, 1.0e-7]]]>
memref.global "private" constant @f64 : memref<2xf64> = dense<[0.5, -1.0e300]>
memref.global "private" constant @i64 : memref<i64> = dense<8>

func.func @main() {
  %i32 = memref.get_global @i32 : memref<3xi32>
  %u32 = memref.cast %i32 : memref<3xi32> to memref<*xi32>
  call @printMemrefI32(%u32) : (memref<*xi32>) -> ()
  %f16 = memref.get_global @f16 : memref<2x2xf16>
  %u16 = memref.cast %f16 : memref<2x2xf16> to memref<*xf16>
  call @printMemrefF16(%u16) : (memref<*xf16>) -> ()
  %bf16 = memref.get_global @bf16 : memref<2x2xbf16>
  %ub16 = memref.cast %bf16 : memref<2x2xbf16> to memref<*xbf16>
  call @printMemrefBF16(%ub16) : (memref<*xbf16>) -> ()
  %f32 = memref.get_global @f32 : memref<2x1x2xf32>
  %uf32 = memref.cast %f32 : memref<2x1x2xf32> to memref<*xf32>
  call @printMemrefF32(%uf32) : (memref<*xf32>) -> ()
  call @printMemrefShapeF32(%uf32) : (memref<*xf32>) -> ()
  %f64 = memref.get_global @f64 : memref<2xf64>
  %d64 = memref.cast %f64 : memref<2xf64> to memref<?xf64>
  call @printMemref1dF64(%d64) : (memref<?xf64>) -> ()
  %i64 = memref.get_global @i64 : memref<i64>
  %u64 = memref.cast %i64 : memref<i64> to memref<*xi64>
  call @printMemrefI64(%u64) : (memref<*xi64>) -> ()
  %same = call @verifyMemRefF32(%uf32, %uf32) : (memref<*xf32>, memref<*xf32>) -> i64
  llvm.call @printI64(%same) : (i64) -> ()
  llvm.call @printNewline() : () -> ()
  %tenth = arith.constant 0.1 : f32
  llvm.call @printF32(%tenth) : (f32) -> ()
  vector.print str " "
  %minus = arith.constant -1 : i64
  llvm.call @printU64(%minus) : (i64) -> ()
  llvm.call @printNewline() : () -> ()
  %v = arith.constant dense<[[1.5, 2.0], [3.0, 4.0]]> : vector<2x2xf32>
  vector.print %v : vector<2x2xf32>
  %b = arith.constant dense<[true, false]> : vector<2xi1>
  vector.print %b : vector<2xi1>
  vector.print str "hello\n"
  return
}
