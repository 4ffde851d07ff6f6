//===- Passes.td - Passes within the tessera dialect -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TRANSFORMS_PASSES_TD
#define TESSERA_TRANSFORMS_PASSES_TD

include "Flags/CompileFlags.td"
include "mlir/Pass/PassBase.td"

def TesseraAttachChip : Pass<"tessera-attach-chip", "::mlir::ModuleOp"> {
  let summary = "State the chip that a module is compiled for";
  let description = [{
    Expects any module. Leaves the attribute `tessera.chip`, a
    `#tessera.chip<target, chip>`, on it, which all passes read that depend on
    the chip: those report an error without it. The names are those of the
    chip's row: an alias of a target (`level-zero`) is replaced by the target
    that has the chips, and an empty chip by the target's default, which is the
    host's for `cpu`.

    Names of unknown targets and chips are errors, which list the known ones. A
    module that has another chip, or that contains an op with another chip, is
    an error: with `replace`, that chip is replaced.

    Before

    ```mlir
    module {
    ```

    After `--tessera-attach-chip="target=cuda chip=sm_90a"`

    ```mlir
    module attributes {tessera.chip = #tessera.chip<"cuda", "sm_90a">} {
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
           "Target to compile for: cpu, cuda, hip, vulkan, opencl or "
           "level-zero">,
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip of the target (cpu: empty is the host's)">,
    Option<"replace", "replace", "bool", /*default=*/"false",
           "Replace another chip that is attached already">];
  let dependentDialects = ["::mlir::tessera::TesseraDialect"];
}

def TesseraExpandVThreads : Pass<"tessera-expand-vthreads"> {
  let summary = "Replicate the regions of virtual threads";
  let description = [{
    Expects `tessera.vthread`, nested or not, anywhere. Leaves none.

    Vthreads are interleaved statement by statement, in the groups given by the
    op's `order`, or by the flag `vthread-order` for all ops; between barriers, the
    groups run one after the other. A loop or a branch (`scf.for`, `while`,
    `if`, `index_switch`, `execute_region`) that is uniform over the vthreads
    becomes one that carries every vthread's values; one that depends on the
    vthread is replicated. An op that does not depend on the vthread is kept
    once. A barrier remains a single barrier: it is an error if the vthreads do
    not reach it together.

    An allocation in the region is replicated for each vthread. Where addresses
    can be computed, it is an error if two vthreads write the same address
    (`vthread_c4`), or if one reads and another writes it without a barrier in
    between (`vthread_c5`).

    Before

    ```mlir
    tessera.vthread (%v) in (2) {
      %c = tessera.load %C[%v, %c0] : memref<2x16xf32> -> !tessera.fragment<1x16xf32, acc>
      tessera.store %c, %D[%v, %c0] : !tessera.fragment<1x16xf32, acc>, memref<2x16xf32>
      tessera.yield
    }
    ```

    After

    ```mlir
    %x = tessera.load %C[%c0, %c0] : memref<2x16xf32> -> !tessera.fragment<1x16xf32, acc>
    %y = tessera.load %C[%c1, %c0] : memref<2x16xf32> -> !tessera.fragment<1x16xf32, acc>
    tessera.store %x, %D[%c0, %c0] : !tessera.fragment<1x16xf32, acc>, memref<2x16xf32>
    tessera.store %y, %D[%c1, %c0] : !tessera.fragment<1x16xf32, acc>, memref<2x16xf32>
    ```
  }];
  let options = [CompileFlagsOption];
  let dependentDialects = ["arith::ArithDialect", "scf::SCFDialect"];
}

def TesseraLegalizeFragments : Pass<"tessera-legalize-fragments"> {
  let summary = "Choose matrix instructions and lane maps";
  let description = [{
    Expects fragments of the portable types, no `tessera.vthread`, and
    structured control flow. Chooses for each `tessera.mma` the best instruction
    of the chip whose shape divides the fragment's, and gives every connected
    fragment the lane map of that instruction. If a value needs two maps, a
    `tessera.convert` is inserted.

    Leaves fragments whose types name an instruction, and the attribute
    `tessera.instruction` on each `tessera.mma`. With the flag `require-mma`, a
    `tessera.mma` that no matrix unit can compute is an error, which lists the
    rejected instructions and the reasons.

    Before

    ```mlir
    %d = tessera.mma %a, %b, %c : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x16xf16, b>
        -> !tessera.fragment<32x16xf32, acc>
    ```

    After, for sm_80

    ```mlir
    %d = tessera.mma %a, %b, %c {tessera.instruction = "mma.m16n8k16.f32.f16"}
        : !tessera.fragment<32x16xf16, a, "mma.m16n8k16.f32.f16">,
          !tessera.fragment<16x16xf16, b, "mma.m16n8k16.f32.f16">
        -> !tessera.fragment<32x16xf32, acc, "mma.m16n8k16.f32.f16">
    ```
  }];
  let options = [CompileFlagsOption];
}

//===----------------------------------------------------------------------===//
// From contractions to kernels
//===----------------------------------------------------------------------===//

def TesseraPackWeights : Pass<"tessera-pack-weights"> {
  let summary = "Store constant weights of few bits with K contiguous";
  let description = [{
    Expects `tessera.contract` on memrefs. Instructions for operands that are
    widened in registers (`MatrixInstruction::repeated`) read runs of K. A rhs
    of integers of at most 8 bits with a producer, whose rows run along N, is
    copied with its rows along K if it is a large constant, and if the default
    schedule then uses such instructions. As all copies of constants, this is
    done once, when the program is loaded. The attribute `tessera.packing` of
    the copy states its purpose.

    Other weights are read as they are: a copy in each run would take longer
    than the matmul.

    Before

    ```mlir
    %w = memref.get_global @weights : memref<4096x11008xi4>
    tessera.contract ins(%a, %w : memref<8x4096xf16>, memref<4096x11008xi4>)
        rhs_inputs(%s : memref<32x11008xf16>) outs(%c : memref<8x11008xf32>)
        maps [#mk, #kn, #mn, #scale] accumulate f32 rhs_producer { ... } { ... }
    ```

    After, for sm_90a

    ```mlir
    %w = memref.get_global @weights : memref<4096x11008xi4>
    %p = memref.alloc() {alignment = 16 : i64} : memref<11008x4096xi4>
    linalg.generic {tessera.packing = "..."} ins(%w) outs(%p) { yield }
    tessera.contract ins(%a, %p : memref<8x4096xf16>, memref<11008x4096xi4>)
        rhs_inputs(%s : memref<32x11008xf16>) outs(%c : memref<8x11008xf32>)
        maps [#mk, #nk, #mn, #scale] accumulate f32 rhs_producer { ... } { ... }
    memref.dealloc %p : memref<11008x4096xi4>
    ```
  }];
  let dependentDialects = ["linalg::LinalgDialect", "memref::MemRefDialect"];
}

def TesseraOrientWeights : Pass<"tessera-orient-weights"> {
  let summary = "Make that operand lhs which instructions read as lhs";
  let description = [{
    Expects `tessera.contract` on memrefs. Exchanges lhs and rhs of contractions
    without a schedule. The memory of the operands and of the output stays the
    same. Weights become lhs of matmuls of few rows, so that they are the rows of
    instructions. There are two kinds:

    - Weights of at most 8 bits, for which the chip has instructions that widen
      them in registers, by at most 128 rows. With at most 8 rows, an
      instruction of 16 rows and 8 columns would compute with 8 rows of zeros.
      With more, widened weights can be in any register that a rows' operand
      needs, while rows of the other operand, which are read in runs of K,
      would have to be moved there.
    - Weights as wide as the other operand, floats of at least 16 MiB, by at
      most 32 rows, if the chip has instructions of several subgroups for them.
      These have 64 rows and few columns: less of workgroup memory is taken by rows of zeros,
      and more bytes of weights are on their way.

    With at least 64 rows, two other kinds:

    - An rhs with N along the rows becomes lhs if the instructions of several
      subgroups for the types read lhs from registers, in either order, and rhs
      from memory with K along the rows only (tf32 by wgmma). Otherwise it would
      be copied to the other order before, or single subgroups would compute the
      matmul.
    - An rhs of 16 bits with N along the rows becomes lhs if lhs has K along the
      rows and if tiles of just as many of its rows as give each SM one tile load
      less than the default does: the columns of an instruction are any multiple
      of eight, if K is along the rows of its rhs. The contraction gets that
      schedule.

    Before

    ```mlir
    tessera.contract ins(%a, %w : memref<1x4096xf16>, memref<11008x4096xi4>)
        rhs_inputs(%s : memref<11008x32xf16>) outs(%c : memref<1x11008xf32>)
        maps [#mk, #nk, #mn, #scale] accumulate f32 rhs_producer { ... } { ... }
    ```

    After, for sm_90a

    ```mlir
    tessera.contract ins(%w, %a : memref<11008x4096xi4>, memref<1x4096xf16>)
        lhs_inputs(%s : memref<11008x32xf16>) outs(%c : memref<1x11008xf32>)
        maps [#nk, #mk, #mn, #scale] accumulate f32 lhs_producer { ... } { ... }
    ```
  }];
}

def TesseraPackOperands : Pass<"tessera-pack-operands"> {
  let summary = "Copy operands to a layout that warpgroup kernels can load fast";
  let description = [{
    Expects `tessera.contract` on memrefs. If the chip has instructions of
    several subgroups together for its types (`groupDefaults` of the chip's
    table), these require wide copies from rows that are aligned to the chip's
    widest access, and some of them (those without `anyOrder`) require rows
    along K. An operand with another layout is copied to newly allocated memory
    that satisfies both: its rows are padded, and the padding is never read. The
    contraction then reads a view of it, with a map in that order. The attribute
    `tessera.packing` of the copy states its purpose.

    A contraction without a schedule is changed if its default schedule, which
    `tessera-choose-schedule` chooses, then is one for groups, and if by an
    estimate the matmul gains more time than the copies take: the gain grows
    with M * N * K, the cost with M * K and K * N. Constants cost nothing. If
    threads can copy the original rows to such instructions asynchronously, the
    estimated times of the two ways are compared. If single subgroups can copy
    the original rows asynchronously in pieces of half the widest access, and
    the default schedule then is one for these, nothing is copied. A contraction
    with a schedule is changed if the schedule has `subgroupsPerFragment` and
    `swizzle`; and, whatever the gain, if the schedule would not be legal with
    the original order.

    Several contractions of one block share the copy of an operand if no op in
    between may write the operand.

    The image of a convolution whose channels are too few for wide copies is
    copied to an image whose number of channels is a power of two, with a border
    along its rows, and read through a view of overlapping rows: one row for
    each window, in which the window's positions along the row, with their
    channels, are the channels of one position. The filters are copied to the
    same layout, with zeros for the added channels. If the image is the result of
    an element-wise op, with constant padding, and nothing else reads it, the copy
    computes these for each element, and they are removed. Around an image that is
    not packed, they become one op.

    Another image whose channels are not its last dimension, or are not whole
    rows of the widest access, is copied to one with the channels last, with
    zeros for added channels, and the filters to `(f, r, s, c)`. The output is
    written in its own order if that is possible; if bulk copies then do not
    apply, because a tile would have to end with an image, and if by the
    estimate they gain more, the output is computed with its channels last as
    well and copied afterwards. This is also done for matmuls of single
    subgroups, such as those of groups, if the gain is more than twice the cost.
    An image with fewer channels in front than one access has is copied as an
    image of few channels. An image with aligned channels of which bulk copies
    would load rows of 32 bytes gets channels for rows of 128 bytes, if these are
    at most a third more and the copy pays.

    Where the instructions require rows along K, the filters of a convolution are
    copied to `(f, r, s, c)`, if nothing else is copied for it.

    Operands with dynamic extents, with a producer, of i4, or with several
    dimensions along the rows, and other images, are not changed. On chips
    without such instructions the pass does nothing, except for chips without
    lanes: a constant rhs of at most 16 MiB with elements of 32 bits or more is
    transposed if its rows are not contiguous. As all copies of constants, this
    is done once, when the program is loaded.

    Before

    ```mlir
    tessera.contract ins(%a, %b : memref<4096x4096xbf16>, memref<4096x4093xbf16>)
        outs(%c : memref<4096x4093xf32>) maps [#mk, #kn, #mn] accumulate f32 { ... }
    ```

    After, for sm_90a

    ```mlir
    %memory = memref.alloc() {alignment = 16 : i64} : memref<4096x4096xbf16>
    %view = memref.subview %memory[0, 0] [4096, 4093] [1, 1]
        : memref<4096x4096xbf16> to memref<4096x4093xbf16, strided<[4096, 1]>>
    linalg.generic {...} ins(%b : memref<4096x4093xbf16>)
        outs(%view : memref<4096x4093xbf16, strided<[4096, 1]>>)
        attrs = {tessera.packing = "copies rhs of a matmul, ..."} { ... }
    tessera.contract
        ins(%a, %view : memref<4096x4096xbf16>, memref<4096x4093xbf16, strided<[4096, 1]>>)
        outs(%c : memref<4096x4093xf32>) maps [#mk, #kn, #mn] accumulate f32 { ... }
    memref.dealloc %memory : memref<4096x4096xbf16>
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def TesseraTileAttention : Pass<"tessera-tile-attention"> {
  let summary = "Lower tessera.attention on memrefs to a gpu.launch of fragments";
  let description = [{
    Lowers each `tessera.attention` on memrefs to one kernel, or two. A
    workgroup computes a tile of the queries of one matrix of the batch, and
    iterates over the keys in blocks, from the last block that one of its
    queries sees to the first. If at most 32 queries share their keys with other
    heads (batch dimensions that keys and values do not have, the last ones of
    the batch), the queries of all these heads are rows of one tile, provided
    that they are adjacent in memory. A subgroup (or a group of them) computes some of the queries, for
    which it keeps the running maximum of the scores, the sum of the weights and
    the accumulated output as fragments.

    Expects operands of any strided layout, with static D and E, and a schedule
    in which `workgroup` is the number of queries of a tile and of keys of a
    block, `subgroup` the number of queries of a subgroup and of the same keys,
    `k` is D, and `splitK` the number of parts of the keys (`schedule_c24`);
    without a schedule, the default one is used.

    Leaves a `gpu.launch` with the schedule as its attribute `tessera.schedule`:
    tiles of the queries along x, the last ones first if `causal`, and the batch
    along y, and the parts along z. With `persistent`, the grid has that many
    workgroups at most, each with a loop around tiles of any matrices; with
    `stageOutput`, the output is copied from workgroup memory. With more than one part, each stores its
    weighted sums of values, and the largest score and the sum of the weights of
    each row, to a workspace of f32, and a `linalg.generic` combines the parts.
    A part may have no block of keys: all keys of its block are hidden then.
    Scores are masked in the first block, and in other blocks only if
    the tile sizes imply that a block may contain a masked key. The keys of a
    block and the values of the previous one are staged together, and their two
    matmuls are adjacent. If a schedule for single subgroups has several stages,
    the first keys and the last values have separate workgroup memory, so that
    `tessera-pipeline-copies` can pipeline the loop.

    Example:

    ```mlir
    tessera.attention ins(%q, %k, %v : memref<64x32xf16>, memref<96x32xf16>, memref<96x16xf16>)
        outs(%o : memref<64x16xf16>)
        maps [affine_map<(m, n, d, e) -> (m, d)>, affine_map<(m, n, d, e) -> (n, d)>,
              affine_map<(m, n, d, e) -> (n, e)>, affine_map<(m, n, d, e) -> (m, e)>]
        scale 0.125
        schedule <workgroup = [64, 32], subgroup = [16, 32], k = 32, kFragment = 32,
                  stages = 1, vthread = [1, 1]>
    ```

    becomes, without indices and types

    ```mlir
    gpu.launch ... workgroup(%q_tile, %k_tile, %v_tile) {
      gpu.barrier
      tessera.copy %q[%row, %c0], %q_tile[%c0, %c0] shape [64, 32]
      gpu.barrier
      gpu.barrier
      tessera.copy %k[%c64, %c0], %k_tile[%c0, %c0] shape [32, 32]
      gpu.barrier
      %s = tessera.mma (tessera.load %q_tile), (tessera.load %k_tile transpose), %zero
      %m, %l, %p = ...           // the largest score, the sum, the weights
      %r:4 = scf.for %step = %c0 to %c2 step %c1
          iter_args(%o_ = %zero, %m_ = %m, %l_ = %l, %p_ = %p) {
        gpu.barrier
        tessera.copy %k[%at, %c0], %k_tile[%c0, %c0] shape [32, 32]
        tessera.copy %v[%before, %c0], %v_tile[%c0, %c0] shape [32, 16]
        gpu.barrier
        %s_next = tessera.mma (tessera.load %q_tile), (tessera.load %k_tile transpose), %zero
        %sums = tessera.mma %p_, (tessera.load %v_tile), %o_
        ...                      // the same of %s_next; %sums and %l_ shrink
        scf.yield %shrunk, %m_next, %l_next, %p_next
      }
      gpu.barrier
      tessera.copy %v[%c0, %c0], %v_tile[%c0, %c0] shape [32, 16]
      gpu.barrier
      %sums = tessera.mma %r#3, (tessera.load %v_tile), %r#0
      tessera.store (tessera.convert (%sums / %r#2)), %o[%row, %c0]
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tessera::TesseraDialect"];
}

def TesseraBlockReductions : Pass<"tessera-block-reductions"> {
  let summary = "Divide long reductions into blocks that caches hold";
  let description = [{
    Expects `tessera.contract` on memrefs. A processor reads an operand that its
    cache does not hold once for each tile of the other one. A contraction
    without a schedule, whose lhs exceeds `cacheBytes` of the chip and whose rhs
    exceeds ten times as much, becomes a sequence of contractions of about
    `blockBytes` along K, on views of its operands, each of which starts from
    the sums of the one before. The last one has the epilogue. The sums are kept
    in the output, if it has their type and the epilogue reads no memory, or
    else in a buffer that the last one's epilogue adds. (Contractions of words, or of bytes by dot products, of
    known extents with one dimension of K, without producers, and whose epilogue
    does not reduce rows.)

    Before

    ```mlir
    tessera.contract ins(%a, %b : memref<512x2048xf32>, memref<2048x2048xf32>) init(%zero : f32)
        outs(%c : memref<512x2048xf32>) maps [#mk, #kn, #mn] accumulate f32 { ... }
    ```

    After

    ```mlir
    %a0 = memref.subview %a[0, 0] [512, 1024] [1, 1]
    %b0 = memref.subview %b[0, 0] [1024, 2048] [1, 1]
    tessera.contract ins(%a0, %b0) init(%zero : f32) outs(%c) maps [#mk, #kn, #mn] accumulate f32 { yield }
    %a1 = memref.subview %a[0, 1024] [512, 1024] [1, 1]
    %b1 = memref.subview %b[1024, 0] [1024, 2048] [1, 1]
    tessera.contract ins(%a1, %b1) outs(%c) maps [#mk, #kn, #mn] accumulate f32 { ... }
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect"];
}

def TesseraSplitWaves : Pass<"tessera-split-waves"> {
  let summary = "Compute whole waves of tiles, and the rest by smaller ones";
  let description = [{
    Expects `tessera.contract` on memrefs. A matmul of a few more tiles than are
    a whole number for each SM takes as long as one of another tile for each. A
    contraction without a schedule, whose default has instructions of several
    subgroups and more tiles than SMs, becomes two, on views of its operands:
    the rows, or the columns, of a whole number of waves, and the rest, if the
    fitted model of the chip expects both to take at most 0.97 of the time.
    (`canRankSchedules`; contractions of known extents with one dimension of
    rows and one of columns, without producers.)

    Before

    ```mlir
    tessera.contract ins(%a, %b : memref<2176x2816xf16>, memref<2816x1984xf16>)
        outs(%c : memref<2176x1984xf16>) maps [#mk, #kn, #mn] accumulate f32 { ... }
    ```

    After, for sm_90a

    ```mlir
    %a0 = memref.subview %a[0, 0] [2048, 2816] [1, 1]
    %c0 = memref.subview %c[0, 0] [2048, 1984] [1, 1]
    tessera.contract ins(%a0, %b) outs(%c0) maps [#mk, #kn, #mn] accumulate f32 { ... }
    %a1 = memref.subview %a[2048, 0] [128, 2816] [1, 1]
    %c1 = memref.subview %c[2048, 0] [128, 1984] [1, 1]
    tessera.contract ins(%a1, %b) outs(%c1) maps [#mk, #kn, #mn] accumulate f32 { ... }
    ```
  }];
  let dependentDialects = ["memref::MemRefDialect"];
}

def TesseraTileContract : Pass<"tessera-tile-contract"> {
  let summary = "Lower tessera.contract on memrefs to a gpu.launch of fragments";
  let description = [{
    Lowers each `tessera.contract` on memrefs to one kernel: a `gpu.launch` in
    which each workgroup computes a tile of the output with fragments.

    Expects contractions on memrefs, of any strided layout and with static or
    dynamic sizes. The tiling is the op's `schedule`; without one it is the
    chip's default for the types, halved while it is larger than the problem.
    A schedule that the chip cannot run is an error.

    Leaves a `gpu.launch` with the schedule as its attribute `tessera.schedule`,
    and inside: a loop over the steps along K, each of which names its tiles of
    the operands (`tessera.tile`), loads a subgroup's part of them, applies the
    producers (`broadcast`, `map`) and multiplies (`mma`); and an epilogue of
    `tessera.load`, `broadcast`, `map` and `store`. These ops' bounds handle
    partial tiles. A vthread grid becomes `tessera.vthread` regions. Tiles of
    operands that are not matrices in memory, such as the image of a
    convolution, are gathered.

    The tiles of M are the grid's x, those of N its y, and the batch is z; with
    `raster` or `persistent`, the grid is linear. The block has the schedule's
    number of subgroups, along x. With `splitK`, the kernel stores partial sums
    to a workspace, and a `linalg.generic` after it adds them up and applies the
    epilogue. With `splitKReduction = atomic`, its stores are `atomic_add`: to
    the output, which a preceding `linalg.fill` sets to the initial value, or a
    `memref.copy` to the matrix that the epilogue adds; or, if the output has
    another element type or the epilogue does anything else, to a workspace of
    zeros for the `linalg.generic`.

    Example:

    ```mlir
    tessera.contract ins(%a, %b : memref<64x32xf32>, memref<32x48xf32>)
        init(%zero : f32) outs(%c : memref<64x48xf32>)
        maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
              affine_map<(m, n, k) -> (m, n)>]
        accumulate f32
        schedule <workgroup = [8, 16], subgroup = [8, 16], k = 4,
                  kFragment = 1, stages = 0, vthread = [1, 1]> {
    ^bb0(%acc: f32):
      tessera.yield %acc : f32
    }
    ```

    becomes

    ```mlir
    %threads = gpu.subgroup_size : index
    gpu.launch blocks(%x, %y, %z) in (%gx = %c8, %gy = %c3, %gz = %c1)
        threads(%tx, %ty, %tz) in (%bx = %threads, %by = %c1, %bz = %c1) {
      %m = arith.muli %x, %c8 : index
      %n = arith.muli %y, %c16 : index
      %init = tessera.fill %zero : !tessera.fragment<8x16xf32, acc>
      %sum = scf.for %step = %c0 to %c8 step %c1 iter_args(%acc = %init)
          -> (!tessera.fragment<8x16xf32, acc>) {
        %k = arith.muli %step, %c4 : index
        %ta = tessera.tile %a[%m, %k] in_bounds : memref<64x32xf32> -> memref<8x4xf32>
        %tb = tessera.tile %b[%k, %n] in_bounds : memref<32x48xf32> -> memref<4x16xf32>
        %fa = tessera.load %ta[%c0, %c0] in_bounds
            : memref<8x4xf32> -> !tessera.fragment<8x4xf32, a>
        %fb = tessera.load %tb[%c0, %c0] in_bounds
            : memref<4x16xf32> -> !tessera.fragment<4x16xf32, b>
        %next = tessera.mma %fa, %fb, %acc
            : !tessera.fragment<8x4xf32, a>, !tessera.fragment<4x16xf32, b>
            -> !tessera.fragment<8x16xf32, acc>
        scf.yield %next : !tessera.fragment<8x16xf32, acc>
      }
      tessera.store %sum, %c[%m, %n] in_bounds
          : !tessera.fragment<8x16xf32, acc>, memref<64x48xf32>
      gpu.terminator
    } {tessera.schedule = #tessera.schedule<...>}
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tessera::TesseraDialect"];
}

def TesseraMapFragments : Pass<"tessera-map-fragments"> {
  let summary = "Split the matmuls of a step along K into matmuls of kFragment";
  let description = [{
    Splits each `tessera.mma` inside a `gpu.launch` with a schedule into ops of
    the schedule's `kFragment` along K, together with the loads, broadcasts,
    maps and converts that feed it, so that only few of a step's operands are in
    registers at a time. More than four parts become a loop.

    If `tessera.chip` around it has no instruction of a matrix unit for the
    types, and a lane would have more than 1,024 multiply-adds, those of all
    virtual threads together, or half as many of operands that are converted,
    the parts are in a loop as well, and shorter than `kFragment` if a part alone
    has more than half of that.

    Expects the output of `tessera-tile-contract`. A `tessera.mma` whose
    operands have other defining ops is not changed.

    Example (`kFragment = 16`):

    ```mlir
    %a = tessera.load %ta[%r, %c0] in_bounds : memref<64x32xf16> -> !tessera.fragment<32x32xf16, a>
    %b = tessera.load %tb[%c0, %c] in_bounds : memref<32x64xf16> -> !tessera.fragment<32x32xf16, b>
    %d = tessera.mma %a, %b, %acc
        : !tessera.fragment<32x32xf16, a>, !tessera.fragment<32x32xf16, b>
        -> !tessera.fragment<32x32xf32, acc>
    ```

    becomes

    ```mlir
    %a0 = tessera.load %ta[%r, %c0] in_bounds : memref<64x32xf16> -> !tessera.fragment<32x16xf16, a>
    %b0 = tessera.load %tb[%c0, %c] in_bounds : memref<32x64xf16> -> !tessera.fragment<16x32xf16, b>
    %d0 = tessera.mma %a0, %b0, %acc
        : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x32xf16, b>
        -> !tessera.fragment<32x32xf32, acc>
    %a1 = tessera.load %ta[%r, %c16] in_bounds : memref<64x32xf16> -> !tessera.fragment<32x16xf16, a>
    %b1 = tessera.load %tb[%c16, %c] in_bounds : memref<32x64xf16> -> !tessera.fragment<16x32xf16, b>
    %d1 = tessera.mma %a1, %b1, %d0
        : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x32xf16, b>
        -> !tessera.fragment<32x32xf32, acc>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def TesseraPromoteTiles : Pass<"tessera-promote-tiles"> {
  let summary = "Promote tiles of operands to workgroup memory";
  let description = [{
    Gives each `tessera.tile` in a `gpu.launch` or `gpu.func` its storage. If
    the schedule (the kernel's attribute `tessera.schedule`) has stages, this is
    workgroup memory into which all threads copy the tile, between two barriers;
    if `stages` is 0, there is none: the tile's loads read from the source.
    Without a schedule, one stage is used. On chips without lanes, with one
    subgroup and one stage, loads of a tile that is in bounds and not gathered
    read from the source as well, if its elements have 32 bits or more.

    The rows in workgroup memory are padded against bank conflicts as the chip
    requires, or swizzled if the schedule has `swizzle`.

    Expects that all threads reach the tiles together. Leaves no `tessera.tile`.

    Example:

    ```mlir
    %t = tessera.tile %a[%m, %k] : memref<?x?xf16> -> memref<64x32xf16>
    %f = tessera.load %t[%r, %c0] in_bounds : memref<64x32xf16> -> !tessera.fragment<32x16xf16, a>
    ```

    becomes, with `%w` a workgroup attribution,

    ```mlir
    gpu.barrier
    tessera.copy %a[%m, %k], %w[%c0, %c0] shape [64, 32] alignment 2
        : memref<?x?xf16>, memref<64x40xf16, #gpu.address_space<workgroup>>
    gpu.barrier
    %f = tessera.load %w[%r, %c0] in_bounds
        : memref<64x40xf16, #gpu.address_space<workgroup>> -> !tessera.fragment<32x16xf16, a>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::tessera::TesseraDialect"];
}

def TesseraPipelineCopies : Pass<"tessera-pipeline-copies"> {
  let summary = "Copy the tiles of later steps asynchronously during a step";
  let description = [{
    If the schedule of a `gpu.launch` has two or more stages, rewrites each loop
    of barrier, copies, barrier and matmuls, as `tessera-promote-tiles` leaves
    it, so that its copies run ahead: the workgroup memory gets a slot for each
    stage, copies are asynchronous and write the slot that was read last, and
    one barrier per step remains.

    A tile that is used outside of the loop as well, as that of the first keys
    of an attention, keeps its memory for that, in addition to the slots. The
    loop is not changed if there is not enough memory for both, or if a copy is
    not a gather that checks its elements: such a loop may read backwards, and
    the copies after its last step would begin before the first element.

    A loop of another form is not changed. On a chip without asynchronous
    copies, copies are synchronous, into a slot other than the one that is read.
    Copies that TMA can perform are not changed either, since they do not need
    to run ahead in the program (`tessera-use-bulk-copies`). This decision is
    made here only: in kernels of a group on a chip with TMA, each remaining
    copy that stages a tile gets the attribute `tessera.bulk`, true or false.

    Example (`stages = 3`):

    ```mlir
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!acc) {
      gpu.barrier
      tessera.copy %a[%m, %i], %w[%c0, %c0] shape [64, 32] : ...
      gpu.barrier
      %f = tessera.load %w[%r, %c0] in_bounds : ...
    ```

    becomes

    ```mlir
    tessera.async_copy %a[%m, %c0], %w3[%c0, %c0, %c0] shape [64, 32] : ...
    tessera.async_copy %a[%m, %c1], %w3[%c1, %c0, %c0] shape [64, 32] : ...
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (!acc) {
      tessera.wait pending 1
      gpu.barrier
      %next = arith.addi %i, %c2 : index
      %into = arith.remui %next, %c3 : index
      tessera.async_copy %a[%m, %next], %w3[%into, %c0, %c0] shape [64, 32] : ...
      %slot = arith.remui %i, %c3 : index
      %f = tessera.load %w3[%slot, %r, %c0] in_bounds : ...
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tessera::TesseraDialect"];
}

def TesseraProtectArguments
    : Pass<"tessera-protect-arguments", "::mlir::func::FuncOp"> {
  let summary = "Prevent bufferization from writing into a caller's tensors";
  let description = [{
    Marks the tensor arguments of public functions `bufferization.writable =
    false`, unless they have the attribute: a tensor is a value, and a run must
    not change its arguments. Memref arguments are out-parameters, and remain
    writable.

    A `tessera.contract` that would accumulate into such an argument starts from
    zero instead and adds the argument in the epilogue, which saves a copy. A
    `bufferization.materialize_in_destination` into one becomes its source.

    A result that is a slice with dynamic sizes is copied, since results must be
    dense.

    Example:

    ```mlir
    func.func @main(%a: tensor<4xf32>, %out: memref<4xf32>)
    ```

    becomes

    ```mlir
    func.func @main(%a: tensor<4xf32> {bufferization.writable = false}, %out: memref<4xf32>)
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::bufferization::BufferizationDialect",
    "::mlir::tensor::TensorDialect"];
}

#endif // TESSERA_TRANSFORMS_PASSES_TD
