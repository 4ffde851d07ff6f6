//===- Passes.td - Conversion passes -----------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CONVERSION_PASSES_TD
#define TESSERA_CONVERSION_PASSES_TD

include "Flags/CompileFlags.td"
include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// LinalgToTessera
//===----------------------------------------------------------------------===//

def ConvertLinalgToTessera : Pass<"convert-linalg-to-tessera"> {
  let summary = "Convert linalg contractions and the ops fused with them to tessera.contract";
  let description = [{
    Converts each sum of products into one `tessera.contract`, which is lowered
    to one kernel.

    Expects linalg ops on tensors or memrefs. A contraction is any linalg op
    (`matmul` in all its variants, `batch_matmul`, `mmt4d`, `contract`,
    `generic`, convolutions, ...) with two inputs whose body is `mulf`/`addf` or
    `muli`/`addi`, with `extf`, `extsi` or `extui` on the operands. It may have
    several batch, M, N and K dimensions.

    - The operands have the element types that they have before these casts; a
      transposition, broadcast or widening that produces an operand is folded
      into its indexing map. The sum is computed in f32 (f64 for f64 operands,
      i32 for i8) and narrowed once, in the epilogue.
    - A convolution's image is lhs and its filter rhs; strides and dilations are
      factors in the map of lhs. Zero padding of the image (`tensor.pad`, or
      `tensor.insert_slice` into zeros) becomes a constant in the map.
      Dimensions of extent 1 are dropped from windows: a 1x1 convolution is a
      plain matmul.
    - An output that `linalg.fill` has set becomes `init`.
    - Element-wise consumers of the result (tensors only) become part of the
      epilogue, and their other operands become `extras`.
    - Reductions of the result along N (tensors only), and the element-wise ops
      that use them, become part of the epilogue as `tessera.row_reduce`:
      softmax or a normalization of rows, or the maximum of a row. The
      conditions are that all uses of the matmul lead to one result, that N is
      static, and that the tile of one subgroup can hold whole rows on the chip
      (`maxRow` in its table is the limit).
    - Element-wise producers of an operand (tensors only) become its producer,
      and their other operands its `inputs`, if they are cheap and have no other
      users: the dequantization of weights, with a scale for the tensor, a
      channel, or a group of rows. Reshapes in between are looked through. An
      operand of i4 is cast to i8 by a producer, unless the chip has matrix
      instructions for i4.
    - A matmul of bytes minus their zero points, which are scalars or vary along
      the output only, becomes a matmul of bytes: the epilogue subtracts the
      sums of lhs and rhs, multiplied by the zero points. This is not done if
      lhs or rhs has one row or column.
    - Two matmuls of f16 or bf16 (tensors only) with a decomposed softmax
      between them become one `tessera.attention`, together with a constant,
      positive factor of the scores, a causal mask that sets the scores of later
      keys to minus infinity (or to less than -1e9, or to the lowest f16),
      reshapes, and the rounding or transposition of the result. Intermediate
      values are computed in f32 and not rounded, except the weights. The
      schedule of the second matmul becomes the op's. The conditions are that
      the intermediate values have no other users, and that a schedule is legal
      on the chip; otherwise a remark states the reason. The flag
      `no-fuse-attention` disables this fusion.
    - `tessera.schedule = #tessera.schedule<...>` on the linalg op is preserved.
      `tessera.allow_tf32`, or the flag `allow-tf32`, sets `precision tf32` on
      f32 matmuls, and `tessera.allow_fast_f8`, or the flag `allow-fast-f8`,
      sets `precision fast_f8` on matmuls of 8-bit floats.

    Contractions that `tessera.contract` cannot express, or that a matrix unit
    cannot compute, are not changed, and the reason is a remark: contractions
    with neither M nor N, convolutions without both (depthwise ones), and types
    that the table of `tessera.mma` lacks. The same holds for padding that is
    not fused and remains a kernel of its own.

    Example:

    ```mlir
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<64x48xf32>
    %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
    %product = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
        outs(%init : tensor<64x48xf32>) -> tensor<64x48xf32>
    %r = linalg.add ins(%product, %residual : tensor<64x48xf32>, tensor<64x48xf32>)
        outs(%empty : tensor<64x48xf32>) -> tensor<64x48xf32>
    ```

    becomes

    ```mlir
    #mk = affine_map<(m, n, k) -> (m, k)>
    #kn = affine_map<(m, n, k) -> (k, n)>
    #mn = affine_map<(m, n, k) -> (m, n)>
    %zero = arith.constant 0.0 : f32
    %empty = tensor.empty() : tensor<64x48xf32>
    %r = tessera.contract ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
        init(%zero : f32) extras(%residual : tensor<64x48xf32>)
        outs(%empty : tensor<64x48xf32>) maps [#mk, #kn, #mn, #mn] accumulate f32 {
    ^bb0(%acc: f32, %x: f32):
      %sum = arith.addf %acc, %x : f32
      tessera.yield %sum : f32
    } -> tensor<64x48xf32>
    ```

    A matmul of which only the largest element of each row is used

    ```mlir
    %product = linalg.matmul ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
        outs(%init : tensor<64x48xf32>) -> tensor<64x48xf32>
    %r = linalg.reduce {arith.maximumf} ins(%product : tensor<64x48xf32>)
        outs(%lowest : tensor<64xf32>) dimensions = [1]
    ```

    becomes

    ```mlir
    #m = affine_map<(m, n, k) -> (m)>
    %r = tessera.contract ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
        init(%zero : f32) outs(%empty : tensor<64xf32>) maps [#mk, #kn, #m] accumulate f32 {
    ^bb0(%acc: f32):
      %max = tessera.row_reduce max %acc : f32
      tessera.yield %max : f32
    } -> tensor<64xf32>
    ```

    A padded convolution of quantized weights

    ```mlir
    #id = affine_map<(r, s, c, f) -> (r, s, c, f)>
    #f = affine_map<(r, s, c, f) -> (f)>
    %zero = arith.constant 0.0 : f16
    %empty = tensor.empty() : tensor<3x3x16x32xf16>
    %filter = linalg.generic {indexing_maps = [#id, #f, #id],
                              iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%weights, %scales : tensor<3x3x16x32xi8>, tensor<32xf16>) outs(%empty : tensor<3x3x16x32xf16>) {
    ^bb0(%w: i8, %scale: f16, %out: f16):
      %x = arith.sitofp %w : i8 to f16
      %y = arith.mulf %x, %scale : f16
      linalg.yield %y : f16
    } -> tensor<3x3x16x32xf16>
    %padded = tensor.pad %image low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%n: index, %h: index, %w: index, %c: index):
      tensor.yield %zero : f16
    } : tensor<2x32x32x16xf16> to tensor<2x34x34x16xf16>
    %r = linalg.conv_2d_nhwc_hwcf ins(%padded, %filter : tensor<2x34x34x16xf16>, tensor<3x3x16x32xf16>)
        outs(%sums : tensor<2x32x32x32xf32>) -> tensor<2x32x32x32xf32>
    ```

    becomes

    ```mlir
    #lhs = affine_map<(n, h, w, f, r, s, c) -> (n, h + r - 1, w + s - 1, c)>
    #rhs = affine_map<(n, h, w, f, r, s, c) -> (r, s, c, f)>
    #out = affine_map<(n, h, w, f, r, s, c) -> (n, h, w, f)>
    #scales = affine_map<(n, h, w, f, r, s, c) -> (f)>
    %r = tessera.contract ins(%image, %weights : tensor<2x32x32x16xf16>, tensor<3x3x16x32xi8>)
        rhs_inputs(%scales : tensor<32xf16>) outs(%sums : tensor<2x32x32x32xf32>)
        maps [#lhs, #rhs, #out, #scales] accumulate f32 rhs_producer {
    ^bb0(%w: i8, %scale: f16):
      %x = arith.sitofp %w : i8 to f16
      %y = arith.mulf %x, %scale : f16
      tessera.yield %y : f16
    } {
    ^bb0(%acc: f32):
      tessera.yield %acc : f32
    } -> tensor<2x32x32x32xf32>
    ```
  }];
  let options = [CompileFlagsOption];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::tessera::TesseraDialect"];
}

