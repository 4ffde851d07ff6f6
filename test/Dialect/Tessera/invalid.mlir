// A program for each label that a verifier checks.
// RUN: gpu-opt %s --split-input-file --verify-diagnostics

//===----------------------------------------------------------------------===//
// fragment
//===----------------------------------------------------------------------===//

// expected-error @+1 {{fragment_t1: a fragment's extents must be positive, not 0x16}}
func.func private @fragment_t1_rows(!tessera.fragment<0x16xf16, a>)

// -----

// expected-error @+1 {{fragment_t1: a fragment's extents must be positive, not 16x0}}
func.func private @fragment_t1_cols(!tessera.fragment<16x0xf16, a>)

// -----

// expected-error @+1 {{fragment_t2: 'i16' is not a valid element type of a fragment: expected f16, bf16, f32, f64, i4, i8, i32 or an 8-bit float}}
func.func private @fragment_t2(!tessera.fragment<16x16xi16, a>)

// -----

// expected-error @+1 {{fragment_t2: 'index' is not a valid element type of a fragment: expected f16, bf16, f32, f64, i4, i8, i32 or an 8-bit float}}
func.func private @fragment_t2_index(!tessera.fragment<16x16xindex, a>)

// -----

// expected-error @+1 {{fragment_t2: 'ui8' is not a valid element type of a fragment: expected f16, bf16, f32, f64, i4, i8, i32 or an 8-bit float}}
func.func private @fragment_t2_unsigned(!tessera.fragment<16x16xui8, a>)

// -----

//===----------------------------------------------------------------------===//
// schedule
//===----------------------------------------------------------------------===//

// expected-error @+1 {{schedule_c1: workgroup must have two elements, not 1}}
func.func private @schedule_c1_elements() attributes {s = #tessera.schedule<workgroup = [16], subgroup = [16, 16], k = 16>}

// -----

// expected-error @+1 {{schedule_c1: k must be at least 1, not 0}}
func.func private @schedule_c1_missing() attributes {s = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16]>}

// -----

