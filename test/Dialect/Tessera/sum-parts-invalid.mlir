// RUN: gpu-opt %s --split-input-file --verify-diagnostics

// sum_parts: the verifier's constraints.

func.func @sum_parts_c1_power(%f: !tessera.fragment<64x128xf32, acc>, %w: memref<8192xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{sum_parts_c1: parts (3) must be a power of two that divides the 128 columns}}
  %r = tessera.sum_parts %f through %w parts 3 : memref<8192xf32, #gpu.address_space<workgroup>>, !tessera.fragment<64x128xf32, acc> -> !tessera.fragment<64x32xf32, acc>
  return
}

// -----

func.func @sum_parts_c1_divides(%f: !tessera.fragment<64x8xf32, acc>, %w: memref<512xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{sum_parts_c1: parts (16) must be a power of two that divides the 8 columns}}
  %r = tessera.sum_parts %f through %w parts 16 : memref<512xf32, #gpu.address_space<workgroup>>, !tessera.fragment<64x8xf32, acc> -> !tessera.fragment<64x8xf32, acc>
  return
}

// -----

func.func @sum_parts_c2_columns(%f: !tessera.fragment<64x128xf32, acc>, %w: memref<8192xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{sum_parts_c2: for '!tessera.fragment<64x128xf32, acc>' in 4 parts, the result must be an f32 or i32 accumulator with the same rows and the columns of one part, not '!tessera.fragment<64x64xf32, acc>'}}
  %r = tessera.sum_parts %f through %w parts 4 : memref<8192xf32, #gpu.address_space<workgroup>>, !tessera.fragment<64x128xf32, acc> -> !tessera.fragment<64x64xf32, acc>
  return
}

// -----

func.func @sum_parts_c2_type(%f: !tessera.fragment<64x128xf16, acc>, %w: memref<8192xf16, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{sum_parts_c2}}
  %r = tessera.sum_parts %f through %w parts 4 : memref<8192xf16, #gpu.address_space<workgroup>>, !tessera.fragment<64x128xf16, acc> -> !tessera.fragment<64x32xf16, acc>
  return
}

// -----

func.func @sum_parts_c3_space(%f: !tessera.fragment<64x128xf32, acc>, %w: memref<8192xf32>) {
  // expected-error @+1 {{sum_parts_c3: memory must be static workgroup memory of rank 1 with elements of 'f32', not 'memref<8192xf32>'}}
  %r = tessera.sum_parts %f through %w parts 4 : memref<8192xf32>, !tessera.fragment<64x128xf32, acc> -> !tessera.fragment<64x32xf32, acc>
  return
}

// -----

func.func @sum_parts_c3_rank(%f: !tessera.fragment<64x128xf32, acc>, %w: memref<64x128xf32, #gpu.address_space<workgroup>>) {
  // expected-error @+1 {{sum_parts_c3}}
  %r = tessera.sum_parts %f through %w parts 4 : memref<64x128xf32, #gpu.address_space<workgroup>>, !tessera.fragment<64x128xf32, acc> -> !tessera.fragment<64x32xf32, acc>
  return
}
