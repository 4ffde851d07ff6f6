// 07: softmax(Q K^T / 8) V in one kernel.
//
// Two chained matmuls and the softmax between them, without a trip through
// memory. A subgroup keeps 16 rows of Q, their running maximum and sum, and 16
// rows of the result as fragments, and processes the keys in
// blocks of 32, which the workgroup's subgroups stage together:
//
//     S = Q K^T                         tessera.load transpose, tessera.mma
//     S = -inf beyond the last key      tessera.map with coordinates
//     m' = max(m, row maximum of S)     tessera.reduce
//     P = 2^(S - m')                    tessera.broadcast of a column fragment
//     l = l 2^(m - m') + row sum of P
//     O = O 2^(m - m') + P V            tessera.convert: acc -> a
//
// and at the end divides O by l. The conversion of P is free on a chip whose
// accumulators have the layout of an operand of the next matmul (mma.sync with
// f16): it names the same registers. Neither the 100 queries nor the 77 keys
// fill their last block: copies read zeros there, the mask excludes these keys,
// and stores drop the excess rows. Rows of the tiles are padded
// to 72 elements, so that no two of eight are in the same banks.
//
// `separate` is the same on tensors, as separate operations. The compiler finds
// the two matmuls with a softmax between them and makes one kernel of them,
// which processes the keys from the last block to the first; `--explain` reports
// this. With `--no-fuse-attention` they are several kernels:
//
//     gpu-runner examples/07-attention.mlir --entry=separate --verify --explain
//     gpu-runner examples/07-attention.mlir --entry=separate --verify --no-fuse-attention
//
// RUN: gpu-runner %s --arg=random:1 --arg=random:2 --arg=random:3 --verify | FileCheck %s
// RUN: gpu-runner %s --target=cpu --arg=random:1 --arg=random:2 --arg=random:3 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=separate --arg=random:1 --arg=random:2 --arg=random:3 --verify | FileCheck %s
// RUN: gpu-runner %s --entry=separate --arg=random:1 --arg=random:2 --arg=random:3 --verify --no-fuse-attention | FileCheck %s
// CHECK: {{^}}verified

