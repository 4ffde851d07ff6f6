// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// RUN: gpu-opt %s --tessera-check-memory --split-input-file --verify-diagnostics

func.func @empty(%i: index) -> f32 {
  // expected-note @+1 {{the tensor is that of 'tensor.empty'; fill it first, for example by linalg.fill}}
  %0 = tensor.empty() : tensor<4x4xf32>
  %1 = tensor.extract_slice %0[0, 0] [2, 2] [1, 1] : tensor<4x4xf32> to tensor<2x2xf32>
  // expected-warning @+1 {{'tensor.extract' reads a tensor that nothing has written: its elements may be anything}}
  %2 = tensor.extract %1[%i, %i] : tensor<2x2xf32>
  return %2 : f32
}

// -----

// A matmul adds to its output, an elementwise op and a fill do not read it.
func.func @outputs(%a: tensor<4x4xf32>, %x: f32) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  // expected-note @+1 {{the tensor is that of 'tensor.empty'}}
  %e = tensor.empty() : tensor<4x4xf32>
  // expected-warning @+1 {{'linalg.matmul' reads a tensor that nothing has written}}
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.exp ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %f = linalg.fill ins(%x : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The window of a pooling op is a shape; a tensor without elements has none to read.
func.func @shapes(%a: tensor<1x4x4x1xf32>, %out: tensor<1x3x3x1xf32>, %none: tensor<0xf32>) -> (tensor<1x3x3x1xf32>, tensor<0xf32>) {
  %w = tensor.empty() : tensor<2x2xf32>
  %0 = linalg.pooling_nhwc_max ins(%a, %w : tensor<1x4x4x1xf32>, tensor<2x2xf32>) outs(%out : tensor<1x3x3x1xf32>) -> tensor<1x3x3x1xf32>
  %z = tensor.empty() : tensor<0xf32>
  %1 = linalg.exp ins(%z : tensor<0xf32>) outs(%none : tensor<0xf32>) -> tensor<0xf32>
  return %0, %1 : tensor<1x3x3x1xf32>, tensor<0xf32>
}

// -----

func.func private @fill(memref<4xf32>)

func.func @buffers(%i: index, %x: f32) -> (f32, f32, f32) {
  // expected-note @+1 {{the buffer is that of 'memref.alloc'}}
  %a = memref.alloc() : memref<4xf32>
  %v = memref.subview %a[1] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1], offset: 1>>
  // expected-warning @+1 {{'memref.load' reads a buffer that nothing writes: its elements may be anything}}
  %0 = memref.load %v[%i] : memref<2xf32, strided<[1], offset: 1>>
  memref.dealloc %a : memref<4xf32>
  // A store, and a call that may write.
  %b = memref.alloc() : memref<4xf32>
  memref.store %x, %b[%i] : memref<4xf32>
  %1 = memref.load %b[%i] : memref<4xf32>
  %c = memref.alloca() : memref<4xf32>
  func.call @fill(%c) : (memref<4xf32>) -> ()
  %2 = memref.load %c[%i] : memref<4xf32>
  return %0, %1, %2 : f32, f32, f32
}

// -----

func.func @races(%a: memref<8xf32>, %out: memref<8xf32>, %p: i1) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i, %j) = (%c0, %c0) to (%c8, %c8) step (%c1, %c1) {
    %x = memref.load %a[%j] : memref<8xf32>
    // expected-warning @+1 {{several iterations of 'scf.parallel' write one element: the address does not depend on induction variable 1, and the value does; which one remains is not defined}}
    memref.store %x, %out[%i] : memref<8xf32>
    // One value, from several iterations.
    memref.store %zero, %out[%i] : memref<8xf32>
    // A condition may select one of them.
    scf.if %p {
      memref.store %x, %out[%i] : memref<8xf32>
    }
    scf.reduce
  }
  scf.forall (%i) in (8) {
    %x = memref.load %a[%i] : memref<8xf32>
    // expected-warning @+1 {{several iterations of 'scf.forall' write one element}}
    memref.store %x, %out[%c0] : memref<8xf32>
    memref.store %x, %out[%i] : memref<8xf32>
  }
  // One iteration.
  scf.forall (%i) in (1) {
    %x = memref.load %a[%i] : memref<8xf32>
    memref.store %x, %out[%c0] : memref<8xf32>
  }
  return
}

