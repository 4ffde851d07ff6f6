// Contractions of several dimensions each, and operands that are made from others element by element.
//
// RUN: gpu-runner %s --target=cpu --entry=several_k --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=several_all --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=dequantized --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --entry=grouped --verify | FileCheck %s
// CHECK: checked {{[1-9][0-9]*}}, exact
// CHECK: verified

// K is two dimensions that lie side by side in both operands.
func.func @several_k(%a: memref<33x5x7xf32>, %b: memref<5x7x20xf32>, %c: memref<33x20xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<33x5x7xf32>, memref<5x7x20xf32>) init(%zero : f32)
      outs(%c : memref<33x20xf32>)
      maps [affine_map<(m, n, k, l) -> (m, k, l)>, affine_map<(m, n, k, l) -> (k, l, n)>,
            affine_map<(m, n, k, l) -> (m, n)>] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Two of M and of N side by side, and a batch between them in the output.
func.func @several_all(%a: memref<3x4x6x16xf16>, %b: memref<16x6x5x3xf16>, %c: memref<3x4x6x5x3xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<3x4x6x16xf16>, memref<16x6x5x3xf16>) init(%zero : f32)
      outs(%c : memref<3x4x6x5x3xf32>)
      maps [affine_map<(m, o, g, n, p, k) -> (m, o, g, k)>, affine_map<(m, o, g, n, p, k) -> (k, g, n, p)>,
            affine_map<(m, o, g, n, p, k) -> (m, o, g, n, p)>] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Weights of 8 bits with a scale and an offset for each column. The steps do not divide K.
func.func @dequantized(%a: memref<17x70xf16>, %b: memref<70x30xi8>, %s: memref<30xf16>, %c: memref<17x30xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<17x70xf16>, memref<70x30xi8>) init(%zero : f32)
      rhs_inputs(%s : memref<30xf16>) outs(%c : memref<17x30xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
            affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (n)>] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [16, 16], k = 16, kFragment = 8, stages = 1>
      rhs_producer {
  ^bb0(%x: i8, %y: f16):
    %f = arith.sitofp %x : i8 to f16
    %o = arith.constant 1.0 : f16
    %g = arith.subf %f, %o : f16
    %h = arith.mulf %g, %y : f16
    tessera.yield %h : f16
  } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// A scale for each 16 rows of B and column.
func.func @grouped(%a: memref<17x64xf16>, %b: memref<64x30xi8>, %s: memref<4x30xf16>, %c: memref<17x30xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<17x64xf16>, memref<64x30xi8>) init(%zero : f32)
      rhs_inputs(%s : memref<4x30xf16>) outs(%c : memref<17x30xf32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
            affine_map<(m, n, k) -> (m, n)>, affine_map<(m, n, k) -> (k floordiv 16, n)>] accumulate f32
      rhs_producer {
  ^bb0(%x: i8, %y: f16):
    %f = arith.sitofp %x : i8 to f16
    %h = arith.mulf %f, %y : f16
    tessera.yield %h : f16
  } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}