// expected-error @+1 {{schedule_c1: subgroup must have two elements of at least 1, not [-16, 16]}}
func.func private @schedule_c1_negative() attributes {s = #tessera.schedule<workgroup = [16, 16], subgroup = [-16, 16], k = 16>}

// -----

// expected-error @+1 {{schedule_c1: vthread must have two elements of at least 1, not [0, 1]}}
func.func private @schedule_c1_vthread() attributes {s = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16, vthread = [0, 1]>}

// -----

// expected-error @+1 {{schedule_c1: stages must be at least 0, not -1}}
func.func private @schedule_c1_stages() attributes {s = #tessera.schedule<workgroup = [16, 16], subgroup = [16, 16], k = 16, stages = -1>}

// -----

// expected-error @+1 {{schedule_c2: the subgroup's tile (24) does not divide the workgroup's (64) in dimension 1}}
func.func private @schedule_c2() attributes {s = #tessera.schedule<workgroup = [64, 64], subgroup = [16, 24], k = 16>}

// -----

// expected-error @+1 {{schedule_c2: subgroupBatches (4) does not divide batches (6)}}
func.func private @schedule_c2_batches() attributes {s = #tessera.schedule<workgroup = [64, 64], subgroup = [16, 16], k = 16, batches = 6, subgroupBatches = 4>}

// -----

// expected-error @+1 {{schedule_c3: the vthread grid (3) does not divide the subgroup's tile (16) in dimension 0}}
func.func private @schedule_c3() attributes {s = #tessera.schedule<workgroup = [64, 64], subgroup = [16, 16], k = 16, vthread = [3, 1]>}

// -----

// expected-error @+1 {{schedule_c4: kFragment (12) does not divide k (32)}}
func.func private @schedule_c4() attributes {s = #tessera.schedule<workgroup = [64, 64], subgroup = [16, 16], k = 32, kFragment = 12>}

// -----

// expected-error @+1 {{schedule_c5: splitK must be at least 1, not 0}}
func.func private @schedule_c5_split() attributes {s = #tessera.schedule<workgroup = [64, 64], subgroup = [16, 16], k = 32, vthread = [2, 2], splitK = 0>}

// -----

// expected-error @+1 {{schedule_c5: raster must be at least 0, not -1}}
func.func private @schedule_c5_raster() attributes {s = #tessera.schedule<workgroup = [64, 64], subgroup = [16, 16], k = 32, raster = -1>}

// -----

// expected-error @+1 {{schedule_c5: interleave must be at most the number of vthreads, 4, not 5}}
func.func private @schedule_c5_interleave() attributes {s = #tessera.schedule<workgroup = [64, 64], subgroup = [16, 16], k = 32, vthread = [2, 2], interleave = 5>}

// -----

// expected-error @+1 {{schedule_c5: cluster must have two elements, not 1}}
func.func private @schedule_c5_cluster() attributes {s = #tessera.schedule<workgroup = [64, 64], subgroup = [16, 16], k = 32, cluster = [2]>}

// -----

// expected-error @+1 {{schedule_c6: swizzle requires staged tiles: set stages to 1 or more, or leave out swizzle}}
func.func private @schedule_c6() attributes {s = #tessera.schedule<workgroup = [64, 64], subgroup = [16, 16], k = 32, stages = 0, swizzle = true>}

// -----

//===----------------------------------------------------------------------===//
// fill, load, store
//===----------------------------------------------------------------------===//

func.func @fill_c1(%x: f16) {
  // expected-error @+1 {{fill_c1: the value has type 'f16', but the fragment has elements of 'f32'}}
  %0 = "tessera.fill"(%x) : (f16) -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @load_c1_rank(%m: memref<16xf16>, %i: index) {
  // expected-error @+1 {{load_c1: 'memref<16xf16>' has rank 1, but a tile requires rank 2 or more}}
  %0 = tessera.load %m[%i] : memref<16xf16> -> !tessera.fragment<16x16xf16, a>
  return
}

// -----

func.func @load_c1_indices(%m: memref<4x16x16xf16>, %i: index) {
  // expected-error @+1 {{'tessera.load' op load_c1: 'memref<4x16x16xf16>' requires 3 indices, not 2}}
  %0 = tessera.load %m[%i, %i] : memref<4x16x16xf16> -> !tessera.fragment<16x16xf16, a>
  return
}

// -----

func.func @load_c2(%m: memref<16x16xf16>, %i: index) {
  // expected-error @+1 {{'tessera.load' op load_c2: the memory has elements of 'f16', but the fragment of 'f32'; load the memory's element type and use tessera.convert}}
  %0 = tessera.load %m[%i, %i] : memref<16x16xf16> -> !tessera.fragment<16x16xf32, a>
  return
}

// -----

func.func @store_c1_rank(%f: !tessera.fragment<16x16xf32, acc>, %m: memref<f32>) {
  // expected-error @+1 {{store_c1: 'memref<f32>' has rank 0, but a tile requires rank 2 or more}}
  tessera.store %f, %m[] : !tessera.fragment<16x16xf32, acc>, memref<f32>
  return
}

// -----

func.func @store_c1_indices(%f: !tessera.fragment<16x16xf32, acc>, %m: memref<16x16xf32>, %i: index) {
  // expected-error @+1 {{'tessera.store' op store_c1: 'memref<16x16xf32>' requires 2 indices, not 3}}
  tessera.store %f, %m[%i, %i, %i] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf32>
  return
}

// -----

func.func @store_c2(%f: !tessera.fragment<16x16xf32, acc>, %m: memref<16x16xf16>, %i: index) {
  // expected-error @+1 {{'tessera.store' op store_c2: the memory has elements of 'f16', but the fragment of 'f32'; use tessera.convert first}}
  tessera.store %f, %m[%i, %i] : !tessera.fragment<16x16xf32, acc>, memref<16x16xf16>
  return
}

// -----

func.func @store_c3_type(%f: !tessera.fragment<16x16xf16, acc>, %m: memref<16x16xf16>, %i: index) {
  // expected-error @+1 {{store_c3: atomic_add requires an accumulator of f32, f64 or i32, not '!tessera.fragment<16x16xf16, acc>'}}
  tessera.store %f, %m[%i, %i] atomic_add : !tessera.fragment<16x16xf16, acc>, memref<16x16xf16>
  return
}

// -----

func.func @store_c3_role(%f: !tessera.fragment<16x16xf32, a>, %m: memref<16x16xf32>, %i: index) {
  // expected-error @+1 {{'tessera.store' op store_c3: atomic_add requires an accumulator of f32, f64 or i32, not '!tessera.fragment<16x16xf32, a>'}}
  tessera.store %f, %m[%i, %i] atomic_add : !tessera.fragment<16x16xf32, a>, memref<16x16xf32>
  return
}

// -----

func.func @store_c4_rows(%f: !tessera.fragment<16x16xf16, acc>, %m: memref<32x24xf16>, %i: index) {
  // expected-error @+1 {{store_c4: 'memref<32x24xf16>' cannot be swizzled: its rows must have 32 or a multiple of 64 bytes, without padding}}
  tessera.store %f, %m[%i, %i] swizzled : !tessera.fragment<16x16xf16, acc>, memref<32x24xf16>
  return
}

// -----

func.func @store_c4_atomic(%f: !tessera.fragment<16x16xf32, acc>, %m: memref<32x32xf32>, %i: index) {
  // expected-error @+1 {{store_c4: atomic_add requires memory that is not swizzled}}
  tessera.store %f, %m[%i, %i] atomic_add swizzled : !tessera.fragment<16x16xf32, acc>, memref<32x32xf32>
  return
}

// -----

//===----------------------------------------------------------------------===//
// mma
//===----------------------------------------------------------------------===//

func.func @mma_c1_k(%a: !tessera.fragment<16x8xf16, a>, %b: !tessera.fragment<16x16xf16, b>,
                    %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{mma_c1: a is 16x8, b is 16x16 and acc is 16x16: expected MxK, KxN and MxN}}
  %0 = tessera.mma %a, %b, %c : !tessera.fragment<16x8xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @mma_c1_m(%a: !tessera.fragment<32x16xf16, a>, %b: !tessera.fragment<16x16xf16, b>,
                    %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{mma_c1: a is 32x16}}
  %0 = tessera.mma %a, %b, %c : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @mma_c1_n(%a: !tessera.fragment<16x16xf16, a>, %b: !tessera.fragment<16x8xf16, b>,
                    %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{mma_c1: a is 16x16, b is 16x8}}
  %0 = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x8xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @mma_c2(%a: !tessera.fragment<16x16xf16, a>, %b: !tessera.fragment<16x16xbf16, b>,
                  %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{mma_c2: unsupported operand types 'f16' and 'bf16' accumulated in 'f32'}}
  %0 = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xbf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @mma_c2_accumulator(%a: !tessera.fragment<16x16xf8E4M3FNUZ, a>, %b: !tessera.fragment<16x16xf8E4M3FNUZ, b>,
                              %c: !tessera.fragment<16x16xf16, acc>) {
  // expected-error @+1 {{mma_c2: unsupported operand types 'f8E4M3FNUZ' and 'f8E4M3FNUZ' accumulated in 'f16'}}
  %0 = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf8E4M3FNUZ, a>, !tessera.fragment<16x16xf8E4M3FNUZ, b> -> !tessera.fragment<16x16xf16, acc>
  return
}

// -----

func.func @mma_c3(%a: !tessera.fragment<16x16xf16, a>, %b: !tessera.fragment<16x16xf16, b>,
                  %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{mma_c3: unsigned_a and unsigned_b require operands of i8 or i4, not 'f16'}}
  %0 = tessera.mma %a, %b, %c unsigned_b : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @mma_c4(%a: !tessera.fragment<16x16xf16, a>, %b: !tessera.fragment<16x16xf16, b>,
                  %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{mma_c4: precision tf32 requires f32 operands, not 'f16'}}
  %0 = tessera.mma %a, %b, %c precision tf32 : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

func.func @mma_c4_f8(%a: !tessera.fragment<16x16xf16, a>, %b: !tessera.fragment<16x16xf16, b>,
                  %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{mma_c4: precision fast_f8 requires operands of 8-bit floats, not 'f16'}}
  %0 = tessera.mma %a, %b, %c precision fast_f8 : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

// The roles are the operands' types.
func.func @mma_roles(%a: !tessera.fragment<16x16xf16, b>, %b: !tessera.fragment<16x16xf16, b>,
                     %c: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{operand #0 must be fragment of role a, but got '!tessera.fragment<16x16xf16, b>'}}
  %0 = tessera.mma %a, %b, %c : !tessera.fragment<16x16xf16, b>, !tessera.fragment<16x16xf16, b> -> !tessera.fragment<16x16xf32, acc>
  return
}

// -----

//===----------------------------------------------------------------------===//
// map
//===----------------------------------------------------------------------===//

func.func @map_c1_shape(%f: !tessera.fragment<16x16xf32, acc>, %g: !tessera.fragment<16x8xf32, acc>) {
  // expected-error @+1 {{map_c1: input '!tessera.fragment<16x8xf32, acc>' and result '!tessera.fragment<16x16xf32, acc>' differ in shape or role}}
  %0 = tessera.map %f, %g : !tessera.fragment<16x16xf32, acc>, !tessera.fragment<16x8xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32, %y: f32):
    tessera.yield %x : f32
  }
  return
}

// -----

func.func @map_c1_role(%f: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{map_c1: input '!tessera.fragment<16x16xf32, acc>' and result '!tessera.fragment<16x16xf32, a>' differ in shape or role}}
  %0 = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, a> {
  ^bb0(%x: f32):
    tessera.yield %x : f32
  }
  return
}

// -----

func.func @map_c2_type(%f: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{map_c2: the region must take the inputs' element types, optionally followed by two index values}}
  %0 = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f16):
    %y = arith.extf %x : f16 to f32
    tessera.yield %y : f32
  }
  return
}

// -----

func.func @map_c2_count(%f: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{map_c2}}
  %0 = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32, %i: index):
    tessera.yield %x : f32
  }
  return
}

// -----

func.func @map_c2_missing(%f: !tessera.fragment<16x16xf32, acc>, %x: f32) {
  // expected-error @+1 {{map_c2}}
  %0 = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0:
    tessera.yield %x : f32
  }
  return
}

// -----

func.func @map_c2_coordinates(%f: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{map_c2}}
  %0 = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32, %i: i32, %j: i32):
    tessera.yield %x : f32
  }
  return
}

// -----

func.func @map_c3_type(%f: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{map_c3: the region must yield one 'f16'}}
  %0 = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf16, acc> {
  ^bb0(%x: f32):
    tessera.yield %x : f32
  }
  return
}

// -----

func.func @map_c3_count(%f: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{map_c3: the region must yield one 'f32'}}
  %0 = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32):
    tessera.yield
  }
  return
}

