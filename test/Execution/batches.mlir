// Workgroups that compute several matrices of a batch: straight from memory and staged, one matrix or several for a
// subgroup, several subgroups for a matrix, batches that end within a workgroup, of dynamic size,
// of several dimensions, old values of the output, epilogues, parts of a reduction, virtual threads, gathered
// windows, loops over tiles.
//
// REQUIRES: long_tests
// RUN: gpu-runner %s --target=cpu --verify --entry=direct | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=several | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=staged | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=pipelined | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=ragged | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=ragged_staged | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic --arg=int:11x8x8 --arg=int:11x8x8 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic --arg=int:1x5x7 --arg=int:1x7x3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic_staged --arg=int:11x8x8 --arg=int:11x8x8 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic_staged --arg=int:3x5x7 --arg=int:3x7x19 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=accumulate | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=shared | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=transposed | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=heads | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=windows | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=split | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=vthreads | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=persistent | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=many | FileCheck %s
// CHECK: checked {{[1-9][0-9]*}}, exact
// CHECK: {{^}}verified

#bkm = affine_map<(b, m, n, k) -> (b, k, m)>
#bnk = affine_map<(b, m, n, k) -> (b, n, k)>
#bmn = affine_map<(b, m, n, k) -> (b, m, n)>

// Four subgroups, each with a matrix of its own.
func.func @direct(%a: tensor<12x16x16xf16>, %b: tensor<12x16x16xf16>) -> tensor<12x16x16xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x16x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<12x16x16xf32>) -> tensor<12x16x16xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16,
                                                                 stages = 0, batches = 4>}
      ins(%a, %b : tensor<12x16x16xf16>, tensor<12x16x16xf16>) outs(%i : tensor<12x16x16xf32>) -> tensor<12x16x16xf32>
  %t = arith.truncf %r : tensor<12x16x16xf32> to tensor<12x16x16xf16>
  return %t : tensor<12x16x16xf16>
}

// Two subgroups with four matrices each, smaller than the tile.
func.func @several(%a: tensor<32x8x8xf16>, %b: tensor<32x8x8xf16>) -> tensor<32x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x8x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<32x8x8xf32>) -> tensor<32x8x8xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 8], subgroup = [16, 8], k = 8,
                                                                 stages = 0, batches = 8, subgroupBatches = 4>}
      ins(%a, %b : tensor<32x8x8xf16>, tensor<32x8x8xf16>) outs(%i : tensor<32x8x8xf32>) -> tensor<32x8x8xf32>
  return %r : tensor<32x8x8xf32>
}

// Four subgroups for each of two matrices, tiles that stick out, several steps.
func.func @staged(%a: tensor<6x40x72xf16>, %b: tensor<6x72x56xf16>) -> tensor<6x40x56xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x40x56xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<6x40x56xf32>) -> tensor<6x40x56xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 16], k = 32,
                                                                 kFragment = 16, stages = 1, swizzle = true,
                                                                 batches = 2>}
      ins(%a, %b : tensor<6x40x72xf16>, tensor<6x72x56xf16>) outs(%i : tensor<6x40x56xf32>) -> tensor<6x40x56xf32>
  return %r : tensor<6x40x56xf32>
}

func.func @pipelined(%a: tensor<8x24x70xf32>, %b: tensor<8x70x24xf32>) -> tensor<8x24x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x24x24xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8x24x24xf32>) -> tensor<8x24x24xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 8,
                                                                 kFragment = 4, stages = 3, batches = 4,
                                                                 subgroupBatches = 2>}
      ins(%a, %b : tensor<8x24x70xf32>, tensor<8x70x24xf32>) outs(%i : tensor<8x24x24xf32>) -> tensor<8x24x24xf32>
  return %r : tensor<8x24x24xf32>
}

// The last workgroup has two of its eight matrices.
func.func @ragged(%a: tensor<10x16x32xi8>, %b: tensor<10x32x16xi8>) -> tensor<10x16x16xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<10x16x16xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<10x16x16xi32>) -> tensor<10x16x16xi32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 32,
                                                                 stages = 0, batches = 8, subgroupBatches = 2>}
      ins(%a, %b : tensor<10x16x32xi8>, tensor<10x32x16xi8>) outs(%i : tensor<10x16x16xi32>) -> tensor<10x16x16xi32>
  return %r : tensor<10x16x16xi32>
}

