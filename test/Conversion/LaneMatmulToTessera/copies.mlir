// RUN: gpu-opt %s --tessera-attach-chip="target=hip chip=gfx942" --convert-lane-matmul-to-tessera --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// Tiles that all threads copy to workgroup memory, asynchronously or by loads and stores, and that
// ldmatrix loads. The tokens of the copies go.
// CHECK-LABEL: func @staged
// CHECK-SAME:    %[[A:.+]]: memref<16x64xf16>, %[[B:.+]]: memref<64x16xf16>, %[[C:.+]]: memref<16x16xf32>
// CHECK:         gpu.launch {{.*}} workgroup(%[[AS:.+]] : memref<16x16xf16, #gpu.address_space<workgroup>>, %[[BS:.+]] : memref<16x16xf16, #gpu.address_space<workgroup>>)
// CHECK:           scf.for %[[K:.+]] = %c0 to %c64 step %c16 iter_args(%{{.+}} = %{{.+}}) -> (!tessera.fragment<16x16xf32, acc>) {
// CHECK-NEXT:        tessera.copy %[[A]][%c0, %[[K]]], %[[AS]][%c0, %c0] shape [16, 16] in_bounds alignment 16
// CHECK-NEXT:        tessera.copy %[[B]][%[[K]], %c0], %[[BS]][%c0, %c0] shape [16, 16] in_bounds :
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        tessera.load %[[AS]][%c0, %c0] in_bounds {{.*}} -> <16x16xf16, a>
// CHECK-NEXT:        tessera.load %[[BS]][%c0, %c0] in_bounds {{.*}} -> <16x16xf16, b>
// CHECK-NEXT:        tessera.mma
// CHECK-NEXT:        gpu.barrier
// CHECK-NEXT:        scf.yield
// CHECK-NOT:       nvgpu
// CHECK-NOT:       vector
#wg = #gpu.address_space<workgroup>
func.func @staged(%a: memref<16x64xf16>, %b: memref<64x16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%as : memref<16x16xf16, #wg>, %bs : memref<16x16xf16, #wg>) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%tx)
    %chunk = affine.apply affine_map<(d0) -> ((d0 mod 2) * 8)>(%tx)
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %word = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%tx)
    %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc0 = %zero, %acc1 = %zero) -> (vector<2x2xf32>, vector<2x2xf32>) {
      %ka = arith.addi %k, %chunk : index
      %t = nvgpu.device_async_copy %a[%half, %ka], %as[%half, %chunk], 8 : memref<16x64xf16> to memref<16x16xf16, #wg>
      %kb = arith.addi %k, %half : index
      %v = vector.load %b[%kb, %chunk] : memref<64x16xf16>, vector<8xf16>
      vector.store %v, %bs[%half, %chunk] : memref<16x16xf16, #wg>, vector<8xf16>
      %g = nvgpu.device_async_create_group %t
      nvgpu.device_async_wait %g
      gpu.barrier
      %x = nvgpu.ldmatrix %as[%line, %word] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y = nvgpu.ldmatrix %bs[%line, %word] {numTiles = 4 : i32, transpose = true} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y0 = vector.extract_strided_slice %y {offsets = [0, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      %y1 = vector.extract_strided_slice %y {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      // expected-remark@+1 {{is raised to fragments: 16x16x16 'f16' x 'f16' -> 'f32', with the adjacent columns}}
      %n0 = nvgpu.mma.sync(%x, %y0, %acc0) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      // expected-note@+1 {{the adjacent columns}}
      %n1 = nvgpu.mma.sync(%x, %y1, %acc1) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      gpu.barrier
      scf.yield %n0, %n1 : vector<2x2xf32>, vector<2x2xf32>
    }
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %row8 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %col8 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %d0:4 = vector.to_elements %r#0 : vector<2x2xf32>
    %d1:4 = vector.to_elements %r#1 : vector<2x2xf32>
    %e0 = vector.from_elements %d0#0, %d0#1 : vector<2xf32>
    %e1 = vector.from_elements %d0#2, %d0#3 : vector<2xf32>
    %e2 = vector.from_elements %d1#0, %d1#1 : vector<2xf32>
    %e3 = vector.from_elements %d1#2, %d1#3 : vector<2xf32>
    vector.store %e0, %c[%row, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e2, %c[%row, %col8] : memref<16x16xf32>, vector<2xf32>
    vector.store %e1, %c[%row8, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e3, %c[%row8, %col8] : memref<16x16xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}

// -----

// CHECK-LABEL: func @no_barrier
// CHECK:         nvgpu.mma.sync
// CHECK:         nvgpu.mma.sync
#wg = #gpu.address_space<workgroup>
func.func @no_barrier(%a: memref<16x64xf16>, %b: memref<64x16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%as : memref<16x16xf16, #wg>, %bs : memref<16x16xf16, #wg>) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%tx)
    %chunk = affine.apply affine_map<(d0) -> ((d0 mod 2) * 8)>(%tx)
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %word = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%tx)
    %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc0 = %zero, %acc1 = %zero) -> (vector<2x2xf32>, vector<2x2xf32>) {
      %ka = arith.addi %k, %chunk : index
      // expected-note@+1 {{here}}
      %t = nvgpu.device_async_copy %a[%half, %ka], %as[%half, %chunk], 8 : memref<16x64xf16> to memref<16x16xf16, #wg>
      %kb = arith.addi %k, %half : index
      %v = vector.load %b[%kb, %chunk] : memref<64x16xf16>, vector<8xf16>
      vector.store %v, %bs[%half, %chunk] : memref<16x16xf16, #wg>, vector<8xf16>
      %g = nvgpu.device_async_create_group %t
      nvgpu.device_async_wait %g
      %x = nvgpu.ldmatrix %as[%line, %word] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y = nvgpu.ldmatrix %bs[%line, %word] {numTiles = 4 : i32, transpose = true} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y0 = vector.extract_strided_slice %y {offsets = [0, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      %y1 = vector.extract_strided_slice %y {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'nvgpu.device_async_copy' op copies to workgroup memory without a gpu.barrier}}
      %n0 = nvgpu.mma.sync(%x, %y0, %acc0) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %n1 = nvgpu.mma.sync(%x, %y1, %acc1) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      gpu.barrier
      scf.yield %n0, %n1 : vector<2x2xf32>, vector<2x2xf32>
    }
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %row8 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %col8 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %d0:4 = vector.to_elements %r#0 : vector<2x2xf32>
    %d1:4 = vector.to_elements %r#1 : vector<2x2xf32>
    %e0 = vector.from_elements %d0#0, %d0#1 : vector<2xf32>
    %e1 = vector.from_elements %d0#2, %d0#3 : vector<2xf32>
    %e2 = vector.from_elements %d1#0, %d1#1 : vector<2xf32>
    %e3 = vector.from_elements %d1#2, %d1#3 : vector<2xf32>
    vector.store %e0, %c[%row, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e2, %c[%row, %col8] : memref<16x16xf32>, vector<2xf32>
    vector.store %e1, %c[%row8, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e3, %c[%row8, %col8] : memref<16x16xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}

// -----

// CHECK-LABEL: func @no_second_barrier
// CHECK:         nvgpu.mma.sync
// CHECK:         nvgpu.mma.sync
#wg = #gpu.address_space<workgroup>
func.func @no_second_barrier(%a: memref<16x64xf16>, %b: memref<64x16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%as : memref<16x16xf16, #wg>, %bs : memref<16x16xf16, #wg>) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%tx)
    %chunk = affine.apply affine_map<(d0) -> ((d0 mod 2) * 8)>(%tx)
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %word = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%tx)
    %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc0 = %zero, %acc1 = %zero) -> (vector<2x2xf32>, vector<2x2xf32>) {
      %ka = arith.addi %k, %chunk : index
      // expected-note@+1 {{here}}
      %t = nvgpu.device_async_copy %a[%half, %ka], %as[%half, %chunk], 8 : memref<16x64xf16> to memref<16x16xf16, #wg>
      %kb = arith.addi %k, %half : index
      %v = vector.load %b[%kb, %chunk] : memref<64x16xf16>, vector<8xf16>
      vector.store %v, %bs[%half, %chunk] : memref<16x16xf16, #wg>, vector<8xf16>
      %g = nvgpu.device_async_create_group %t
      nvgpu.device_async_wait %g
      gpu.barrier
      %x = nvgpu.ldmatrix %as[%line, %word] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y = nvgpu.ldmatrix %bs[%line, %word] {numTiles = 4 : i32, transpose = true} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y0 = vector.extract_strided_slice %y {offsets = [0, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      %y1 = vector.extract_strided_slice %y {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'nvgpu.device_async_copy' op copies to workgroup memory without a gpu.barrier}}
      %n0 = nvgpu.mma.sync(%x, %y0, %acc0) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %n1 = nvgpu.mma.sync(%x, %y1, %acc1) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      scf.yield %n0, %n1 : vector<2x2xf32>, vector<2x2xf32>
    }
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %row8 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %col8 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %d0:4 = vector.to_elements %r#0 : vector<2x2xf32>
    %d1:4 = vector.to_elements %r#1 : vector<2x2xf32>
    %e0 = vector.from_elements %d0#0, %d0#1 : vector<2xf32>
    %e1 = vector.from_elements %d0#2, %d0#3 : vector<2xf32>
    %e2 = vector.from_elements %d1#0, %d1#1 : vector<2xf32>
    %e3 = vector.from_elements %d1#2, %d1#3 : vector<2xf32>
    vector.store %e0, %c[%row, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e2, %c[%row, %col8] : memref<16x16xf32>, vector<2xf32>
    vector.store %e1, %c[%row8, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e3, %c[%row8, %col8] : memref<16x16xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}

// -----

// CHECK-LABEL: func @swizzled
// CHECK:         nvgpu.mma.sync
// CHECK:         nvgpu.mma.sync
#wg = #gpu.address_space<workgroup>
func.func @swizzled(%a: memref<16x64xf16>, %b: memref<64x16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%as : memref<16x16xf16, #wg>, %bs : memref<16x16xf16, #wg>) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%tx)
    %chunk = affine.apply affine_map<(d0) -> ((d0 mod 2) * 8)>(%tx)
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %odd = affine.apply affine_map<(d0) -> ((d0 floordiv 2) mod 2 * 8)>(%tx)
    %mixed = arith.xori %chunk, %odd : index
    %word = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%tx)
    %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc0 = %zero, %acc1 = %zero) -> (vector<2x2xf32>, vector<2x2xf32>) {
      %ka = arith.addi %k, %chunk : index
      %t = nvgpu.device_async_copy %a[%half, %ka], %as[%half, %chunk], 8 : memref<16x64xf16> to memref<16x16xf16, #wg>
      %kb = arith.addi %k, %half : index
      %v = vector.load %b[%kb, %chunk] : memref<64x16xf16>, vector<8xf16>
      // expected-note@+1 {{here}}
      vector.store %v, %bs[%half, %mixed] : memref<16x16xf16, #wg>, vector<8xf16>
      %g = nvgpu.device_async_create_group %t
      nvgpu.device_async_wait %g
      gpu.barrier
      %x = nvgpu.ldmatrix %as[%line, %word] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y = nvgpu.ldmatrix %bs[%line, %word] {numTiles = 4 : i32, transpose = true} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y0 = vector.extract_strided_slice %y {offsets = [0, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      %y1 = vector.extract_strided_slice %y {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'vector.store' op changes the order of the elements that it copies}}
      %n0 = nvgpu.mma.sync(%x, %y0, %acc0) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %n1 = nvgpu.mma.sync(%x, %y1, %acc1) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      gpu.barrier
      scf.yield %n0, %n1 : vector<2x2xf32>, vector<2x2xf32>
    }
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %row8 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %col8 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %d0:4 = vector.to_elements %r#0 : vector<2x2xf32>
    %d1:4 = vector.to_elements %r#1 : vector<2x2xf32>
    %e0 = vector.from_elements %d0#0, %d0#1 : vector<2xf32>
    %e1 = vector.from_elements %d0#2, %d0#3 : vector<2xf32>
    %e2 = vector.from_elements %d1#0, %d1#1 : vector<2xf32>
    %e3 = vector.from_elements %d1#2, %d1#3 : vector<2xf32>
    vector.store %e0, %c[%row, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e2, %c[%row, %col8] : memref<16x16xf32>, vector<2xf32>
    vector.store %e1, %c[%row8, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e3, %c[%row8, %col8] : memref<16x16xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}

// -----

// CHECK-LABEL: func @part
// CHECK:         nvgpu.mma.sync
// CHECK:         nvgpu.mma.sync
#wg = #gpu.address_space<workgroup>
func.func @part(%a: memref<16x64xf16>, %b: memref<64x16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%as : memref<16x16xf16, #wg>, %bs : memref<16x16xf16, #wg>) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 8 * 4)>(%tx)
    %chunk = affine.apply affine_map<(d0) -> ((d0 mod 2) * 8)>(%tx)
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %word = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%tx)
    %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc0 = %zero, %acc1 = %zero) -> (vector<2x2xf32>, vector<2x2xf32>) {
      %ka = arith.addi %k, %chunk : index
      // expected-note@+1 {{here}}
      %t = nvgpu.device_async_copy %a[%half, %ka], %as[%half, %chunk], 8 : memref<16x64xf16> to memref<16x16xf16, #wg>
      %kb = arith.addi %k, %half : index
      %v = vector.load %b[%kb, %chunk] : memref<64x16xf16>, vector<8xf16>
      vector.store %v, %bs[%half, %chunk] : memref<16x16xf16, #wg>, vector<8xf16>
      %g = nvgpu.device_async_create_group %t
      nvgpu.device_async_wait %g
      gpu.barrier
      %x = nvgpu.ldmatrix %as[%line, %word] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y = nvgpu.ldmatrix %bs[%line, %word] {numTiles = 4 : i32, transpose = true} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y0 = vector.extract_strided_slice %y {offsets = [0, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      %y1 = vector.extract_strided_slice %y {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'nvgpu.device_async_copy' op copies other elements than those of a tile}}
      %n0 = nvgpu.mma.sync(%x, %y0, %acc0) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %n1 = nvgpu.mma.sync(%x, %y1, %acc1) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      gpu.barrier
      scf.yield %n0, %n1 : vector<2x2xf32>, vector<2x2xf32>
    }
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %row8 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %col8 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %d0:4 = vector.to_elements %r#0 : vector<2x2xf32>
    %d1:4 = vector.to_elements %r#1 : vector<2x2xf32>
    %e0 = vector.from_elements %d0#0, %d0#1 : vector<2xf32>
    %e1 = vector.from_elements %d0#2, %d0#3 : vector<2xf32>
    %e2 = vector.from_elements %d1#0, %d1#1 : vector<2xf32>
    %e3 = vector.from_elements %d1#2, %d1#3 : vector<2xf32>
    vector.store %e0, %c[%row, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e2, %c[%row, %col8] : memref<16x16xf32>, vector<2xf32>
    vector.store %e1, %c[%row8, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e3, %c[%row8, %col8] : memref<16x16xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}

// -----

// CHECK-LABEL: func @ldmatrix_lane
// CHECK:         nvgpu.mma.sync
// CHECK:         nvgpu.mma.sync
#wg = #gpu.address_space<workgroup>
func.func @ldmatrix_lane(%a: memref<16x64xf16>, %b: memref<64x16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%as : memref<16x16xf16, #wg>, %bs : memref<16x16xf16, #wg>) {
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%tx)
    %chunk = affine.apply affine_map<(d0) -> ((d0 mod 2) * 8)>(%tx)
    %last = affine.apply affine_map<(d0) -> (d0 floordiv 31)>(%tx)
    %sum = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %line = arith.subi %sum, %last : index
    %word = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%tx)
    %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc0 = %zero, %acc1 = %zero) -> (vector<2x2xf32>, vector<2x2xf32>) {
      %ka = arith.addi %k, %chunk : index
      %t = nvgpu.device_async_copy %a[%half, %ka], %as[%half, %chunk], 8 : memref<16x64xf16> to memref<16x16xf16, #wg>
      %kb = arith.addi %k, %half : index
      %v = vector.load %b[%kb, %chunk] : memref<64x16xf16>, vector<8xf16>
      vector.store %v, %bs[%half, %chunk] : memref<16x16xf16, #wg>, vector<8xf16>
      %g = nvgpu.device_async_create_group %t
      nvgpu.device_async_wait %g
      gpu.barrier
      // expected-note@+1 {{here}}
      %x = nvgpu.ldmatrix %as[%line, %word] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y = nvgpu.ldmatrix %bs[%line, %word] {numTiles = 4 : i32, transpose = true} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y0 = vector.extract_strided_slice %y {offsets = [0, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      %y1 = vector.extract_strided_slice %y {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'nvgpu.ldmatrix' op does not access rows and columns as the lane map}}
      %n0 = nvgpu.mma.sync(%x, %y0, %acc0) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %n1 = nvgpu.mma.sync(%x, %y1, %acc1) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      gpu.barrier
      scf.yield %n0, %n1 : vector<2x2xf32>, vector<2x2xf32>
    }
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %row8 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %col8 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %d0:4 = vector.to_elements %r#0 : vector<2x2xf32>
    %d1:4 = vector.to_elements %r#1 : vector<2x2xf32>
    %e0 = vector.from_elements %d0#0, %d0#1 : vector<2xf32>
    %e1 = vector.from_elements %d0#2, %d0#3 : vector<2xf32>
    %e2 = vector.from_elements %d1#0, %d1#1 : vector<2xf32>
    %e3 = vector.from_elements %d1#2, %d1#3 : vector<2xf32>
    vector.store %e0, %c[%row, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e2, %c[%row, %col8] : memref<16x16xf32>, vector<2xf32>
    vector.store %e1, %c[%row8, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e3, %c[%row8, %col8] : memref<16x16xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}

// -----

// CHECK-LABEL: func @view
// CHECK:         nvgpu.mma.sync
// CHECK:         nvgpu.mma.sync
#wg = #gpu.address_space<workgroup>
func.func @view(%a: memref<16x64xf16>, %b: memref<64x16xf16>, %c: memref<16x16xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c32, %sy = %c1, %sz = %c1)
             workgroup(%as : memref<16x16xf16, #wg>, %bs : memref<16x16xf16, #wg>) {
    %whole = memref.subview %as[0, 0] [16, 16] [1, 1] : memref<16x16xf16, #wg> to memref<16x16xf16, strided<[16, 1]>, #wg>
    %zero = arith.constant dense<0.0> : vector<2x2xf32>
    %half = affine.apply affine_map<(d0) -> (d0 floordiv 2)>(%tx)
    %chunk = affine.apply affine_map<(d0) -> ((d0 mod 2) * 8)>(%tx)
    %line = affine.apply affine_map<(d0) -> (d0 mod 16)>(%tx)
    %word = affine.apply affine_map<(d0) -> ((d0 floordiv 16) * 8)>(%tx)
    %r:2 = scf.for %k = %c0 to %c64 step %c16 iter_args(%acc0 = %zero, %acc1 = %zero) -> (vector<2x2xf32>, vector<2x2xf32>) {
      %ka = arith.addi %k, %chunk : index
      // expected-note@+1 {{here}}
      %t = nvgpu.device_async_copy %a[%half, %ka], %whole[%half, %chunk], 8 : memref<16x64xf16> to memref<16x16xf16, strided<[16, 1]>, #wg>
      %kb = arith.addi %k, %half : index
      %v = vector.load %b[%kb, %chunk] : memref<64x16xf16>, vector<8xf16>
      vector.store %v, %bs[%half, %chunk] : memref<16x16xf16, #wg>, vector<8xf16>
      %g = nvgpu.device_async_create_group %t
      nvgpu.device_async_wait %g
      %x = nvgpu.ldmatrix %as[%line, %word] {numTiles = 4 : i32, transpose = false} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y = nvgpu.ldmatrix %bs[%line, %word] {numTiles = 4 : i32, transpose = true} : memref<16x16xf16, #wg> -> vector<4x2xf16>
      %y0 = vector.extract_strided_slice %y {offsets = [0, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      %y1 = vector.extract_strided_slice %y {offsets = [2, 0], sizes = [2, 2], strides = [1, 1]} : vector<4x2xf16> to vector<2x2xf16>
      // expected-remark@+1 {{'nvgpu.mma.sync' op is not raised to fragments: 'nvgpu.device_async_copy' op copies to workgroup memory without a gpu.barrier}}
      %n0 = nvgpu.mma.sync(%x, %y0, %acc0) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      %n1 = nvgpu.mma.sync(%x, %y1, %acc1) {mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
      gpu.barrier
      scf.yield %n0, %n1 : vector<2x2xf32>, vector<2x2xf32>
    }
    %row = affine.apply affine_map<(d0) -> (d0 floordiv 4)>(%tx)
    %row8 = affine.apply affine_map<(d0) -> (d0 floordiv 4 + 8)>(%tx)
    %col = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2)>(%tx)
    %col8 = affine.apply affine_map<(d0) -> ((d0 mod 4) * 2 + 8)>(%tx)
    %d0:4 = vector.to_elements %r#0 : vector<2x2xf32>
    %d1:4 = vector.to_elements %r#1 : vector<2x2xf32>
    %e0 = vector.from_elements %d0#0, %d0#1 : vector<2xf32>
    %e1 = vector.from_elements %d0#2, %d0#3 : vector<2xf32>
    %e2 = vector.from_elements %d1#0, %d1#1 : vector<2xf32>
    %e3 = vector.from_elements %d1#2, %d1#3 : vector<2xf32>
    vector.store %e0, %c[%row, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e2, %c[%row, %col8] : memref<16x16xf32>, vector<2xf32>
    vector.store %e1, %c[%row8, %col] : memref<16x16xf32>, vector<2xf32>
    vector.store %e3, %c[%row8, %col8] : memref<16x16xf32>, vector<2xf32>
    gpu.terminator
  }
  return
}
