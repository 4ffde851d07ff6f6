// RUN: gpu-opt %s --tessera-attach-chip="target=cuda chip=sm_75" --tessera-legalize-fragments="flags=require-mma" --split-input-file --verify-diagnostics

// An mma that no matrix unit can compute is an error here, with the reasons.
func.func @required(%A: memref<32x32xbf16>, %C: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xbf16> -> !tessera.fragment<16x16xbf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xbf16> -> !tessera.fragment<16x16xbf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<16x16xf32, acc>
  // expected-error @+3 {{a matrix unit is required, but sm_75 has no matrix instruction for this op}}
  // expected-note @+2 {{fma.m16n32k1.f32.bf16: the fragment, 16x16x16, is not a multiple of 16x32x1}}
  // expected-note @+1 {{sm_75 has no matrix instruction for bf16 x bf16 -> f32; it supports 16x8x8 f16 -> f32, 16x16x4 f16 -> f32, 16x8x8 f16 -> f16, 16x16x4 f16 -> f16, 8x8x16 i8 -> i32}}
  %d = tessera.mma %a, %b, %c : !tessera.fragment<16x16xbf16, a>, !tessera.fragment<16x16xbf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

// The shape is at fault.
func.func @shape(%A: memref<32x32xf16>, %C: memref<32x32xf32>) {
  %c0 = arith.constant 0 : index
  %a = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<1x8xf16, a>
  %b = tessera.load %A[%c0, %c0] : memref<32x32xf16> -> !tessera.fragment<8x32xf16, b>
  %c = tessera.load %C[%c0, %c0] : memref<32x32xf32> -> !tessera.fragment<1x32xf32, acc>
  // expected-error @+6 {{a matrix unit is required, but sm_75 has no matrix instruction for this op}}
  // expected-note @+5 {{mma.m16n8k8.f32.f16: the fragment, 1x32x8, is not a multiple of 16x8x8}}
  // expected-note @+4 {{mma.m8n8k4.f32.f16: the fragment, 1x32x8, is not a multiple of 16x16x4}}
  // expected-note @+3 {{fma.m16n32k1.f32.f16: the fragment, 1x32x8, is not a multiple of 16x32x1}}
  // expected-note @+2 {{fma.m16n16k1.f32.f16: the fragment, 1x32x8, is not a multiple of 16x16x1}}
  // expected-note @+1 {{fma.m8n8k1.f32.f16: the fragment, 1x32x8, is not a multiple of 8x8x1}}
  %d = tessera.mma %a, %b, %c : !tessera.fragment<1x8xf16, a>, !tessera.fragment<8x32xf16, b> -> !tessera.fragment<1x32xf32, acc>
  return
}

// -----

func.func @vthread() {
  // expected-error @+1 {{virtual threads must be expanded before fragments are legalized: run tessera-expand-vthreads first}}
  tessera.vthread (%v) in (2) {
    tessera.yield
  }
  return
}

// -----

// expected-error @+1 {{a legalized fragment cannot be an argument or a result of a function: inline the function}}
func.func private @argument(!tessera.fragment<16x16xf32, acc>)

// -----

// expected-error @+1 {{a legalized fragment cannot be an argument or a result of a function: inline the function}}
func.func private @result() -> !tessera.fragment<16x16xf32, acc>