// -----

func.func @map_c4(%f: !tessera.fragment<16x16xf32, acc>, %m: memref<f32>) {
  // expected-error @+1 {{map_c4: the ops of the region must not have side effects}}
  %0 = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
  ^bb0(%x: f32):
    // expected-note @+1 {{this op may have side effects: memref.store}}
    memref.store %x, %m[] : memref<f32>
    tessera.yield %x : f32
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// broadcast, reduce, convert
//===----------------------------------------------------------------------===//

func.func @broadcast_c1_shape(%v: !tessera.fragment<16x1xf32, acc>) {
  // expected-error @+1 {{'tessera.broadcast' op broadcast_c1: dimension 0 of '!tessera.fragment<16x32xf32, acc>' requires a 1x32 fragment, without indices}}
  %0 = tessera.broadcast %v dimension 0 : !tessera.fragment<16x1xf32, acc> -> !tessera.fragment<16x32xf32, acc>
  return
}

// -----

func.func @broadcast_c1_index(%v: !tessera.fragment<16x1xf32, acc>, %i: index) {
  // expected-error @+1 {{'tessera.broadcast' op broadcast_c1: dimension 1 of '!tessera.fragment<16x32xf32, acc>' requires a 16x1 fragment, without indices}}
  %0 = tessera.broadcast %v[%i] dimension 1 : !tessera.fragment<16x1xf32, acc> -> !tessera.fragment<16x32xf32, acc>
  return
}

// -----

func.func @broadcast_c1_rank(%m: memref<4x32xf32>, %i: index) {
  // expected-error @+1 {{broadcast_c1: a memref source must have rank 1 and one index}}
  %0 = tessera.broadcast %m[%i] dimension 0 : memref<4x32xf32> -> !tessera.fragment<16x32xf32, acc>
  return
}

// -----

func.func @broadcast_c1_no_index(%m: memref<32xf32>) {
  // expected-error @+1 {{broadcast_c1: a memref source must have rank 1 and one index}}
  %0 = tessera.broadcast %m dimension 0 : memref<32xf32> -> !tessera.fragment<16x32xf32, acc>
  return
}

// -----

func.func @broadcast_c2(%m: memref<32xf16>, %i: index) {
  // expected-error @+1 {{'tessera.broadcast' op broadcast_c2: the source has elements of 'f16', but the fragment of 'f32'}}
  %0 = tessera.broadcast %m[%i] dimension 0 : memref<32xf16> -> !tessera.fragment<16x32xf32, acc>
  return
}

// -----

func.func @broadcast_c3(%m: memref<32xf32>, %i: index) {
  // expected-error @+1 {{broadcast_c3: dimension must be 0 or 1, not 2}}
  %0 = tessera.broadcast %m[%i] dimension 2 : memref<32xf32> -> !tessera.fragment<16x32xf32, acc>
  return
}

// -----

func.func @broadcast_c3_negative(%m: memref<32xf32>, %i: index) {
  // expected-error @+1 {{broadcast_c3: dimension must be 0 or 1, not -1}}
  %0 = tessera.broadcast %m[%i] dimension -1 : memref<32xf32> -> !tessera.fragment<16x32xf32, acc>
  return
}

// -----

func.func @broadcast_c4(%v: !tessera.fragment<1x32xf32, b>) {
  // expected-error @+1 {{broadcast_c4: source and result are b and acc}}
  %0 = tessera.broadcast %v dimension 0 : !tessera.fragment<1x32xf32, b> -> !tessera.fragment<16x32xf32, acc>
  return
}

// -----

func.func @reduce_c1_shape(%f: !tessera.fragment<16x32xf32, acc>) {
  // expected-error @+1 {{reduce_c1: dimension must be 0 (result 1x32) or 1 (result 16x1)}}
  %0 = tessera.reduce add %f dimension 0 : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<16x1xf32, acc>
  return
}

// -----

func.func @reduce_c1_dimension(%f: !tessera.fragment<16x32xf32, acc>) {
  // expected-error @+1 {{reduce_c1}}
  %0 = tessera.reduce add %f dimension 2 : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<16x1xf32, acc>
  return
}

// -----

func.func @reduce_c2(%f: !tessera.fragment<16x32xf32, acc>) {
  // expected-error @+1 {{reduce_c2: source and result hold 'f32' and 'f16'}}
  %0 = tessera.reduce add %f dimension 1 : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<16x1xf16, acc>
  return
}

// -----

func.func @reduce_c2_role(%f: !tessera.fragment<16x32xf32, a>) {
  // expected-error @+1 {{operand #0 must be fragment of role acc}}
  %0 = tessera.reduce add %f dimension 1 : !tessera.fragment<16x32xf32, a> -> !tessera.fragment<16x1xf32, acc>
  return
}

// -----

func.func @convert_c1(%f: !tessera.fragment<16x32xf32, acc>) {
  // expected-error @+1 {{convert_c1: '!tessera.fragment<16x32xf32, acc>' and '!tessera.fragment<32x16xf32, acc>' differ in shape}}
  %0 = tessera.convert %f : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<32x16xf32, acc>
  return
}

// -----

func.func @convert_c2(%f: !tessera.fragment<16x32xf32, acc>) {
  // expected-error @+1 {{convert_c2: unsigned requires an integer on one side, not 'f32' and 'f16'}}
  %0 = tessera.convert %f unsigned : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<16x32xf16, a>
  return
}

// -----

//===----------------------------------------------------------------------===//
// copy, async_copy, wait
//===----------------------------------------------------------------------===//

func.func @copy_c1_source(%g: memref<64xf16>, %w: memref<64x32xf16>, %i: index) {
  // expected-error @+1 {{'tessera.copy' op copy_c1: 'memref<64xf16>' has rank 1, but a tile requires rank 2 or more}}
  tessera.copy %g[%i], %w[%i, %i] shape [16, 16] : memref<64xf16>, memref<64x32xf16>
  return
}

// -----

func.func @copy_c1_target(%g: memref<64x32xf16>, %w: memref<2x64x32xf16>, %i: index) {
  // expected-error @+1 {{'tessera.copy' op copy_c1: 'memref<2x64x32xf16>' requires 3 indices, not 2}}
  tessera.copy %g[%i, %i], %w[%i, %i] shape [16, 16] : memref<64x32xf16>, memref<2x64x32xf16>
  return
}

// -----

func.func @copy_c2(%g: memref<64x32xf16>, %w: memref<64x32xf32>, %i: index) {
  // expected-error @+1 {{'tessera.copy' op copy_c2: the source has elements of 'f16', the target of 'f32'}}
  tessera.copy %g[%i, %i], %w[%i, %i] shape [16, 16] : memref<64x32xf16>, memref<64x32xf32>
  return
}

// -----

func.func @copy_c3_zero(%g: memref<64x32xf16>, %w: memref<64x32xf16>, %i: index) {
  // expected-error @+1 {{copy_c3: shape must have two positive entries}}
  tessera.copy %g[%i, %i], %w[%i, %i] shape [16, 0] : memref<64x32xf16>, memref<64x32xf16>
  return
}

// -----

func.func @copy_c3_count(%g: memref<64x32xf16>, %w: memref<64x32xf16>, %i: index) {
  // expected-error @+1 {{copy_c3: shape must have two positive entries}}
  tessera.copy %g[%i, %i], %w[%i, %i] shape [16] : memref<64x32xf16>, memref<64x32xf16>
  return
}

// -----

func.func @copy_c4_power(%g: memref<64x32xf16>, %w: memref<64x32xf16>, %i: index) {
  // expected-error @+1 {{'tessera.copy' op copy_c4: alignment must be a power of two, and at least the element's 2 bytes, not 12}}
  tessera.copy %g[%i, %i], %w[%i, %i] shape [16, 16] alignment 12 : memref<64x32xf16>, memref<64x32xf16>
  return
}

// -----

func.func @copy_c4_element(%g: memref<64x32xf64>, %w: memref<64x32xf64>, %i: index) {
  // expected-error @+1 {{'tessera.copy' op copy_c4: alignment must be a power of two, and at least the element's 8 bytes, not 4}}
  tessera.copy %g[%i, %i], %w[%i, %i] shape [16, 16] alignment 4 : memref<64x32xf64>, memref<64x32xf64>
  return
}

// -----

func.func @copy_c4_negative(%g: memref<64x32xf16>, %w: memref<64x32xf16>, %i: index) {
  // expected-error @+1 {{'tessera.copy' op copy_c4: alignment must be a power of two, and at least the element's 2 bytes, not -16}}
  tessera.copy %g[%i, %i], %w[%i, %i] shape [16, 16] alignment -16 : memref<64x32xf16>, memref<64x32xf16>
  return
}

// -----

func.func @async_copy_c1(%g: memref<64x32xf16>, %w: memref<64x32xf16, 3>, %i: index) {
  // expected-error @+1 {{'tessera.async_copy' op copy_c1: 'memref<64x32xf16>' requires 2 indices, not 1}}
  %t = tessera.async_copy %g[%i], %w[%i, %i] shape [16, 16] : memref<64x32xf16>, memref<64x32xf16, 3>
  return
}

// -----

func.func @copy_c5(%g: memref<64x32xf16>, %w: memref<64x32xf16>, %i: index) {
  // expected-error @+1 {{copy_c5: the target of an asynchronous copy must be in workgroup memory, not 'memref<64x32xf16>'}}
  %t = tessera.async_copy %g[%i, %i], %w[%i, %i] shape [16, 16] : memref<64x32xf16>, memref<64x32xf16>
  return
}

// -----

func.func @copy_c5_private(%g: memref<64x32xf16>, %w: memref<64x32xf16, #gpu.address_space<private>>, %i: index) {
  // expected-error @+1 {{copy_c5}}
  %t = tessera.async_copy %g[%i, %i], %w[%i, %i] shape [16, 16] : memref<64x32xf16>, memref<64x32xf16, #gpu.address_space<private>>
  return
}

// -----

func.func @wait_c1(%t: !tessera.token) {
  // expected-error @+1 {{wait_c1: pending must not be negative}}
  tessera.wait for %t pending -1
  return
}

// -----

//===----------------------------------------------------------------------===//
// vthread
//===----------------------------------------------------------------------===//

func.func @vthread_c1_zero() {
  // expected-error @+1 {{vthread_c1: the grid must have positive entries, and the region one index argument for each}}
  tessera.vthread (%v) in (0) {
    tessera.yield
  }
  return
}

// -----

func.func @vthread_c1_empty() {
  // expected-error @+1 {{vthread_c1}}
  "tessera.vthread"() <{grid = array<i64>}> ({
    tessera.yield
  }) : () -> ()
  return
}

// -----

func.func @vthread_c1_argument() {
  // expected-error @+1 {{vthread_c1}}
  "tessera.vthread"() <{grid = array<i64: 2>}> ({
  ^bb0(%v: i32):
    tessera.yield
  }) : () -> ()
  return
}

// -----

func.func @vthread_c1_missing_argument() {
  // expected-error @+1 {{vthread_c1}}
  "tessera.vthread"() <{grid = array<i64: 2, 2>}> ({
  ^bb0(%v: index):
    tessera.yield
  }) : () -> ()
  return
}

// -----

func.func @vthread_c2_count(%x: f32) {
  // expected-error @+1 {{vthread_c2: each private operand must have a value for each of the 2 vthreads, of the argument's type}}
  tessera.vthread (%v) in (2) private(%p = [%x, %x, %x] : f32) {
    tessera.yield
  }
  return
}

// -----

func.func @vthread_c2_type(%x: f32, %y: f16) {
  // expected-error @+1 {{vthread_c2}}
  "tessera.vthread"(%x, %y) <{grid = array<i64: 2>}> ({
  ^bb0(%v: index, %p: f32):
    tessera.yield
  }) : (f32, f16) -> ()
  return
}

// -----

func.func @vthread_c3_count(%x: f32) {
  // expected-error @+1 {{vthread_c3: the results must have the yielded values' types, each repeated for the 2 vthreads}}
  %0 = tessera.vthread (%v) in (2) -> f32 {
    tessera.yield %x : f32
  }
  return
}

// -----

func.func @vthread_c3_order(%x: f32, %y: f16) {
  // expected-error @+1 {{vthread_c3}}
  %0:4 = tessera.vthread (%v) in (2) -> (f32, f16, f32, f16) {
    tessera.yield %x, %y : f32, f16
  }
  return
}

// -----

// Two vthreads store to the same address.
func.func @vthread_c4(%f: !tessera.fragment<16x16xf32, acc>, %m: memref<32x16xf32>, %i: index) {
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    // expected-error @+1 {{'tessera.store' op vthread_c4: all 2 vthreads along dimension 0 write the same address, which does not depend on that index; index it with the vthread, or allocate the memory in the region}}
    tessera.store %f, %m[%i, %i] : !tessera.fragment<16x16xf32, acc>, memref<32x16xf32>
    tessera.yield
  }
  return
}

