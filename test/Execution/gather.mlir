// Gathered operands: convolutions, 3x3 with a stride of 2 and a row of padding
// on each side, without a matrix of the image's patches.
//
// RUN: gpu-runner %s --target=cpu --verify --entry=conv_f16 --out=0=%t.npy | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=conv_dynamic --arg=int:17x23 --arg=int --arg=zeros:108x8 | FileCheck %s
// RUN: gpu-runner %s --target=cpu --verify --entry=reversed_i8 | FileCheck %s
// CHECK: {{^}}verified
//
// The first one is equivalent to linalg's convolution.
// RUN: gpu-runner %S/Inputs/conv.mlir --target=cpu --out=0=%t.linalg.npy
// RUN: cmp %t.npy %t.linalg.npy

// NHWC, asynchronous and swizzled, into two alternating buffers, so that one
// barrier per step is enough. K = 3 * 3 * 16 = 144 is not a multiple of 32: the
// last step is half empty.
func.func @conv_f16(%image: memref<2x15x15x16xf16>, %filter: memref<144x24xf16>, %out: memref<128x24xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c5 = arith.constant 5 : index
  %c8 = arith.constant 8 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c48 = arith.constant 48 : index
  %c64 = arith.constant 64 : index
  %c144 = arith.constant 144 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c2 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c4, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%a_tiles : memref<2x32x32xf16, #gpu.address_space<workgroup>>,
                       %b_tiles : memref<2x32x32xf16, #gpu.address_space<workgroup>>) {
    %row = arith.muli %bx, %c32 : index
    %subgroup = gpu.subgroup_id : index
    %sub_row = arith.muli %subgroup, %c16 : index
    %init = tessera.fill %zero : !tessera.fragment<16x32xf32, acc>
    %sum = scf.for %step = %c0 to %c5 step %c1
        iter_args(%acc = %init) -> !tessera.fragment<16x32xf32, acc> {
      %slot = arith.remui %step, %c2 : index
      %first = arith.muli %step, %c32 : index
      %t0 = tessera.async_copy %image[], %a_tiles[%slot, %c0, %c0] shape [32, 32] contiguous 8 swizzled gather {
      ^bb0(%i: index, %j: index):
        %p = arith.addi %row, %i : index
        %n = arith.divui %p, %c64 : index
        %in_image = arith.remui %p, %c64 : index
        %oy = arith.divui %in_image, %c8 : index
        %ox = arith.remui %in_image, %c8 : index
        %k = arith.addi %first, %j : index
        %fy = arith.divui %k, %c48 : index
        %in_row = arith.remui %k, %c48 : index
        %fx = arith.divui %in_row, %c16 : index
        %channel = arith.remui %in_row, %c16 : index
        %y2 = arith.muli %oy, %c2 : index
        %y1 = arith.addi %y2, %fy : index
        %y = arith.subi %y1, %c1 : index
        %x2 = arith.muli %ox, %c2 : index
        %x1 = arith.addi %x2, %fx : index
        %x = arith.subi %x1, %c1 : index
        %good_y = arith.cmpi ult, %y, %c15 : index
        %good_x = arith.cmpi ult, %x, %c15 : index
        %good_k = arith.cmpi ult, %k, %c144 : index
        %good_yx = arith.andi %good_y, %good_x : i1
        %inside = arith.andi %good_yx, %good_k : i1
        tessera.yield %n, %y, %x, %channel, %inside : index, index, index, index, i1
      } : memref<2x15x15x16xf16>, memref<2x32x32xf16, #gpu.address_space<workgroup>>
      %t1 = tessera.async_copy %filter[%first, %c0], %b_tiles[%slot, %c0, %c0] shape [32, 32] swizzled
          : memref<144x24xf16>, memref<2x32x32xf16, #gpu.address_space<workgroup>>
      tessera.wait
      gpu.barrier
      %next = scf.for %k = %c0 to %c32 step %c16
          iter_args(%partial = %acc) -> !tessera.fragment<16x32xf32, acc> {
        %a = tessera.load %a_tiles[%slot, %sub_row, %k] in_bounds swizzled
            : memref<2x32x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
        %b = tessera.load %b_tiles[%slot, %k, %c0] in_bounds swizzled
            : memref<2x32x32xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x32xf16, b>
        %r = tessera.mma %a, %b, %partial
            : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x32xf16, b>
            -> !tessera.fragment<16x32xf32, acc>
        scf.yield %r : !tessera.fragment<16x32xf32, acc>
      }
      scf.yield %next : !tessera.fragment<16x32xf32, acc>
    }
    %c_row = arith.addi %row, %sub_row : index
    tessera.store %sum, %out[%c_row, %c0] : !tessera.fragment<16x32xf32, acc>, memref<128x24xf32>
    gpu.terminator
  }
  return
}

