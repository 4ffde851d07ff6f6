// Attention of head dimensions other than 64 and 128 on Hopper: copies by a warpgroup that gives its registers
// away, no spills, and no serialized wgmma (C7513). The matmul with the values runs beside the softmax, also
// where a mask is applied, and where its instruction is wider than that of the scores. Tiles of 96 columns have
// 128, since their rows cannot be swizzled otherwise; blocks of the others have 80 and 48 keys, which leave memory for the output.
//
// REQUIRES: long_tests
// REQUIRES: can-compile-ptx
// RUN: gpu-runner %s --entry=d96 --target=cuda:sm_90a --emit=ptx -o %t.d96.ptx
// RUN: %ptxas -v -arch=sm_90a %t.d96.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: FileCheck %s --input-file=%t.d96.ptx
// RUN: gpu-runner %s --entry=d96 --target=cuda:sm_90a --explain --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=PADDED
// RUN: gpu-runner %s --entry=d192 --target=cuda:sm_90a --emit=ptx -o %t.d192.ptx
// RUN: %ptxas -v -arch=sm_90a %t.d192.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: FileCheck %s --input-file=%t.d192.ptx
// RUN: gpu-runner %s --entry=d192 --target=cuda:sm_90a --explain --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=D192
// RUN: gpu-runner %s --entry=d256 --target=cuda:sm_90a --emit=ptx -o %t.d256.ptx
// RUN: %ptxas -v -arch=sm_90a %t.d256.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: FileCheck %s --input-file=%t.d256.ptx
// RUN: gpu-runner %s --entry=d256 --target=cuda:sm_90a --explain --emit=ptx -o %t.ptx 2>&1 | FileCheck %s --check-prefix=D256
// PTXAS-NOT: {{C75|[1-9][0-9]* bytes spill}}
// PADDED: workgroup = [128, 128], subgroup = [64, 128], k = 96, {{.*}}stages = 2, {{.*}}swizzle = true, persistent = 132, {{.*}}stageOutput = true
// D192:   workgroup = [128, 80], subgroup = [64, 80], {{.*}}persistent = 132, {{.*}}stageOutput = true
// D256:   workgroup = [128, 48], subgroup = [64, 48], {{.*}}persistent = 132, {{.*}}stageOutput = true
//
// CHECK:      setmaxnreg.dec
// CHECK:      setmaxnreg.inc
// CHECK:      wgmma.wait_group.sync.aligned 0;
// CHECK:      wgmma.commit_group
// CHECK-NOT:  wgmma.wait_group
// CHECK:      wgmma.commit_group
// CHECK-NOT:  wgmma.wait_group
// CHECK:      wgmma.wait_group.sync.aligned 1;
// CHECK:      ex2.approx.ftz.f32
// CHECK:      bar.warp.sync -1;
// CHECK-NEXT: bar.warp.sync -1;
// CHECK-NEXT: wgmma.wait_group.sync.aligned 0;
//
// RUN: gpu-runner %s --entry=d256 --target=cpu:emulate=sm_90a --verify --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s --check-prefix=RUNS
// RUN: gpu-runner %s --entry=d96 --target=cpu:emulate=sm_90a --verify --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s --check-prefix=RUNS
// RUN: gpu-runner %s --entry=d192 --target=cpu:emulate=sm_90a --verify --arg=random:1 --arg=random:2 --arg=random:3 | FileCheck %s --check-prefix=RUNS
// RUNS: {{^}}verified

func.func @d96(%q: tensor<1x200x96xbf16>, %k: tensor<1x200x96xbf16>, %v: tensor<1x200x96xbf16>) -> tensor<1x200x96xbf16> {
  %zero_init = arith.constant 0.0 : f32
  %empty_init = tensor.empty() : tensor<1x200x200xf32>
  %init = linalg.fill ins(%zero_init : f32) outs(%empty_init : tensor<1x200x200xf32>) -> tensor<1x200x200xf32>
  %scores = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, n, k)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      ins(%q, %k : tensor<1x200x96xbf16>, tensor<1x200x96xbf16>) outs(%init : tensor<1x200x200xf32>) -> tensor<1x200x200xf32>
  %factor = arith.constant 1.020620726e-01 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %scaled = linalg.generic {
      indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<1x200x200xf32>) outs(%empty_init : tensor<1x200x200xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %factor : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi sle, %j, %i : index
    %1 = arith.select %seen, %0, %hidden : f32
    linalg.yield %1 : f32
  } -> tensor<1x200x200xf32>
  %weights = linalg.softmax dimension(2) ins(%scaled : tensor<1x200x200xf32>) outs(%empty_init : tensor<1x200x200xf32>) -> tensor<1x200x200xf32>
  %narrow = arith.truncf %weights : tensor<1x200x200xf32> to tensor<1x200x200xbf16>
  %zero_sums = arith.constant 0.0 : f32
  %empty_sums = tensor.empty() : tensor<1x200x96xf32>
  %sums = linalg.fill ins(%zero_sums : f32) outs(%empty_sums : tensor<1x200x96xf32>) -> tensor<1x200x96xf32>
  %product = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, k, n)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      ins(%narrow, %v : tensor<1x200x200xbf16>, tensor<1x200x96xbf16>) outs(%sums : tensor<1x200x96xf32>) -> tensor<1x200x96xf32>
  %result = arith.truncf %product : tensor<1x200x96xf32> to tensor<1x200x96xbf16>
  return %result : tensor<1x200x96xbf16>
}

