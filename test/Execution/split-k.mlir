// Reductions in parts that are added up atomically: to the output itself, which
// holds its old value or a constant, and to accumulators that an epilogue
// reads. Small integers are exact in any order.
//
// REQUIRES: long_tests
// RUN: gpu-runner %s --target=cpu --verify --entry=old_value | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=constant | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=epilogue | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=integers --arg=int:37x1000 --arg=int:1000x29 --arg=int:37x29 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=doubles | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=batched | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=by_hand | FileCheck %s
// CHECK: exact)
// CHECK: {{^}}verified
//
// RUN: gpu-runner %s --target=cuda:sm_90a --emit=ptx | FileCheck %s --check-prefix=PTX
// PTX-NOT: fence
// PTX-DAG: atom.global.add.f32
// PTX-DAG: atom.global.add.f64
// PTX-DAG: atom.global.add.u32

func.func @old_value(%a: tensor<70x512xf16>, %b: tensor<512x45xf16>, %c: tensor<70x45xf32>) -> tensor<70x45xf32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 32,
                                                           kFragment = 16, splitK = 7, splitKReduction = atomic>}
      ins(%a, %b : tensor<70x512xf16>, tensor<512x45xf16>) outs(%c : tensor<70x45xf32>) -> tensor<70x45xf32>
  return %r : tensor<70x45xf32>
}

func.func @constant(%a: tensor<64x512xf16>, %b: tensor<512x64xf16>) -> tensor<64x64xf32> {
  %three = arith.constant 3.0 : f32
  %e = tensor.empty() : tensor<64x64xf32>
  %i = linalg.fill ins(%three : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [32, 16], k = 32, vthread = [2, 1],
                                                           kFragment = 16, stages = 2, splitK = 4, splitKReduction = atomic, raster = 2>}
      ins(%a, %b : tensor<64x512xf16>, tensor<512x64xf16>) outs(%i : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

func.func @epilogue(%a: tensor<70x512xf16>, %b: tensor<512x45xf16>, %bias: tensor<45xf32>) -> tensor<70x45xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<70x45xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<70x45xf32>) -> tensor<70x45xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 32,
                                                           kFragment = 16, splitK = 5, splitKReduction = atomic>}
      ins(%a, %b : tensor<70x512xf16>, tensor<512x45xf16>) outs(%i : tensor<70x45xf32>) -> tensor<70x45xf32>
  %f = tensor.empty() : tensor<70x45xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%r, %bias : tensor<70x45xf32>, tensor<45xf32>) outs(%f : tensor<70x45xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %z = arith.addf %x, %y : f32
    %w = arith.maximumf %z, %zero : f32
    %h = arith.truncf %w : f32 to f16
    linalg.yield %h : f16
  } -> tensor<70x45xf16>
  return %s : tensor<70x45xf16>
}

func.func @integers(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 64,
                                                           kFragment = 16, splitK = 3, splitKReduction = atomic>}
      ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

func.func @doubles(%a: memref<24x100xf64>, %b: memref<100x40xf64>, %c: memref<24x40xf64>) {
  linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [8, 8], subgroup = [8, 8], k = 4, splitK = 25,
                                                      splitKReduction = atomic, persistent = 5>}
      ins(%a, %b : memref<24x100xf64>, memref<100x40xf64>) outs(%c : memref<24x40xf64>)
  return
}

func.func @batched(%a: tensor<3x20x128xf32>, %b: tensor<3x128x18xf32>, %c: tensor<3x20x18xf32>) -> tensor<3x20x18xf32> {
  %r = linalg.batch_matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16,
                                                                 splitK = 4, splitKReduction = atomic>}
      ins(%a, %b : tensor<3x20x128xf32>, tensor<3x128x18xf32>) outs(%c : tensor<3x20x18xf32>) -> tensor<3x20x18xf32>
  return %r : tensor<3x20x18xf32>
}

// Four workgroups of two subgroups with two virtual threads each add to one
// address. Each element of a row of sums, which several lanes hold, is added once.
func.func @by_hand(%A: memref<13x19xf32>, %sum: memref<21x14xf32>, %rows: memref<16x3xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1) {
    tessera.vthread (%v) in (2) {
      %a = tessera.load %A[%v, %bx] : memref<13x19xf32> -> !tessera.fragment<16x16xf32, acc>
      tessera.store %a, %sum[%c1, %c0] transpose atomic_add : !tessera.fragment<16x16xf32, acc>, memref<21x14xf32>
      %s = tessera.reduce add %a dimension 1 : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x1xf32, acc>
      tessera.store %s, %rows[%c0, %c2] atomic_add : !tessera.fragment<16x1xf32, acc>, memref<16x3xf32>
      tessera.yield
    }
    gpu.terminator
  }
  return
}