func.func @main(%Q: memref<2x3x100x64xf16>, %K: memref<2x3x77x64xf16>,
                %V: memref<2x3x77x64xf16>, %O: memref<2x3x100x64xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %keys = memref.dim %K, %c2 : memref<2x3x77x64xf16>
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  // log2(e) / sqrt(64): powers of 2 in place of e.
  %scale = arith.constant 0.18033688 : f32

  // Four subgroups, of 16 queries each; a block for each head of each batch.
  %lanes = gpu.subgroup_size : index
  %threads = arith.muli %lanes, %c4 : index
  gpu.launch blocks(%bx, %head, %batch) in (%gx = %c2, %gy = %c3, %gz = %c2)
             threads(%tx, %ty, %tz) in (%sx = %threads, %sy = %c1, %sz = %c1)
             workgroup(%k_tile : memref<32x72xf16, #gpu.address_space<workgroup>>,
                       %v_tile : memref<32x72xf16, #gpu.address_space<workgroup>>) {
    %subgroup = gpu.subgroup_id : index
    %block_row = arith.muli %bx, %c64 : index
    %sub_row = arith.muli %subgroup, %c16 : index
    %row = arith.addi %block_row, %sub_row : index

    %q = tessera.load %Q[%batch, %head, %row, %c0]
        : memref<2x3x100x64xf16> -> !tessera.fragment<16x64xf16, a>
    %no_s = tessera.fill %zero : !tessera.fragment<16x32xf32, acc>
    %no_o = tessera.fill %zero : !tessera.fragment<16x64xf32, acc>
    %no_l = tessera.fill %zero : !tessera.fragment<16x1xf32, acc>
    %no_m = tessera.fill %lowest : !tessera.fragment<16x1xf32, acc>

    %o, %l, %m = scf.for %key = %c0 to %keys step %c32
        iter_args(%o_old = %no_o, %l_old = %no_l, %m_old = %no_m)
        -> (!tessera.fragment<16x64xf32, acc>, !tessera.fragment<16x1xf32, acc>,
            !tessera.fragment<16x1xf32, acc>) {
      gpu.barrier
      tessera.copy %K[%batch, %head, %key, %c0], %k_tile[%c0, %c0] shape [32, 64]
          : memref<2x3x77x64xf16>, memref<32x72xf16, #gpu.address_space<workgroup>>
      tessera.copy %V[%batch, %head, %key, %c0], %v_tile[%c0, %c0] shape [32, 64]
          : memref<2x3x77x64xf16>, memref<32x72xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      %k = tessera.load %k_tile[%c0, %c0] transpose in_bounds
          : memref<32x72xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<64x32xf16, b>
      %qk = tessera.mma %q, %k, %no_s
          : !tessera.fragment<16x64xf16, a>, !tessera.fragment<64x32xf16, b>
          -> !tessera.fragment<16x32xf32, acc>
      %s = tessera.map %qk
          : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<16x32xf32, acc> {
      ^bb0(%x: f32, %i: index, %j: index):
        %at = arith.addi %key, %j : index
        %exists = arith.cmpi slt, %at, %keys : index
        %scaled = arith.mulf %x, %scale : f32
        %masked = arith.select %exists, %scaled, %lowest : f32
        tessera.yield %masked : f32
      }
      %s_max = tessera.reduce max %s dimension 1
          : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<16x1xf32, acc>
      %m_new = tessera.map %m_old, %s_max
          : !tessera.fragment<16x1xf32, acc>, !tessera.fragment<16x1xf32, acc>
          -> !tessera.fragment<16x1xf32, acc> {
      ^bb0(%x: f32, %y: f32):
        %max = arith.maximumf %x, %y : f32
        tessera.yield %max : f32
      }
      %shrink = tessera.map %m_old, %m_new
          : !tessera.fragment<16x1xf32, acc>, !tessera.fragment<16x1xf32, acc>
          -> !tessera.fragment<16x1xf32, acc> {
      ^bb0(%x: f32, %y: f32):
        %by = arith.subf %x, %y : f32
        %factor = math.exp2 %by : f32
        tessera.yield %factor : f32
      }
      %m_all = tessera.broadcast %m_new dimension 1
          : !tessera.fragment<16x1xf32, acc> -> !tessera.fragment<16x32xf32, acc>
      %p = tessera.map %s, %m_all
          : !tessera.fragment<16x32xf32, acc>, !tessera.fragment<16x32xf32, acc>
          -> !tessera.fragment<16x32xf32, acc> {
      ^bb0(%x: f32, %y: f32):
        %below = arith.subf %x, %y : f32
        %power = math.exp2 %below : f32
        tessera.yield %power : f32
      }
      %p_sum = tessera.reduce add %p dimension 1
          : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<16x1xf32, acc>
      %l_new = tessera.map %l_old, %shrink, %p_sum
          : !tessera.fragment<16x1xf32, acc>, !tessera.fragment<16x1xf32, acc>,
            !tessera.fragment<16x1xf32, acc> -> !tessera.fragment<16x1xf32, acc> {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %kept = arith.mulf %x, %y : f32
        %sum = arith.addf %kept, %z : f32
        tessera.yield %sum : f32
      }
      %shrink_all = tessera.broadcast %shrink dimension 1
          : !tessera.fragment<16x1xf32, acc> -> !tessera.fragment<16x64xf32, acc>
      %o_kept = tessera.map %o_old, %shrink_all
          : !tessera.fragment<16x64xf32, acc>, !tessera.fragment<16x64xf32, acc>
          -> !tessera.fragment<16x64xf32, acc> {
      ^bb0(%x: f32, %y: f32):
        %kept = arith.mulf %x, %y : f32
        tessera.yield %kept : f32
      }
      %pa = tessera.convert %p
          : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<16x32xf16, a>
      %v = tessera.load %v_tile[%c0, %c0] in_bounds
          : memref<32x72xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x64xf16, b>
      %o_new = tessera.mma %pa, %v, %o_kept
          : !tessera.fragment<16x32xf16, a>, !tessera.fragment<32x64xf16, b>
          -> !tessera.fragment<16x64xf32, acc>
      scf.yield %o_new, %l_new, %m_new
          : !tessera.fragment<16x64xf32, acc>, !tessera.fragment<16x1xf32, acc>,
            !tessera.fragment<16x1xf32, acc>
    }

    %l_all = tessera.broadcast %l dimension 1
        : !tessera.fragment<16x1xf32, acc> -> !tessera.fragment<16x64xf32, acc>
    %result = tessera.map %o, %l_all
        : !tessera.fragment<16x64xf32, acc>, !tessera.fragment<16x64xf32, acc>
        -> !tessera.fragment<16x64xf32, acc> {
    ^bb0(%x: f32, %y: f32):
      %quotient = arith.divf %x, %y : f32
      tessera.yield %quotient : f32
    }
    %rounded = tessera.convert %result
        : !tessera.fragment<16x64xf32, acc> -> !tessera.fragment<16x64xf16, acc>
    tessera.store %rounded, %O[%batch, %head, %row, %c0]
        : !tessera.fragment<16x64xf16, acc>, memref<2x3x100x64xf16>
    gpu.terminator
  }
  return
}

