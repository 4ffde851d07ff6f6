// Arithmetic stays as it was written: Vulkan's drivers may otherwise rearrange
// it by the rules of real numbers. The reduction of exp's argument is where that
// shows.

// REQUIRES: can-run-vulkan-lavapipe
// RUN: %software lavapipe gpu-runner %s --target=vulkan --verify --arg=random:1 | FileCheck %s
// CHECK: out 0: verified
// CHECK: out 1: verified
// CHECK: out 2: verified
// CHECK: out 3: verified
// CHECK: {{^}}verified

// RUN: gpu-runner %s --target=vulkan:lavapipe --emit=llvm | FileCheck %s --check-prefix=ASM
// ASM: spirv.FMul {{.*}} {no_contraction}
// ASM: spirv.GL.Fma {{.*}} {no_contraction}

func.func @main(%a: tensor<2000xf32>) -> (tensor<2000xf32>, tensor<2000xf32>, tensor<4xf32>, tensor<2000xf32>) {
  %scale = arith.constant 80.0 : f32
  %e = tensor.empty() : tensor<2000xf32>
  %x = linalg.map ins(%a : tensor<2000xf32>) outs(%e : tensor<2000xf32>) (%v: f32, %o: f32) {
    %0 = arith.mulf %v, %scale : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  }
  %scale2 = arith.constant 120.0 : f32
  %y = linalg.map ins(%a : tensor<2000xf32>) outs(%e : tensor<2000xf32>) (%v: f32, %o: f32) {
    %0 = arith.mulf %v, %scale2 : f32
    %1 = math.exp2 %0 : f32
    linalg.yield %1 : f32
  }
  %edges = arith.constant dense<[1.0e+10, -1.0e+10, 0x7FC00000, 0.0]> : tensor<4xf32>
  %f = tensor.empty() : tensor<4xf32>
  %z = linalg.map ins(%edges : tensor<4xf32>) outs(%f : tensor<4xf32>) (%v: f32, %o: f32) {
    %1 = math.exp %v : f32
    linalg.yield %1 : f32
  }
  // The rounding error of a sum, found by subtracting: zero for real numbers.
  %big = arith.constant 4096.0 : f32
  %w = linalg.map ins(%a : tensor<2000xf32>) outs(%e : tensor<2000xf32>) (%v: f32, %o: f32) {
    %sum = arith.addf %big, %v : f32
    %part = arith.subf %sum, %big : f32
    %lost = arith.subf %v, %part : f32
    linalg.yield %lost : f32
  }
  return %x, %y, %z, %w : tensor<2000xf32>, tensor<2000xf32>, tensor<4xf32>, tensor<2000xf32>
}
