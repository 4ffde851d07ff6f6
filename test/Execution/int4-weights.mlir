// Weights of 4 bits, two in a byte: fused into matmuls, whatever byte their
// tiles start in, and read by SIMT kernels.
//
// REQUIRES: long_tests
// RUN: gpu-runner %s --target=cpu --verify --entry=per_column | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=odd | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=groups | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=transposed | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=lhs | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=staged | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=staged_odd | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic --arg=int:37x45 --arg=int:45x51 --arg=int:51x --arg=zeros:37x51 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=matvec | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=image | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=view | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=threads | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=sums | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=constant | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=bytes | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=integers | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=mixed | FileCheck %s
// RUN: not gpu-runner %s --target=cpu --verify --entry=odd --debug-corrupt-output=0 2>&1 | FileCheck %s --check-prefix=WRONG
// CHECK: verified
// WRONG: FAILED

#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
#col = affine_map<(i, j) -> (i)>

func.func @per_column(%a: tensor<40x96xf16>, %w: tensor<96x64xi4>, %s: tensor<64xf16>, %z: tensor<64xi4>,
                      %c: tensor<40x64xf32>) -> tensor<40x64xf32> {
  %e = tensor.empty() : tensor<96x64xf16>
  %d = linalg.generic {indexing_maps = [#id, #row, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s, %z : tensor<96x64xi4>, tensor<64xf16>, tensor<64xi4>) outs(%e : tensor<96x64xf16>) {
  ^bb0(%x: i4, %scale: f16, %zero: i4, %out: f16):
    %x8 = arith.extui %x : i4 to i8
    %z8 = arith.extui %zero : i4 to i8
    %d8 = arith.subi %x8, %z8 : i8
    %f = arith.sitofp %d8 : i8 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<96x64xf16>
  %r = linalg.matmul ins(%a, %d : tensor<40x96xf16>, tensor<96x64xf16>)
      outs(%c : tensor<40x64xf32>) -> tensor<40x64xf32>
  return %r : tensor<40x64xf32>
}

// Every other row begins in the middle of a byte.
func.func @odd(%a: tensor<21x33xbf16>, %w: tensor<33x29xi4>, %s: tensor<29xf32>,
               %c: tensor<21x29xf32>) -> tensor<21x29xf32> {
  %e = tensor.empty() : tensor<33x29xbf16>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<33x29xi4>, tensor<29xf32>) outs(%e : tensor<33x29xbf16>) {
  ^bb0(%x: i4, %scale: f32, %out: bf16):
    %x32 = arith.extsi %x : i4 to i32
    %f = arith.sitofp %x32 : i32 to f32
    %p = arith.mulf %f, %scale : f32
    %t = arith.truncf %p : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<33x29xbf16>
  %r = linalg.matmul ins(%a, %d : tensor<21x33xbf16>, tensor<33x29xbf16>)
      outs(%c : tensor<21x29xf32>) -> tensor<21x29xf32>
  return %r : tensor<21x29xf32>
}

// A scale for each 32 rows.
#gid = affine_map<(g, i, j) -> (g, i, j)>
#group = affine_map<(g, i, j) -> (g, j)>
func.func @groups(%a: tensor<24x128xf16>, %w: tensor<128x40xi4>, %s: tensor<4x40xf16>,
                  %c: tensor<24x40xf32>) -> tensor<24x40xf32> {
  %wg = tensor.expand_shape %w [[0, 1], [2]] output_shape [4, 32, 40] : tensor<128x40xi4> into tensor<4x32x40xi4>
  %e = tensor.empty() : tensor<4x32x40xf16>
  %d = linalg.generic {indexing_maps = [#gid, #group, #gid], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<4x32x40xi4>, tensor<4x40xf16>) outs(%e : tensor<4x32x40xf16>) {
  ^bb0(%x: i4, %scale: f16, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<4x32x40xf16>
  %k = tensor.collapse_shape %d [[0, 1], [2]] : tensor<4x32x40xf16> into tensor<128x40xf16>
  %r = linalg.matmul ins(%a, %k : tensor<24x128xf16>, tensor<128x40xf16>)
      outs(%c : tensor<24x40xf32>) -> tensor<24x40xf32>
  return %r : tensor<24x40xf32>
}

// Weights of NxK, unsigned.
func.func @transposed(%a: tensor<19x70xf16>, %w: tensor<31x70xi4>, %s: tensor<31xf16>,
                      %c: tensor<19x31xf32>) -> tensor<19x31xf32> {
  %e = tensor.empty() : tensor<31x70xf16>
  %d = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<31x70xi4>, tensor<31xf16>) outs(%e : tensor<31x70xf16>) {
  ^bb0(%x: i4, %scale: f16, %out: f16):
    %f = arith.uitofp %x : i4 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<31x70xf16>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %d : tensor<19x70xf16>, tensor<31x70xf16>)
      outs(%c : tensor<19x31xf32>) -> tensor<19x31xf32>
  return %r : tensor<19x31xf32>
}

func.func @lhs(%w: tensor<27x45xi4>, %b: tensor<45x22xf16>, %c: tensor<27x22xf32>) -> tensor<27x22xf32> {
  %e = tensor.empty() : tensor<27x45xf16>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<27x45xi4>) outs(%e : tensor<27x45xf16>) {
  ^bb0(%x: i4, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    linalg.yield %f : f16
  } -> tensor<27x45xf16>
  %r = linalg.matmul ins(%d, %b : tensor<27x45xf16>, tensor<45x22xf16>)
      outs(%c : tensor<27x22xf32>) -> tensor<27x22xf32>
  return %r : tensor<27x22xf32>
}

// Through workgroup memory, with copies that run ahead, swizzled.
func.func @staged(%a: tensor<48x192xf16>, %w: tensor<192x160xi4>, %s: tensor<160xf16>,
                  %c: tensor<48x160xf32>) -> tensor<48x160xf32> {
  %e = tensor.empty() : tensor<192x160xf16>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<192x160xi4>, tensor<160xf16>) outs(%e : tensor<192x160xf16>) {
  ^bb0(%x: i4, %scale: f16, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<192x160xf16>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 64], subgroup = [32, 32], k = 32, kFragment = 16,
                                                           stages = 3, swizzle = true>}
      ins(%a, %d : tensor<48x192xf16>, tensor<192x160xf16>)
      outs(%c : tensor<48x160xf32>) -> tensor<48x160xf32>
  return %r : tensor<48x160xf32>
}
func.func @staged_odd(%a: tensor<37x75xf16>, %w: tensor<75x83xi4>,
                      %c: tensor<37x83xf32>) -> tensor<37x83xf32> {
  %e = tensor.empty() : tensor<75x83xf16>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<75x83xi4>) outs(%e : tensor<75x83xf16>) {
  ^bb0(%x: i4, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    linalg.yield %f : f16
  } -> tensor<75x83xf16>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 32], k = 16, kFragment = 16, stages = 2>}
      ins(%a, %d : tensor<37x75xf16>, tensor<75x83xf16>)
      outs(%c : tensor<37x83xf32>) -> tensor<37x83xf32>
  return %r : tensor<37x83xf32>
}

func.func @dynamic(%a: tensor<?x?xf16>, %w: tensor<?x?xi4>, %s: tensor<?xf16>, %c: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = tensor.dim %w, %c0 : tensor<?x?xi4>
  %n = tensor.dim %w, %c1 : tensor<?x?xi4>
  %e = tensor.empty(%k, %n) : tensor<?x?xf16>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %s : tensor<?x?xi4>, tensor<?xf16>) outs(%e : tensor<?x?xf16>) {
  ^bb0(%x: i4, %scale: f16, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<?x?xf16>
  %r = linalg.matmul ins(%a, %d : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// One row of activations: plain threads.
func.func @matvec(%a: tensor<1x256xf16>, %w: tensor<256x96xi4>, %s: tensor<8x96xf16>,
                  %c: tensor<1x96xf32>) -> tensor<1x96xf32> {
  %wg = tensor.expand_shape %w [[0, 1], [2]] output_shape [8, 32, 96] : tensor<256x96xi4> into tensor<8x32x96xi4>
  %e = tensor.empty() : tensor<8x32x96xf16>
  %d = linalg.generic {indexing_maps = [#gid, #group, #gid], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%wg, %s : tensor<8x32x96xi4>, tensor<8x96xf16>) outs(%e : tensor<8x32x96xf16>) {
  ^bb0(%x: i4, %scale: f16, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    %p = arith.mulf %f, %scale : f16
    linalg.yield %p : f16
  } -> tensor<8x32x96xf16>
  %k = tensor.collapse_shape %d [[0, 1], [2]] : tensor<8x32x96xf16> into tensor<256x96xf16>
  %r = linalg.matmul ins(%a, %k : tensor<1x256xf16>, tensor<256x96xf16>)
      outs(%c : tensor<1x96xf32>) -> tensor<1x96xf32>
  return %r : tensor<1x96xf32>
}

// The image of a convolution is gathered, an element at a time.
#id4 = affine_map<(a, b, c, d) -> (a, b, c, d)>
func.func @image(%x: tensor<1x9x9x5xi4>, %w: tensor<3x3x5x8xf16>, %y: tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32> {
  %e = tensor.empty() : tensor<1x9x9x5xf16>
  %d = linalg.generic {indexing_maps = [#id4, #id4], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x9x9x5xi4>) outs(%e : tensor<1x9x9x5xf16>) {
  ^bb0(%v: i4, %out: f16):
    %f = arith.sitofp %v : i4 to f16
    linalg.yield %f : f16
  } -> tensor<1x9x9x5xf16>
  %r = linalg.conv_2d_nhwc_hwcf ins(%d, %w : tensor<1x9x9x5xf16>, tensor<3x3x5x8xf16>)
      outs(%y : tensor<1x7x7x8xf32>) -> tensor<1x7x7x8xf32>
  return %r : tensor<1x7x7x8xf32>
}

// Part of a larger tensor, which begins in the middle of a byte.
func.func @view(%a: tensor<16x24xf16>, %all: tensor<40x51xi4>, %c: tensor<16x30xf32>) -> tensor<16x30xf32> {
  %w = tensor.extract_slice %all[3, 7] [24, 30] [1, 1] : tensor<40x51xi4> to tensor<24x30xi4>
  %e = tensor.empty() : tensor<24x30xf16>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<24x30xi4>) outs(%e : tensor<24x30xf16>) {
  ^bb0(%x: i4, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    linalg.yield %f : f16
  } -> tensor<24x30xf16>
  %r = linalg.matmul ins(%a, %d : tensor<16x24xf16>, tensor<24x30xf16>)
      outs(%c : tensor<16x30xf32>) -> tensor<16x30xf32>
  return %r : tensor<16x30xf32>
}

// Not a matmul: a SIMT kernel, element by element or by vectors.
func.func @threads(%w: tensor<31x64xi4>, %v: tensor<17x33xi4>) -> (tensor<31x64xf16>, tensor<33x17xi32>) {
  %e = tensor.empty() : tensor<31x64xf16>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<31x64xi4>) outs(%e : tensor<31x64xf16>) {
  ^bb0(%x: i4, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    linalg.yield %f : f16
  } -> tensor<31x64xf16>
  %et = tensor.empty() : tensor<33x17xi32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<17x33xi4>) outs(%et : tensor<33x17xi32>) {
  ^bb0(%x: i4, %out: i32):
    %f = arith.extui %x : i4 to i32
    linalg.yield %f : i32
  } -> tensor<33x17xi32>
  return %d, %t : tensor<31x64xf16>, tensor<33x17xi32>
}
func.func @sums(%w: tensor<31x77xi4>, %v: tensor<12x128xi4>, %a: tensor<31xi32>, %b: tensor<12xi32>) -> (tensor<31xi32>, tensor<12xi32>) {
  %r = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<31x77xi4>) outs(%a : tensor<31xi32>) {
  ^bb0(%x: i4, %acc: i32):
    %f = arith.extsi %x : i4 to i32
    %p = arith.addi %acc, %f : i32
    linalg.yield %p : i32
  } -> tensor<31xi32>
  %s = linalg.generic {indexing_maps = [#id, #col], iterator_types = ["parallel", "reduction"]}
      ins(%v : tensor<12x128xi4>) outs(%b : tensor<12xi32>) {
  ^bb0(%x: i4, %acc: i32):
    %f = arith.extui %x : i4 to i32
    %p = arith.addi %acc, %f : i32
    linalg.yield %p : i32
  } -> tensor<12xi32>
  return %r, %s : tensor<31xi32>, tensor<12xi32>
}

func.func @constant(%a: tensor<4x3xf16>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %w = arith.constant dense<[[1, -2, 3, -4, 5], [7, -8, 0, 2, -1], [-3, 4, 6, -5, 1]]> : tensor<3x5xi4>
  %e = tensor.empty() : tensor<3x5xf16>
  %d = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<3x5xi4>) outs(%e : tensor<3x5xf16>) {
  ^bb0(%x: i4, %out: f16):
    %f = arith.sitofp %x : i4 to f16
    linalg.yield %f : f16
  } -> tensor<3x5xf16>
  %r = linalg.matmul ins(%a, %d : tensor<4x3xf16>, tensor<3x5xf16>) outs(%c : tensor<4x5xf32>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// Two weights in a byte by the program's own account: a kernel of its own
// unpacks them.
func.func @bytes(%a: tensor<8x32xf16>, %w: tensor<32x12xi8>, %c: tensor<8x24xf32>) -> tensor<8x24xf32> {
  %e = tensor.empty() : tensor<32x24xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j floordiv 2)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<32x12xi8>) outs(%e : tensor<32x24xf16>) {
  ^bb0(%x: i8, %out: f16):
    %j = linalg.index 1 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c15 = arith.constant 15 : i8
    %odd = arith.andi %j, %c1 : index
    %by = arith.muli %odd, %c4 : index
    %shift = arith.index_cast %by : index to i8
    %shifted = arith.shrui %x, %shift : i8
    %low = arith.andi %shifted, %c15 : i8
    %f = arith.uitofp %low : i8 to f16
    linalg.yield %f : f16
  } -> tensor<32x24xf16>
  %r = linalg.matmul ins(%a, %d : tensor<8x32xf16>, tensor<32x24xf16>) outs(%c : tensor<8x24xf32>) -> tensor<8x24xf32>
  return %r : tensor<8x24xf32>
}

// Matmuls of integers: a producer casts i4 to i8.
func.func @integers(%a: tensor<33x70xi4>, %b: tensor<70x41xi4>, %c: tensor<33x41xi32>) -> tensor<33x41xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<33x70xi4>, tensor<70x41xi4>) outs(%c : tensor<33x41xi32>) -> tensor<33x41xi32>
  return %r : tensor<33x41xi32>
}
func.func @mixed(%a: tensor<33x70xi8>, %b: tensor<70x41xi4>, %c: tensor<33x41xi32>) -> tensor<33x41xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<33x70xi8>, tensor<70x41xi4>) outs(%c : tensor<33x41xi32>) {
  ^bb0(%x: i8, %y: i4, %acc: i32):
    %xw = arith.extsi %x : i8 to i32
    %yw = arith.extui %y : i4 to i32
    %p = arith.muli %xw, %yw : i32
    %s = arith.addi %acc, %p : i32
    linalg.yield %s : i32
  } -> tensor<33x41xi32>
  return %r : tensor<33x41xi32>
}