// An image of dynamic sizes, and one channel: single elements, and divisions by
// non-constant values. The filter is transposed in the copy.
func.func @conv_dynamic(%image: memref<?x?xf16>, %filter: memref<8x9xf16>, %out: memref<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %c16 = arith.constant 16 : index
  %zero = arith.constant 0.0 : f32
  %lanes = gpu.subgroup_size : index
  %height = memref.dim %image, %c0 : memref<?x?xf16>
  %width = memref.dim %image, %c1 : memref<?x?xf16>
  %more = arith.addi %width, %c1 : index
  %columns = arith.divui %more, %c2 : index
  %rows = memref.dim %out, %c0 : memref<?x8xf32>
  %blocks = arith.ceildivui %rows, %c16 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %blocks, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1)
             workgroup(%a_tile : memref<16x16xf16, #gpu.address_space<workgroup>>,
                       %b_tile : memref<16x16xf16, #gpu.address_space<workgroup>>) {
    %row = arith.muli %bx, %c16 : index
    tessera.copy %image[], %a_tile[%c0, %c0] shape [16, 16] swizzled gather {
    ^bb0(%i: index, %j: index):
      %p = arith.addi %row, %i : index
      %oy = arith.divui %p, %columns : index
      %ox = arith.remui %p, %columns : index
      %fy = arith.divui %j, %c3 : index
      %fx = arith.remui %j, %c3 : index
      %y2 = arith.muli %oy, %c2 : index
      %y1 = arith.addi %y2, %fy : index
      %y = arith.subi %y1, %c1 : index
      %x2 = arith.muli %ox, %c2 : index
      %x1 = arith.addi %x2, %fx : index
      %x = arith.subi %x1, %c1 : index
      %good_y = arith.cmpi ult, %y, %height : index
      %good_x = arith.cmpi ult, %x, %width : index
      %good_k = arith.cmpi ult, %j, %c9 : index
      %good_yx = arith.andi %good_y, %good_x : i1
      %inside = arith.andi %good_yx, %good_k : i1
      tessera.yield %y, %x, %inside : index, index, i1
    } : memref<?x?xf16>, memref<16x16xf16, #gpu.address_space<workgroup>>
    tessera.copy %filter[], %b_tile[%c0, %c0] shape [16, 16] swizzled gather {
    ^bb0(%i: index, %j: index):
      %good_k = arith.cmpi ult, %i, %c9 : index
      %good_n = arith.cmpi ult, %j, %c8 : index
      %inside = arith.andi %good_k, %good_n : i1
      tessera.yield %j, %i, %inside : index, index, i1
    } : memref<8x9xf16>, memref<16x16xf16, #gpu.address_space<workgroup>>
    gpu.barrier
    %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
    %a = tessera.load %a_tile[%c0, %c0] swizzled
        : memref<16x16xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, a>
    %b = tessera.load %b_tile[%c0, %c0] swizzled
        : memref<16x16xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<16x16xf16, b>
    %sum = tessera.mma %a, %b, %init
        : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b>
        -> !tessera.fragment<16x16xf32, acc>
    tessera.store %sum, %out[%row, %c0] : !tessera.fragment<16x16xf32, acc>, memref<?x8xf32>
    gpu.terminator
  }
  return
}

// Rows of a matmul's operand in another order: all elements are in bounds, so
// that no check is emitted.
func.func @reversed_i8(%A: memref<2x16x64xi8>, %B: memref<16x64xi8>, %C: memref<32x16xi32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c15 = arith.constant 15 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0 : i32
  %lanes = gpu.subgroup_size : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %lanes, %sy = %c1, %sz = %c1)
             workgroup(%a_tile : memref<32x48xi8, #gpu.address_space<workgroup>>) {
    %init = tessera.fill %zero : !tessera.fragment<32x16xi32, acc>
    %sum = scf.for %k = %c0 to %c64 step %c32
        iter_args(%acc = %init) -> !tessera.fragment<32x16xi32, acc> {
      gpu.barrier
      tessera.copy %A[], %a_tile[%c0, %c16] shape [32, 32] contiguous 16 gather {
      ^bb0(%i: index, %j: index):
        %true = arith.constant true
        %half = arith.divui %i, %c16 : index
        %line = arith.remui %i, %c16 : index
        %back = arith.subi %c15, %line : index
        %col = arith.addi %k, %j : index
        tessera.yield %half, %back, %col, %true : index, index, index, i1
      } : memref<2x16x64xi8>, memref<32x48xi8, #gpu.address_space<workgroup>>
      gpu.barrier
      %a = tessera.load %a_tile[%c0, %c16] in_bounds
          : memref<32x48xi8, #gpu.address_space<workgroup>> -> !tessera.fragment<32x32xi8, a>
      %b = tessera.load %B[%c0, %k] transpose in_bounds
          : memref<16x64xi8> -> !tessera.fragment<32x16xi8, b>
      %n = tessera.mma %a, %b, %acc
          : !tessera.fragment<32x32xi8, a>, !tessera.fragment<32x16xi8, b>
          -> !tessera.fragment<32x16xi32, acc>
      scf.yield %n : !tessera.fragment<32x16xi32, acc>
    }
    tessera.store %sum, %C[%c0, %c0] : !tessera.fragment<32x16xi32, acc>, memref<32x16xi32>
    gpu.terminator
  }
  return
}
