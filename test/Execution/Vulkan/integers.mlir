// Matmuls of i8 on cooperative matrices, with signed and unsigned operands, and mixed ones, which
// no device supports directly. The elements exceed 127, so that a wrong signedness produces wrong
// results.
//
// REQUIRES: can-run-vulkan-lavapipe, can-validate-spirv
// DEFINE: %{run} = %software lavapipe gpu-runner %s --target=vulkan --verify --validate --require-mma --explain
// RUN: %{run} --entry=signed --arg=random --arg=random:2 2>&1 | FileCheck %s
// RUN: %{run} --entry=unsigned --arg=random --arg=random:2 2>&1 | FileCheck %s
// RUN: %{run} --entry=mixed --arg=random --arg=random:2 2>&1 | FileCheck %s
// RUN: %{run} --entry=scaled --arg=random --arg=random:2 2>&1 | FileCheck %s
//
// A device that reports matmuls of one signedness only.
// DEFINE: %{only} = %software lavapipe gpu-runner %s --verify --validate --require-mma --explain --arg=random --arg=random:2
// RUN: %{only} --target=vulkan:s8-w32768-t1024-m8n8k8.u32.u8 --entry=signed 2>&1 | FileCheck %s
// RUN: %{only} --target=vulkan:s8-w32768-t1024-m8n8k8.u32.u8 --entry=unsigned 2>&1 | FileCheck %s
// RUN: %{only} --target=vulkan:s8-w32768-t1024-m8n8k8.u32.u8 --entry=mixed 2>&1 | FileCheck %s
// RUN: %{only} --target=vulkan:s8-w32768-t1024-m8n8k8.u32.u8 --entry=scaled 2>&1 | FileCheck %s
// RUN: %{only} --target=vulkan:s8-w32768-t1024-m8n8k8.s32.s8 --entry=signed 2>&1 | FileCheck %s
// RUN: %{only} --target=vulkan:s8-w32768-t1024-m8n8k8.s32.s8 --entry=unsigned 2>&1 | FileCheck %s
// RUN: %{only} --target=vulkan:s8-w32768-t1024-m8n8k8.s32.s8 --entry=mixed 2>&1 | FileCheck %s
// CHECK: coop.m8n8k8.i32.i8, on the matrix unit
// CHECK: {{^}}verified

func.func @signed(%a: tensor<32x48xi8>, %b: tensor<48x64xi8>) -> tensor<32x64xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<32x64xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<32x64xi32>) -> tensor<32x64xi32>
  %r = linalg.matmul ins(%a, %b : tensor<32x48xi8>, tensor<48x64xi8>) outs(%i : tensor<32x64xi32>) -> tensor<32x64xi32>
  return %r : tensor<32x64xi32>
}

func.func @unsigned(%a: tensor<32x48xi8>, %b: tensor<48x64xi8>) -> tensor<32x64xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<32x64xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<32x64xi32>) -> tensor<32x64xi32>
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<32x48xi8>, tensor<48x64xi8>) outs(%i : tensor<32x64xi32>) -> tensor<32x64xi32>
  return %r : tensor<32x64xi32>
}

func.func @mixed(%a: tensor<32x32xi8>, %b: tensor<32x32xi8>) -> tensor<32x32xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<32x32xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<32x32xi32>) -> tensor<32x32xi32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<32x32xi8>, tensor<32x32xi8>) outs(%i : tensor<32x32xi32>) {
    ^bb0(%x: i8, %y: i8, %s: i32):
      %u = arith.extui %x : i8 to i32
      %v = arith.extsi %y : i8 to i32
      %p = arith.muli %u, %v : i32
      %t = arith.addi %s, %p : i32
      linalg.yield %t : i32
  } -> tensor<32x32xi32>
  return %r : tensor<32x32xi32>
}

// The sums leave the matrices: each becomes a float.
func.func @scaled(%a: tensor<32x32xi8>, %b: tensor<32x32xi8>) -> tensor<32x32xf32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<32x32xi32>
  %i = linalg.fill ins(%zero : i32) outs(%e : tensor<32x32xi32>) -> tensor<32x32xi32>
  %r = linalg.matmul ins(%a, %b : tensor<32x32xi8>, tensor<32x32xi8>) outs(%i : tensor<32x32xi32>) -> tensor<32x32xi32>
  %f = tensor.empty() : tensor<32x32xf32>
  %q = linalg.generic {
      indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>],
      iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<32x32xi32>) outs(%f : tensor<32x32xf32>) {
    ^bb0(%x: i32, %y: f32):
      %s = arith.constant 0.5 : f32
      %u = arith.sitofp %x : i32 to f32
      %v = arith.mulf %u, %s : f32
      linalg.yield %v : f32
  } -> tensor<32x32xf32>
  return %q : tensor<32x32xf32>
}