func.func @ragged_staged(%a: tensor<7x9x13xf64>, %b: tensor<7x13x5xf64>) -> tensor<7x9x5xf64> {
  %zero = arith.constant 0.0 : f64
  %e = tensor.empty() : tensor<7x9x5xf64>
  %i = linalg.fill ins(%zero : f64) outs(%e : tensor<7x9x5xf64>) -> tensor<7x9x5xf64>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 8], subgroup = [16, 8], k = 8,
                                                                 stages = 2, batches = 4>}
      ins(%a, %b : tensor<7x9x13xf64>, tensor<7x13x5xf64>) outs(%i : tensor<7x9x5xf64>) -> tensor<7x9x5xf64>
  return %r : tensor<7x9x5xf64>
}

func.func @dynamic(%a: tensor<?x?x?xf32>, %b: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = tensor.dim %a, %c0 : tensor<?x?x?xf32>
  %m = tensor.dim %a, %c1 : tensor<?x?x?xf32>
  %n = tensor.dim %b, %c2 : tensor<?x?x?xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%z, %m, %n) : tensor<?x?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 4,
                                                                 stages = 0, batches = 4>}
      ins(%a, %b : tensor<?x?x?xf32>, tensor<?x?x?xf32>) outs(%i : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

func.func @dynamic_staged(%a: tensor<?x?x?xf16>, %b: tensor<?x?x?xf16>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %z = tensor.dim %a, %c0 : tensor<?x?x?xf16>
  %m = tensor.dim %a, %c1 : tensor<?x?x?xf16>
  %n = tensor.dim %b, %c2 : tensor<?x?x?xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty(%z, %m, %n) : tensor<?x?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16,
                                                                 stages = 2, batches = 4, subgroupBatches = 2>}
      ins(%a, %b : tensor<?x?x?xf16>, tensor<?x?x?xf16>) outs(%i : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}

// Matrices that are not there are not added to.
func.func @accumulate(%a: tensor<5x16x16xf16>, %b: tensor<5x16x16xf16>, %c: tensor<5x16x16xf32>) -> tensor<5x16x16xf32> {
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16,
                                                                 stages = 0, batches = 4, subgroupBatches = 2>}
      ins(%a, %b : tensor<5x16x16xf16>, tensor<5x16x16xf16>) outs(%c : tensor<5x16x16xf32>) -> tensor<5x16x16xf32>
  return %r : tensor<5x16x16xf32>
}

// A bias for each matrix.
func.func @shared(%a: tensor<9x16x16xf16>, %b: tensor<9x16x24xf16>, %bias: tensor<9xf32>) -> tensor<9x16x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x16x24xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<9x16x24xf32>) -> tensor<9x16x24xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 24], subgroup = [16, 24], k = 16,
                                                                 stages = 1, batches = 4>}
      ins(%a, %b : tensor<9x16x16xf16>, tensor<9x16x24xf16>) outs(%i : tensor<9x16x24xf32>) -> tensor<9x16x24xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b)>,
                                        affine_map<(b, m, n) -> (b, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%r, %bias : tensor<9x16x24xf32>, tensor<9xf32>) outs(%e : tensor<9x16x24xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %t = arith.addf %x, %y : f32
    linalg.yield %t : f32
  } -> tensor<9x16x24xf32>
  return %s : tensor<9x16x24xf32>
}

