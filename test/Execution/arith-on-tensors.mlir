// Operations of arith and math on whole tensors are element-wise programs as
// linalg writes them: they fuse, into an epilogue too.
//
// RUN: gpu-runner %s --target=cpu --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=select --arg=int:1:7x3 --arg=int:2:7x3 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=epilogue --explain 2>&1 | FileCheck %s --check-prefixes=FUSED,CHECK
// FUSED: matmul {{.*}} in kernel epilogue_kernel
// FUSED-COUNT-1: {{^}}kernel
// FUSED-NOT: {{^}}kernel
// CHECK: out 0: verified ({{.*}}, exact)

func.func @main(%a: tensor<33x17xf32>, %b: tensor<33x17xf32>) -> tensor<33x17xf16> {
  %half = arith.constant dense<0.5> : tensor<33x17xf32>
  %sum = arith.addf %a, %b : tensor<33x17xf32>
  %size = math.absf %sum : tensor<33x17xf32>
  %scaled = arith.mulf %size, %half : tensor<33x17xf32>
  %t = arith.truncf %scaled : tensor<33x17xf32> to tensor<33x17xf16>
  return %t : tensor<33x17xf16>
}

func.func @select(%a: tensor<?x3xi32>, %b: tensor<?x3xi32>) -> tensor<?x3xi32> {
  %less = arith.cmpi slt, %a, %b : tensor<?x3xi32>
  %least = arith.select %less, %a, %b : tensor<?x3xi1>, tensor<?x3xi32>
  return %least : tensor<?x3xi32>
}

func.func @epilogue(%a: tensor<33x17xf16>, %b: tensor<17x9xf16>, %c: tensor<33x9xf32>) -> tensor<33x9xf16> {
  %m = linalg.matmul ins(%a, %b : tensor<33x17xf16>, tensor<17x9xf16>)
                     outs(%c : tensor<33x9xf32>) -> tensor<33x9xf32>
  %t = arith.truncf %m : tensor<33x9xf32> to tensor<33x9xf16>
  return %t : tensor<33x9xf16>
}
