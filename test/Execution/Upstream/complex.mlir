// Complex numbers in host code: constants, arithmetic, functions, and upstream's functions that print
// and compare them. @twice is called with functions that are values.

// RUN: gpu-runner %s --target=cpu 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERRORS < %t.err
// RUN: gpu-runner %s --target=cpu:emulate=sm_90a | FileCheck %s
// RUN: gpu-runner %s --target=cpu -e kernel --arg=iota | FileCheck %s --check-prefix=KERNEL
// RUN: gpu-runner %s --target=cuda:sm_90a -e kernel --emit=ptx -o %t.ptx
// RUN: gpu-runner %s --target=vulkan:nvidia-hopper -e kernel --emit=spirv -o %t.spv

// CHECK: rank = 1 offset = 0 sizes = [3] strides = [1] data =
// CHECK-NEXT: {{^}}[(1,2),  (-0.5,4),  (0,-1)]
// (1 + 2i)^2 = -3 + 4i, (-3 + 4i)^2 = -7 - 24i
// CHECK-NEXT: {{^}}( -7, -24 )
// The conjugate of the conjugate.
// CHECK-NEXT: {{^}}( 1, 2 )
// |3 - 4i| and the real part of exp(i pi / 3)
// CHECK-NEXT: {{^}}5
// CHECK-NEXT: {{^}}0.5
// CHECK-NEXT: {{^}}0
// CHECK-NEXT: {{^}}2
// CHECK-NEXT: rank = 1 offset = 0 sizes = [2] strides = [1] data =
// CHECK-NEXT: {{^}}[(0.25,-8),  (1,0)]

// Differences are written to standard error, as upstream does.
// ERRORS: (1,2) != (1,3) offset = 0
// ERRORS-NEXT: (0,-1) != (0,1) offset = 2

// For x: the imaginary part less the real one of (x + 2xi)^2 + x + 2xi, 7 x^2 + x
// KERNEL: {{^ *}}0 8 30 66

func.func private @printMemrefC32(tensor<*xcomplex<f32>> {bufferization.access = "read"}) attributes {llvm.emit_c_interface}
func.func private @printMemrefC64(tensor<*xcomplex<f64>> {bufferization.access = "read"})
func.func private @verifyMemRefC32(tensor<*xcomplex<f32>> {bufferization.access = "read"}, tensor<*xcomplex<f32>> {bufferization.access = "read"}) -> i64

func.func @square(%x: complex<f32>) -> complex<f32> {
  %0 = complex.mul %x, %x : complex<f32>
  return %0 : complex<f32>
}

func.func @conjugate(%x: complex<f32>) -> complex<f32> {
  %0 = complex.conj %x : complex<f32>
  return %0 : complex<f32>
}

func.func @twice(%f: (complex<f32>) -> complex<f32>, %x: complex<f32>) {
  %0 = call_indirect %f(%x) : (complex<f32>) -> complex<f32>
  %1 = call_indirect %f(%0) : (complex<f32>) -> complex<f32>
  %re = complex.re %1 : complex<f32>
  %im = complex.im %1 : complex<f32>
  %v = vector.from_elements %re, %im : vector<2xf32>
  vector.print %v : vector<2xf32>
  return
}

// In kernels, complex numbers are values, which become pairs.
func.func @kernel(%x: memref<4xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%nx = %c4, %ny = %c1, %nz = %c1) {
    %0 = memref.load %x[%tx] : memref<4xf32>
    %1 = arith.addf %0, %0 : f32
    %z = complex.create %0, %1 : complex<f32>
    %y = complex.mul %z, %z : complex<f32>
    %w = complex.add %y, %z : complex<f32>
    %re = complex.re %w : complex<f32>
    %im = complex.im %w : complex<f32>
    %2 = arith.subf %im, %re : f32
    memref.store %2, %x[%tx] : memref<4xf32>
    gpu.terminator
  }
  return
}

func.func @main() {
  %a = arith.constant dense<[(1.0, 2.0), (-0.5, 4.0), (0.0, -1.0)]> : tensor<3xcomplex<f32>>
  %b = arith.constant dense<[(1.0, 3.0), (-0.5, 4.0), (0.0, 1.0)]> : tensor<3xcomplex<f32>>
  %ua = tensor.cast %a : tensor<3xcomplex<f32>> to tensor<*xcomplex<f32>>
  %ub = tensor.cast %b : tensor<3xcomplex<f32>> to tensor<*xcomplex<f32>>
  call @printMemrefC32(%ua) : (tensor<*xcomplex<f32>>) -> ()
  %c0 = arith.constant 0 : index
  %x = tensor.extract %a[%c0] : tensor<3xcomplex<f32>>
  %square = constant @square : (complex<f32>) -> complex<f32>
  call @twice(%square, %x) : ((complex<f32>) -> complex<f32>, complex<f32>) -> ()
  %conjugate = constant @conjugate : (complex<f32>) -> complex<f32>
  call @twice(%conjugate, %x) : ((complex<f32>) -> complex<f32>, complex<f32>) -> ()
  %y = complex.constant [3.0 : f32, -4.0 : f32] : complex<f32>
  %abs = complex.abs %y : complex<f32>
  vector.print %abs : f32
  %z = complex.constant [0.0 : f64, 1.0471975511965976 : f64] : complex<f64>
  %exp = complex.exp %z : complex<f64>
  %cos = complex.re %exp : complex<f64>
  vector.print %cos : f64
  %same = call @verifyMemRefC32(%ua, %ua) : (tensor<*xcomplex<f32>>, tensor<*xcomplex<f32>>) -> i64
  vector.print %same : i64
  %different = call @verifyMemRefC32(%ua, %ub) : (tensor<*xcomplex<f32>>, tensor<*xcomplex<f32>>) -> i64
  vector.print %different : i64
  %wide = arith.constant dense<[(0.25, -8.0), (1.0, 0.0)]> : tensor<2xcomplex<f64>>
  %uw = tensor.cast %wide : tensor<2xcomplex<f64>> to tensor<*xcomplex<f64>>
  call @printMemrefC64(%uw) : (tensor<*xcomplex<f64>>) -> ()
  return
}