func.func @separate(%Q: tensor<2x3x100x64xf16>, %K: tensor<2x3x77x64xf16>,
                    %V: tensor<2x3x77x64xf16>) -> tensor<2x3x100x64xf16> {
  %zero = arith.constant 0.0 : f32
  %eighth = arith.constant 0.125 : f32
  %e = tensor.empty() : tensor<2x3x100x77xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x3x100x77xf32>) -> tensor<2x3x100x77xf32>
  %qk = linalg.contract
      indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>,
                       affine_map<(b, h, m, n, k) -> (b, h, n, k)>,
                       affine_map<(b, h, m, n, k) -> (b, h, m, n)>]
      ins(%Q, %K : tensor<2x3x100x64xf16>, tensor<2x3x77x64xf16>)
      outs(%i : tensor<2x3x100x77xf32>) -> tensor<2x3x100x77xf32>
  %s = linalg.map ins(%qk : tensor<2x3x100x77xf32>) outs(%e : tensor<2x3x100x77xf32>) (%x: f32, %o: f32) {
    %y = arith.mulf %x, %eighth : f32
    linalg.yield %y : f32
  }
  %p = linalg.softmax dimension(3) ins(%s : tensor<2x3x100x77xf32>)
                                   outs(%e : tensor<2x3x100x77xf32>) -> tensor<2x3x100x77xf32>
  %eh = tensor.empty() : tensor<2x3x100x77xf16>
  %h = linalg.map ins(%p : tensor<2x3x100x77xf32>) outs(%eh : tensor<2x3x100x77xf16>) (%x: f32, %o: f16) {
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  }
  %f = tensor.empty() : tensor<2x3x100x64xf32>
  %j = linalg.fill ins(%zero : f32) outs(%f : tensor<2x3x100x64xf32>) -> tensor<2x3x100x64xf32>
  %pv = linalg.contract
      indexing_maps = [affine_map<(b, h, m, n, k) -> (b, h, m, k)>,
                       affine_map<(b, h, m, n, k) -> (b, h, k, n)>,
                       affine_map<(b, h, m, n, k) -> (b, h, m, n)>]
      ins(%h, %V : tensor<2x3x100x77xf16>, tensor<2x3x77x64xf16>)
      outs(%j : tensor<2x3x100x64xf32>) -> tensor<2x3x100x64xf32>
  %er = tensor.empty() : tensor<2x3x100x64xf16>
  %r = linalg.map ins(%pv : tensor<2x3x100x64xf32>) outs(%er : tensor<2x3x100x64xf16>) (%x: f32, %o: f16) {
    %y = arith.truncf %x : f32 to f16
    linalg.yield %y : f16
  }
  return %r : tensor<2x3x100x64xf16>
}