// -----

// Both dimensions of the grid count.
func.func @vthread_c4_grid(%x: f32, %m: memref<4x4xf32>) {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v, %w) in (2, 4) {
    // expected-error @+1 {{'memref.store' op vthread_c4: all 4 vthreads along dimension 1 write the same address, which does not depend on that index; index it with the vthread, or allocate the memory in the region}}
    memref.store %x, %m[%v, %c0] : memref<4x4xf32>
    tessera.yield
  }
  return
}

// -----

// The stored value may depend on the vthread; the address does not.
func.func @vthread_c4_value(%m: memref<4xindex>) {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    // expected-error @+1 {{vthread_c4}}
    memref.store %v, %m[%c0] : memref<4xindex>
    tessera.yield
  }
  return
}

// -----

// The source's address is not the target's.
func.func @vthread_c4_copy(%g: memref<64x32xf16>, %w: memref<64x32xf16, #gpu.address_space<workgroup>>) {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    // expected-error @+1 {{'tessera.copy' op vthread_c4}}
    tessera.copy %g[%v, %c0], %w[%c0, %c0] shape [16, 16] : memref<64x32xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
    tessera.yield
  }
  return
}

// -----

func.func @vthread_c4_async_copy(%g: memref<64x32xf16>, %w: memref<64x32xf16, #gpu.address_space<workgroup>>) {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    // expected-error @+1 {{'tessera.async_copy' op vthread_c4}}
    %t = tessera.async_copy %g[%v, %c0], %w[%c0, %c0] shape [16, 16] : memref<64x32xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
    tessera.yield
  }
  return
}