//===----------------------------------------------------------------------===//
// LinalgToGPU
//===----------------------------------------------------------------------===//

def TesseraMapMatvec : Pass<"tessera-map-matvec"> {
  let summary = "Lower matmuls of one row or one column to SIMT kernels";
  let description = [{
    Expects `tessera.contract` on memrefs. Lowers those without a schedule whose
    M or N is absent or statically 1 to a `gpu.launch` (two, if the first stores
    partial sums) that does not use matrix instructions; all others, and those
    whose maps have sums of dimensions, are not changed. Producers and the
    epilogue are applied. Such a matmul is memory bound: the kernel must read
    the matrix with wide accesses, each element once, by all threads.

    If K runs fastest in the matrix, the lanes of a subgroup, of a part of one,
    or of several, iterate over one row, on vectors as wide as the chip's
    accesses if these are provably aligned, and combine their sums by
    `gpu.subgroup_reduce` and workgroup memory. Otherwise a thread owns a vector
    of columns, and the rows of threads in a workgroup share K. If there are too
    few workgroups to fill the chip, K is split. The order of a sum depends only
    on the sizes.

    The launch's attribute `tessera.plain_matmul` describes the matmul.

    Example:

    ```mlir
    tessera.contract ins(%a, %x : memref<4096x1024xf32>, memref<1024xf32>)
        init(%zero : f32) outs(%y : memref<4096xf32>)
        maps [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>]
        accumulate f32 {
    ^bb0(%acc: f32):
      tessera.yield %acc : f32
    }
    ```

    becomes, for sm_80 (the loop's steps are unrolled)

    ```mlir
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c512, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %c256, %sy = %c1, %sz = %c1) {
      %row = ...  // 8 rows a workgroup
      %lane = arith.remui %tx, %c32 : index
      %part = scf.for %step = %lane to %c256 step %c32 iter_args(%acc = %cst) -> (vector<4xf32>) {
        %k = arith.muli %step, %c4 : index
        %u = vector.load %a[%row, %k] {alignment = 16 : i64} : memref<4096x1024xf32>, vector<4xf32>
        %v = vector.load %x[%k] {alignment = 16 : i64} : memref<1024xf32>, vector<4xf32>
        %next = math.fma %u, %v, %acc : vector<4xf32>
        scf.yield %next : vector<4xf32>
      }
      ...
      %sum = gpu.subgroup_reduce add %mine uniform : (f32) -> f32
      scf.if %isLane0 {
        memref.store %sum, %y[%row] : memref<4096xf32>
      }
      gpu.terminator
    } {tessera.plain_matmul = #tessera.plain_matmul<4096x1x1024, f32 x f32 -> f32, "...">}
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def TesseraMapLinalgToSimt : Pass<"tessera-map-linalg-to-simt"> {
  let summary = "Lower linalg ops on memrefs to SIMT kernels";
  let description = [{
    Lowers each linalg op in host code, and each `memref.copy`, to a
    `gpu.launch`.

    Expects linalg ops on memrefs, with any indexing maps, of static or dynamic
    sizes. Leaves kernels of `scf`, `arith`, `memref` and `vector` ops, and no
    linalg op outside of kernels. In host code that loads only from memrefs of
    one element, which are conditions and bounds of its loops, the condition of
    an `scf.while` that reads device memory must be false if all of it is zero.

    Dimensions that are contiguous in the memory of all operands are collapsed.
    Then

    - a reduction whose results are each combined by one supported operation
      (add, mul, min, max, and, or, xor) is distributed: if a dimension of the
      reduction runs fastest in memory, lanes iterate along it and combine by
      `gpu.subgroup_reduce` and workgroup memory; otherwise each thread owns a
      vector of results, and the rows of threads in a workgroup share the
      reduction. If there are too few workgroups, each computes a part, and a
      second kernel combines the parts from a buffer. The order in which
      elements are combined depends only on the sizes;
    - reductions of rows and the element-wise ops on the same rows, as in
      softmax, are one kernel, in which a team of threads computes a row
      (`RowGroups.h`);
    - an element-wise op gives each thread a vector of points along the
      dimension in which its output is contiguous: as wide as the chip's
      accesses, if all operands that vary along it are contiguous too, and
      provably aligned if the chip requires it; data that is only copied may be
      read in narrower pieces, from rows of any alignment;
    - an element-wise op whose body loops over a window is computed for such a
      vector, or for a narrower one where there are few outputs, at several
      positions, along the last dimension over which the window slides, where
      there are enough threads; a short loop over the last index of what it
      reads is one access. If the window slides along the
      dimension in which the output is contiguous, a thread has a strip of
      points, and reads vectors where the indices are provably in the strip. A
      branch on the index is one of a vector, if it is compared with a multiple
      of the width. A `tessera.window_schedule` of the op, or of a loop of its
      body, decides the points, rows and threads instead; one that is not legal
      (docs/Schedules.md) is an error, or a warning if it is a tuned one. The
      launch has the schedule, chosen or set, as an attribute;
    - for any other op, one thread computes one point of the parallel
      dimensions, in the order of the output in memory; reductions are loops in
      the thread.

    On a chip whose threads compute many points each (`SimtDefaults` of the
    chip's table), a workgroup is a single thread.

    Example:

    ```mlir
    linalg.transpose ins(%a : memref<64x48xf32>) outs(%b : memref<48x64xf32>) permutation = [1, 0]
    ```

    becomes, for the target cuda,

    ```mlir
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c12, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %c256, %sy = %c1, %sz = %c1) {
      %first = arith.muli %bx, %c256 : index
      %linear = arith.addi %first, %tx : index
      %inside = arith.cmpi ult, %linear, %c3072 : index
      scf.if %inside {
        %j = arith.remui %linear, %c64 : index
        %i = arith.divui %linear, %c64 : index
        %x = memref.load %a[%j, %i] : memref<64x48xf32>
        memref.store %x, %b[%i, %j] : memref<48x64xf32>
      }
      gpu.terminator
    }
    ```

    and a sum of rows,

    ```mlir
    linalg.reduce {arith.addf} ins(%a : memref<4096x1024xf32>) outs(%b : memref<4096xf32>) dimensions = [1]
    ```

    ```mlir
    gpu.launch blocks(%bx, %by, %bz) in (%gx = %c512, %gy = %c1, %gz = %c1)
        threads(%tx, %ty, %tz) in (%sx = %c256, %sy = %c1, %sz = %c1) {
      %row = ...  // 8 rows a workgroup, a subgroup for each
      %part = scf.for %step = ... iter_args(%acc = %cst) -> (vector<4xf32>) {
        %x = vector.load %a[%row, %k] {alignment = 16 : i64} : memref<4096x1024xf32>, vector<4xf32>
        %next = arith.addf %acc, %x : vector<4xf32>
        scf.yield %next : vector<4xf32>
      }
      ...
      %sum = gpu.subgroup_reduce add %mine uniform : (f32) -> f32
      scf.if %isLane0 {
        %old = memref.load %b[%row] : memref<4096xf32>
        %new = arith.addf %old, %sum : f32
        memref.store %new, %b[%row] : memref<4096xf32>
      }
      gpu.terminator
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// SubgroupMmaToTessera
//===----------------------------------------------------------------------===//

def ConvertSubgroupMmaToTessera : Pass<"convert-subgroup-mma-to-tessera"> {
  let summary = "Convert upstream gpu.subgroup_mma kernels to portable fragments";
  let description = [{
    Expects `gpu.launch` kernels that use `gpu.subgroup_mma_*`, written for
    subgroups of `subgroup-size` threads. Replaces them by fragments, and makes
    the launch size a multiple of `gpu.subgroup_size`: the kernel then runs on
    every target.

    The block size along x must be a constant multiple of the subgroup size; the
    thread id along x may only be used as its quotient by the subgroup size.
    `gpu.subgroup_mma_extract_thread_local` and its counterpart depend on one
    lane layout and are rejected. Accesses are assumed to be in bounds, as in
    the upstream ops.

    Before

    ```mlir
    %a = gpu.subgroup_mma_load_matrix %A[%i, %k] {leadDimension = 64 : index}
        : memref<32x64xf16> -> !gpu.mma_matrix<16x16xf16, "AOp">
    ```

    After

    ```mlir
    %a = tessera.load %A[%i, %k] in_bounds : memref<32x64xf16> -> !tessera.fragment<16x16xf16, a>
    ```
  }];
  let options = [
    Option<"subgroupSize", "subgroup-size", "int64_t", /*default=*/"32",
           "Subgroup size that the kernel was written for">];
  let dependentDialects = [
    "arith::ArithDialect", "memref::MemRefDialect",
    "::mlir::tessera::TesseraDialect"];
}

//===----------------------------------------------------------------------===//
// XeGPUToTessera
//===----------------------------------------------------------------------===//

def ConvertXeGPUToTessera : Pass<"convert-xegpu-to-tessera", "ModuleOp"> {
  let summary = "Convert xegpu kernels to portable fragments";
  let description = [{
    Expects `gpu.launch` kernels of `xegpu` at subgroup level, or at workgroup
    level, which upstream's `xegpu-wg-to-sg-distribute` is run for. Leaves
    fragments, which run on every target: `load_nd`, `store_nd` and `dpas` become
    `tessera.load`, `store` and `mma`, element-wise ops on their vectors
    `tessera.map`, and constants `tessera.fill`. Prefetches are erased. Layouts of
    lanes and of instructions have no effect: the chip's instructions determine
    both. A remark names the number of ops.

    A subgroup has 16 threads, and the launch may depend on their number only as
    `convert-subgroup-mma-to-tessera` describes. Descriptors are of two
    dimensions of a static memref in global memory; they may pass through
    `scf.for`. Any other use of an op of `xegpu` is an error that names it.

    Before

    ```mlir
    %t = xegpu.create_nd_tdesc %A : memref<32x64xf16> -> !xegpu.tensor_desc<8x16xf16>
    %a = xegpu.load_nd %t[%i, %k] : !xegpu.tensor_desc<8x16xf16> -> vector<8x16xf16>
    %d = xegpu.dpas %a, %b, %c : vector<8x16xf16>, vector<16x16xf16>, vector<8x16xf32>
        -> vector<8x16xf32>
    ```

    After

    ```mlir
    %a = tessera.load %A[%i, %k] : memref<32x64xf16> -> !tessera.fragment<8x16xf16, a>
    %d = tessera.mma %a, %b, %c : !tessera.fragment<8x16xf16, a>,
        !tessera.fragment<16x16xf16, b> -> !tessera.fragment<8x16xf32, acc>
    ```
  }];
  let dependentDialects = [
    "affine::AffineDialect", "arith::ArithDialect", "gpu::GPUDialect",
    "index::IndexDialect", "memref::MemRefDialect", "scf::SCFDialect",
    "vector::VectorDialect", "xegpu::XeGPUDialect",
    "::mlir::tessera::TesseraDialect"];
}

//===----------------------------------------------------------------------===//
// LaneMatmulToTessera
//===----------------------------------------------------------------------===//

def ConvertLaneMatmulToTessera
    : Pass<"convert-lane-matmul-to-tessera", "ModuleOp"> {
  let summary = "Convert vendors' matmuls on lanes to portable fragments";
  let description = [{
    Expects `gpu.launch` kernels with matrix instructions of a vendor on vectors
    of lanes: `nvgpu.mma.sync`, `amdgpu.mfma` or `amdgpu.wmma`. Where the chip
    does not have one of a kernel's instructions, and the kernel has the form
    below, leaves fragments, and a launch with one subgroup of the chip for each
    subgroup of the kernel. A remark at each instruction names the fragments; a
    remark at the first one names the first condition that the kernel does not
    meet. Such a kernel is not changed, and `tessera-raise-vendor-ops` lowers it
    through workgroup memory.

    - The block size along x is a constant multiple of the op's 32 or 64 lanes.
    - The indices of loads and stores (of `memref` and `vector`, and
      `nvgpu.ldmatrix`) are sums of products of values that are equal in a
      subgroup, plus constants of the lanes, and step through rows and columns
      as the lane map of the instruction's row does. The rows and columns are
      the memory's last two dimensions, in either order, or the memory has
      static strides.
    - Vectors of lanes consist of loaded elements, of constants, of scalars that
      are equal in a subgroup, or of results of the instructions, in the order
      of their registers. Element-wise ops compute each register alike. Loops
      (`scf.for`) may carry them.
    - All registers of a result are stored, in one block, to one memory.
    - Copies to workgroup memory, by `nvgpu.device_async_copy` or by loads and
      stores, are of whole tiles by all threads of the workgroup, and a
      `gpu.barrier` separates them from other accesses to that memory. They
      become `tessera.copy`.
    - A barrier separates stores from loads of the same memory, except those of
      one accumulator.
    - Everything else is equal in all lanes of a subgroup, and has no effects
      except `gpu.barrier`.

    Different memrefs are assumed to overlap where the order of accesses would
    change within a subgroup, and not to overlap where lanes exchange elements.

    Two instructions with equal left operands and adjacent columns become one
    `tessera.mma` of twice as many columns, if the chip's matrix unit has an
    instruction for these and none for one of them.

    Before

    ```mlir
    %a0 = vector.load %A[%group, %pair] : memref<16x8xf16>, vector<2xf16>
    %a1 = vector.load %A[%group8, %pair] : memref<16x8xf16>, vector<2xf16>
    %x = vector.insert %a0, %z [0] : vector<2xf16> into vector<2x2xf16>
    %a = vector.insert %a1, %x [1] : vector<2xf16> into vector<2x2xf16>
    %d = nvgpu.mma.sync(%a, %b, %c) {mmaShape = [16, 8, 8]}
        : (vector<2x2xf16>, vector<1x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
    ```

    After

    ```mlir
    %a = tessera.load %A[%c0, %c0] in_bounds : memref<16x8xf16> -> <16x8xf16, a>
    %d = tessera.mma %a, %b, %c : !tessera.fragment<16x8xf16, a>,
        !tessera.fragment<8x8xf16, b> -> !tessera.fragment<16x8xf32, acc>
    ```
  }];
  let dependentDialects = [
    "arith::ArithDialect", "gpu::GPUDialect", "math::MathDialect",
    "memref::MemRefDialect", "scf::SCFDialect", "ub::UBDialect",
    "vector::VectorDialect", "::mlir::tessera::TesseraDialect"];
}

//===----------------------------------------------------------------------===//
// TesseraToNVVM
//===----------------------------------------------------------------------===//

def ConvertTesseraToNVVM
    : Pass<"convert-tessera-to-nvvm", "gpu::GPUModuleOp"> {
  let summary = "Lower fragments to mma.sync or wgmma, ldmatrix and cp.async";
  let description = [{
    Expects kernels whose fragments `tessera-legalize-fragments` has distributed
    for an NVIDIA chip. Leaves no `tessera` op: a fragment becomes one vector
    for each tile of its instruction, a `tessera.mma` becomes `mma.sync`, a load
    from workgroup memory becomes `ldmatrix` if the lane map permits it, and an
    asynchronous copy becomes `cp.async`. A `tessera.mma` of a warpgroup becomes
    `wgmma.mma_async`, with fence, commit and wait, and a load of an operand
    that wgmma reads from workgroup memory becomes the descriptor of that
    memory.

    Before

    ```mlir
    %d = tessera.mma %a, %b, %c {tessera.instruction = "mma.m16n8k16.f32.f16"}
        : !tessera.fragment<16x16xf16, a, "mma.m16n8k16.f32.f16">,
          !tessera.fragment<16x8xf16, b, "mma.m16n8k16.f32.f16">
        -> !tessera.fragment<16x8xf32, acc, "mma.m16n8k16.f32.f16">
    ```

    After, with `%a : vector<8xf16>`, `%b : vector<4xf16>`, `%c : vector<4xf32>`
    taken apart into registers

    ```mlir
    %d = llvm.inline_asm "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {$0, $1, $2, $3}, ..."
    ```
  }];
  let dependentDialects = [
    "arith::ArithDialect", "gpu::GPUDialect", "LLVM::LLVMDialect",
    "math::MathDialect", "memref::MemRefDialect", "nvgpu::NVGPUDialect",
    "NVVM::NVVMDialect", "scf::SCFDialect", "vector::VectorDialect"];
}

def OverlapMatmuls : Pass<"tessera-overlap-matmuls", "gpu::GPUModuleOp"> {
  let summary = "Wait for an asynchronous matmul where its result is first used";
  let description = [{
    Expects legalized fragments. The instructions of a warpgroup (wgmma) are
    asynchronous. If there is element-wise work between a `tessera.mma` and the
    first use of its result, or another `tessera.mma` that can overlap with such
    work, a `tessera.await` is inserted before that use, with the number of
    later matmuls that may still be in flight. A barrier, a branch or a loop in
    between ends the overlap. All other matmuls are waited for immediately.

    Before

    ```mlir
    %s = tessera.mma %q, %k, %zero : ...
    %o = tessera.mma %p, %v, %sum : ...
    %m = tessera.reduce max %s dimension 1 : ...
    %r = tessera.map %o, %m : ...
    ```

    After

    ```mlir
    %s = tessera.mma %q, %k, %zero {tessera.overlapped} : ...
    %o = tessera.mma %p, %v, %sum {tessera.overlapped} : ...
    %s1 = tessera.await %s pending 1 : ...
    %m = tessera.reduce max %s1 dimension 1 : ...
    %o1 = tessera.await %o keeping %p pending 0 : ...
    %r = tessera.map %o1, %m : ...
    ```
  }];
}

def UseTensorMemory : Pass<"tessera-use-tensor-memory", "gpu::GPUModuleOp"> {
  let summary = "Keep accumulators in tensor memory, with matmuls that one thread issues";
  let description = [{
    Expects legalized fragments, before `tessera-use-bulk-copies`. Each
    `tessera.mma` whose instruction accumulates in tensor memory (`tcgen05.mma`,
    PTX ISA, "TensorCore 5th Generation Family Instructions") becomes
    instructions that the first thread of each group issues. An accumulator that
    loops carry, and that only matmuls use on the way, remains in tensor memory:
    the loops no longer carry it, the first matmul overwrites it if it starts
    from zero and each loop has at least one iteration, and otherwise the lanes
    store it before the loops; they load it after the loops. Every other
    `tessera.mma` has its accumulator stored before it and loaded after it.

    Leaves, at the start of the kernel, the allocation of the columns for the
    accumulators of all groups, and an mbarrier for each group; at its end,
    their release. The matmuls of a step are in an `scf.if` of the one thread
    (`tessera.issuer`), with the loads that describe their operands. In kernels
    for which `tessera-use-bulk-copies` creates a producer, they wait there for
    their slot, and their completion releases it; in other kernels the second
    part of this pass, in `convert-tessera-to-nvvm`, makes all threads wait for
    them.

    Before

    ```mlir
    %r = scf.for %k = %c0 to %c64 step %c1 iter_args(%acc = %zero) -> (!acc) {
      ...
      %new = tessera.mma %a, %b, %acc {tessera.instruction = "tcgen05.m128n128k16.f32.f16"} : ...
      scf.yield %new : !acc
    }
    ```

    After

    ```mlir
    scf.for %k = %c0 to %c64 step %c1 {
      ...
      scf.if %is_first {
        nvvm.tcgen05.fence after
        nvvm.tcgen05.mma %columns, %a0, %b0, %descriptor, %later {...} : ...
      } {tessera.issuer}
    }
    ... wait for the mbarrier that nvvm.tcgen05.commit arrives at ...
    %words = nvvm.tcgen05.ld %columns {...} : vector<128xi32>
    %r = builtin.unrealized_conversion_cast ... to !acc
    ```
  }];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def UseBulkCopies : Pass<"tessera-use-bulk-copies", "gpu::GPUModuleOp"> {
  let summary = "Copy by TMA, issued by a dedicated subgroup";
  let description = [{
    Expects kernels to whose workgroup memory the pass can add (before
    `tessera-pack-workgroup-memory`), with a known block size and, as outlining
    leaves them, `tessera.group` and `tessera.stages`. On chips with TMA (sm_90
    and up), the copies of a kernel's one step become bulk copies of tensors, if
    TMA supports all of them: swizzled tiles as wide as the workgroup memory
    that they fill, of an argument whose rows are aligned to 16 bytes. A step is
    barrier, copies, barrier, and the readers of the tiles, inside or outside of
    loops, which `tessera-pipeline-copies` did not change. Other kernels are not
    changed, and the kernel's attribute `tessera.copies` gives the reason
    (`--explain` prints it). Each of the kernel's tensor maps is listed for its
    launches (`tessera.tensor_maps`).

    Copies with the attribute `tessera.bulk` have been decided upon by
    `tessera-pipeline-copies`: if it is false, they are not changed; if it is
    true and TMA cannot perform them, because the accumulators leave no
    registers for instance, all threads copy, and `tessera.copies` has the
    reason. For a kernel without the attribute, this pass decides.

    Leaves a ring of slots, one for each stage of the kernel, with two mbarriers
    each, and two roles. Launches add threads to the workgroup
    (`tessera.producer_threads`). One of these executes the kernel's loops,
    waits for an empty slot, and copies; the other threads wait for a full slot,
    read it, and release it. Both count slots through all loops, so that the
    copies of the next tile overlap with the stores of this tile's results. If
    the consumers are two warpgroups or more, the producer is a warpgroup too;
    if there are many accumulators, it gives registers to the consumers.

    Other workgroup memory may hold tiles of the output (`stageOutput`), stored
    after a barrier and copied out after another. The first thread copies them
    with bulk copies, if TMA can write the output's rows, otherwise all consumer
    threads do (`tessera.copy_threads`). The remaining barriers are barriers of
    these threads alone. A copy to that memory before the stores, which the
    epilogue reads, is performed by a second subgroup besides the one that
    issues the operands' copies: it loads the tile during the matmul and stores
    the result from there, and two mbarriers replace the barriers. If workgroup
    memory has room for two such tiles, the tile after is loaded before the
    result is stored.

    If the kernel's attribute `tessera.sharers` states that a number of
    workgroups along M and N share tiles in a cluster, each loads a part of a
    tile to all workgroups that read it (multicast), and waits until all of them
    have released the slot; no workgroup exits before the others.

    Before (three stages, 256 threads)

    ```mlir
    scf.for %tile = %block to %tiles step %blocks {
      %sum = scf.for %s = %c0 to %n step %c1 iter_args(%acc = %init) -> (!acc) {
        %k = arith.muli %s, %c64 : index
        gpu.barrier
        tessera.copy %a[%i, %k], %w[%c0, %c0] shape [128, 64] in_bounds alignment 16 swizzled
            : memref<4096x4096xf16>, memref<128x64xf16, #gpu.address_space<workgroup>>
        gpu.barrier
        %x = tessera.load %w[%r, %c0] in_bounds swizzled : ...
    ```

    After, with `%ring : memref<3x128x64xf16, #gpu.address_space<workgroup>>`

    ```mlir
    // One thread sets the mbarriers up; gpu.barrier
    scf.if %isProducer {
      scf.if %isIssuer {
        scf.for %tile = %block to %tiles step %blocks iter_args(%slot, %parity) {
          scf.for %s = %c0 to %n step %c1 iter_args(...) {
            // Waits until the slot is empty.
            llvm.inline_asm "... mbarrier.try_wait.parity.shared::cta.b64 ..." %empty, %before
            llvm.inline_asm "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;" %full, %bytes
            nvvm.cp.async.bulk.tensor.shared.cluster.global %to, %map, %full, box[%k, %i]
            // The next slot; after the last, the first one, and the other parity.
    } else {
      scf.for %tile = %block to %tiles step %blocks iter_args(%slot, %parity) {
        %sum = scf.for %s = %c0 to %n step %c1 iter_args(%acc, ...) {
          llvm.inline_asm "... mbarrier.try_wait.parity.shared::cta.b64 ..." %full, %parity
          %x = tessera.load %ring[%slot, %r, %c0] in_bounds swizzled : ...
          ...
          llvm.inline_asm "... @p mbarrier.arrive.shared::cta.b64 _, [$0]; ..." %empty, %lane
    ```
  }];
  let dependentDialects = [
    "arith::ArithDialect", "gpu::GPUDialect", "LLVM::LLVMDialect",
    "memref::MemRefDialect", "NVVM::NVVMDialect", "scf::SCFDialect"];
}

def PlaceTensorMaps : Pass<"tessera-place-tensor-maps", "gpu::GPUModuleOp"> {
  let summary = "Pass tensor maps as parameters of kernels";
  let description = [{
    Expects kernels in the NVVM dialect. Each entry of a kernel's
    `tessera.tensor_maps` names a global, whose
    address represents the address of the tensor map. Leaves a
    `__grid_constant__` parameter for each entry, after the kernel's other
    parameters and in the order of the list, also for a map that the kernel does
    not use. The parameter replaces the address; the globals are erased, and
    their names are removed from the list. An entry that names no global has its
    parameter already.

    Using the address of a map that a kernel lists in any other function is an
    error.

    Before

    ```mlir
    llvm.mlir.global external constant @map() {addr_space = 0 : i32} : !llvm.array<128 x i8>
    llvm.func @k(%x: !llvm.ptr) attributes {nvvm.kernel, tessera.tensor_maps = [
        {argument = 0 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64, symbol = @map}
      ]} {
      %address = llvm.mlir.addressof @map : !llvm.ptr
      nvvm.prefetch tensormap, %address : !llvm.ptr
      llvm.return
    }
    ```

    After

    ```mlir
    llvm.func @k(%x: !llvm.ptr,
                 %map: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
        attributes {nvvm.kernel, tessera.tensor_maps = [
        {argument = 0 : i64, box = array<i64: 128, 64>, swizzle = 128 : i64}
      ]} {
      nvvm.prefetch tensormap, %map : !llvm.ptr
      llvm.return
    }
    ```
  }];
  let dependentDialects = ["LLVM::LLVMDialect", "NVVM::NVVMDialect"];
}

def UseDependentLaunch
    : Pass<"tessera-use-dependent-launch", "gpu::GPUModuleOp"> {
  let summary = "Let kernels begin before the kernels before them have ended";
  let description = [{
    Expects kernels in the NVVM dialect. On chips from sm_90 on, each of them
    gets two instructions: all threads wait until the kernel before has ended
    and its writes are visible (`griddepcontrol.wait`), and then let the kernel
    after be launched (`griddepcontrol.launch_dependents`). The runtime decides
    for each launch whether it overlaps with the one before; both instructions
    do nothing if it does not. Kernels that have one of the instructions already
    are left alone, as are those of other chips, and other functions.

    The instructions follow the prologue: ops without effects on memory, the
    set-up of mbarriers, prefetches of tensor maps, fences and barriers, also in
    branches that only some threads take. All threads of all workgroups execute
    them, whether or not they do anything afterwards: the kernel after waits for
    the end of this one only, so if this one could end without waiting, the
    kernel after would run beside the kernel before.

    Before

    ```mlir
    llvm.func @k(%x: !llvm.ptr) attributes {nvvm.kernel} {
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      %value = llvm.load %x : !llvm.ptr -> f32
      ...
    ```

    After

    ```mlir
    llvm.func @k(%x: !llvm.ptr) attributes {nvvm.kernel} {
      %thread = nvvm.read.ptx.sreg.tid.x : i32
      nvvm.griddepcontrol wait
      nvvm.griddepcontrol launch_dependents
      %value = llvm.load %x : !llvm.ptr -> f32
      ...
    ```
  }];
  let dependentDialects = ["NVVM::NVVMDialect"];
}

def UseSaturatingPacks
    : Pass<"tessera-use-saturating-packs", "gpu::GPUModuleOp"> {
  let summary = "Round floats to bytes by an instruction for two of them";
  let description = [{
    Expects `arith` and `math` on scalars and vectors of one dimension, before
    `tessera-convert-by-addition`. On chips from sm_86 on, f32 that are rounded
    to the nearest integer, limited to the range of a byte, with a sign or
    without, and converted to one, directly or by way of i32, become assembly,
    from which ptxas makes instructions that do all this for two floats
    (`F2IP`). A constant integer that is added after the rounding is added
    before, where two additions have rounded the number. All results are the
    same, except of NaN, whose conversion to an integer has no defined result.
    Four bytes form a register, unless they are used one by one, as by stores of
    pairs. Bytes that become floats again, and those of other chips, are not
    changed.

    Before

    ```mlir
    %r = math.roundeven %x : vector<2xf32>
    %a = arith.maximumf %r, %c0 : vector<2xf32>
    %b = arith.minimumf %a, %c255 : vector<2xf32>
    %i = arith.fptosi %b : vector<2xf32> to vector<2xi32>
    %y = arith.trunci %i : vector<2xi32> to vector<2xi8>
    ```

    After

    ```mlir
    %x0 = vector.extract %x[0] : f32 from vector<2xf32>
    %x1 = vector.extract %x[1] : f32 from vector<2xf32>
    %p = llvm.inline_asm "{ .reg .b32 t<4>; cvt.rni.s32.f32 t0, $1; cvt.rni.s32.f32 t1, $2; cvt.pack.sat.u8.s32.b32 $0, t1, t0, 0; }", "=r,f,f" %x0, %x1 : (f32, f32) -> i32
    %h = arith.trunci %p : i32 to i16
    %v = vector.from_elements %h : vector<1xi16>
    %y = vector.bitcast %v : vector<1xi16> to vector<2xi8>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "LLVM::LLVMDialect",
                           "vector::VectorDialect"];
}

def UseBytePermutes
    : Pass<"tessera-use-byte-permutes", "gpu::GPUModuleOp"> {
  let summary = "Put constant bits above bytes by one instruction";
  let description = [{
    Expects `arith` on vectors of one dimension, after
    `tessera-convert-by-addition`. A byte that is extended to 32 bits, and whose
    bits are changed by a constant, is selected from its register, with the
    upper bytes of the constant, by `prmt`. Changes of the byte itself are made
    to the whole register. The bytes must be elements of vectors, of which each
    is a register or several; single bytes are not changed. A `vector.shuffle`
    of bytes becomes a `prmt` for each register of its result, if each of them
    has bytes of at most two registers, and any byte moves within a register.

    Before

    ```mlir
    %e = arith.extui %x : vector<2xi8> to vector<2xi32>
    %y = arith.xori %e, dense<1258291200> : vector<2xi32>
    ```

    After

    ```mlir
    %c = arith.constant 1258291200 : i32
    %b = vector.bitcast %x : vector<2xi8> to vector<1xi16>
    %h = vector.extract %b[0] : i16 from vector<1xi16>
    %w = arith.extui %h : i16 to i32
    %0 = nvvm.prmt <default> %c30288, %w, %c : i32
    %1 = nvvm.prmt <default> %c30289, %w, %c : i32
    %y = vector.from_elements %0, %1 : vector<2xi32>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "NVVM::NVVMDialect",
                           "vector::VectorDialect"];
}

def UseThreeInputLogic
    : Pass<"tessera-use-three-input-logic", "gpu::GPUModuleOp"> {
  let summary = "Mask and change bits of words by one instruction";
  let description = [{
    Expects `arith` on scalars and vectors of one dimension, after
    `tessera-convert-by-addition` and `tessera-use-byte-permutes`. Words of 32
    bits that are masked by a constant, and whose bits are then changed by
    another one, become assembly of one instruction (`lop3`), for which ptxas
    keeps one constant in a register. From two ops it makes two instructions. A
    mask that has other uses is not changed.

    Before

    ```mlir
    %a = arith.andi %x, %c983055 : i32
    %y = arith.xori %a, %c1124614920 : i32
    ```

    After

    ```mlir
    %y = llvm.inline_asm "lop3.b32 $0, $1, 0x000F000F, 0x43084308, 0x6A;", "=r,r" %x : (i32) -> i32
    ```
  }];
  let dependentDialects = ["LLVM::LLVMDialect", "vector::VectorDialect"];
}

def UsePairedBytes : Pass<"tessera-use-paired-bytes"> {
  let summary = "Limit bytes by instructions for two numbers of 16 bits";
  let description = [{
    Expects `arith` on vectors of one dimension. On chips from sm_90 on, `maxui`,
    `minui`, `maxsi` and `minsi` of bytes, in vectors of whole registers, become
    two ops on vectors of 16 bits. The first one compares the registers as they
    are, so that the upper byte of each pair decides; the second one compares
    the lower bytes alone. Other chips have no instruction for two numbers of 16
    bits, and are not changed.

    Before

    ```mlir
    %z = arith.maxui %x, %y : vector<4xi8>
    ```

    After

    ```mlir
    %a = vector.bitcast %x : vector<4xi8> to vector<2xi16>
    %b = vector.bitcast %y : vector<4xi8> to vector<2xi16>
    %h = arith.maxui %a, %b : vector<2xi16>
    %a0 = arith.andi %a, %c255 : vector<2xi16>
    %b0 = arith.andi %b, %c255 : vector<2xi16>
    %l = arith.maxui %a0, %b0 : vector<2xi16>
    %h1 = arith.andi %h, %c65280 : vector<2xi16>
    %w = arith.ori %h1, %l : vector<2xi16>
    %z = vector.bitcast %w : vector<2xi16> to vector<4xi8>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// TesseraToROCDL
//===----------------------------------------------------------------------===//

def ScopeLdsLoads : Pass<"tessera-scope-lds-loads", "gpu::GPUModuleOp"> {
  let summary = "Mark LDS accesses as not aliasing with loads to LDS in flight";
  let description = [{
    Expects kernels in the LLVM dialect. If a kernel has loads directly to LDS
    (`rocdl.load.to.lds`, `rocdl.raw.ptr.buffer.load.lds`), these get an alias
    scope, and the kernel's other accesses to LDS are marked as not aliasing
    with it: a program reads the data of a copy only after a wait and a barrier.
    Without these scopes, LLVM waits for the copies of the next step before the
    first read of this one.

    Before

    ```mlir
    rocdl.load.to.lds %from, %to, 16, 0, 0 : <7>
    %v = llvm.load %p : !llvm.ptr<3> -> vector<8xf16>
    ```

    After

    ```mlir
    rocdl.load.to.lds %from, %to, 16, 0, 0 {alias_scopes = [#scope]} : <7>
    %v = llvm.load %p {noalias_scopes = [#scope]} : !llvm.ptr<3> -> vector<8xf16>
    ```
  }];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def SeparateOffsets : Pass<"tessera-separate-offsets", "gpu::GPUModuleOp"> {
  let summary = "Let LDS reads that differ by constants share an address";
  let description = [{
    Expects kernels after `convert-tessera-to-rocdl`, of a chip with MFMA; on
    others it does nothing. Vector loads and transposing reads of workgroup
    memory of static shape get one index, the sum of what differs from thread to
    thread, and a view of the memory whose offset is the sum of all constants.
    LLVM makes that the offset of the instruction, and keeps one address
    register for all reads that have the index.

    A tile that ends beyond the largest offset of an instruction, 64 KiB, begins
    at a scalar register, by an empty assembly statement: LLVM would otherwise
    add its beginning to each constant.

    Before

    ```mlir
    %r = arith.addi %row, %c16 : index
    %v = vector.load %tile[%r, %col] : memref<64x32xf16, #gpu.address_space<workgroup>>, vector<8xf16>
    ```

    After

    ```mlir
    %part = memref.reinterpret_cast %tile to offset: [512], sizes: [2048], strides: [1] : ...
    %i = arith.muli %row, %c32 : index
    %j = arith.addi %i, %col : index
    %v = vector.load %part[%j] : memref<2048xf16, strided<[1], offset: 512>, #gpu.address_space<workgroup>>, vector<8xf16>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "LLVM::LLVMDialect",
                           "memref::MemRefDialect"];
}

def ConvertKernelsToROCDL
    : Pass<"tessera-convert-kernels-to-rocdl", "gpu::GPUModuleOp"> {
  let summary = "Convert kernels without fragments to the ROCDL dialect";
  let description = [{
    Runs upstream's `convert-gpu-to-rocdl` for the attached chip, which that
    pass takes as an option, on kernels without `tessera` ops and structured
    control flow.

    Before

    ```mlir
    %x = gpu.thread_id x
    ```

    After

    ```mlir
    %0 = rocdl.workitem.id.x : i32
    %x = llvm.sext %0 : i32 to i64
    ```
  }];
}

def ConvertTesseraToROCDL
    : Pass<"convert-tessera-to-rocdl", "gpu::GPUModuleOp"> {
  let summary = "Lower fragments to AMD's mfma or wmma";
  let description = [{
    Expects kernels whose fragments `tessera-legalize-fragments` has distributed
    for an AMD chip, and whose workgroup memory is packed. Leaves no `tessera`
    op: a fragment becomes one vector for each tile of its instruction, a
    `tessera.mma` becomes `amdgpu.mfma` on chips with subgroups of 64 lanes and
    `amdgpu.wmma` on those with 32 (`rocdl.wmma.i32.16x16x16.iu4` for i4), and
    an exchange between lanes becomes `rocdl.ds_bpermute`.

    A `gpu.barrier` that orders accesses to workgroup memory only becomes
    `amdgpu.lds_barrier`, which does not wait for loads from global memory. A
    `gpu.barrier` is kept if one thread's access to a buffer in global memory
    may precede the barrier and another thread's access to the same buffer may
    follow it, and one of them is a write.

    Each kernel states the number of threads of its workgroup
    (`rocdl.flat_work_group_size`): that of its launch, or else the chip's
    maximum.

    The flag `direct-copies` selects the asynchronous copies that become loads
    to LDS, which do not use registers.

    Before

    ```mlir
    %d = tessera.mma %a, %b, %c {tessera.instruction = "mfma.m32n32k8.f32.f16"}
        : !tessera.fragment<32x8xf16, a, "mfma.m32n32k8.f32.f16">,
          !tessera.fragment<8x32xf16, b, "mfma.m32n32k8.f32.f16">
        -> !tessera.fragment<32x32xf32, acc, "mfma.m32n32k8.f32.f16">
    ```

    After, with `%a, %b : vector<4xf16>`, `%c : vector<16xf32>`

    ```mlir
    %d = amdgpu.mfma 32x32x8 %a * %b + %c blgp = none
        : vector<4xf16>, vector<4xf16>, vector<16xf32>
    ```
  }];
  let options = [CompileFlagsOption];
  let dependentDialects = [
    "amdgpu::AMDGPUDialect", "arith::ArithDialect", "gpu::GPUDialect",
    "LLVM::LLVMDialect", "math::MathDialect", "memref::MemRefDialect",
    "ROCDL::ROCDLDialect", "scf::SCFDialect", "vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// TesseraToCPU
//===----------------------------------------------------------------------===//

def ConvertTesseraToCPU
    : Pass<"convert-tessera-to-cpu", "gpu::GPUModuleOp"> {
  let summary = "Lower fragments to vectors and kernels to functions";
  let description = [{
    Expects kernels whose fragments `tessera-legalize-fragments` has distributed
    for a chip of the target `cpu`, and whose workgroup memory
    `tessera-pack-workgroup-memory` has packed. Leaves no `tessera` and no `gpu`
    op in them: a kernel becomes a `func.func` with two more arguments, its
    context (`tessera_workgroup` of Runtime/CpuKernel.h), from which thread and
    workgroup ids are read, and its workgroup memory; a barrier becomes a call
    of `tessera_cpu_barrier`. Memory spaces are removed.

    For a chip that emulates another (`emulate=gfx942`), a thread is a
    lane: matrix instructions, exchanges between lanes and asynchronous copies
    become calls of `tessera_cpu_mma`, `tessera_cpu_shuffle` and
    `tessera_cpu_async_copy` of the same header, and a call of
    `tessera_cpu_access` is inserted before accesses to workgroup memory and
    accesses that rely on an alignment. The flag `direct-copies` applies as on
    that chip.

    Before

    ```mlir
    gpu.func @k(%m: memref<16xf32>) kernel {
      %x = gpu.block_id x
      gpu.barrier
      gpu.return
    }
    ```

    After

    ```mlir
    func.func @k(%m: memref<16xf32>, %context: !llvm.ptr, %workgroup: memref<?xi8>)
        attributes {tessera.kernel} {
      %0 = llvm.load %context : !llvm.ptr -> i64
      %x = arith.index_cast %0 : i64 to index
      func.call @tessera_cpu_barrier(%context) : (!llvm.ptr) -> ()
      return
    }
    ```
  }];
  let options = [CompileFlagsOption];
  let dependentDialects = [
    "arith::ArithDialect", "func::FuncDialect", "gpu::GPUDialect",
    "LLVM::LLVMDialect", "math::MathDialect", "memref::MemRefDialect",
    "scf::SCFDialect", "vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// TesseraToSPIRV
//===----------------------------------------------------------------------===//

def ConvertTesseraToSPIRV
    : Pass<"convert-tessera-to-spirv", "gpu::GPUModuleOp"> {
  let summary = "Lower fragments to cooperative matrices, or to vectors by lane maps";
  let description = [{
    Expects kernels whose fragments `tessera-legalize-fragments` has distributed
    for a chip of the target `vulkan` or `opencl` (`level-zero` has the chips of
    `opencl`). Leaves no `tessera` op. A fragment of an instruction of the
    matrix unit becomes one `!spirv.coopmatrix` for each of its tiles, whose
    distribution over lanes is known to the device only. Other fragments become
    vectors by their lane maps.

    Loads and stores in bounds, `tessera.mma` and fills operate on these. All
    other operations are done on vectors; a matrix is converted to and from
    vectors through workgroup memory, one tile at a time. If rows of matrices are
    reduced, lanes hold whole rows, which pass at once, and additions and
    multiplications of matrices with a column of such rows are arithmetic of
    matrices.

    On chips that reduce matrices, reductions of rows operate on them as well, if
    every op with a column supports that. A column is a matrix for each tile of
    rows that is the same in all columns. Element-wise functions of accumulators
    of f16 and f32 are then arithmetic of matrices, or loops over a lane's
    elements; a row of memory is loaded as a matrix; and accumulators become
    operands without workgroup memory.

    An `scf.parallel` with reductions, which upstream does not convert to SPIR-V,
    becomes loops that carry the partial results.

    Before

    ```mlir
    %a = tessera.load %m[%i, %k] in_bounds : memref<64x64xf16>
        -> <8x8xf16, a, "coop.m8n8k8.f32.f16">
    %d = tessera.mma %a, %b, %c {tessera.instruction = "coop.m8n8k8.f32.f16"} : ...
    ```

    After

    ```mlir
    %p = spirv.ConvertUToPtr %address : i64 to !spirv.ptr<..., PhysicalStorageBuffer>
    %a = spirv.KHR.CooperativeMatrixLoad %q, %stride, <RowMajor>, <Aligned>, 16 : ...
    %d = spirv.KHR.CooperativeMatrixMulAdd %a, %b, %c : ...
    ```
  }];
  let dependentDialects = [
    "arith::ArithDialect", "gpu::GPUDialect", "math::MathDialect",
    "memref::MemRefDialect", "scf::SCFDialect", "spirv::SPIRVDialect",
    "vector::VectorDialect"];
}

def LowerMemoryToSPIRV
    : Pass<"tessera-lower-memory-to-spirv", "gpu::GPUModuleOp"> {
  let summary = "Lower memrefs to SPIR-V pointers";
  let description = [{
    Expects kernels without subviews (`expand-strided-metadata`). Leaves no
    memrefs in them, and no uses of their parameters: a buffer is a device
    address (PhysicalStorageBuffer), workgroup memory is a variable for each of
    its buffers, and private memory is a variable of the function. Elements of
    i4 share bytes, as in the memref: they are extracted from and inserted into
    bytes. The address and the descriptor's other fields are casts of the
    parameter, each with its index in the launch (`tessera.field`), for which
    tessera-convert-kernels-to-spirv emits reads or creates parameters.

    For the target `vulkan`, loops that copy tiles to workgroup memory and
    multiply them as cooperative matrices load the next step's tiles before this
    step's matmuls.

    For the target `opencl` a buffer is a pointer to bytes (CrossWorkgroup).

    Before

    ```mlir
    gpu.func @k(%m: memref<64x64xf32>) kernel {
      %x = memref.load %m[%i, %j] : memref<64x64xf32>
    ```

    After

    ```mlir
    gpu.func @k(%m: memref<64x64xf32>) kernel {
      %base = builtin.unrealized_conversion_cast %m : memref<64x64xf32> to i64 {tessera.field = 1 : i64}
      %p = spirv.ConvertUToPtr ... : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
      %x = spirv.Load "PhysicalStorageBuffer" %p ["Aligned", 4] : f32
    ```
  }];
  let dependentDialects = [
    "arith::ArithDialect", "gpu::GPUDialect", "memref::MemRefDialect",
    "scf::SCFDialect", "spirv::SPIRVDialect", "vector::VectorDialect"];
}

def ScalarizeVectors
    : Pass<"tessera-scalarize-vectors", "gpu::GPUModuleOp"> {
  let summary = "Replace vectors by scalars, one for each element";
  let description = [{
    Expects kernels without memrefs. SPIR-V has vectors of two to four elements
    only: leaves no vectors except those that wide accesses to memory read and
    write. Types without arithmetic on the devices become integers of the same
    size: bf16 and the 8-bit floats, and f16 if the chip lacks it; arithmetic on
    them is done in f32. A value of i4 is represented as an i8 whose upper half
    is zero.

    Before

    ```mlir
    %c = arith.addf %a, %b : vector<8xf32>
    ```

    After

    ```mlir
    %c0 = arith.addf %a0, %b0 : f32
    %c1 = arith.addf %a1, %b1 : f32
    ...
    ```
  }];
  let dependentDialects = [
    "arith::ArithDialect", "scf::SCFDialect", "spirv::SPIRVDialect",
    "vector::VectorDialect"];
}

def ConvertKernelsToSPIRV
    : Pass<"tessera-convert-kernels-to-spirv", "gpu::GPUModuleOp"> {
  let summary = "Convert kernels of scalars to spirv.module";
  let description = [{
    Expects kernels without uses of parameters, memrefs and vectors. Leaves in
    each `gpu.module` a `spirv.module` of the target's memory model, with an
    entry point for each kernel and the capabilities that it needs. The kernels
    themselves are reduced to their signatures, against which launches are
    verified, with a list of the launch arguments that something reads
    (`tessera.taken_arguments`). For the target `opencl` these are the
    function's parameters. For `vulkan` up to 16 of them are the push constants,
    an array of 8 bytes each; the push constant of more is the address of memory
    that contains them.

    Divisions and remainders of indices and i64 are done in 32 bits if the
    operands have no more bits, which is checked at run time.

    In a one-dimensional workgroup, the thread id is computed from the subgroup
    id and the lane id, so that a subgroup of the compiler is a subgroup on
    every device.

    Before

    ```mlir
    gpu.module @m {
      gpu.func @k() kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    ```

    After

    ```mlir
    gpu.module @m {
      spirv.module PhysicalStorageBuffer64 Vulkan requires #spirv.vce<v1.6, [...], [...]> {
        spirv.func @k() "None" {
        ...
        spirv.EntryPoint "GLCompute" @k, @__builtin__LocalInvocationId__
        spirv.ExecutionMode @k "LocalSize", 64, 1, 1
    ```
  }];
  let dependentDialects = [
    "arith::ArithDialect", "gpu::GPUDialect", "spirv::SPIRVDialect"];
}

//===----------------------------------------------------------------------===//
// LaunchToRuntime
//===----------------------------------------------------------------------===//

def ConvertLaunchToRuntime : Pass<"convert-launch-to-runtime", "ModuleOp"> {
  let summary = "Lower host code to LLVM, and launches to calls of the runtime";
  let description = [{
    Expects host functions with `gpu.launch_func`, allocations of buffers,
    control flow and scalar arithmetic. Kernels (`gpu.module`) are erased: they
    must have been compiled before. Leaves the LLVM dialect, where

    - a launch calls `tessera_rt_launch` (Runtime/Session.h), passing each
      memref as its descriptor's fields;
    - a launch of a kernel with tensor maps (`tessera.tensor_maps`)
      first calls `tessera_rt_tensor_map` for each of these, and passes them as
      the last arguments;
    - allocations call `tessera_rt_alloc_array`, so that buffers are in device
      memory; it checks the sizes and reports negative sizes and overflow of
      their multiplication, with the element type and the location of the op;
    - the load of a memref of one element calls `tessera_rt_read`, which waits
      for the device;
    - a constant buffer is passed to `tessera_rt_constant`, which copies it to
      the device once;
    - each function `f` has a wrapper `__tessera_f(ptr)` that takes an array of
      pointers to its arguments and, last, to its result.

    Host code of programs written by hand may access buffers otherwise: by loads,
    stores and copies, by vectors, or by printing them. With `separate-memory`,
    where buffers of kernels are in device memory, all buffers of such a program
    are then in host memory and have a copy on the device: a launch passes the
    address that `tessera_rt_to_device` returns, `tessera_rt_host_access`
    precedes each access, and entry points share their arguments by
    `tessera_rt_share`. With `planned`, such host code is an error, since a plan
    has no memory that it could access.

    Calls of upstream's runner functions (`printMemrefF32`) remain calls.

    Before

    ```mlir
    gpu.launch_func @m::@k blocks in (%n, %c1, %c1) threads in (%c128, %c1, %c1)
        args(%x : memref<16xf32>)
    ```

    After

    ```mlir
    llvm.call @tessera_rt_launch(%name, %n, %c1, %c1, %c128, %c1, %c1, %bytes, %count, %args, %sizes)
    ```
  }];
  let options = [
    Option<"separateMemory", "separate-memory", "bool", /*default=*/"false",
           "Buffers are not in host memory">,
    Option<"planned", "planned", "bool", /*default=*/"false",
           "The runs of the program are planned">];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def PackKernelArguments : Pass<"tessera-pack-kernel-arguments", "ModuleOp"> {
  let summary = "Create the wrappers by which the runtime calls CPU kernels";
  let description = [{
    Expects the LLVM dialect, with kernels (`tessera.kernel`) whose last
    arguments are the context and the workgroup memory's descriptor. Leaves for
    each kernel `k` a function `__tessera_k(ptr args, ptr context)`, where `args`
    points to the pointers to the other arguments.

    Before

    ```mlir
    llvm.func @k(%m: !llvm.ptr, %context: !llvm.ptr, ...) attributes {tessera.kernel}
    ```

    After

    ```mlir
    llvm.func @__tessera_k(%args: !llvm.ptr, %context: !llvm.ptr)
    ```
  }];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

#endif // TESSERA_CONVERSION_PASSES_TD