// -----

#rows = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
func.func @structured(%a: tensor<4x8xf32>, %out: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-warning @+1 {{several iterations of 'linalg.generic' write one element: dimension 1 is parallel, and output 0 is not indexed by it; which value remains is not defined. Make the dimension a reduction}}
  %0 = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "parallel"]}
      ins(%a : tensor<4x8xf32>) outs(%out : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    linalg.yield %x : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#all, #rows], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x8xf32>) outs(%out : tensor<4xf32>) {
  ^bb0(%x: f32, %o: f32):
    %s = arith.addf %x, %o : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// -----

module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @wait(%flag: memref<i32>) kernel {
    %c2 = arith.constant 2 : i32
    // expected-warning @+1 {{'scf.while' waits until the memory that it reads changes: launches run one after the other, and a kernel that waits for another launch does not end}}
    scf.while : () -> () {
      %value = memref.load %flag[] : memref<i32>
      %more = arith.cmpi slt, %value, %c2 : i32
      scf.condition(%more)
    } do {
      scf.yield
    }
    gpu.return
  }
  // A loop that writes what it reads.
  gpu.func @count(%flag: memref<i32>) kernel {
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    scf.while : () -> () {
      %value = memref.atomic_rmw addi %c1, %flag[] : (i32, memref<i32>) -> i32
      %more = arith.cmpi slt, %value, %c2 : i32
      scf.condition(%more)
    } do {
      scf.yield
    }
    gpu.return
  }
}
func.func @main(%flag: memref<i32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@count blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%flag : memref<i32>)
  gpu.launch_func @kernels::@wait blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%flag : memref<i32>)
  return
}
}

// -----

// With one launch, threads wait for each other.
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @wait(%flag: memref<i32>) kernel {
    %c0 = arith.constant 0 : i32
    %c2 = arith.constant 2 : i32
    scf.while : () -> () {
      %value = memref.atomic_rmw ori %c0, %flag[] : (i32, memref<i32>) -> i32
      %more = arith.cmpi slt, %value, %c2 : i32
      scf.condition(%more)
    } do {
      scf.yield
    }
    gpu.return
  }
}
func.func @main(%flag: memref<i32>) {
  %c1 = arith.constant 1 : index
  gpu.launch_func @kernels::@wait blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%flag : memref<i32>)
  return
}
}

// -----

// Constant indices beyond static dimensions, in host code and in a kernel.
func.func @bounds(%t: tensor<4x?xf32>, %x: i32, %n: index) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %minus = arith.constant -1 : index
  %m = gpu.alloc host_shared () : memref<1xi32>
  // expected-warning @+1 {{index 1 of 'memref.store' is out of bounds: dimension 0 has size 1; the access is not defined}}
  memref.store %x, %m[%c1] : memref<1xi32>
  memref.store %x, %m[%c0] : memref<1xi32>
  memref.store %x, %m[%n] : memref<1xi32>
  gpu.launch blocks(%a, %b, %c) in (%d = %c1, %e = %c1, %f = %c1) threads(%g, %h, %i) in (%j = %c1, %k = %c1, %l = %c1) {
    // expected-warning @+1 {{index -1 of 'memref.load' is out of bounds: dimension 0 has size 1}}
    %v = memref.load %m[%minus] : memref<1xi32>
    memref.store %v, %m[%c0] : memref<1xi32>
    gpu.terminator
  }
  // expected-warning @+1 {{index 4 of 'tensor.extract' is out of bounds: dimension 0 has size 4}}
  %y = tensor.extract %t[%c4, %c4] : tensor<4x?xf32>
  %z = tensor.extract %t[%c0, %c4] : tensor<4x?xf32>
  %s = arith.addf %y, %z : f32
  return %s : f32
}
