// The 8-bit floats of AMD's CDNA3: matmuls of both kinds, and the conversions
// to and from them, which have one NaN, no infinity and no negative zero.
//
// RUN: gpu-runner %s --target=cpu --verify --arg=int:5 | FileCheck %s --check-prefixes=CHECK,EXACT
// RUN: gpu-runner %s --target=cpu --verify --arg=random:5 | FileCheck %s
// RUN: gpu-runner %s --target=cpu:generic --verify --entry=fragments --arg=random:6 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=convert --arg=random:7 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=all --out=0=%t.npy | FileCheck %s
// RUN: tail -c 1024 %t.npy | od -An -v -t f4 -w4 | FileCheck %s --check-prefix=VALUES
// EXACT: out 0: verified (max abs err 0,
// CHECK: {{^}}verified
//
// Zero and the smallest subnormal number, 1, the largest, NaN where a negative
// zero would be, and the smallest in magnitude and the largest negative one.
// VALUES:      {{^ +}}0{{$}}
// VALUES-NEXT: 0.0009765625
// VALUES:      {{^ +}}1{{$}}
// VALUES:      {{^ +}}240{{$}}
// VALUES-NEXT: nan
// VALUES-NEXT: -0.0009765625
// VALUES:      -240
// VALUES-NOT:  {{.}}

func.func @main(%a: tensor<65x96xf8E4M3FNUZ>, %b: tensor<96x47xf8E5M2FNUZ>, %c: tensor<65x47xf32>) -> tensor<65x47xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<65x96xf8E4M3FNUZ>, tensor<96x47xf8E5M2FNUZ>)
      outs(%c : tensor<65x47xf32>) -> tensor<65x47xf32>
  return %r : tensor<65x47xf32>
}

// Fragments loaded as they are, multiplied, and converted to the other kind.
func.func @fragments(%a: memref<8x32xf8E4M3FNUZ>, %b: memref<32x16xf8E4M3FNUZ>, %c: memref<8x16xf32>,
                     %d: memref<8x16xf8E5M2FNUZ>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1) {
    %x = tessera.load %a[%c0, %c0] : memref<8x32xf8E4M3FNUZ> -> !tessera.fragment<8x32xf8E4M3FNUZ, a>
    %y = tessera.load %b[%c0, %c0] : memref<32x16xf8E4M3FNUZ> -> !tessera.fragment<32x16xf8E4M3FNUZ, b>
    %z = tessera.fill %zero : !tessera.fragment<8x16xf32, acc>
    %s = tessera.mma %x, %y, %z : !tessera.fragment<8x32xf8E4M3FNUZ, a>, !tessera.fragment<32x16xf8E4M3FNUZ, b>
        -> !tessera.fragment<8x16xf32, acc>
    tessera.store %s, %c[%c0, %c0] : !tessera.fragment<8x16xf32, acc>, memref<8x16xf32>
    %n = tessera.convert %s : !tessera.fragment<8x16xf32, acc> -> !tessera.fragment<8x16xf8E5M2FNUZ, acc>
    tessera.store %n, %d[%c0, %c0] : !tessera.fragment<8x16xf8E5M2FNUZ, acc>, memref<8x16xf8E5M2FNUZ>
    gpu.terminator
  }
  return
}

#id = affine_map<(d0, d1) -> (d0, d1)>

// Rounded to either kind, large numbers that become NaN and subnormal ones.
func.func @convert(%x: tensor<64x64xf32>) -> (tensor<64x64xf8E4M3FNUZ>, tensor<64x64xf8E5M2FNUZ>, tensor<64x64xf8E4M3FNUZ>) {
  %scale = arith.constant 300.0 : f32
  %small = arith.constant 0.0078125 : f32
  %e = tensor.empty() : tensor<64x64xf8E4M3FNUZ>
  %f = tensor.empty() : tensor<64x64xf8E5M2FNUZ>
  %a, %b, %c = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%e, %f, %e : tensor<64x64xf8E4M3FNUZ>, tensor<64x64xf8E5M2FNUZ>, tensor<64x64xf8E4M3FNUZ>) {
  ^bb0(%v: f32, %o0: f8E4M3FNUZ, %o1: f8E5M2FNUZ, %o2: f8E4M3FNUZ):
    %large = arith.mulf %v, %scale : f32
    %p = arith.truncf %large : f32 to f8E4M3FNUZ
    %q = arith.truncf %large : f32 to f8E5M2FNUZ
    %tiny = arith.mulf %v, %small : f32
    %r = arith.truncf %tiny : f32 to f8E4M3FNUZ
    linalg.yield %p, %q, %r : f8E4M3FNUZ, f8E5M2FNUZ, f8E4M3FNUZ
  } -> (tensor<64x64xf8E4M3FNUZ>, tensor<64x64xf8E5M2FNUZ>, tensor<64x64xf8E4M3FNUZ>)
  return %a, %b, %c : tensor<64x64xf8E4M3FNUZ>, tensor<64x64xf8E5M2FNUZ>, tensor<64x64xf8E4M3FNUZ>
}

// All 256 bit patterns of each kind, widened.
func.func @all() -> (tensor<256xf32>, tensor<256xf32>) {
  %e = tensor.empty() : tensor<256xf32>
  %a, %b = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      outs(%e, %e : tensor<256xf32>, tensor<256xf32>) {
  ^bb0(%o0: f32, %o1: f32):
    %i = linalg.index 0 : index
    %bits = arith.index_cast %i : index to i8
    %x = arith.bitcast %bits : i8 to f8E4M3FNUZ
    %y = arith.bitcast %bits : i8 to f8E5M2FNUZ
    %p = arith.extf %x : f8E4M3FNUZ to f32
    %q = arith.extf %y : f8E5M2FNUZ to f32
    linalg.yield %p, %q : f32, f32
  } -> (tensor<256xf32>, tensor<256xf32>)
  return %a, %b : tensor<256xf32>, tensor<256xf32>
}