func.func @transposed(%a: tensor<6x16x24xf16>, %b: tensor<6x24x16xf16>) -> tensor<6x24x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x24x24xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<6x24x24xf32>) -> tensor<6x24x24xf32>
  %r = linalg.batch_matmul indexing_maps = [#bkm, #bnk, #bmn]
      {tessera.schedule = #tessera.schedule<workgroup = [32, 24], subgroup = [16, 24], k = 16, stages = 1, batches = 2>}
      ins(%a, %b : tensor<6x16x24xf16>, tensor<6x24x16xf16>) outs(%i : tensor<6x24x24xf32>) -> tensor<6x24x24xf32>
  return %r : tensor<6x24x24xf32>
}

// The batch is two dimensions that lie apart in memory: queries of three heads.
func.func @heads(%a: tensor<2x16x3x16xf16>, %b: tensor<2x24x3x16xf16>) -> tensor<2x3x16x24xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x3x16x24xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x16x24xf32>) -> tensor<2x3x16x24xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, h, m, n, k) -> (b, m, h, k)>, affine_map<(b, h, m, n, k) -> (b, n, h, k)>,
                                        affine_map<(b, h, m, n, k) -> (b, h, m, n)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<2x16x3x16xf16>, tensor<2x24x3x16xf16>) outs(%i : tensor<2x3x16x24xf32>)
      attrs = {tessera.schedule = #tessera.schedule<workgroup = [16, 24], subgroup = [16, 24], k = 16, stages = 1,
                                                    batches = 4>} {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x3x16x24xf32>
  return %r : tensor<2x3x16x24xf32>
}

// Windows of each group's image, which are gathered.
func.func @windows(%a: tensor<7x18x8xf16>, %b: tensor<7x3x8x16xf16>) -> tensor<7x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<7x16x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<7x16x16xf32>) -> tensor<7x16x16xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(g, x, f, r, c) -> (g, x + r, c)>, affine_map<(g, x, f, r, c) -> (g, r, c, f)>,
                                        affine_map<(g, x, f, r, c) -> (g, x, f)>],
                       iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%a, %b : tensor<7x18x8xf16>, tensor<7x3x8x16xf16>) outs(%i : tensor<7x16x16xf32>)
      attrs = {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16, stages = 1,
                                                    batches = 4>} {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %s = arith.addf %o, %p : f32
    linalg.yield %s : f32
  } -> tensor<7x16x16xf32>
  return %r : tensor<7x16x16xf32>
}

func.func @split(%a: tensor<5x16x64xf16>, %b: tensor<5x64x16xf16>) -> tensor<5x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x16x16xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<5x16x16xf32>) -> tensor<5x16x16xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16,
                                                                 stages = 1, splitK = 2, batches = 2>}
      ins(%a, %b : tensor<5x16x64xf16>, tensor<5x64x16xf16>) outs(%i : tensor<5x16x16xf32>) -> tensor<5x16x16xf32>
  return %r : tensor<5x16x16xf32>
}

func.func @vthreads(%a: tensor<5x32x16xf16>, %b: tensor<5x16x32xf16>) -> tensor<5x32x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x32x32xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<5x32x32xf32>) -> tensor<5x32x32xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 32], k = 16,
                                                                 stages = 1, vthread = [2, 2], batches = 4,
                                                                 subgroupBatches = 2>}
      ins(%a, %b : tensor<5x32x16xf16>, tensor<5x16x32xf16>) outs(%i : tensor<5x32x32xf32>) -> tensor<5x32x32xf32>
  return %r : tensor<5x32x32xf32>
}

func.func @persistent(%a: tensor<9x20x16xf16>, %b: tensor<9x16x36xf16>) -> tensor<9x20x36xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9x20x36xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<9x20x36xf32>) -> tensor<9x20x36xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16,
                                                                 stages = 1, raster = 1, persistent = 3, batches = 4>}
      ins(%a, %b : tensor<9x20x16xf16>, tensor<9x16x36xf16>) outs(%i : tensor<9x20x36xf32>) -> tensor<9x20x36xf32>
  return %r : tensor<9x20x36xf32>
}

// More workgroups than a grid has along z.
func.func @many(%a: tensor<131077x1x4xf16>, %b: tensor<131077x4x2xf16>) -> tensor<131077x1x2xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<131077x1x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<131077x1x2xf32>) -> tensor<131077x1x2xf32>
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 8], subgroup = [16, 8], k = 8,
                                                                 stages = 0, batches = 2>}
      ins(%a, %b : tensor<131077x1x4xf16>, tensor<131077x4x2xf16>) outs(%i : tensor<131077x1x2xf32>) -> tensor<131077x1x2xf32>
  return %r : tensor<131077x1x2xf32>
}