// -----

// Inside a loop whose bounds all vthreads share; through a view.
func.func @vthread_c4_nested(%x: f32, %m: memref<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    scf.for %i = %c0 to %c4 step %c1 {
      %view = memref.subview %m[%i, 0] [1, 4] [1, 1] : memref<4x4xf32> to memref<1x4xf32, strided<[4, 1], offset: ?>>
      // expected-error @+1 {{'memref.store' op vthread_c4}}
      memref.store %x, %view[%c0, %c0] : memref<1x4xf32, strided<[4, 1], offset: ?>>
    }
    tessera.yield
  }
  return
}

// -----

// Global memory is shared, wherever its address is taken.
memref.global "private" @global : memref<4xf32> = uninitialized
func.func @vthread_c4_global(%x: f32) {
  %c0 = arith.constant 0 : index
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    %m = memref.get_global @global : memref<4xf32>
    // expected-error @+1 {{'memref.store' op vthread_c4: all 2 vthreads along dimension 0 write the same address, which does not depend on that index; index it with the vthread, or allocate the memory in the region}}
    memref.store %x, %m[%c0] : memref<4xf32>
    tessera.yield
  }
  return
}

// -----

// Also by ops that have a region, and from a source that is the vthread's own.
func.func @vthread_c4_fill(%x: f32, %m: memref<4xf32>) {
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    // expected-error @+1 {{'linalg.fill' op vthread_c4}}
    linalg.fill ins(%x : f32) outs(%m : memref<4xf32>)
    tessera.yield
  }
  return
}

