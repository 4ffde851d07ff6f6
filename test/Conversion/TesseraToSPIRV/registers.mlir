// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An epilogue that reads a matrix has its elements in registers besides the
// sums: tiles without workgroup memory are narrower then.
//
// RUN: gpu-runner %s --target=opencl:pvc --emit=schedule | FileCheck %s
// CHECK-LABEL: func.func @main
// CHECK:       #tessera.schedule<workgroup = [256, 128], subgroup = [32, 32], k = 32, kFragment = 32, stages = 0,
// CHECK-LABEL: func.func @plain
// CHECK:       #tessera.schedule<workgroup = [256, 256], subgroup = [32, 64], k = 32, kFragment = 32, stages = 0,
//
// A kernel requests more registers for such an epilogue of staged operands, and
// for indices of a window, but not for a plain matmul of these tiles.
//
// RUN: gpu-runner %s --target=opencl:pvc --emit=vendor | grep gpu.func | FileCheck %s --check-prefix=REQUEST
// REQUEST: @staged_kernel{{.*}} tessera.registers = 256
// REQUEST-NEXT: @staged_plain_kernel
// REQUEST-NOT: tessera.registers
// REQUEST: @window_kernel{{.*}} tessera.registers = 256
//
// Intel's compiler then spills none.
//
// RUN: %if has-ocloc %{ gpu-runner %s --target=opencl:pvc --emit=spirv -o %t.spv && %ocloc %t.spv pvc | FileCheck %s --check-prefix=CODE %}
// CODE-NOT: {{warning|spill}}
// CODE: kernel window_kernel: {{.*}}has_dpas: true
// CODE-NOT: {{warning|spill}}

#ij = affine_map<(i, j) -> (i, j)>

func.func @main(%a: tensor<8192x128xf16>, %b: tensor<128x512xf16>, %c: tensor<8192x512xf16>) -> tensor<8192x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8192x128xf16>, tensor<128x512xf16>) outs(%f : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  %o = tensor.empty() : tensor<8192x512xf16>
  %s = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%r, %c : tensor<8192x512xf32>, tensor<8192x512xf16>) outs(%o : tensor<8192x512xf16>) {
  ^bb0(%x: f32, %y: f16, %old: f16):
    %z = arith.extf %y : f16 to f32
    %sum = arith.addf %x, %z : f32
    %h = arith.truncf %sum : f32 to f16
    linalg.yield %h : f16
  } -> tensor<8192x512xf16>
  return %s : tensor<8192x512xf16>
}

func.func @plain(%a: tensor<8192x128xf16>, %b: tensor<128x512xf16>) -> tensor<8192x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8192x128xf16>, tensor<128x512xf16>) outs(%f : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  %o = tensor.empty() : tensor<8192x512xf16>
  %s = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<8192x512xf32>) outs(%o : tensor<8192x512xf16>) {
  ^bb0(%x: f32, %old: f16):
    %h = arith.truncf %x : f32 to f16
    linalg.yield %h : f16
  } -> tensor<8192x512xf16>
  return %s : tensor<8192x512xf16>
}

// Rows of 24 bytes have no block loads.

func.func @staged(%a: tensor<8192x12xf16>, %b: tensor<12x512xf16>, %c: tensor<8192x512xf16>) -> tensor<8192x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8192x12xf16>, tensor<12x512xf16>) outs(%f : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  %o = tensor.empty() : tensor<8192x512xf16>
  %s = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%r, %c : tensor<8192x512xf32>, tensor<8192x512xf16>) outs(%o : tensor<8192x512xf16>) {
  ^bb0(%x: f32, %y: f16, %old: f16):
    %z = arith.extf %y : f16 to f32
    %sum = arith.addf %x, %z : f32
    %h = arith.truncf %sum : f32 to f16
    linalg.yield %h : f16
  } -> tensor<8192x512xf16>
  return %s : tensor<8192x512xf16>
}

func.func @staged_plain(%a: tensor<8192x12xf16>, %b: tensor<12x512xf16>) -> tensor<8192x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8192x12xf16>, tensor<12x512xf16>) outs(%f : tensor<8192x512xf32>) -> tensor<8192x512xf32>
  return %r : tensor<8192x512xf32>
}

func.func @window(%x: tensor<32x28x28x128xf16>, %w: tensor<3x3x128x128xf16>) -> tensor<32x28x28x128xf32> {
  %zero = arith.constant 0.0 : f16
  %none = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f16
  } : tensor<32x28x28x128xf16> to tensor<32x30x30x128xf16>
  %e = tensor.empty() : tensor<32x28x28x128xf32>
  %f = linalg.fill ins(%none : f32) outs(%e : tensor<32x28x28x128xf32>) -> tensor<32x28x28x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%padded, %w : tensor<32x30x30x128xf16>, tensor<3x3x128x128xf16>)
      outs(%f : tensor<32x28x28x128xf32>) -> tensor<32x28x28x128xf32>
  return %r : tensor<32x28x28x128xf32>
}
