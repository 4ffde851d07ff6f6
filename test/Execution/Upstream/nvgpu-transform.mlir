// A matmul of a kernel that a transform script rewrites to nvgpu.mma.sync.

// RUN: gpu-runner %s --target=cpu -e main -entry-point-result=void | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=sm_80 -e main -entry-point-result=void | FileCheck %s
// RUN: gpu-runner %s --target=cpu:emulate=gfx942 -e main -entry-point-result=void 2>&1 | FileCheck %s --check-prefixes=RAISED,CHECK
// RUN: gpu-runner %s --target=cuda:sm_80 -e main --emit=ptx | FileCheck %s --check-prefix=PTX

// RAISED: remark: 'nvgpu.mma.sync' op is raised to fragments: 16x8x16 'f16' x 'f16' -> 'f16'
// CHECK: {{^}}{{\[\[}}6.25,   6.71875,   7.1875,   7.65625,   8.125,   8.59375,   9.0625,   9.53125],
// CHECK-NEXT: [7.5625,   8.15625,   8.75,   9.34375,   9.9375,   10.5312,   11.125,   11.7188],
// PTX: mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16

!lhs = memref<16x16xf16>
!rhs = memref<16x8xf16>

func.func private @printMemrefF16(memref<*xf16>)

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %zero = arith.constant 0.0 : f16
  %scale = arith.constant 0.0625 : f16
  %a = memref.alloc() : !lhs
  %b = memref.alloc() : !rhs
  %c = memref.alloc() : !rhs
  scf.for %i = %c0 to %c16 step %c1 {
    scf.for %j = %c0 to %c16 step %c1 {
      %n = affine.apply affine_map<(d0, d1) -> (d0 * 2 + d1)>(%i, %j)
      %w = arith.index_cast %n : index to i32
      %f = arith.sitofp %w : i32 to f16
      %s = arith.mulf %f, %scale : f16
      memref.store %s, %a[%i, %j] : !lhs
    }
    scf.for %j = %c0 to %c8 step %c1 {
      %n = affine.apply affine_map<(d0, d1) -> (d0 + 3 + d1)>(%i, %j)
      %w = arith.index_cast %n : index to i32
      %f = arith.sitofp %w : i32 to f16
      %s = arith.mulf %f, %scale : f16
      memref.store %s, %b[%i, %j] : !rhs
      memref.store %zero, %c[%i, %j] : !rhs
    }
  }
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1) {
    linalg.matmul ins(%a, %b : !lhs, !rhs) outs(%c : !rhs)
    gpu.terminator
  }
  %view = memref.cast %c : !rhs to memref<*xf16>
  call @printMemrefF16(%view) : (memref<*xf16>) -> ()
  return
}

module attributes {transform.with_named_sequence} {
  transform.named_sequence @__transform_main(%program: !transform.any_op {transform.readonly}) {
    %matmul = transform.structured.match ops{["linalg.matmul"]} in %program
      : (!transform.any_op) -> !transform.any_op
    transform.nvgpu.rewrite_matmul_as_mma_sync %matmul : (!transform.any_op) -> ()
    transform.yield
  }
}