// -----

func.func @vthread_c4_copy(%from: memref<2x4xf32>, %m: memref<4xf32>) {
  // expected-note @+1 {{the vthreads are defined here}}
  tessera.vthread (%v) in (2) {
    %row = memref.subview %from[%v, 0] [1, 4] [1, 1] : memref<2x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    // expected-error @+1 {{'memref.copy' op vthread_c4}}
    memref.copy %row, %m : memref<4xf32, strided<[1], offset: ?>> to memref<4xf32>
    tessera.yield
  }
  return
}

// -----

// expected-error @+1 {{interleave_c1: a group must have 1 or more vthreads, not 0}}
func.func private @interleave_c1() attributes {o = #tessera.interleave<groups(0)>}

// -----

// expected-error @+1 {{chip_c1: the names of the target and of the chip must not be empty}}
module attributes {tessera.chip = #tessera.chip<"", "sm_90a">} {
}

// -----

// expected-error @+1 {{chip_c1: the names of the target and of the chip must not be empty}}
module attributes {tessera.chip = #tessera.chip<"cuda", "">} {
}

// -----

func.func @yield_parent() {
  // expected-error @+1 {{'tessera.yield' op expects parent op to be one of 'tessera.map, tessera.vthread, tessera.contract, tessera.attention, tessera.copy, tessera.async_copy, tessera.tile'}}
  tessera.yield
}

// -----

//===----------------------------------------------------------------------===//
// contract
//===----------------------------------------------------------------------===//

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
func.func @contract_c1_count(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{contract_c1: 3 operands require as many maps, not 2}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64x48xf32>)
      maps [#mk, #kn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#sum = affine_map<(m, n, k) -> (m, n + k)>
func.func @contract_c1_permutation(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{contract_c1: map 2, affine_map<(d0, d1, d2) -> (d0, d1 + d2)>, does not map the 3 iteration dimensions to 'memref<64x48xf32>' as a projected permutation}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64x48xf32>)
      maps [#mk, #kn, #sum] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#m = affine_map<(m, n, k) -> (m)>
func.func @contract_c1_rank(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{contract_c1: map 2}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64x48xf32>)
      maps [#mk, #kn, #m] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n) -> (m, n)>
func.func @contract_c1_space(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{contract_c1: map 2}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64x48xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @contract_c1_size(%a: memref<64x32xf16>, %b: memref<16x48xf16>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{contract_c1: operand 1 has size 16 where another operand has 32}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<16x48xf16>) outs(%c : memref<64x48xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k, l) -> (m, k + l)>
#b = affine_map<(m, n, k, l) -> (k + l, n)>
#c = affine_map<(m, n, k, l) -> (m, n)>
func.func @contract_c1_alone(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{contract_c1: dimension d2 does not index any operand alone, so that its extent is unknown}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64x48xf32>)
      maps [#a, #b, #c] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k mod 8)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @contract_c1_sum(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{contract_c1: map 0, affine_map<(d0, d1, d2) -> (d0, d2 mod 8)>, does not map the 3 iteration dimensions to 'memref<64x32xf16>' as sums of dimensions}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64x48xf32>)
      maps [#a, #b, #c] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#s = affine_map<(m, n, k) -> (k mod 8, n)>
func.func @contract_c1_input(%a: memref<64x32xf16>, %b: memref<32x48xi8>, %s: memref<8x48xf16>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{as dimensions or their quotients}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xi8>) rhs_inputs(%s : memref<8x48xf16>)
      outs(%c : memref<64x48xf32>) maps [#a, #b, #c, #s] accumulate f32
      rhs_producer {
  ^bb0(%x: i8, %y: f16):
    %f = arith.sitofp %x : i8 to f16
    %g = arith.mulf %f, %y : f16
    tessera.yield %g : f16
  } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @contract_c5_arguments(%a: memref<64x32xf16>, %b: memref<32x48xi8>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{contract_c5: the producer of rhs must take the elements of the operand and of its inputs, and yield one value}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xi8>)
      outs(%c : memref<64x48xf32>) maps [#a, #b, #c] accumulate f32
      rhs_producer {
  ^bb0(%x: f16):
    tessera.yield %x : f16
  } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @contract_c5_product(%a: memref<64x32xf16>, %b: memref<32x48xi8>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{'tessera.contract' op contract_c5: unsupported matmul 'f16' x 'i8' -> 'f32'}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xi8>)
      outs(%c : memref<64x48xf32>) maps [#a, #b, #c] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#a = affine_map<(m, n, k, l) -> (m, k, l)>
#b = affine_map<(m, n, k, l) -> (k, n)>
#c = affine_map<(m, n, k, l) -> (m, n)>
func.func @contract_c2_one_sided(%a: memref<64x4x32xf16>, %b: memref<4x48xf16>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{contract_c2: dimension d3 must index lhs and rhs, or the output}}
  tessera.contract ins(%a, %b : memref<64x4x32xf16>, memref<4x48xf16>) outs(%c : memref<64x48xf32>)
      maps [#a, #b, #c] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#k = affine_map<(m, n, k) -> (k)>
func.func @contract_c2_extra(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf32>, %e: memref<32xf32>) {
  // expected-error @+1 {{contract_c2: extra 0 uses K dimension d2}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) extras(%e : memref<32xf32>) outs(%c : memref<64x48xf32>)
      maps [#mk, #kn, #mn, #k] accumulate f32 {
  ^bb0(%acc: f32, %x: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @contract_c3_accumulator(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf16>) {
  // expected-error @+1 {{contract_c3: the region must take the accumulator and the extras' elements, and yield the output's element type}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64x48xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f16):
    tessera.yield %acc : f16
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @contract_c3_extra(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{contract_c3}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) extras(%c : memref<64x48xf32>) outs(%c : memref<64x48xf32>)
      maps [#mk, #kn, #mn, #mn] accumulate f32 {
  ^bb0(%acc: f32, %x: f16):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @contract_c3_yield(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf16>) {
  // expected-error @+1 {{contract_c3}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64x48xf16>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @contract_c4_mixed(%a: tensor<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf32>) {
  // expected-error @+1 {{contract_c4: operands must be all tensors or all memrefs}}
  tessera.contract ins(%a, %b : tensor<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64x48xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @contract_c4_no_result(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %c: tensor<64x48xf32>) {
  // expected-error @+1 {{contract_c4: a result requires a tensor output, and a tensor output a result}}
  tessera.contract ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>) outs(%c : tensor<64x48xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// tile, gather, swizzle
//===----------------------------------------------------------------------===//

func.func @tile_c1(%g: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{'tessera.tile' op tile_c1: 'memref<64x64xf16>' requires 2 indices, not 1}}
  %t = tessera.tile %g[%i] : memref<64x64xf16> -> memref<32x32xf16>
  return
}

// -----

func.func @tile_c1_gather(%g: memref<64xf16>, %i: index) {
  %true = arith.constant true
  // expected-error @+1 {{tile_c1: with gather, the source must not have indices: the region computes them}}
  %t = tessera.tile %g[%i] gather {
  ^bb0(%r: index, %c: index):
    tessera.yield %r, %true : index, i1
  } : memref<64xf16> -> memref<32x32xf16>
  return
}

// -----

func.func @tile_c2(%g: memref<64x64xf16>, %i: index) {
  // expected-error @+1 {{tile_c2: the result must be a static memref of rank 2 with the source's element type, 'f16', not 'memref<?x32xf16>'}}
  %t = tessera.tile %g[%i, %i] : memref<64x64xf16> -> memref<?x32xf16>
  return
}

// -----

func.func @tile_c3(%g: memref<64xf16>) {
  // expected-error @+1 {{tile_c3: the region must take two index values, and yield 1 index values and an i1 for 'memref<64xf16>'}}
  %t = tessera.tile %g[] gather {
  ^bb0(%r: index, %c: index):
    tessera.yield %r : index
  } : memref<64xf16> -> memref<32x32xf16>
  return
}

// -----

func.func @tile_c4(%g: memref<64x64xf16>, %i: index) -> f16 {
  // expected-error @+1 {{tile_c4: a tile can only be used by tessera.load}}
  %t = tessera.tile %g[%i, %i] : memref<64x64xf16> -> memref<32x32xf16>
  // expected-note @+1 {{other use}}
  %x = memref.load %t[%i, %i] : memref<32x32xf16>
  return %x : f16
}

// -----

func.func @copy_c6(%g: memref<64xf16>, %w: memref<32x32xf16>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{copy_c6: the region must take two index values, and yield 1 index values and an i1 for 'memref<64xf16>'}}
  tessera.copy %g[], %w[%c0, %c0] shape [32, 32] gather {
  ^bb0(%i: index, %j: index):
    tessera.yield %i : index
  } : memref<64xf16>, memref<32x32xf16>
  return
}

// -----

func.func @copy_c6_contiguous(%g: memref<64xf16>, %w: memref<32x32xf16>) {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  // expected-error @+1 {{copy_c6: contiguous (3) must be a power of two that divides the row length 32}}
  tessera.copy %g[], %w[%c0, %c0] shape [32, 32] contiguous 3 gather {
  ^bb0(%i: index, %j: index):
    tessera.yield %i, %true : index, i1
  } : memref<64xf16>, memref<32x32xf16>
  return
}

// -----

func.func @copy_c6_window(%g: memref<4x4x4xf16>, %w: memref<32x32xf16>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{copy_c6: window requires a gather region}}
  tessera.copy %g[%c0, %c0, %c0], %w[%c0, %c0] shape [32, 32]
      window <rows = [4, 4], cols = [4], map = (n, h, c) -> (n, h, c)> : memref<4x4x4xf16>, memref<32x32xf16>
  return
}

// -----

func.func @copy_c6_window_rank(%g: memref<4x4x4xf16>, %w: memref<32x32xf16>) {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  // expected-error @+1 {{'tessera.copy' op copy_c6: the window's map has 2 results, but 'memref<4x4x4xf16>' has rank 3}}
  tessera.copy %g[%c0, %c0], %w[%c0, %c0] shape [32, 32]
      window <rows = [4, 4], cols = [4], map = (n, h, c) -> (n, h + c)> gather {
  ^bb0(%i: index, %j: index):
    tessera.yield %i, %i, %j, %true : index, index, index, i1
  } : memref<4x4x4xf16>, memref<32x32xf16>
  return
}

// -----

func.func @copy_c1_window(%g: memref<4x4x4xf16>, %w: memref<32x32xf16>) {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  // expected-error @+1 {{copy_c1: with window, the source must have two indices: the row and the column of the window's matrix}}
  tessera.copy %g[], %w[%c0, %c0] shape [32, 32]
      window <rows = [4, 4], cols = [4], map = (n, h, c) -> (n, h, c)> gather {
  ^bb0(%i: index, %j: index):
    tessera.yield %i, %i, %j, %true : index, index, index, i1
  } : memref<4x4x4xf16>, memref<32x32xf16>
  return
}

// -----

// expected-error @+1 {{window_c1: rows and cols must not be empty, and their entries must be positive}}
func.func private @window_c1() attributes {w = #tessera.window<rows = [0], cols = [4], map = (n, c) -> (n, c)>}

// -----

// expected-error @+1 {{window_c2: the map has 2 dimensions and 0 symbols; expected 3 dimensions, one for each of rows and cols, and no symbols}}
func.func private @window_c2() attributes {w = #tessera.window<rows = [2, 2], cols = [4], map = (n, c) -> (n, c)>}

// -----

// expected-error @+1 {{window_c2: result 1 of the map is not a sum of dimensions with positive factors and a constant}}
func.func private @window_c2_sum() attributes {w = #tessera.window<rows = [2], cols = [4], map = (n, c) -> (n, c mod 2)>}

// -----

func.func @copy_c7(%g: memref<64x64xf16>, %w: memref<32x24xf16>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{copy_c7: 'memref<32x24xf16>' cannot be swizzled}}
  tessera.copy %g[%c0, %c0], %w[%c0, %c0] shape [32, 24] swizzled : memref<64x64xf16>, memref<32x24xf16>
  return
}

// -----

func.func @copy_c8(%g: memref<64x64xf16>, %w: memref<32x24xf16>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{copy_c8: 'memref<32x24xf16>' cannot be swizzled: its rows must have 32 or a multiple of 64 bytes, without padding}}
  tessera.copy %w[%c0, %c0], %g[%c0, %c0] shape [32, 24] from_swizzled : memref<32x24xf16>, memref<64x64xf16>
  return
}

// -----

func.func @copy_c8_gather(%g: memref<64x32xf16>, %w: memref<32x32xf16>) {
  %c0 = arith.constant 0 : index
  %true = arith.constant true
  // expected-error @+1 {{copy_c8: the source of a gather must not be swizzled}}
  tessera.copy %g[], %w[%c0, %c0] shape [32, 32] from_swizzled gather {
  ^bb0(%i: index, %j: index):
    tessera.yield %i, %j, %true : index, index, i1
  } : memref<64x32xf16>, memref<32x32xf16>
  return
}

// -----

func.func @load_c3(%w: memref<32x24xf16>) {
  %c0 = arith.constant 0 : index
  // expected-error @+1 {{load_c3: 'memref<32x24xf16>' cannot be swizzled}}
  %t = tessera.load %w[%c0, %c0] swizzled : memref<32x24xf16> -> !tessera.fragment<16x16xf16, a>
  return
}

// -----

func.func @reduce_c3_float(%f: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{reduce_c3: unsupported reduction umax of 'f32'}}
  %0 = tessera.reduce umax %f dimension 1 : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x1xf32, acc>
  return
}

// -----

func.func @reduce_c3_integer(%f: !tessera.fragment<16x16xi32, acc>) {
  // expected-error @+1 {{reduce_c3: unsupported reduction maxnum of 'i32'}}
  %0 = tessera.reduce maxnum %f dimension 1 : !tessera.fragment<16x16xi32, acc> -> !tessera.fragment<16x1xi32, acc>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @row_reduce_c1(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf32>) {
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64x48xf32>)
      maps [#mk, #kn, #mn] accumulate f32 lhs_producer {
  ^bb0(%x: f16):
    // expected-error @+1 {{row_reduce_c1: must be in the epilogue: a producer has no rows}}
    %m = tessera.row_reduce max %x : f16
    tessera.yield %m : f16
  } {
  ^bb0(%acc: f32):
    tessera.yield %acc : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
func.func @row_reduce_c2(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64x48xf32>) {
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64x48xf32>)
      maps [#mk, #kn, #mn] accumulate f32 {
  ^bb0(%acc: f32):
    // expected-error @+1 {{row_reduce_c2: unsupported reduction umin of 'f32'}}
    %m = tessera.row_reduce umin %acc : f32
    tessera.yield %m : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#m = affine_map<(m, n, k) -> (m)>
func.func @contract_c2_varies(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64xf32>) {
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{contract_c2: the output lacks N dimension d1, but the yielded value varies along it}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) init(%zero : f32) outs(%c : memref<64xf32>)
      maps [#mk, #kn, #m] accumulate f32 {
  ^bb0(%acc: f32):
    %m = tessera.row_reduce max %acc : f32
    %y = arith.subf %acc, %m : f32
    tessera.yield %y : f32
  }
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#m = affine_map<(m, n, k) -> (m)>
func.func @contract_c2_no_init(%a: memref<64x32xf16>, %b: memref<32x48xf16>, %c: memref<64xf32>) {
  // expected-error @+1 {{contract_c2: the output lacks N dimension d1, so that the sum cannot start from it: init is required}}
  tessera.contract ins(%a, %b : memref<64x32xf16>, memref<32x48xf16>) outs(%c : memref<64xf32>)
      maps [#mk, #kn, #m] accumulate f32 {
  ^bb0(%acc: f32):
    %m = tessera.row_reduce max %acc : f32
    tessera.yield %m : f32
  }
  return
}

// -----

func.func @await_pending(%p: !tessera.fragment<16x16xf32, acc>) {
  // expected-error @+1 {{attribute 'pending' failed to satisfy constraint: 64-bit signless integer attribute whose value is non-negative}}
  %r = tessera.await %p pending -1 : !tessera.fragment<16x16xf32, acc>
  return
}
