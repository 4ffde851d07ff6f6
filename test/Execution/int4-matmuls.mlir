// Matmuls of i4 with i4: by the matrix unit if the chip supports them (gfx1100, gfx1201), extended
// to i8 otherwise. Odd extents, rows that start in the middle of a byte, operands in the other
// storage order, unsigned ones, fragments without an instruction of i4, and fragments by hand.
//
// REQUIRES: long_tests
// RUN: gpu-runner %s --target=cpu --verify --entry=even | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=odd | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=turned | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=unsigned | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=mixed | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=small | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=direct | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=batches | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=row | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=dynamic --arg=int:37x45 --arg=int:45x51 --arg=int:37x51 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=fragments | FileCheck %s
//
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --explain --entry=even | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --explain --entry=odd | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --explain --entry=turned | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --explain --entry=unsigned | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --explain --entry=mixed | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --explain --entry=small | FileCheck %s --check-prefixes=CHECK,SMALL
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --explain --entry=direct | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --explain --entry=batches | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --entry=row | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --explain --entry=dynamic --arg=int:37x45 --arg=int:45x51 --arg=int:37x51 | FileCheck %s --check-prefixes=CHECK,OWN
// RUN: gpu-runner %s --target=cpu:emulate=gfx1100 --verify --explain --entry=fragments | FileCheck %s --check-prefixes=CHECK,OWN
//
// RUN: gpu-runner %s --target=cpu:emulate=gfx1201 --verify --explain --entry=even | FileCheck %s --check-prefixes=CHECK,OWN12
// RUN: gpu-runner %s --target=cpu:emulate=gfx1201 --verify --explain --entry=odd | FileCheck %s --check-prefixes=CHECK,OWN12
// RUN: gpu-runner %s --target=cpu:emulate=gfx1201 --verify --explain --entry=turned | FileCheck %s --check-prefixes=CHECK,OWN12
// RUN: gpu-runner %s --target=cpu:emulate=gfx1201 --verify --explain --entry=unsigned | FileCheck %s --check-prefixes=CHECK,OWN12
// RUN: gpu-runner %s --target=cpu:emulate=gfx1201 --verify --explain --entry=mixed | FileCheck %s --check-prefixes=CHECK,OWN12
// RUN: gpu-runner %s --target=cpu:emulate=gfx1201 --verify --explain --entry=fragments | FileCheck %s --check-prefixes=CHECK,HALF12
//
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --explain --entry=odd | FileCheck %s --check-prefixes=CHECK,BYTES
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 --verify --explain --entry=fragments | FileCheck %s --check-prefixes=CHECK,WIDENED
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 --verify --entry=fragments | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx906 --verify --entry=fragments | FileCheck %s
//
// RUN: not gpu-runner %s --target=cpu:emulate=gfx1100 --verify --entry=odd --debug-corrupt-output=0 2>&1 | FileCheck %s --check-prefix=WRONG
// OWN:     wmma.m16n16k16.i32.i4
// OWN12:   wmma12.m16n16k32.i32.i4
// HALF12:  wmma12.m16n16k16.i32.i4
// SMALL:   fma.m8n8k1.i32.i8
// SMALL:   rejected: i4 x i4: no instruction on emulate=gfx1100 accepts these fragment shapes; operands were widened to i8 in registers
// BYTES:   mfma.m32n32k16.i32.i8
// WIDENED: mfma.m32n32k16.i32.i8
// WIDENED: rejected: i4 x i4: no instruction on emulate=gfx942 accepts these fragment shapes; operands were widened to i8 in registers
// CHECK:   {{^}}verified
// WRONG:   FAILED

func.func @even(%a: tensor<128x256xi4>, %b: tensor<256x128xi4>, %c: tensor<128x128xi32>) -> tensor<128x128xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<128x256xi4>, tensor<256x128xi4>)
      outs(%c : tensor<128x128xi32>) -> tensor<128x128xi32>
  return %r : tensor<128x128xi32>
}

func.func @odd(%a: tensor<77x91xi4>, %b: tensor<91x53xi4>, %c: tensor<77x53xi32>) -> tensor<77x53xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<77x91xi4>, tensor<91x53xi4>)
      outs(%c : tensor<77x53xi32>) -> tensor<77x53xi32>
  return %r : tensor<77x53xi32>
}

func.func @turned(%a: tensor<70x66xi4>, %b: tensor<50x70xi4>, %c: tensor<66x50xi32>) -> tensor<66x50xi32> {
  %r = linalg.matmul
      indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<70x66xi4>, tensor<50x70xi4>) outs(%c : tensor<66x50xi32>) -> tensor<66x50xi32>
  return %r : tensor<66x50xi32>
}