func.func @d192(%q: tensor<1x200x192xbf16>, %k: tensor<1x200x192xbf16>, %v: tensor<1x200x192xbf16>) -> tensor<1x200x192xbf16> {
  %zero_init = arith.constant 0.0 : f32
  %empty_init = tensor.empty() : tensor<1x200x200xf32>
  %init = linalg.fill ins(%zero_init : f32) outs(%empty_init : tensor<1x200x200xf32>) -> tensor<1x200x200xf32>
  %scores = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, n, k)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      ins(%q, %k : tensor<1x200x192xbf16>, tensor<1x200x192xbf16>) outs(%init : tensor<1x200x200xf32>) -> tensor<1x200x200xf32>
  %factor = arith.constant 7.216878365e-02 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %scaled = linalg.generic {
      indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<1x200x200xf32>) outs(%empty_init : tensor<1x200x200xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %factor : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi sle, %j, %i : index
    %1 = arith.select %seen, %0, %hidden : f32
    linalg.yield %1 : f32
  } -> tensor<1x200x200xf32>
  %weights = linalg.softmax dimension(2) ins(%scaled : tensor<1x200x200xf32>) outs(%empty_init : tensor<1x200x200xf32>) -> tensor<1x200x200xf32>
  %narrow = arith.truncf %weights : tensor<1x200x200xf32> to tensor<1x200x200xbf16>
  %zero_sums = arith.constant 0.0 : f32
  %empty_sums = tensor.empty() : tensor<1x200x192xf32>
  %sums = linalg.fill ins(%zero_sums : f32) outs(%empty_sums : tensor<1x200x192xf32>) -> tensor<1x200x192xf32>
  %product = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, k, n)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      ins(%narrow, %v : tensor<1x200x200xbf16>, tensor<1x200x192xbf16>) outs(%sums : tensor<1x200x192xf32>) -> tensor<1x200x192xf32>
  %result = arith.truncf %product : tensor<1x200x192xf32> to tensor<1x200x192xbf16>
  return %result : tensor<1x200x192xbf16>
}

func.func @d256(%q: tensor<1x200x256xbf16>, %k: tensor<1x200x256xbf16>, %v: tensor<1x200x256xbf16>) -> tensor<1x200x256xbf16> {
  %zero_init = arith.constant 0.0 : f32
  %empty_init = tensor.empty() : tensor<1x200x200xf32>
  %init = linalg.fill ins(%zero_init : f32) outs(%empty_init : tensor<1x200x200xf32>) -> tensor<1x200x200xf32>
  %scores = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, n, k)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      ins(%q, %k : tensor<1x200x256xbf16>, tensor<1x200x256xbf16>) outs(%init : tensor<1x200x200xf32>) -> tensor<1x200x200xf32>
  %factor = arith.constant 6.250000000e-02 : f32
  %hidden = arith.constant 0xFF800000 : f32
  %scaled = linalg.generic {
      indexing_maps = [affine_map<(h, i, j) -> (h, i, j)>, affine_map<(h, i, j) -> (h, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<1x200x200xf32>) outs(%empty_init : tensor<1x200x200xf32>) {
  ^bb0(%x: f32, %o: f32):
    %0 = arith.mulf %x, %factor : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %seen = arith.cmpi sle, %j, %i : index
    %1 = arith.select %seen, %0, %hidden : f32
    linalg.yield %1 : f32
  } -> tensor<1x200x200xf32>
  %weights = linalg.softmax dimension(2) ins(%scaled : tensor<1x200x200xf32>) outs(%empty_init : tensor<1x200x200xf32>) -> tensor<1x200x200xf32>
  %narrow = arith.truncf %weights : tensor<1x200x200xf32> to tensor<1x200x200xbf16>
  %zero_sums = arith.constant 0.0 : f32
  %empty_sums = tensor.empty() : tensor<1x200x256xf32>
  %sums = linalg.fill ins(%zero_sums : f32) outs(%empty_sums : tensor<1x200x256xf32>) -> tensor<1x200x256xf32>
  %product = linalg.contract indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, k, n)>, affine_map<(h, m, n, k) -> (h, m, n)>]
      ins(%narrow, %v : tensor<1x200x200xbf16>, tensor<1x200x256xbf16>) outs(%sums : tensor<1x200x256xf32>) -> tensor<1x200x256xf32>
  %result = arith.truncf %product : tensor<1x200x256xf32> to tensor<1x200x256xbf16>
  return %result : tensor<1x200x256xbf16>
}
