// Tiles of the output that go through workgroup memory: outputs of 2, 4 and 1 bytes, edges that divide nothing, an
// output whose rows run along M, batches, workgroups that walk through several tiles, parts of a reduction, virtual
// threads, an epilogue with a bias and a residual, sizes that are not known.
//
// REQUIRES: long_tests
// RUN: gpu-runner %s --target=cpu --verify --entry=half | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=single | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=bytes | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=transposed | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=batched | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=persistent | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=split | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=vthreads | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=epilogue | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=input | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=input_transposed | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic --arg=int:37x70 --arg=int:70x51 | FileCheck %s
// CHECK: checked {{[1-9][0-9]*}}, exact
// CHECK: {{^}}verified
//
// Lanes store 16 bytes of a row each, where without it they store two elements.
//
// RUN: gpu-runner %s --target=cuda:sm_80 --entry=persistent --emit=ptx | FileCheck %s --check-prefix=PTX
// PTX-LABEL: .entry persistent_kernel
// PTX-NOT:     st.global
// PTX:         bar.sync
// PTX-COUNT-4: st.shared.b32
// PTX-NEXT:    bar.sync
// PTX-NOT:     st.global
// PTX:         ld.shared.v4.b32 [[ROW:{.+}]],
// PTX-NOT:     st.global
// PTX:         st.global.v4.b32 {{.+}}, [[ROW]];
// PTX-NOT:     st.global
// PTX:         .entry split_kernel(

#kn = affine_map<(m, n, k) -> (k, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#nm = affine_map<(m, n, k) -> (n, m)>

// Rows of 64 bytes in workgroup memory, which are swizzled.
func.func @half(%a: tensor<45x70xf16>, %b: tensor<70x51xf16>) -> tensor<45x51xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<45x51xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<45x51xf32>) -> tensor<45x51xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 16], k = 16,
                                                           kFragment = 8, stages = 2, stageOutput = true>}
      ins(%a, %b : tensor<45x70xf16>, tensor<70x51xf16>) outs(%i : tensor<45x51xf32>) -> tensor<45x51xf32>
  %f = tensor.empty() : tensor<45x51xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<45x51xf32>) outs(%f : tensor<45x51xf16>) {
  ^bb0(%x: f32, %out: f16):
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  } -> tensor<45x51xf16>
  return %s : tensor<45x51xf16>
}

// Rows of 192 bytes, which are not, and the old value of the output.
func.func @single(%a: tensor<45x70xf32>, %b: tensor<70x51xf32>, %c: tensor<45x51xf32>) -> tensor<45x51xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 48], subgroup = [16, 24], k = 8,
                                                           stages = 0, stageOutput = true>}
      ins(%a, %b : tensor<45x70xf32>, tensor<70x51xf32>) outs(%c : tensor<45x51xf32>) -> tensor<45x51xf32>
  return %r : tensor<45x51xf32>
}

