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

def TesseraInlineKernels : Pass<"tessera-inline-kernels", "ModuleOp"> {
  let summary = "Put outlined kernels back in their launches";
  let description = [{
    Expects a program whose kernels may be functions of a `gpu.module`, as
    `gpu-kernel-outlining` and `--emit=tessera` produce them. Replaces each
    `gpu.launch_func` by a `gpu.launch` with the kernel as its body, and erases
    kernels that are no longer launched. A launch in a queue of the caller's,
    and a launch of a kernel that is a binary, are not changed. A launch in
    clusters is an error.

    Before

    ```mlir
    gpu.launch_func @kernels::@scale blocks in (%g, %c1, %c1) threads in (%n, %c1, %c1)
        args(%a : memref<64xf32>)
    ```

    After

    ```mlir
    gpu.launch blocks(...) in (%bx = %g, ...) threads(...) in (%tx = %n, ...) {
      // The body of @scale, with %a instead of its argument.
      gpu.terminator
    }
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect"];
}

def TesseraExpandKernelLinalg : Pass<"tessera-expand-kernel-linalg"> {
  let summary = "Lower linalg in hand-written kernels to loops";
  let description = [{
    Expects `linalg` on memrefs in a `gpu.launch`, which each thread executes as
    a whole: typically one thread, on workgroup memory. Leaves loops. `linalg`
    outside of a launch is not changed: other passes lower it to kernels.
    `linalg` on tensors in a launch is an error.

    Before

    ```mlir
    linalg.fill ins(%zero : f32) outs(%w : memref<16xf32, #gpu.address_space<workgroup>>)
    ```

    After

    ```mlir
    scf.for %i = %c0 to %c16 step %c1 {
      memref.store %zero, %w[%i] : memref<16xf32, #gpu.address_space<workgroup>>
    }
    ```
  }];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "memref::MemRefDialect", "scf::SCFDialect"];
}

def TesseraLowerVectors : Pass<"tessera-lower-vectors"> {
  let summary = "Lower vector transfers and vector ops of several dimensions";
  let description = [{
    Expects kernels with any ops of the `vector` dialect. Leaves no
    `vector.transfer_read` or `vector.transfer_write` of memrefs (they become
    loads and stores of rank 1, masked where elements may be out of bounds), and
    no contraction, outer product, transposition or reduction of several
    dimensions. Arithmetic on vectors of several dimensions is not changed.

    Before

    ```mlir
    %v = vector.transfer_read %m[%i, %j], %zero {in_bounds = [true, true]}
        : memref<64x64xf32>, vector<2x4xf32>
    ```

    After

    ```mlir
    %0 = vector.load %m[%i, %j] : memref<64x64xf32>, vector<4xf32>
    %1 = vector.insert %0, %none [0] : vector<4xf32> into vector<2x4xf32>
    %2 = vector.load %m[%i1, %j] : memref<64x64xf32>, vector<4xf32>
    %v = vector.insert %2, %1 [1] : vector<4xf32> into vector<2x4xf32>
    ```
  }];
  let dependentDialects = ["affine::AffineDialect", "arith::ArithDialect",
                           "memref::MemRefDialect", "scf::SCFDialect",
                           "vector::VectorDialect"];
}

def TesseraResolveSubgroups : Pass<"tessera-resolve-subgroups"> {
  let summary = "Replace subgroup queries by the target's subgroup size";
  let description = [{
    Expects host code and kernels (`gpu.launch` bodies or `gpu.func`s) that use
    `gpu.subgroup_size`, `gpu.subgroup_id`, `gpu.num_subgroups` and
    `gpu.lane_id`. Leaves none of these, except `gpu.lane_id` on chips whose
    subgroups have more than one lane: the size becomes a constant, the others
    are computed from the thread id. `gpu.subgroup_reduce` becomes a butterfly
    of shuffles, or its operand if a subgroup has one lane.

    Before (for a chip with 32 lanes)

    ```mlir
    %size = gpu.subgroup_size : index
    %id = gpu.subgroup_id : index
    ```

    After, in a launch of (128, 1, 1) threads

    ```mlir
    %size = arith.constant 32 : index
    %x = gpu.thread_id x
    %id = arith.divui %x, %size : index
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "gpu::GPUDialect",
                           "vector::VectorDialect"];
}

def TesseraNameKernels : Pass<"tessera-name-kernels", "ModuleOp"> {
  let summary = "Give every kernel a unique name";
  let description = [{
    Expects `gpu.launch` ops. Gives each launch without a function name one that
    is unique in the module, derived from the enclosing function's name:
    profilers show it, and the runtime finds kernels by it. It ends in
    `_kernel`, or in `_repack` if the kernel copies an operand of a matmul. The
    schedules, the matmuls and the reasons for such copies, which are attributes
    of the launches that outlining would drop, are kept under these names in the
    module's attributes `tessera.schedules`, `tessera.products` and
    `tessera.repacks`.

    Before

    ```mlir
    func.func @main(%n: index) {
      gpu.launch blocks(...) in (...) threads(...) in (...) { ... }
      gpu.launch blocks(...) in (...) threads(...) in (...) { ... }
    ```

    After

    ```mlir
    func.func @main(%n: index) {
      gpu.launch blocks(...) in (...) threads(...) in (...) module(@main_kernel) function(@main_kernel) { ... }
      gpu.launch blocks(...) in (...) threads(...) in (...) module(@main_kernel_1) function(@main_kernel_1) { ... }
    ```
  }];
  let dependentDialects = ["gpu::GPUDialect"];
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

def TesseraPackWorkgroupMemory
    : Pass<"tessera-pack-workgroup-memory", "gpu::GPUModuleOp"> {
  let summary = "Use one dynamic allocation for a kernel's workgroup memory";
  let description = [{
    Expects kernels with workgroup attributions, or static allocations in
    workgroup memory at their top level. Leaves views of
    `gpu.dynamic_shared_memory`, each aligned to 128 bytes, and the attribute
    `tessera.workgroup_bytes` on the kernel, which is the size that launches
    request. (On NVIDIA, static workgroup memory is limited to 48 KiB.)

    Before

    ```mlir
    gpu.func @k() workgroup(%w : memref<64x32xf16, #gpu.address_space<workgroup>>) kernel
    ```

    After

    ```mlir
    gpu.func @k() kernel attributes {tessera.workgroup_bytes = 4096 : i64} {
      %bytes = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
      %c0 = arith.constant 0 : index
      %w = memref.view %bytes[%c0][] : memref<?xi8, #gpu.address_space<workgroup>>
          to memref<64x32xf16, #gpu.address_space<workgroup>>
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "memref::MemRefDialect"];
}

//===----------------------------------------------------------------------===//
// From contractions to kernels
//===----------------------------------------------------------------------===//

def TesseraRepackOperands : Pass<"tessera-repack-operands"> {
  let summary = "Copy operands to a layout that warpgroup kernels can load fast";
  let description = [{
    Expects `tessera.contract` on memrefs. If the chip has instructions of
    several subgroups together for its types (`groupDefaults` of the chip's
    table), these require wide copies from rows that are aligned to the chip's
    widest access, and some of them (those without `anyOrder`) require rows
    along K. An operand with another layout is copied to newly allocated memory
    that satisfies both: its rows are padded, and the padding is never read. The
    contraction then reads a view of it, with a map in that order. The attribute
    `tessera.repack` of the copy states its purpose.

    A contraction without a schedule is changed if its default schedule, which
    `tessera-choose-schedule` chooses, then is one for groups, and if by an
    estimate the matmul gains more time than the copies take: the gain grows
    with M * N * K, the cost with M * K and K * N. A contraction with a schedule
    is changed if the schedule has `group` and `swizzle`; and, whatever the
    gain, if the schedule would not be legal with the original order.

    Several contractions of one block share the copy of an operand if no op in
    between may write the operand.

    The image of a convolution whose channels are too few for wide copies is
    copied to an image whose number of channels is a power of two, with a border
    along its rows, and read through a view of overlapping rows: one row for
    each window, in which the window's positions along the row, with their
    channels, are the channels of one position. The filters are copied to the
    same layout, with zeros for the added channels.

    Operands with dynamic extents, with a producer, of i4, or with several
    dimensions along the rows, and other images, are not changed. On chips
    without such instructions the pass does nothing.

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
        attrs = {tessera.repack = "copies rhs of a matmul, ..."} { ... }
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

def TesseraUseTunedSchedules
    : Pass<"tessera-use-tuned-schedules", "::mlir::func::FuncOp"> {
  let summary = "Give matmuls their tuned schedules";
  let description = [{
    Sets the `schedule` of each `tessera.contract` and `tessera.attention` on
    memrefs that has none and whose task key (`getTaskKey`) is in the module's
    dictionary `tessera.tuned`. The origin that the record states, or the fact
    that the source named by `tessera.tuned_source` has no record, is kept on
    the op as `tessera.schedule_origin`, for reports. Modules with neither
    attribute are not changed.

    A record has the form `"0123456789abcdef" = {schedule =
    #tessera.schedule<...>, origin = "..."}`.

    If the schedule is not legal on the chip, `tessera-choose-schedule` warns
    and uses its own.
  }];
}

def TesseraChooseSchedule : Pass<"tessera-choose-schedule"> {
  let summary = "Give every contraction a schedule that the chip can run";
  let description = [{
    Expects `tessera.contract` on memrefs, with a `schedule` or without. Leaves
    a schedule on each: for ops without one, the chip's default tiling for the
    types, halved while it is larger than the problem.

    A schedule that the chip cannot run is an error, which names the violated
    constraint and the nearest legal schedule; docs/Schedules.md lists the
    constraints. A schedule on a linalg op that was not converted to a
    contraction has no effect, which is a warning.

    Before

    ```mlir
    tessera.contract ins(%a, %b : memref<512x512xf16>, memref<512x512xf16>)
        outs(%c : memref<512x512xf32>) maps [#mk, #kn, #mn] accumulate f32 { ... }
    ```

    After, for sm_80

    ```mlir
    tessera.contract ins(%a, %b : memref<512x512xf16>, memref<512x512xf16>)
        outs(%c : memref<512x512xf32>) maps [#mk, #kn, #mn] accumulate f32
        schedule <workgroup = [128, 128], subgroup = [64, 64], k = 32,
                  kFragment = 16, stages = 4, vthread = [1, 1]> { ... }
    ```
  }];
}

def TesseraTileAttention : Pass<"tessera-tile-attention"> {
  let summary = "Lower tessera.attention on memrefs to a gpu.launch of fragments";
  let description = [{
    Lowers each `tessera.attention` on memrefs to one kernel. A workgroup
    computes a tile of the queries of one matrix of the batch, and iterates over
    the keys in blocks, from the last block that one of its queries sees to the
    first. A subgroup (or a group of them) computes some of the queries, for
    which it keeps the running maximum of the scores, the sum of the weights and
    the accumulated output as fragments.

    Expects operands of any strided layout, with static D and E, and a schedule
    in which `workgroup` is the number of queries of a tile and of keys of a
    block, `subgroup` the number of queries of a subgroup and of the same keys,
    and `k` is D (`schedule_c24`); without a schedule, the default one is used.

    Leaves a `gpu.launch` with the schedule as its attribute `tessera.schedule`:
    tiles of the queries along x, the last ones first if `causal`, and the batch
    along y. Scores are masked in the first block, and in other blocks only if
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
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tessera::TesseraDialect"];
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
    Without a schedule, one stage is used.

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

    A loop of another form is not changed. On a chip without asynchronous
    copies, copies are synchronous, into a slot other than the one that is read.
    Copies that TMA will perform are not changed either, since they do not need
    to run ahead in the program (`tessera-use-bulk-copies`).

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

    The launch's attribute `tessera.product` describes the matmul.

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
    } {tessera.product = {product = "4096x1x1024 f32 x f32 -> f32", why = "..."}}
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def TesseraExpandScalars : Pass<"tessera-expand-scalars"> {
  let summary = "Expand arithmetic that LLVM's back ends do not support";
  let description = [{
    Expects `arith` and `math` on scalars and vectors. Leaves no conversion to
    or from an 8-bit float (they become integer operations, rounding to nearest
    even), no `math` function that needs a library (exp, log, tanh, erf and
    similar ones become polynomials in f32), no `arith` op without an
    instruction (ceildivsi and similar ones), and no `vector.shape_cast`.

    Before

    ```mlir
    %y = arith.extf %x : f8E5M2 to f32
    ```

    After

    ```mlir
    %bits = arith.bitcast %x : f8E5M2 to i8
    %wide = arith.extui %bits : i8 to i32
    ...
    ```
  }];
  let dependentDialects = ["arith::ArithDialect", "math::MathDialect",
                           "vector::VectorDialect"];
}

def TesseraSimplifyArithmetic : Pass<"tessera-simplify-arithmetic"> {
  let summary = "Canonicalize all ops except loops and branches";
  let description = [{
    Runs the canonicalization patterns without those of ops with regions. A
    kernel's loop along K carries a value for each fragment of the result, and
    the canonicalizer compares all of them with each other every time that it
    visits the loop, which would take most of the compile time. The
    simplifications that are possible there are found earlier, when the
    fragments are still whole.

    Before

    ```mlir
    %0 = arith.addi %i, %c1 : index
    %1 = arith.addi %0, %c2 : index
    ```

    After

    ```mlir
    %1 = arith.addi %i, %c3 : index
    ```
  }];
}

def TesseraExpandPackedMemory : Pass<"tessera-expand-packed-memory"> {
  let summary = "Expand accesses to i4 elements, two of which share a byte";
  let description = [{
    Expects loads from memrefs of i4 by `memref.load`, `vector.load` and
    `vector.maskedload`. Leaves loads of bytes, shifts and truncations, and
    vectors of i4 that branches (`scf.if`) yield as their bytes. A
    `vector.bitcast` from vectors of i4, and a store, use these bytes too.

    Memory of i4 holds two elements in a byte, the first of them in the low
    bits: element `i` in row-major order is in byte `i / 2`, at bit `4 * (i mod
    2)`. An odd number of elements is rounded up to a byte. Strides and offsets
    of a memref count elements, so that a view may start in the middle of a
    byte. A `vector.load` or `vector.store` with an `alignment` starts at a
    whole byte; any other may start in the middle of one.

    Threads that write the two elements of a byte would race. Therefore a
    `vector.store` of whole bytes is the only legal write; any other write, and
    a copy, is an error at the op.

    A `memref.global` of i4 becomes one of bytes.

    Before

    ```mlir
    %x = memref.load %a[%i, %j] : memref<64x32xi4>
    ```

    After

    ```mlir
    %linear = ... // %i * 32 + %j
    %index = arith.shrui %linear, %c1 : index
    %bytes = memref.reinterpret_cast %base to offset: [%index], sizes: [1], strides: [1]
        : memref<i8> to memref<1xi8, strided<[1], offset: ?>>
    %byte = memref.load %bytes[%c0] : memref<1xi8, strided<[1], offset: ?>>
    %odd = arith.andi %linear, %c1 : index
    ...
    %shifted = arith.shrui %byte, %shift : i8
    %x = arith.trunci %shifted : i8 to i4
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def TesseraFuseElementwise : Pass<"tessera-fuse-elementwise"> {
  let summary = "Fuse element-wise linalg ops";
  let description = [{
    Expects linalg on tensors. Generalizes element-wise named ops to
    `linalg.generic` and fuses each with the consumer of its result, if it has a
    single one. Decomposes `linalg.softmax` and similar ops; `linalg.pack` and
    `unpack` become padding, reshapes and transpositions. Contractions are not
    changed: `convert-linalg-to-tessera` fuses their operands and results. An op
    that computes a tensor without elements becomes `tensor.empty`.

    Example:

    ```mlir
    %b = linalg.broadcast ins(%bias : tensor<48xf32>) outs(%e : tensor<64x48xf32>) dimensions = [0]
    %s = linalg.add ins(%x, %b : tensor<64x48xf32>, tensor<64x48xf32>)
        outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
    ```

    becomes

    ```mlir
    %s = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                         affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]}
        ins(%x, %bias : tensor<64x48xf32>, tensor<48xf32>) outs(%e : tensor<64x48xf32>) {
    ^bb0(%p: f32, %q: f32, %out: f32):
      %0 = arith.addf %p, %q : f32
      linalg.yield %0 : f32
    } -> tensor<64x48xf32>
    ```
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::linalg::LinalgDialect", "::mlir::math::MathDialect",
    "::mlir::tensor::TensorDialect"];
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
    zero instead and adds the argument in the epilogue, which saves a copy.

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

def TesseraLowerDeallocations : Pass<"tessera-lower-deallocations"> {
  let summary = "Lower bufferization.dealloc to comparisons of addresses";
  let description = [{
    Expects `bufferization.dealloc`, as ownership-based deallocation leaves it.
    Leaves `memref.dealloc` under conditions that are computed in values. The
    lowering does not use memory, since all memory that host code allocates is
    device memory.

    Example:

    ```mlir
    %owned = bufferization.dealloc (%a : memref<4xf32>) if (%cond) retain (%r : memref<4xf32>)
    ```

    becomes

    ```mlir
    %pa = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index
    %pr = memref.extract_aligned_pointer_as_index %r : memref<4xf32> -> index
    %same = arith.cmpi eq, %pr, %pa : index
    %owned = arith.andi %same, %cond : i1
    %other = arith.cmpi ne, %pa, %pr : index
    %free = arith.andi %cond, %other : i1
    scf.if %free {
      memref.dealloc %a : memref<4xf32>
    }
    ```
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect"];
}

def TesseraMapLinalgToSimt : Pass<"tessera-map-linalg-to-simt"> {
  let summary = "Lower linalg ops on memrefs to SIMT kernels";
  let description = [{
    Lowers each linalg op in host code, and each `memref.copy`, to a
    `gpu.launch`: host code does not access data.

    Expects linalg ops on memrefs, with any indexing maps, of static or dynamic
    sizes. Leaves kernels of `scf`, `arith`, `memref` and `vector` ops, and no
    linalg op outside of kernels. A remaining load or store in host code is an
    error, since the memory is device memory.

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
    - an element-wise op gives each thread a vector of points along the
      dimension in which its output is contiguous: as wide as the chip's
      accesses, if all operands that vary along it are contiguous too, and
      provably aligned if the chip requires it; data that is only copied may be
      read in narrower pieces, from rows of any alignment;
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

#endif // TESSERA_TRANSFORMS_PASSES_TD
