// Every op, type and attribute form survives a round trip, pretty and generic.
// RUN: gpu-opt %s | gpu-opt | FileCheck %s
// RUN: gpu-opt %s --mlir-print-op-generic | gpu-opt | FileCheck %s
// RUN: gpu-opt %s --emit-bytecode | gpu-opt | FileCheck %s
// RUN: gpu-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=GENERIC

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func private @types
// CHECK-SAME:    !tessera.fragment<16x8xf16, a>
// CHECK-SAME:    !tessera.fragment<8x16xbf16, b>
// CHECK-SAME:    !tessera.fragment<1x1xf32, acc>
// CHECK-SAME:    !tessera.fragment<16x16xf64, acc>
// CHECK-SAME:    !tessera.fragment<3x5xi8, a>
// CHECK-SAME:    !tessera.fragment<16x16xi32, acc>
// CHECK-SAME:    !tessera.fragment<16x16xf8E4M3FN, a>
// CHECK-SAME:    !tessera.fragment<16x16xf8E5M2, b>
// CHECK-SAME:    !tessera.fragment<16x16xf8E4M3FNUZ, a>
// CHECK-SAME:    !tessera.fragment<16x16xf8E5M2FNUZ, b>
// CHECK-SAME:    !tessera.fragment<64x64xf32, acc, "mma.m16n8k16.f32.f16">
// CHECK-SAME:    !tessera.token
func.func private @types(
    !tessera.fragment<16x8xf16, a>, !tessera.fragment<8x16xbf16, b>,
    !tessera.fragment<1x1xf32, acc>, !tessera.fragment<16x16xf64, acc>,
    !tessera.fragment<3x5xi8, a>, !tessera.fragment<16x16xi32, acc>,
    !tessera.fragment<16x16xf8E4M3FN, a>, !tessera.fragment<16x16xf8E5M2, b>,
    !tessera.fragment<16x16xf8E4M3FNUZ, a>, !tessera.fragment<16x16xf8E5M2FNUZ, b>,
    !tessera.fragment<64x64xf32, acc, "mma.m16n8k16.f32.f16">,
    !tessera.token)

