//===- Passes.td - Passes within the tessera dialect -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TRANSFORMS_PASSES_TD
#define TESSERA_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

defvar targetOptions = [
  Option<"target", "target", "std::string", /*default=*/"\"cpu\"",
         "Target to compile for: cpu, cuda, hip, vulkan, opencl or level-zero">,
  Option<"chip", "chip", "std::string", /*default=*/"\"\"",
         "Chip of the target (cpu: empty is the host's)">];

def TesseraInlineKernels : Pass<"tessera-inline-kernels", "ModuleOp"> {
  let summary = "Put outlined kernels back in their launches";
  let description = [{
    Expects a program whose kernels may be functions of a `gpu.module`, as
    `gpu-kernel-outlining` and `--emit=tessera` leave them. Leaves a `gpu.launch`
    with the kernel as its body in the place of each `gpu.launch_func`, and no
    kernel that nothing launches any more. A launch in a queue of the caller's
    stays as it is, and so does one of a kernel that is a binary. A launch in
    clusters is an error.

    Before

    ```mlir
    gpu.launch_func @kernels::@scale blocks in (%g, %c1, %c1) threads in (%n, %c1, %c1)
        args(%a : memref<64xf32>)
    ```

    After

    ```mlir
    gpu.launch blocks(...) in (%bx = %g, ...) threads(...) in (%tx = %n, ...) {
      // The body of @scale, with %a in the place of its argument.
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
    outside of a launch stays: it becomes a kernel of its own. `linalg` on
    tensors in a launch is an error.

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
    Expects kernels with any of the `vector` dialect. Leaves no
    `vector.transfer_read` or `vector.transfer_write` of memrefs (they become
    loads and stores of rank 1, masked where elements may lie outside of the
    memory), and no contraction, outer product, transposition or reduction of
    several dimensions. Arithmetic on vectors of several dimensions stays.

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
    Expects host code and kernels (`gpu.launch` bodies or `gpu.func`s) that say
    `gpu.subgroup_size`, `gpu.subgroup_id`, `gpu.num_subgroups` and
    `gpu.lane_id`. Leaves none of them but `gpu.lane_id` where a subgroup has
    more than one lane: the size becomes a constant, the others follow from the
    thread's number. `gpu.subgroup_reduce` becomes a butterfly of shuffles;
    where a subgroup has one lane, its operand.

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
  let options = targetOptions;
}

def TesseraNameKernels : Pass<"tessera-name-kernels", "ModuleOp"> {
  let summary = "Give every kernel a name of its own";
  let description = [{
    Expects `gpu.launch` ops. Leaves on each that names no function one that no
    other kernel of the module has, made of the enclosing function's: profilers
    show it, and the runtime finds kernels by it. It ends in `_kernel`, or in
    `_repack` where the kernel copies an operand for a product. The launches'
    schedules, products and what such copies are for, which outlining would drop,
    are kept by these names in the module's attributes `tessera.schedules`,
    `tessera.products` and `tessera.repacks`.

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

    Vthreads are interleaved statement by statement, in the groups that the
    op's `order` says, or the option `order` for all ops; one group after the
    other, between barriers. A loop or a branch (`scf.for`, `while`, `if`,
    `index_switch`, `execute_region`) that all vthreads take alike becomes one
    that carries every vthread's values; one that depends on the vthread is
    there for each. What does not depend on the vthread at all is kept once. A
    barrier stays one barrier: one that the vthreads do not reach together is
    an error.

    Memory allocated in the region is there for each vthread. Where places in
    memory can be computed, a place that two vthreads write (`vthread_c4`), or
    one reads and another writes without a barrier in between (`vthread_c5`),
    is an error.

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
  let options = [
    Option<"order", "order", "std::string", "\"\"",
           "Overrides the order of every op: breadth_first, depth_first or "
           "groups(N)">,
    Option<"testShareFragments", "test-share-fragments", "bool", "false",
           "For tests only: all vthreads share one fragment, which is wrong">
  ];
  let dependentDialects = ["arith::ArithDialect", "scf::SCFDialect"];
}

def TesseraLegalizeFragments : Pass<"tessera-legalize-fragments"> {
  let summary = "Choose matrix instructions and lane maps";
  let description = [{
    Expects fragments of the portable types, no `tessera.vthread`, and
    structured control flow. Chooses for each `tessera.mma` the best instruction
    of the chip whose shape divides the fragment's, and gives every fragment the
    lane map of the instruction it meets. Where one value is to have two maps, a
    `tessera.convert` moves it.

    Leaves fragments whose types name an instruction, and on each `tessera.mma`
    the attribute `tessera.instruction`. With `require-matrix-unit`, a product
    that no matrix unit computes is an error which says what was rejected and
    why.

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
  let options = targetOptions # [
    Option<"requireMatrixUnit", "require-matrix-unit", "bool",
           /*default=*/"false",
           "Refuse a product that no matrix unit computes">];
}

def TesseraPackWorkgroupMemory
    : Pass<"tessera-pack-workgroup-memory", "gpu::GPUModuleOp"> {
  let summary = "One dynamic allocation for a kernel's workgroup memory";
  let description = [{
    Expects kernels with workgroup attributions, or static allocations in
    workgroup memory at their top level. Leaves views of
    `gpu.dynamic_shared_memory`, each at a multiple of 128 bytes, and the
    attribute `tessera.workgroup_bytes` on the kernel, from which the launch
    takes its size. An attribution of its own is limited to 48 KiB on NVIDIA.

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
  let summary = "Copy operands to memory that groups of subgroups can read fast";
  let description = [{
    Expects `tessera.contract` on memrefs. Where the chip has instructions of
    several subgroups together for its types (`groupDefaults` of the chip's
    table), they are fed by wide copies from rows that begin at multiples of the
    chip's widest access, and some of them (those without `anyOrder`) from rows
    along K only. An operand that lies otherwise is copied to newly allocated
    memory that has both: its rows are padded, and what is padded is never read.
    The contraction then reads a view of it, with a map in that order. The copy
    says in its attribute `tessera.repack` what it is for.

    That is done where the default schedule then is one for groups, which
    `tessera-choose-schedule` is to choose, and where by an estimate the product
    gains more than the copies take: the gain grows with M * N * K, the copies
    with M * K and K * N. Of a contraction with a schedule, where it has `group`
    and `swizzle`; and there, whatever it gains, where the schedule would not be
    legal with the order as it is.

    Several contractions of one block share the copy of an operand that nothing
    may have written in between.

    The image of a convolution whose channels are too few for wide copies is
    copied to channels that are a power of two, with a border along its rows, and
    read through a view whose rows overlap: one for each window, with the window's
    places along the row and their channels as the channels of one place. The
    filters are copied to the same with zeros for what is added.

    Left alone are operands of extents that are not known, with a producer, other
    images, operands of i4, and with several dimensions along the rows. Leaves
    everything as it is on chips without such instructions.

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
        attrs = {tessera.repack = "copies rhs of a product, ..."} { ... }
    tessera.contract
        ins(%a, %view : memref<4096x4096xbf16>, memref<4096x4093xbf16, strided<[4096, 1]>>)
        outs(%c : memref<4096x4093xf32>) maps [#mk, #kn, #mn] accumulate f32 { ... }
    memref.dealloc %memory : memref<4096x4096xbf16>
    ```
  }];
  let options = targetOptions;
  let dependentDialects = ["::mlir::linalg::LinalgDialect",
                           "::mlir::memref::MemRefDialect",
                           "::mlir::scf::SCFDialect"];
}