func.func @bytes(%a: memref<45x70xi8>, %b: memref<70x51xi8>, %c: memref<45x51xi8>) {
  tessera.contract ins(%a, %b : memref<45x70xi8>, memref<70x51xi8>) outs(%c : memref<45x51xi8>)
      maps [#mk, #kn, affine_map<(m, n, k) -> (m, n)>] accumulate i32
      schedule <workgroup = [32, 64], subgroup = [16, 32], k = 32, kFragment = 16, stages = 1, stageOutput = true> {
  ^bb0(%acc: i32):
    %x = arith.trunci %acc : i32 to i8
    tessera.yield %x : i8
  }
  return
}

// Rows in workgroup memory run as the output's do.
func.func @transposed(%a: memref<45x70xf16>, %b: memref<70x51xf16>, %c: memref<51x45xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<45x70xf16>, memref<70x51xf16>) init(%zero : f32) outs(%c : memref<51x45xf16>)
      maps [#mk, #kn, #nm] accumulate f32
      schedule <workgroup = [64, 16], subgroup = [16, 16], k = 16, stages = 1, stageOutput = true> {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// The batch is not the first dimension of the output; N is two dimensions.
func.func @batched(%a: memref<3x45x70xf16>, %b: memref<3x70x17x3xf16>, %c: memref<45x3x17x3xf32>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<3x45x70xf16>, memref<3x70x17x3xf16>) init(%zero : f32)
      outs(%c : memref<45x3x17x3xf32>)
      maps [affine_map<(b, m, n, o, k) -> (b, m, k)>, affine_map<(b, m, n, o, k) -> (b, k, n, o)>,
            affine_map<(b, m, n, o, k) -> (m, b, n, o)>] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [16, 32], k = 16, stages = 1, stageOutput = true> {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// Two workgroups for twelve tiles: the staged output of one tile is read before the next one is written.
func.func @persistent(%a: memref<128x64xf16>, %b: memref<64x96xf16>, %c: memref<128x96xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<128x64xf16>, memref<64x96xf16>) init(%zero : f32) outs(%c : memref<128x96xf16>)
      maps [#mk, #kn, affine_map<(m, n, k) -> (m, n)>] accumulate f32
      schedule <workgroup = [32, 32], subgroup = [16, 16], k = 16, stages = 1, raster = 3, persistent = 2,
                stageOutput = true> {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

// Each part's accumulators go to a workspace.
func.func @split(%a: tensor<45x200xf16>, %b: tensor<200x51xf16>, %c: tensor<45x51xf32>) -> tensor<45x51xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 32], k = 16, stages = 1,
                                                           splitK = 3, stageOutput = true>}
      ins(%a, %b : tensor<45x200xf16>, tensor<200x51xf16>) outs(%c : tensor<45x51xf32>) -> tensor<45x51xf32>
  return %r : tensor<45x51xf32>
}

func.func @vthreads(%a: memref<45x70xf16>, %b: memref<70x51xf16>, %c: memref<45x51xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<45x70xf16>, memref<70x51xf16>) init(%zero : f32) outs(%c : memref<45x51xf16>)
      maps [#mk, #kn, affine_map<(m, n, k) -> (m, n)>] accumulate f32
      schedule <workgroup = [32, 64], subgroup = [32, 32], k = 16, stages = 1, vthread = [2, 2], interleave = 2,
                stageOutput = true> {
  ^bb0(%acc: f32):
    %x = arith.truncf %acc : f32 to f16
    tessera.yield %x : f16
  }
  return
}

func.func @epilogue(%a: tensor<45x70xf16>, %b: tensor<70x51xf16>, %bias: tensor<51xf32>, %add: tensor<45x51xf16>) -> tensor<45x51xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<45x51xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<45x51xf32>) -> tensor<45x51xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 16], k = 16, stages = 3,
                                                           swizzle = true, stageOutput = true>}
      ins(%a, %b : tensor<45x70xf16>, tensor<70x51xf16>) outs(%i : tensor<45x51xf32>) -> tensor<45x51xf32>
  %f = tensor.empty() : tensor<45x51xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias, %add : tensor<45x51xf32>, tensor<51xf32>, tensor<45x51xf16>) outs(%f : tensor<45x51xf16>) {
  ^bb0(%x: f32, %y: f32, %z: f16, %out: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.extf %z : f16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<45x51xf16>
  return %s : tensor<45x51xf16>
}

// The matrix that is added comes to where the output is made: six tiles for two workgroups.
func.func @input(%a: tensor<96x70xf16>, %b: tensor<70x64xf16>, %bias: tensor<64xf32>, %add: tensor<96x64xf16>) -> tensor<96x64xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<96x64xf32>) -> tensor<96x64xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 16], k = 16, stages = 3,
                                                           swizzle = true, persistent = 2, stageOutput = true>}
      ins(%a, %b : tensor<96x70xf16>, tensor<70x64xf16>) outs(%i : tensor<96x64xf32>) -> tensor<96x64xf32>
  %f = tensor.empty() : tensor<96x64xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>,
                                        affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias, %add : tensor<96x64xf32>, tensor<64xf32>, tensor<96x64xf16>) outs(%f : tensor<96x64xf16>) {
  ^bb0(%x: f32, %y: f32, %z: f16, %out: f16):
    %0 = arith.addf %x, %y : f32
    %1 = arith.extf %z : f16 to f32
    %2 = arith.addf %0, %1 : f32
    %3 = arith.maximumf %2, %zero : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<96x64xf16>
  return %s : tensor<96x64xf16>
}

// The same by columns, in the parts of virtual threads.
func.func @input_transposed(%a: memref<128x64xf16>, %b: memref<64x96xf16>, %r: memref<96x128xf16>, %c: memref<96x128xf16>) {
  %zero = arith.constant 0.0 : f32
  tessera.contract ins(%a, %b : memref<128x64xf16>, memref<64x96xf16>) init(%zero : f32) extras(%r : memref<96x128xf16>) outs(%c : memref<96x128xf16>)
      maps [#mk, #kn, #nm, #nm] accumulate f32
      schedule <workgroup = [64, 32], subgroup = [32, 32], k = 16, stages = 1, vthread = [2, 2], interleave = 2, persistent = 2, stageOutput = true> {
  ^bb0(%acc: f32, %y: f16):
    %w = arith.extf %y : f16 to f32
    %x = arith.addf %acc, %w : f32
    %z = arith.truncf %x : f32 to f16
    tessera.yield %z : f16
  }
  return
}

func.func @dynamic(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>) -> tensor<?x?xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<?x?xf16>
  %n = tensor.dim %b, %c1 : tensor<?x?xf16>
  %e = tensor.empty(%m, %n) : tensor<?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 32], k = 16, stages = 2,
                                                           stageOutput = true>}
      ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%i : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