func.func @unsigned(%a: tensor<64x72xi4>, %b: tensor<72x48xi4>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  %r = linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%a, %b : tensor<64x72xi4>, tensor<72x48xi4>)
      outs(%c : tensor<64x48xi32>) -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}

func.func @mixed(%a: tensor<64x72xi4>, %b: tensor<72x48xi4>, %c: tensor<64x48xi32>) -> tensor<64x48xi32> {
  %r = linalg.generic {
      indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<64x72xi4>, tensor<72x48xi4>) outs(%c : tensor<64x48xi32>) {
  ^bb0(%x: i4, %y: i4, %z: i32):
    %xw = arith.extui %x : i4 to i32
    %yw = arith.extsi %y : i4 to i32
    %p = arith.muli %xw, %yw : i32
    %s = arith.addi %z, %p : i32
    linalg.yield %s : i32
  } -> tensor<64x48xi32>
  return %r : tensor<64x48xi32>
}

// No instruction of i4 has fragments of 8x8.
func.func @small(%A: memref<8x16xi4>, %B: memref<16x8xi4>, %C: memref<8x8xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %a = tessera.load %A[%c0, %c0] in_bounds : memref<8x16xi4> -> !tessera.fragment<8x16xi4, a>
    %b = tessera.load %B[%c0, %c0] in_bounds : memref<16x8xi4> -> !tessera.fragment<16x8xi4, b>
    %c = tessera.load %C[%c0, %c0] in_bounds : memref<8x8xi32> -> !tessera.fragment<8x8xi32, acc>
    %d = tessera.mma %a, %b, %c
        : !tessera.fragment<8x16xi4, a>, !tessera.fragment<16x8xi4, b> -> !tessera.fragment<8x8xi32, acc>
    tessera.store %d, %C[%c0, %c0] in_bounds : !tessera.fragment<8x8xi32, acc>, memref<8x8xi32>
    gpu.terminator
  }
  return
}

// Straight from memory.
func.func @direct(%a: tensor<64x64xi4>, %b: tensor<64x64xi4>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> {
  %r = linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [32, 32], subgroup = [16, 16], k = 32,
                                                           kFragment = 32, stages = 0>}
      ins(%a, %b : tensor<64x64xi4>, tensor<64x64xi4>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
  return %r : tensor<64x64xi32>
}

func.func @batches(%a: tensor<3x20x36xi4>, %b: tensor<3x36x28xi4>, %c: tensor<3x20x28xi32>) -> tensor<3x20x28xi32> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<3x20x36xi4>, tensor<3x36x28xi4>)
      outs(%c : tensor<3x20x28xi32>) -> tensor<3x20x28xi32>
  return %r : tensor<3x20x28xi32>
}

// By plain threads.
func.func @row(%a: tensor<1x66xi4>, %b: tensor<66x35xi4>, %c: tensor<1x35xi32>) -> tensor<1x35xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<1x66xi4>, tensor<66x35xi4>) outs(%c : tensor<1x35xi32>) -> tensor<1x35xi32>
  return %r : tensor<1x35xi32>
}

func.func @dynamic(%a: tensor<?x?xi4>, %b: tensor<?x?xi4>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xi4>, tensor<?x?xi4>) outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// By hand, of 16 elements of K, and a with a sign, b without one.
func.func @fragments(%A: memref<32x48xi4>, %B: memref<48x32xi4>, %C: memref<32x32xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c48 = arith.constant 48 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %init = tessera.fill %zero : !tessera.fragment<32x32xi32, acc>
    %sum = scf.for %k = %c0 to %c48 step %c16 iter_args(%acc = %init) -> !tessera.fragment<32x32xi32, acc> {
      %a = tessera.load %A[%c0, %k] in_bounds : memref<32x48xi4> -> !tessera.fragment<32x16xi4, a>
      %b = tessera.load %B[%k, %c0] in_bounds : memref<48x32xi4> -> !tessera.fragment<16x32xi4, b>
      %next = tessera.mma %a, %b, %acc unsigned_b
          : !tessera.fragment<32x16xi4, a>, !tessera.fragment<16x32xi4, b> -> !tessera.fragment<32x32xi32, acc>
      scf.yield %next : !tessera.fragment<32x32xi32, acc>
    }
    tessera.store %sum, %C[%c0, %c0] in_bounds : !tessera.fragment<32x32xi32, acc>, memref<32x32xi32>
    gpu.terminator
  }
  return
}
