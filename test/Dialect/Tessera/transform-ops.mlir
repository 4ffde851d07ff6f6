// RUN: gpu-opt %s --transform-interpreter --split-input-file --verify-diagnostics | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func @products
  // CHECK:       linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 3, vthread = [1, 1], swizzle = true, splitK = 2>}
  // CHECK:       linalg.generic
  // CHECK-SAME:    tessera.schedule = #tessera.schedule<workgroup = [64, 64],
  // CHECK:       tessera.contract
  // CHECK-SAME:    schedule <workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 3, vthread = [1, 1], swizzle = true, splitK = 2>
  func.func @products(%a: memref<64x32xf16>, %b: memref<32x64xf16>, %c: memref<64x64xf32>) {
    linalg.matmul {tessera.schedule = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16>}
        ins(%a, %b : memref<64x32xf16>, memref<32x64xf16>) outs(%c : memref<64x64xf32>)
    linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : memref<64x32xf16>, memref<32x64xf16>) outs(%c : memref<64x64xf32>) {
    ^bb0(%x: f16, %y: f16, %z: f32):
      %xe = arith.extf %x : f16 to f32
      %ye = arith.extf %y : f16 to f32
      %p = arith.mulf %xe, %ye : f32
      %s = arith.addf %z, %p : f32
      linalg.yield %s : f32
    }
    tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x64xf16>) outs(%c : memref<64x64xf32>)
        maps [#mk, #kn, #mn] accumulate f32 {
    ^bb0(%acc: f32):
      tessera.yield %acc : f32
    }
    return
  }
  // CHECK:      transform.tessera.set_schedule #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16, stages = 3, vthread = [1, 1], swizzle = true, splitK = 2> on %{{.+}} : !transform.any_op
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %products = transform.structured.match ops{["linalg.matmul", "linalg.generic", "tessera.contract"]} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.tessera.set_schedule
        #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32, kFragment = 16,
                          stages = 3, swizzle = true, splitK = 2> on %products : !transform.any_op
    transform.yield
  }
}

// -----

// An op that is not a matmul is a silenceable failure.

module attributes {transform.with_named_sequence} {
  // CHECK-LABEL: func @silenced
  // CHECK:       linalg.exp {after, before} ins
  // CHECK:       arith.constant {after, before} 1
  func.func @silenced(%a: memref<64xf32>, %b: memref<64xf32>) {
    linalg.exp ins(%a : memref<64xf32>) outs(%b : memref<64xf32>)
    %one = arith.constant 1 : index
    return
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %none = transform.structured.match ops{["linalg.exp", "arith.constant"]} in %module
        : (!transform.any_op) -> !transform.any_op
    transform.sequence %none : !transform.any_op failures(suppress) {
    ^bb0(%op: !transform.any_op):
      transform.annotate %op "before" : !transform.any_op
      transform.tessera.set_schedule
        #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32> on %op : !transform.any_op
      transform.annotate %op "after" : !transform.any_op
    }
    transform.yield
  }
}

// -----

module attributes {transform.with_named_sequence} {
  func.func @refused(%a: memref<64xf32>, %b: memref<f32>) {
    // expected-note @+1 {{target op: linalg.reduce}}
    linalg.reduce { arith.addf } ins(%a : memref<64xf32>) outs(%b : memref<f32>) dimensions = [0]
    return
  }
  transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
    %one = transform.structured.match ops{["linalg.reduce"]} in %module
        : (!transform.any_op) -> !transform.any_op
    // expected-error @+1 {{only a matmul can have a schedule: a linalg op that reduces over two inputs, or tessera.contract}}
    transform.tessera.set_schedule
        #tessera.schedule<workgroup = [64, 64], subgroup = [32, 32], k = 32> on %one : !transform.any_op
    transform.yield
  }
}