// CHECK-LABEL: func private @attributes
// CHECK-SAME:    batches = #tessera.schedule<workgroup = [16, 8], subgroup = [16, 8], k = 16, kFragment = 16, stages = 1, vthread = [1, 1], batches = 8, subgroupBatches = 2>
// CHECK-SAME:    clustered = #tessera.schedule<workgroup = [16, 8], subgroup = [16, 8], k = 16, kFragment = 16, stages = 1, vthread = [1, 1], cluster = [2, 1]>
// CHECK-SAME:    full = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 32], k = 32, kFragment = 16, stages = 3, vthread = [2, 1]>
// CHECK-SAME:    interleave = [#tessera.interleave<breadth_first>, #tessera.interleave<depth_first>, #tessera.interleave<groups(4)>, #tessera.interleave<depth_first>]
// CHECK-SAME:    precision = #tessera<precision tf32>
// CHECK-SAME:    reduction = #tessera.reduction<max>
// Defaults: kFragment is k, one stage, one vthread. The order of the fields does not matter.
// CHECK-SAME:    short = #tessera.schedule<workgroup = [16, 8], subgroup = [16, 8], k = 16, kFragment = 16, stages = 1, vthread = [1, 1]>
// CHECK-SAME:    staged = #tessera.schedule<workgroup = [16, 8], subgroup = [16, 8], k = 16, kFragment = 16, stages = 1, vthread = [1, 1], subgroupsPerFragment = 4, stageOutput = true>
// CHECK-SAME:    unstaged = #tessera.schedule<workgroup = [16, 8], subgroup = [16, 8], k = 16, kFragment = 16, stages = 1, vthread = [1, 1]>
func.func private @attributes() attributes {
  batches = #tessera.schedule<subgroupBatches = 2, batches = 8, workgroup = [16, 8], subgroup = [16, 8], k = 16>,
  clustered = #tessera.schedule<cluster = [2, 1], workgroup = [16, 8], subgroup = [16, 8], k = 16>,
  full = #tessera.schedule<workgroup = [128, 64], subgroup = [64, 32], k = 32,
                           kFragment = 16, stages = 3, vthread = [2, 1]>,
  short = #tessera.schedule<k = 16, subgroup = [16, 8], workgroup = [16, 8]>,
  staged = #tessera.schedule<stageOutput = true, workgroup = [16, 8], subgroup = [16, 8], k = 16, subgroupsPerFragment = 4>,
  unstaged = #tessera.schedule<workgroup = [16, 8], subgroup = [16, 8], k = 16, stageOutput = false>,
  interleave = [#tessera.interleave<breadth_first>, #tessera.interleave<depth_first>,
                #tessera.interleave<groups(4)>, #tessera.interleave<groups(1)>],
  precision = #tessera<precision tf32>,
  reduction = #tessera.reduction<max>}

//===----------------------------------------------------------------------===//
// Fragments and memory
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @fill
// GENERIC:     "tessera.fill"
func.func @fill(%x: f16, %n: i8) {
  // CHECK: tessera.fill %{{.+}} : !tessera.fragment<16x16xf16, a>
  %0 = tessera.fill %x : !tessera.fragment<16x16xf16, a>
  // CHECK: tessera.fill %{{.+}} {note} : !tessera.fragment<4x32xi8, b>
  %1 = tessera.fill %n {note} : !tessera.fragment<4x32xi8, b>
  return
}

// CHECK-LABEL: func @load
// GENERIC:     "tessera.load"
// GENERIC-SAME: inBounds
// GENERIC-SAME: transpose
func.func @load(%m: memref<64x48xf16>, %d: memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>,
                %w: memref<8x8xf64, #gpu.address_space<workgroup>>, %i: index, %j: index) {
  // CHECK: tessera.load %{{.+}}[%{{.+}}, %{{.+}}] transpose in_bounds : memref<64x48xf16> -> <16x8xf16, b>
  %0 = tessera.load %m[%i, %j] transpose in_bounds : memref<64x48xf16> -> !tessera.fragment<16x8xf16, b>
  // CHECK: tessera.load %{{.+}}[%{{.+}}, %{{.+}}] : memref<64x48xf16> -> <16x16xf16, a>
  %1 = tessera.load %m[%i, %j] : memref<64x48xf16> -> !tessera.fragment<16x16xf16, a>
  // CHECK: tessera.load %{{.+}}[%{{.+}}, %{{.+}}] transpose : memref<64x48xf16> -> <16x16xf16, a>
  %2 = tessera.load %m[%i, %j] transpose : memref<64x48xf16> -> !tessera.fragment<16x16xf16, a>
  // CHECK: tessera.load %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] in_bounds {note} : memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>> -> <16x16xf32, acc>
  %3 = tessera.load %d[%i, %i, %j] in_bounds {note} : memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>> -> !tessera.fragment<16x16xf32, acc>
  // CHECK: tessera.load %{{.+}} : memref<8x8xf64, #gpu.address_space<workgroup>>
  %4 = tessera.load %w[%i, %j] : memref<8x8xf64, #gpu.address_space<workgroup>> -> !tessera.fragment<8x8xf64, acc>
  return
}

// CHECK-LABEL: func @store
// GENERIC:     "tessera.store"
func.func @store(%f: !tessera.fragment<16x16xf32, acc>, %a: !tessera.fragment<16x8xf16, a>,
                 %m: memref<?x?xf32>, %t: memref<4x64x64xf16>, %i: index) {
  // CHECK: tessera.store %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}] : <16x16xf32, acc>, memref<?x?xf32>
  tessera.store %f, %m[%i, %i] : !tessera.fragment<16x16xf32, acc>, memref<?x?xf32>
  // CHECK: tessera.store %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}] transpose in_bounds atomic_add : <16x16xf32, acc>, memref<?x?xf32>
  tessera.store %f, %m[%i, %i] transpose in_bounds atomic_add : !tessera.fragment<16x16xf32, acc>, memref<?x?xf32>
  // CHECK: tessera.store %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] transpose in_bounds swizzled : <16x8xf16, a>, memref<4x64x64xf16>
  tessera.store %a, %t[%i, %i, %i] transpose in_bounds swizzled : !tessera.fragment<16x8xf16, a>, memref<4x64x64xf16>
  // CHECK: tessera.store %{{.+}}, %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] transpose in_bounds : <16x8xf16, a>, memref<4x64x64xf16>
  tessera.store %a, %t[%i, %i, %i] transpose in_bounds : !tessera.fragment<16x8xf16, a>, memref<4x64x64xf16>
  return
}

//===----------------------------------------------------------------------===//
// Arithmetic on fragments
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @mma
// GENERIC:     "tessera.mma"
func.func @mma(%a16: !tessera.fragment<32x16xf16, a>, %b16: !tessera.fragment<16x64xf16, b>,
               %c16: !tessera.fragment<32x64xf16, acc>, %c32: !tessera.fragment<32x64xf32, acc>,
               %abf: !tessera.fragment<16x16xbf16, a>, %bbf: !tessera.fragment<16x16xbf16, b>,
               %af: !tessera.fragment<16x16xf32, a>, %bf: !tessera.fragment<16x16xf32, b>,
               %cf: !tessera.fragment<16x16xf32, acc>,
               %ad: !tessera.fragment<16x16xf64, a>, %bd: !tessera.fragment<16x16xf64, b>,
               %cd: !tessera.fragment<16x16xf64, acc>,
               %ai: !tessera.fragment<16x16xi8, a>, %bi: !tessera.fragment<16x16xi8, b>,
               %ci: !tessera.fragment<16x16xi32, acc>,
               %a8: !tessera.fragment<16x16xf8E4M3FN, a>, %b8: !tessera.fragment<16x16xf8E5M2, b>,
               %ch: !tessera.fragment<16x16xf16, acc>,
               %au: !tessera.fragment<16x16xf8E4M3FNUZ, a>, %bu: !tessera.fragment<16x16xf8E5M2FNUZ, b>) {
  // CHECK: tessera.mma %{{.+}}, %{{.+}}, %{{.+}} : <32x16xf16, a>, <16x64xf16, b> -> <32x64xf32, acc>
  %0 = tessera.mma %a16, %b16, %c32 : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x64xf16, b> -> !tessera.fragment<32x64xf32, acc>
  // CHECK: -> <32x64xf16, acc>
  %1 = tessera.mma %a16, %b16, %c16 : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x64xf16, b> -> !tessera.fragment<32x64xf16, acc>
  // CHECK: tessera.mma {{.*}} : <16x16xbf16, a>
  %2 = tessera.mma %abf, %bbf, %cf : !tessera.fragment<16x16xbf16, a>, !tessera.fragment<16x16xbf16, b> -> !tessera.fragment<16x16xf32, acc>
  // The default precision is not printed.
  // CHECK: tessera.mma %{{.+}}, %{{.+}}, %{{.+}} : <16x16xf32, a>
  %3 = tessera.mma %af, %bf, %cf precision ieee : !tessera.fragment<16x16xf32, a>, !tessera.fragment<16x16xf32, b> -> !tessera.fragment<16x16xf32, acc>
  // CHECK: tessera.mma %{{.+}}, %{{.+}}, %{{.+}} precision tf32 : <16x16xf32, a>
  %4 = tessera.mma %af, %bf, %cf precision tf32 : !tessera.fragment<16x16xf32, a>, !tessera.fragment<16x16xf32, b> -> !tessera.fragment<16x16xf32, acc>
  // CHECK: tessera.mma {{.*}} -> <16x16xf64, acc>
  %5 = tessera.mma %ad, %bd, %cd : !tessera.fragment<16x16xf64, a>, !tessera.fragment<16x16xf64, b> -> !tessera.fragment<16x16xf64, acc>
  // CHECK: tessera.mma %{{.+}}, %{{.+}}, %{{.+}} : <16x16xi8, a>
  %6 = tessera.mma %ai, %bi, %ci : !tessera.fragment<16x16xi8, a>, !tessera.fragment<16x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
  // CHECK: tessera.mma %{{.+}}, %{{.+}}, %{{.+}} unsigned_a : <16x16xi8, a>
  %7 = tessera.mma %ai, %bi, %ci unsigned_a : !tessera.fragment<16x16xi8, a>, !tessera.fragment<16x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
  // CHECK: tessera.mma %{{.+}}, %{{.+}}, %{{.+}} unsigned_a unsigned_b : <16x16xi8, a>
  %8 = tessera.mma %ai, %bi, %ci unsigned_a unsigned_b : !tessera.fragment<16x16xi8, a>, !tessera.fragment<16x16xi8, b> -> !tessera.fragment<16x16xi32, acc>
  // CHECK: tessera.mma {{.*}} : <16x16xf8E4M3FN, a>, <16x16xf8E5M2, b> -> <16x16xf32, acc>
  %9 = tessera.mma %a8, %b8, %cf : !tessera.fragment<16x16xf8E4M3FN, a>, !tessera.fragment<16x16xf8E5M2, b> -> !tessera.fragment<16x16xf32, acc>
  // CHECK: tessera.mma {{.*}} -> <16x16xf16, acc>
  %10 = tessera.mma %a8, %b8, %ch : !tessera.fragment<16x16xf8E4M3FN, a>, !tessera.fragment<16x16xf8E5M2, b> -> !tessera.fragment<16x16xf16, acc>
  // CHECK: tessera.mma {{.*}} {tessera.instruction = "x"} : <16x16xf8E4M3FNUZ, a>, <16x16xf8E5M2FNUZ, b>
  %11 = tessera.mma %au, %bu, %cf {tessera.instruction = "x"} : !tessera.fragment<16x16xf8E4M3FNUZ, a>, !tessera.fragment<16x16xf8E5M2FNUZ, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// CHECK-LABEL: func @map
// GENERIC:     "tessera.map"
// GENERIC-NEXT: ^bb0(%{{.+}}: f32, %{{.+}}: f16, %{{.+}}: index, %{{.+}}: index):
// GENERIC:     "tessera.yield"(%{{.+}}) : (f32) -> ()
func.func @map(%f: !tessera.fragment<16x16xf32, acc>, %h: !tessera.fragment<16x16xf16, acc>, %one: f32) {
  // CHECK:      tessera.map %{{.+}}, %{{.+}} : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf16, acc> -> <16x16xf32, acc> {
  // CHECK-NEXT: ^bb0(%{{.+}}: f32, %{{.+}}: f16, %{{.+}}: index, %{{.+}}: index):
  // CHECK:        tessera.yield %{{.+}} : f32
  %0 = tessera.map %f, %h : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x16xf16, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32, %y: f16, %i: index, %j: index):
    %wide = arith.extf %y : f16 to f32
    %sum = arith.addf %x, %wide : f32
    %low = arith.cmpi slt, %i, %j : index
    %z = arith.select %low, %sum, %one : f32
    tessera.yield %z : f32
  }
  // Another element type, no coordinates.
  // CHECK:      tessera.map %{{.+}} {note} : !tessera.fragment<16x16xf32, acc> -> <16x16xi32, acc> {
  // CHECK-NEXT: ^bb0(%{{.+}}: f32):
  %1 = tessera.map %f {note} : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xi32, acc> {
  ^bb0(%x: f32):
    %n = arith.fptosi %x : f32 to i32
    tessera.yield %n : i32
  }
  return
}

// CHECK-LABEL: func @broadcast
// GENERIC:     "tessera.broadcast"
func.func @broadcast(%bias: memref<?xf32>, %row: !tessera.fragment<1x32xf32, acc>,
                     %col: !tessera.fragment<16x1xf32, acc>, %j: index) {
  // CHECK: tessera.broadcast %{{.+}}[%{{.+}}] dimension 0 : memref<?xf32> -> <16x32xf32, acc>
  %0 = tessera.broadcast %bias[%j] dimension 0 : memref<?xf32> -> !tessera.fragment<16x32xf32, acc>
  // CHECK: tessera.broadcast %{{.+}}[%{{.+}}] dimension 1 in_bounds : memref<?xf32> -> <16x32xf32, b>
  %1 = tessera.broadcast %bias[%j] dimension 1 in_bounds : memref<?xf32> -> !tessera.fragment<16x32xf32, b>
  // CHECK: tessera.broadcast %{{.+}} dimension 0 : !tessera.fragment<1x32xf32, acc> -> <16x32xf32, acc>
  %2 = tessera.broadcast %row dimension 0 : !tessera.fragment<1x32xf32, acc> -> !tessera.fragment<16x32xf32, acc>
  // CHECK: tessera.broadcast %{{.+}} dimension 1 : !tessera.fragment<16x1xf32, acc> -> <16x32xf32, acc>
  %3 = tessera.broadcast %col dimension 1 : !tessera.fragment<16x1xf32, acc> -> !tessera.fragment<16x32xf32, acc>
  return
}

// CHECK-LABEL: func @reduce
// GENERIC:     "tessera.reduce"
// GENERIC-SAME: dimension = 1
// GENERIC-SAME: kind = #tessera.reduction<add>
func.func @reduce(%f: !tessera.fragment<16x32xf32, acc>) {
  // CHECK: tessera.reduce add %{{.+}} dimension 1 : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<16x1xf32, acc>
  %0 = tessera.reduce add %f dimension 1 : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<16x1xf32, acc>
  // CHECK: tessera.reduce mul %{{.+}} dimension 0
  %1 = tessera.reduce mul %f dimension 0 : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<1x32xf32, acc>
  // CHECK: tessera.reduce max
  %2 = tessera.reduce max %f dimension 0 : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<1x32xf32, acc>
  // CHECK: tessera.reduce min %{{.+}} dimension 0 {note}
  %3 = tessera.reduce min %f dimension 0 {note} : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<1x32xf32, acc>
  // CHECK: tessera.reduce maxnum
  %4 = tessera.reduce maxnum %f dimension 0 : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<1x32xf32, acc>
  // CHECK: tessera.reduce minnum
  %5 = tessera.reduce minnum %f dimension 0 : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<1x32xf32, acc>
  return
}

// CHECK-LABEL: func @row_reduce
// GENERIC:     "tessera.row_reduce"
// GENERIC-SAME: kind = #tessera.reduction<umax>
func.func @row_reduce(%a: memref<64x32xi8>, %b: memref<32x48xi8>, %c: memref<64xi32>) {
  %zero = arith.constant 0 : i32
  tessera.contract ins(%a, %b : memref<64x32xi8>, memref<32x48xi8>) init(%zero : i32) outs(%c : memref<64xi32>)
      maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m)>]
      accumulate i32 {
  ^bb0(%acc: i32):
    // CHECK: tessera.row_reduce umax %{{.+}} : i32
    %0 = tessera.row_reduce umax %acc : i32
    // CHECK: tessera.row_reduce umin %{{.+}} {note} : i32
    %1 = tessera.row_reduce umin %acc {note} : i32
    %2 = arith.subi %0, %1 : i32
    tessera.yield %2 : i32
  }
  return
}