def TesseraUseTunedSchedules
    : Pass<"tessera-use-tuned-schedules", "::mlir::func::FuncOp"> {
  let summary = "Give products the schedules that tuning found for them";
  let description = [{
    Sets the `schedule` of each `tessera.contract` and `tessera.attention` on
    memrefs that has none and whose task is in the module's dictionary
    `tessera.tuned`, by its key (`getTaskKey`). What an entry says of its origin,
    or that there is none in what `tessera.tuned_source` names, stays on the op
    as `tessera.schedule_origin`, for reports. Modules with neither attribute
    stay as they are.

    An entry: `"0123456789abcdef" = {schedule = #tessera.schedule<...>,
    origin = "..."}`.

    A schedule that is not legal on the chip is warned of by
    `tessera-choose-schedule`, which then takes its own.
  }];
}

def TesseraChooseSchedule : Pass<"tessera-choose-schedule"> {
  let summary = "Give every contraction a schedule that the chip can run";
  let description = [{
    Expects `tessera.contract` on memrefs, with a `schedule` or without. Leaves
    one on each: where the program does not say, the chip's default tiling for
    the types, halved while it is larger than the problem.

    A schedule that the chip cannot run is an error, which names the constraint
    that it breaks and the nearest schedule that is legal; docs/Schedules.md
    lists them. A schedule on a linalg op that became no contraction is warned
    of: it would have no effect.

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
  let options = targetOptions;
}

def TesseraTileAttention : Pass<"tessera-tile-attention"> {
  let summary = "tessera.attention on memrefs to a gpu.launch of fragments";
  let description = [{
    Turns each `tessera.attention` on memrefs into one kernel. A workgroup has a
    tile of the queries of one matrix of the batch, and walks through the keys in
    blocks, from the last that one of its queries sees to the first. A subgroup
    (or a group of them) has some of the queries, for which it keeps the largest
    score, the sum of the weights and the sums of the output as fragments.

    Expects operands of any strided layout, with D and E known, and a schedule in
    which `workgroup` is the queries of a tile and the keys of a block, `subgroup`
    the queries of a subgroup and the same keys, and `k` is D (`schedule_c24`);
    without one it is the default.

    Leaves a `gpu.launch` with the schedule as its attribute `tessera.schedule`:
    tiles of the queries along x, the last ones first if `causal`, and the batch
    along y. Scores are masked in the first block, and in others only if the tiles
    are such that one of these may have a key that is not seen. Keys of a block
    and values of the one before it are staged together, and their two products
    stand next to each other. Where a schedule for single subgroups has several
    stages, the first keys and the last values have workgroup memory of their own,
    so that `tessera-pipeline-copies` can pipeline the loop.

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
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "The target to tile for">,
    Option<"chip", "chip", "std::string", "\"\"",
           "The chip to tile for; empty for the host's, on the target cpu">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::gpu::GPUDialect",
    "::mlir::math::MathDialect", "::mlir::memref::MemRefDialect",
    "::mlir::scf::SCFDialect", "::mlir::tessera::TesseraDialect"];
}

def TesseraTileContract : Pass<"tessera-tile-contract"> {
  let summary = "tessera.contract on memrefs to a gpu.launch of fragments";
  let description = [{
    Turns each `tessera.contract` on memrefs into one kernel: a `gpu.launch`
    whose workgroups compute a tile of the output each, by fragments.

    Expects contractions on memrefs, of any strided layout and with static or
    dynamic sizes. The tiling is the op's `schedule`; without one it is the
    chip's default for the types, halved while it is larger than the problem.
    A schedule that the chip cannot run is an error.

    Leaves a `gpu.launch` with the schedule as its attribute
    `tessera.schedule`, and inside: a loop over the steps along K, each of which
    names its tiles of the operands (`tessera.tile`), loads a subgroup's part of
    them, applies the producers (`broadcast`, `map`) and multiplies (`mma`); and
    an epilogue of `tessera.load`, `broadcast`, `map` and `store`. Tiles that
    stick out are left to these ops' bounds. A vthread grid becomes
    `tessera.vthread` regions. Where the operands are no matrices in memory, as
    the image of a convolution, their tiles are gathered.

    The tiles of M are the grid's x, those of N its y, and the batch is z; with
    `raster` or `persistent`, the grid is linear. The block has as many subgroups
    as the schedule says, along x. With `splitK`, the kernel stores partial sums
    to a workspace, and a `linalg.generic` after it adds them up and applies the
    epilogue. With `splitKReduction = atomic`, its stores are `atomic_add`: to
    the output, which a `linalg.fill` before sets to the initial value, or a
    `memref.copy` to the matrix that the epilogue adds; or, where the output has
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
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "The target to tile for">,
    Option<"chip", "chip", "std::string", "\"\"",
           "The chip to tile for; empty for the host's, on the target cpu">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::tessera::TesseraDialect"];
}

def TesseraMapFragments : Pass<"tessera-map-fragments"> {
  let summary = "products of a step along K to products of kFragment";
  let description = [{
    Cuts each `tessera.mma` inside a `gpu.launch` with a schedule into products
    of the schedule's `kFragment` along K, with the loads, broadcasts, maps and
    converts that feed it, so that few of a step's operands are in registers at
    a time. More than four parts become a loop.

    Expects what `tessera-tile-contract` leaves. A product whose operands come
    from elsewhere stays as it is.

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
  let summary = "tiles of operands to workgroup memory";
  let description = [{
    Gives each `tessera.tile` in a `gpu.launch` or `gpu.func` its place: where
    the schedule (the kernel's attribute `tessera.schedule`) has stages, workgroup
    memory into which all threads copy it, between two barriers; where `stages`
    is 0, none: its loads read from the source. Without a schedule, one stage.

    The rows in workgroup memory are padded as the chip wants it against bank
    conflicts, or swizzled where the schedule says so.

    Expects that all threads reach the tiles together. Leaves no tile.

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
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "The target to promote for">,
    Option<"chip", "chip", "std::string", "\"\"",
           "The chip to promote for; empty for the host's, on the target cpu">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect",
                           "::mlir::tessera::TesseraDialect"];
}

def TesseraPipelineCopies : Pass<"tessera-pipeline-copies"> {
  let summary = "copies of later steps while this one is computed";
  let description = [{
    Where the schedule of a `gpu.launch` has two or more stages, turns each loop
    of barrier, copies, barrier and products, as `tessera-promote-tiles` leaves
    it, into one whose copies run ahead: the workgroup memory gets a slot for
    each stage, copies are asynchronous and go to the slot that was read last,
    and one barrier a step is left.

    A loop of another form stays as it is. A chip without asynchronous copies
    copies at once, into another slot than the one that is read. What a chip's
    bulk copy engine will bring stays as it is, too: that needs no copies ahead
    in the program (`tessera-use-bulk-copies`).

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
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "The target to pipeline for">,
    Option<"chip", "chip", "std::string", "\"\"",
           "The chip to pipeline for; empty for the host's, on the target "
           "cpu">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tessera::TesseraDialect"];
}

def TesseraMapMatvec : Pass<"tessera-map-matvec"> {
  let summary = "products of one row or one column to kernels of plain threads";
  let description = [{
    Expects `tessera.contract` on memrefs. Turns those without a schedule whose
    M or N is absent, or known to be 1, into a `gpu.launch` (two, where the
    first leaves partial sums) of plain threads; leaves all others, and those
    whose maps have sums of dimensions. Producers and the epilogue are applied.
    Memory
    limits such a product: what counts are wide accesses to the matrix, each
    element once, by all threads.

    Where K runs fastest in the matrix, the lanes of a subgroup, or a part or
    several of them, step through one row, on vectors as wide as the chip's
    accesses where they are provably aligned, and combine their sums by
    `gpu.subgroup_reduce` and workgroup memory. Otherwise a thread owns a vector
    of columns, and the rows of threads in a workgroup share K. Too few
    workgroups to fill the chip are multiplied by splitting K. The order of a
    sum depends on nothing but the sizes.

    The launch says in its attribute `tessera.product` what it computes.

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
  let options = targetOptions;
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def TesseraExpandScalars : Pass<"tessera-expand-scalars"> {
  let summary = "Arithmetic that LLVM's back ends lack";
  let description = [{
    Expects `arith` and `math` on scalars and vectors. Leaves no conversion to or
    from an 8-bit float (they become integer operations, rounding to nearest
    even), no `math` function that needs a library (exp, log, tanh, erf and the
    like become polynomials in f32), no `arith` op without an instruction
    (ceildivsi and the like), and no `vector.shape_cast`.

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
  let summary = "Canonical forms of all ops but loops and branches";
  let description = [{
    The canonicalizer without what it does to ops that choose between regions. A
    kernel's loop along K carries a value for each fragment of the result, and the
    canonicalizer compares all of them with each other every time that it meets the
    loop: more time than all else it does. What it could find there, it has found
    while the fragments were whole.

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
  let summary = "Accesses to elements of which two share a byte";
  let description = [{
    Expects loads from memrefs of i4 by `memref.load`, `vector.load` and
    `vector.maskedload`. Leaves loads of bytes, shifts and truncations, and
    vectors of i4 that branches (`scf.if`) yield as their bytes. A
    `vector.bitcast` from vectors of i4, and a store, take these bytes too.

    Memory of i4 holds two elements in a byte, the first of them in the low
    bits: element `i` in row-major order is in byte `i / 2`, at bit
    `4 * (i mod 2)`. An odd number of elements is rounded up to a byte. Strides
    and offsets of a memref count elements, so that a view may begin in the
    middle of a byte. A `vector.load` or `vector.store` whose `alignment` is said
    begins at a byte; any other may begin in the middle of one.

    Threads that write the two elements of a byte would race. So a
    `vector.store` of whole bytes is the only write there is; another is an error
    at the op, as is a copy.

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
  let summary = "fewer, larger element-wise linalg ops";
  let description = [{
    Expects linalg on tensors. Turns element-wise named ops into
    `linalg.generic` and fuses each with the consumer of its result, where
    there is one. Decomposes `linalg.softmax` and the like; `linalg.pack` and
    `unpack` become padding, reshapes and transpositions. Contractions stay
    as they are: their operands and results are taken up by
    `convert-linalg-to-tessera`. What computes a tensor without elements becomes
    `tensor.empty`.

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
  let summary = "keep bufferization from writing into a caller's tensors";
  let description = [{
    Marks the tensor arguments of public functions
    `bufferization.writable = false`, unless they say otherwise: a tensor is a
    value, and a run is not to change what it was given. Memref arguments are
    out-parameters, and stay writable.

    A `tessera.contract` that would start from such an argument starts from
    zero and adds it in the epilogue, which saves a copy.

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
  let summary = "bufferization.dealloc to comparisons of addresses";
  let description = [{
    Expects `bufferization.dealloc`, as ownership-based deallocation leaves it.
    Leaves `memref.dealloc` under conditions, computed in values: no memory is
    needed for them, as all memory that host code allocates is the device's.

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
  let summary = "linalg ops on memrefs to kernels of scalar threads";
  let description = [{
    Turns each linalg op that is left on the host, and each `memref.copy`, into
    a `gpu.launch`: host code does not touch data.

    Expects linalg ops on memrefs, of any indexing maps, with static or dynamic
    sizes. Leaves kernels of `scf`, `arith`, `memref` and `vector` ops, and no
    linalg op outside of kernels. A load or store of the host's that is left is
    an error: the memory is the device's.

    Dimensions that follow each other in all operands' memory become one. Then

    - a reduction whose results are each combined by one known operation (add,
      mul, min, max, and, or, xor) is shared out: where a dimension of the
      reduction runs fastest in memory, lanes step along it and combine by
      `gpu.subgroup_reduce` and workgroup memory; otherwise each thread owns a
      vector of results, and the rows of threads in a workgroup share the
      reduction. Where that leaves too few workgroups, each does a part, and a
      second kernel combines what they leave in a buffer. The order in which
      elements are combined depends on nothing but the sizes;
    - an element-wise op gives each thread a vector of points along the
      dimension in which its output lies contiguously: as wide as the chip's
      accesses, where all operands that move along it lie contiguously too, and
      provably aligned where the chip asks for it; what is copied as it is may be
      read in narrower pieces, from rows that begin anywhere;
    - of anything else one thread computes one point of the parallel dimensions,
      in the order in which the output lies; reductions are loops in the thread.

    On a chip whose threads walk through many points (`SimtDefaults` of the
    chip's table), a workgroup is one thread that does so.

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
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"",
           "The target to map for">,
    Option<"chip", "chip", "std::string", "\"\"",
           "The chip to map for; empty for the host's, on the target cpu">];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::gpu::GPUDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // TESSERA_TRANSFORMS_PASSES_TD
