// Steps of an odd number of elements of i4 along K: rows of a staged tile fill their last byte. By a schedule, and
// by default, where a scale for each element of one of two K dimensions leaves steps of one.
//
// RUN: gpu-runner %s --target=cpu --verify --entry=steps_3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=ahead | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=scales --arg=int:1:3x5x7x9 --arg=int:2:4x3x9 --arg=int:3:9 | FileCheck %s
// CHECK: {{^}}verified
//
// RUN: gpu-runner %s --target=cuda:sm_90a --entry=scales --emit=ptx | FileCheck %s --check-prefix=PTX
// PTX-LABEL: .entry scales_kernel
// PTX: st.shared.b8
// PTX: fma.rn.f32

#id = affine_map<(i, j) -> (i, j)>

func.func @steps_3(%a: tensor<21x13xi4>, %b: tensor<13x35xf32>) -> tensor<21x35xf32> {
  %zero = arith.constant 0.0 : f32
  %ea = tensor.empty() : tensor<21x13xf32>
  %wa = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<21x13xi4>) outs(%ea : tensor<21x13xf32>) {
  ^bb0(%x: i4, %o: f32):
    %w = arith.sitofp %x : i4 to f32
    linalg.yield %w : f32
  } -> tensor<21x13xf32>
  %e = tensor.empty() : tensor<21x35xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<21x35xf32>) -> tensor<21x35xf32>
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 16], k = 3,
                                                           kFragment = 1, stages = 1>}
      ins(%wa, %b : tensor<21x13xf32>, tensor<13x35xf32>) outs(%i : tensor<21x35xf32>) -> tensor<21x35xf32>
  return %r : tensor<21x35xf32>
}

// Several slots in workgroup memory, and both operands along K.
func.func @ahead(%a: tensor<21x13xi4>, %b: tensor<35x13xi4>) -> tensor<21x35xf32> {
  %zero = arith.constant 0.0 : f32
  %ea = tensor.empty() : tensor<21x13xf32>
  %eb = tensor.empty() : tensor<35x13xf32>
  %wa = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<21x13xi4>) outs(%ea : tensor<21x13xf32>) {
  ^bb0(%x: i4, %o: f32):
    %w = arith.sitofp %x : i4 to f32
    linalg.yield %w : f32
  } -> tensor<21x13xf32>
  %wb = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%b : tensor<35x13xi4>) outs(%eb : tensor<35x13xf32>) {
  ^bb0(%x: i4, %o: f32):
    %w = arith.uitofp %x : i4 to f32
    linalg.yield %w : f32
  } -> tensor<35x13xf32>
  %e = tensor.empty() : tensor<21x35xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<21x35xf32>) -> tensor<21x35xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>,
                                      affine_map<(m, n, k) -> (m, n)>]
      {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 16], k = 5, kFragment = 1, stages = 3>}
      ins(%wa, %wb : tensor<21x13xf32>, tensor<35x13xf32>) outs(%i : tensor<21x35xf32>) -> tensor<21x35xf32>
  return %r : tensor<21x35xf32>
}

func.func @scales(%a: tensor<?x?x?x?xi4>, %b: tensor<?x?x?xi4>, %s: tensor<?xf16>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %zero = arith.constant 0.0 : f32
  %a0 = tensor.dim %a, %c0 : tensor<?x?x?x?xi4>
  %a1 = tensor.dim %a, %c1 : tensor<?x?x?x?xi4>
  %a2 = tensor.dim %a, %c2 : tensor<?x?x?x?xi4>
  %a3 = tensor.dim %a, %c3 : tensor<?x?x?x?xi4>
  %b0 = tensor.dim %b, %c0 : tensor<?x?x?xi4>
  %b1 = tensor.dim %b, %c1 : tensor<?x?x?xi4>
  %ea = tensor.empty(%a0, %a1, %a2, %a3) : tensor<?x?x?x?xf16>
  %wa = linalg.generic {indexing_maps = [affine_map<(i, j, k, l) -> (i, j, k, l)>, affine_map<(i, j, k, l) -> (i, j, k, l)>],
                        iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%a : tensor<?x?x?x?xi4>) outs(%ea : tensor<?x?x?x?xf16>) {
  ^bb0(%x: i4, %o: f16):
    %w = arith.sitofp %x : i4 to f16
    linalg.yield %w : f16
  } -> tensor<?x?x?x?xf16>
  %eb = tensor.empty(%b0, %b1, %a3) : tensor<?x?x?xf16>
  %wb = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (k)>,
                                         affine_map<(i, j, k) -> (i, j, k)>],
                        iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%b, %s : tensor<?x?x?xi4>, tensor<?xf16>) outs(%eb : tensor<?x?x?xf16>) {
  ^bb0(%x: i4, %y: f16, %o: f16):
    %f = arith.uitofp %x : i4 to f16
    %p = arith.mulf %f, %y : f16
    linalg.yield %p : f16
  } -> tensor<?x?x?xf16>
  %e = tensor.empty(%b0, %a1, %a2) : tensor<?x?x?xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(b, j, m, n, k) -> (j, m, n, k)>, affine_map<(b, j, m, n, k) -> (b, j, k)>,
                                        affine_map<(b, j, m, n, k) -> (b, m, n)>],
                       iterator_types = ["parallel", "reduction", "parallel", "parallel", "reduction"]}
      ins(%wa, %wb : tensor<?x?x?x?xf16>, tensor<?x?x?xf16>) outs(%i : tensor<?x?x?xf32>) {
  ^bb0(%x: f16, %y: f16, %o: f32):
    %xw = arith.extf %x : f16 to f32
    %yw = arith.extf %y : f16 to f32
    %p = arith.mulf %xw, %yw : f32
    %q = arith.addf %o, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x?x?xf32>
  return %r : tensor<?x?x?xf32>
}