// CHECK-LABEL: func @convert
// GENERIC:     "tessera.convert"
func.func @convert(%s: !tessera.fragment<16x16xf32, acc>, %i: !tessera.fragment<16x16xi8, a>) {
  // CHECK: tessera.convert %{{.+}} : <16x16xf32, acc> -> <16x16xf16, a>
  %0 = tessera.convert %s : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf16, a>
  // CHECK: tessera.convert %{{.+}} unsigned : <16x16xi8, a> -> <16x16xf16, a>
  %1 = tessera.convert %i unsigned : !tessera.fragment<16x16xi8, a> -> !tessera.fragment<16x16xf16, a>
  // CHECK: tessera.convert %{{.+}} : <16x16xi8, a> -> <16x16xi32, b>
  %2 = tessera.convert %i : !tessera.fragment<16x16xi8, a> -> !tessera.fragment<16x16xi32, b>
  return
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @copies
// GENERIC:     "tessera.copy"
// GENERIC:     "tessera.async_copy"
// GENERIC:     "tessera.wait"
func.func @copies(%g: memref<3x?x?xf16>, %w: memref<64x32xf16, #gpu.address_space<workgroup>>,
                  %n: memref<64x32xf16, 3>, %i: index, %j: index) {
  // CHECK: tessera.copy %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}], %{{.+}}[%{{.+}}, %{{.+}}] shape [64, 32] : memref<3x?x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
  tessera.copy %g[%i, %i, %j], %w[%j, %j] shape [64, 32] : memref<3x?x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
  // CHECK: tessera.copy %{{.+}}[%{{.+}}, %{{.+}}], %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] shape [1, 1] in_bounds alignment 16 {note} :
  tessera.copy %w[%j, %j], %g[%i, %i, %j] shape [1, 1] in_bounds alignment 16 {note} : memref<64x32xf16, #gpu.address_space<workgroup>>, memref<3x?x?xf16>
  // CHECK: tessera.copy %{{.+}}[%{{.+}}, %{{.+}}], %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}] shape [64, 32] in_bounds from_swizzled : memref<64x32xf16, #gpu.address_space<workgroup>>, memref<3x?x?xf16>
  tessera.copy %w[%j, %j], %g[%i, %i, %j] shape [64, 32] in_bounds from_swizzled : memref<64x32xf16, #gpu.address_space<workgroup>>, memref<3x?x?xf16>
  // Swizzled on both sides.
  // CHECK: tessera.copy %{{.+}}[%{{.+}}, %{{.+}}], %{{.+}}[%{{.+}}, %{{.+}}] shape [64, 32] contiguous 8 window <rows = [2, 28, 28], cols = [3, 3, 64], map = (d0, d1, d2, d3, d4, d5) -> (d0, d1 + d3 - 1, d2 + d4 - 1)> gather {
  tessera.copy %g[%i, %j], %w[%j, %j] shape [64, 32] contiguous 8
      window <rows = [2, 28, 28], cols = [3, 3, 64], map = (n, h, w, r, s, c) -> (n, h + r - 1, w + s - 1)> gather {
  ^bb0(%row: index, %col: index):
    %true = arith.constant true
    tessera.yield %i, %row, %col, %true : index, index, index, i1
  } : memref<3x?x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
  // CHECK: tessera.copy {{.*}} alignment 16 swizzled from_swizzled : memref<64x32xf16, 3>, memref<64x32xf16, #gpu.address_space<workgroup>>
  tessera.copy %n[%j, %j], %w[%j, %j] shape [64, 32] alignment 16 swizzled from_swizzled : memref<64x32xf16, 3>, memref<64x32xf16, #gpu.address_space<workgroup>>
  // CHECK: %[[T0:.+]] = tessera.async_copy %{{.+}}[%{{.+}}, %{{.+}}, %{{.+}}], %{{.+}}[%{{.+}}, %{{.+}}] shape [64, 32] alignment 8 :
  %t0 = tessera.async_copy %g[%i, %i, %j], %w[%j, %j] shape [64, 32] alignment 8 : memref<3x?x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
  // Upstream's other notation of workgroup memory.
  // CHECK: %[[T1:.+]] = tessera.async_copy {{.*}} in_bounds : memref<3x?x?xf16>, memref<64x32xf16, 3>
  %t1 = tessera.async_copy %g[%i, %i, %j], %n[%j, %j] shape [64, 32] in_bounds : memref<3x?x?xf16>, memref<64x32xf16, 3>
  // CHECK: tessera.wait for %[[T0]], %[[T1]] pending 2{{$}}
  tessera.wait for %t0, %t1 pending 2
  // CHECK: tessera.wait for %[[T0]]{{$}}
  tessera.wait for %t0 pending 0
  // CHECK: tessera.wait{{$}}
  tessera.wait
  // CHECK: tessera.wait pending 1{{$}}
  tessera.wait pending 1
  return
}

//===----------------------------------------------------------------------===//
// Virtual threads
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func @vthread
// GENERIC:     "tessera.vthread"
// GENERIC-SAME: grid = array<i64: 2, 2>
func.func @vthread(%a: f32, %b: f32, %i: index, %m: memref<4x4xf32>) {
  // CHECK:      tessera.vthread (%[[V:.+]], %[[W:.+]]) in (2, 2) {
  // CHECK-NEXT:   memref.store %{{.+}}, %{{.+}}[%[[V]], %[[W]]]
  // CHECK-NEXT:   tessera.yield{{$}}
  // CHECK-NEXT: }
  tessera.vthread (%v, %w) in (2, 2) {
    memref.store %a, %m[%v, %w] : memref<4x4xf32>
    tessera.yield
  }
  // CHECK:      tessera.vthread (%{{.+}}) in (2) private(%[[X:.+]] = [%{{.+}}, %{{.+}}] : f32, %[[Y:.+]] = [%{{.+}}, %{{.+}}] : index) order depth_first -> (f32, f32) {
  // CHECK-NEXT:   tessera.yield %[[X]] : f32
  %r:2 = tessera.vthread (%v) in (2) private(%x = [%a, %b] : f32, %y = [%i, %i] : index)
      order depth_first -> (f32, f32) {
    tessera.yield %x : f32
  }
  // An explicit order that is the default. One result; an attribute.
  // CHECK:      tessera.vthread (%{{.+}}) in (1) order breadth_first -> f32 attributes {note} {
  %s = tessera.vthread (%v) in (1) order breadth_first -> f32 attributes {note} {
    tessera.yield %a : f32
  }
  // Values x, y of vthreads 0, 1.
  // CHECK:      tessera.vthread (%[[V:.+]]) in (2) order groups(3) -> (index, index, f32, f32) {
  // CHECK-NEXT:   tessera.yield %[[V]], %{{.+}} : index, f32
  %t:4 = tessera.vthread (%v) in (2) order groups(3) -> (index, index, f32, f32) {
    tessera.yield %v, %a : index, f32
  }
  return
}

// Writes that vthread_c4 permits.
// CHECK-LABEL: func @writes
func.func @writes(%m: memref<4x4xf32>, %a: memref<4xf32>, %b: memref<4xf32>, %x: f32, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  tessera.vthread (%v, %w) in (2, 1) private(%p = [%a, %b] : memref<4xf32>) {
    // To an address that depends on a private operand; a dimension of one needs nothing.
    memref.store %x, %p[%c0] : memref<4xf32>
    // Through arithmetic, a view, a loop.
    %row = arith.muli %v, %c2 : index
    memref.store %x, %m[%row, %c0] : memref<4x4xf32>
    %view = memref.subview %m[%v, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
    memref.store %x, %view[%c0, %c0] : memref<1x4xf32, strided<[4, 1], offset: ?>>
    %end = arith.addi %v, %c1 : index
    scf.for %i = %v to %end step %c1 {
      memref.store %x, %m[%i, %c0] : memref<4x4xf32>
    }
    // To memory of its own, also if a loop alternates it,
    %own = memref.alloca() : memref<4xf32>
    %pair = memref.alloca() : memref<4xf32>
    memref.store %x, %own[%c0] : memref<4xf32>
    %last:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p0 = %own, %p1 = %pair) -> (memref<4xf32>, memref<4xf32>) {
      memref.store %x, %p0[%c0] : memref<4xf32>
      scf.yield %p1, %p0 : memref<4xf32>, memref<4xf32>
    }
    linalg.fill ins(%x : f32) outs(%own : memref<4xf32>)
    tessera.yield
  }
  tessera.vthread (%v) in (2) {
    // to an index that a loop makes of the vthread's, and by atomic updates.
    %end = scf.for %i = %c0 to %n step %c1 iter_args(%j = %c0) -> index {
      %k = arith.addi %j, %v : index
      scf.yield %k : index
    }
    memref.store %x, %a[%end] : memref<4xf32>
    %old = memref.atomic_rmw addf %x, %a[%c0] : (f32, memref<4xf32>) -> f32
    tessera.yield
  }
  return
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#n = affine_map<(m, n, k) -> (n)>

// CHECK-LABEL: func @contract
// GENERIC:     "tessera.contract"
func.func @contract(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %c: tensor<64x48xf32>,
                    %bias: tensor<48xf16>, %ma: memref<?x32xi8>, %mb: memref<32x?xi8>,
                    %mc: memref<?x?xi8>, %zero: f32) {
  // CHECK:      tessera.contract ins(%{{.+}}, %{{.+}} : tensor<64x32xf16>, tensor<32x48xf16>) init(%{{.+}} : f32) extras(%{{.+}} : tensor<48xf16>) outs(%{{.+}} : tensor<64x48xf32>) maps [#{{.+}}, #{{.+}}, #{{.+}}, #{{.+}}] accumulate f32 schedule <workgroup = [16, 8], subgroup = [16, 8], k = 16, kFragment = 16, stages = 1, vthread = [1, 1]> attributes {note} {
  // CHECK-NEXT: ^bb0(%{{.+}}: f32, %{{.+}}: f16):
  // CHECK:      } -> tensor<64x48xf32>
  %0 = tessera.contract ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>) init(%zero : f32)
      extras(%bias : tensor<48xf16>) outs(%c : tensor<64x48xf32>)
      maps [#mk, #kn, #mn, #n] accumulate f32
      schedule <workgroup = [16, 8], subgroup = [16, 8], k = 16> attributes {note} {
  ^bb0(%acc: f32, %x: f16):
    %wide = arith.extf %x : f16 to f32
    %sum = arith.addf %acc, %wide : f32
    tessera.yield %sum : f32
  } -> tensor<64x48xf32>
  // CHECK:      tessera.contract ins(%{{.+}}, %{{.+}} : memref<?x32xi8>, memref<32x?xi8>) outs(%{{.+}} : memref<?x?xi8>) maps [#{{.+}}, #{{.+}}, #{{.+}}] accumulate i32 unsigned_a unsigned_b {
  tessera.contract ins(%ma, %mb : memref<?x32xi8>, memref<32x?xi8>) outs(%mc : memref<?x?xi8>)
      maps [#mk, #kn, #mn] accumulate i32 unsigned_a unsigned_b {
  ^bb0(%acc: i32):
    %low = arith.trunci %acc : i32 to i8
    tessera.yield %low : i8
  }
  return
}
