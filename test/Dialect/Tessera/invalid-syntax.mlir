// Errors of the parsers.
// RUN: gpu-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{a fragment must have two dimensions, as in '!tessera.fragment<16x16xf16, a>'}}
func.func private @three_dimensions(!tessera.fragment<2x16x16xf16, a>)

// -----

// expected-error @+1 {{a fragment must have two dimensions, as in '!tessera.fragment<16x16xf16, a>'}}
func.func private @one_dimension(!tessera.fragment<16xf16, a>)

// -----

// expected-error @+1 {{expected static shape}}
func.func private @dynamic(!tessera.fragment<?x16xf16, a>)

// -----

// expected-error @+1 {{expected ','}}
func.func private @no_role(!tessera.fragment<16x16xf16>)

// -----

// expected-error @+1 {{unknown role 'c': expected a, b or acc}}
func.func private @role(!tessera.fragment<16x16xf16, c>)

// -----

// expected-error @+1 {{invalid kind of attribute specified}}
func.func private @instruction(!tessera.fragment<16x16xf16, a, 7>)

// -----

// expected-error @+1 {{unknown  type `fragmnt` in dialect `tessera`}}
func.func private @unknown_type(!tessera.fragmnt<16x16xf16, a>)

// -----

// expected-error @+1 {{unknown schedule field 'tile': expected workgroup, subgroup, k, kFragment, stages, }}
func.func private @schedule_field() attributes {s = #tessera.schedule<tile = [16, 16]>}

// -----

// expected-error @+1 {{expected ordered, atomic or cluster}}
func.func private @schedule_reduction() attributes {s = #tessera.schedule<splitKReduction = any>}

// -----

// expected-error @+1 {{expected false or true}}
func.func private @schedule_flag() attributes {s = #tessera.schedule<swizzle = yes>}

// -----

// expected-error @+1 {{expected '['}}
func.func private @schedule_pair() attributes {s = #tessera.schedule<workgroup = 16>}

// -----

// expected-error @+1 {{expected integer value}}
func.func private @schedule_integer() attributes {s = #tessera.schedule<k = [16]>}

// -----

func.func @fill_type(%x: f32) {
  // expected-error @+1 {{invalid kind of type specified: expected tessera.fragment, but found 'f32'}}
  %0 = tessera.fill %x : f32
  return
}

// -----

func.func @load_type(%m: memref<16x16xf32>, %i: index) {
  // expected-error @+1 {{expected '<'}}
  %0 = tessera.load %m[%i, %i] : memref<16x16xf32> -> vector<16xf32>
  return
}

// -----

func.func @precision(%a: !tessera.fragment<16x16xf32, a>, %b: !tessera.fragment<16x16xf32, b>,
                     %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+2 {{expected ::mlir::tessera::Precision to be one of: ieee, tf32, fast_f8}}
  // expected-error @+1 {{failed to parse Tessera_PrecisionAttr parameter 'value'}}
  %0 = tessera.mma %a, %b, %c precision fast : !tessera.fragment<16x16xf32, a>, !tessera.fragment<16x16xf32, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @reduction(%f: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{unknown reduction 'sum': expected add, mul, max, min, maxnum, minnum, umax or umin}}
  %0 = tessera.reduce sum %f dimension 1 : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x1xf32, acc>
  return
}

// -----

func.func @order() {
  // expected-error @+1 {{unknown order 'random': expected breadth_first, depth_first or groups(N)}}
  tessera.vthread (%v) in (2) order random {
    tessera.yield
  }
  return
}

// -----

func.func @private_type(%x: f32) {
  // expected-error @+1 {{expected ':'}}
  tessera.vthread (%v) in (2) private(%p = [%x, %x]) {
    tessera.yield
  }
  return
}

// -----

// expected-note @+1 {{prior use here}}
func.func @token(%t: f32) {
  // expected-error @+1 {{use of value '%t' expects different type than prior uses: '!tessera.token' vs 'f32'}}
  tessera.wait for %t
  return
}
