//===- Passes.td - Conversion passes -----------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CONVERSION_PASSES_TD
#define TESSERA_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def DirectCopiesOption
    : Option<"directCopies", "direct-copies", "::mlir::tessera::DirectCopies",
             /*default=*/"::mlir::tessera::DirectCopies::Auto",
             "Which asynchronous copies go past the registers to LDS",
             [{::mlir::tessera::getDirectCopiesValues()}]>;

//===----------------------------------------------------------------------===//
// LinalgToTessera
//===----------------------------------------------------------------------===//

def ConvertLinalgToTessera : Pass<"convert-linalg-to-tessera"> {
  let summary = "linalg contractions, and what follows them, to tessera.contract";
  let description = [{
    Turns each sum of products into one `tessera.contract`, which is to become
    one kernel.

    Expects linalg ops on tensors or memrefs. A contraction is any linalg op
    (`matmul` in all its variants, `batch_matmul`, `mmt4d`, `contract`,
    `generic`, convolutions, ...) with two inputs whose body is `mulf`/`addf` or
    `muli`/`addi`, with `extf`, `extsi` or `extui` on the operands. It may have
    several batch, M, N and K dimensions.

    - The operands enter with the element types they have before these casts;
      a transposition, broadcast or widening that produces an operand is taken
      up in its indexing map. The sum is taken in f32 (f64 for f64 operands,
      i32 for i8) and narrowed once, in the epilogue.
    - A convolution's image is lhs and its filter rhs; strides and dilations are
      factors in the map of lhs. Zeros that were put around the image
      (`tensor.pad`, or `tensor.insert_slice` into zeros) become a constant in
      it. Dimensions of extent 1 are dropped from windows: a 1x1 convolution is
      a product of plain matrices.
    - An output that `linalg.fill` has set becomes `init`.
    - Element-wise consumers of the result (tensors only) become part of the
      epilogue, and their other operands its `extras`.
    - Reductions of the result along N (tensors only), with what is made of them,
      become part of the epilogue as `tessera.row_reduce`: softmax or a
      normalization of rows, a row's maximum. That is done where all uses of the
      product lead to one result, N is static, and one subgroup's tile holds
      whole rows on the chip (`maxRow` in its table bounds them).
    - Element-wise producers of an operand (tensors only) become its producer,
      and their other operands its `inputs`, where they cost little and feed
      nothing else: the dequantization of weights, with a scale for the tensor,
      a channel, or a group of rows. Reshapes in between are looked through.
      An operand of i4 is cast to i8 by a producer, unless the chip multiplies i4.
    - A product of bytes less their zero points, which are scalars or vary along
      the output only, becomes one of bytes: the epilogue subtracts sums of lhs
      and rhs, times the zero points. Not where lhs or rhs has one row or column.
    - Two products of f16 or bf16 (tensors only) with a decomposed softmax
      between them become one `tessera.attention`; with them a constant, positive
      factor of the scores, a mask that hides keys behind the query's by minus
      infinity (or less than -1e9, or the lowest f16), reshapes, and the rounding
      or transposition of the result. What is in between is computed in f32 and
      not rounded, but for the weights. A schedule on the second product is the
      op's. That is done where nothing else uses what is in between, and a
      schedule is legal on the chip; a remark says why not.
      `fuse-attention=false` keeps them apart.
    - `tessera.schedule = #tessera.schedule<...>` on the linalg op is carried
      over. `tessera.allow_tf32`, or the option, sets `precision tf32` on f32
      products, and `tessera.allow_fast_f8` `precision fast_f8` on those of
      8-bit floats.

    Leaves alone, with a remark, contractions that `tessera.contract` does not
    express, or that a matrix unit cannot use: with neither M nor N,
    convolutions without both (depthwise ones), or of types without a row in the
    table of `tessera.mma`; and padding that stays a kernel of its own.

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

    A product of which only the largest element of each row is wanted

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
  let options = [
    Option<"allowTf32", "allow-tf32", "bool", "false",
           "Permit tf32 for every product of f32 operands">,
    Option<"allowFastF8", "allow-fast-f8", "bool", "false",
           "Permit sums in few bits for every product of 8-bit floats">,
    Option<"fuseAttention", "fuse-attention", "bool", "true",
           "Make tessera.attention of two products and the softmax between them">,
    Option<"target", "target", "std::string", "\"cpu\"",
           "The target whose tiles decide on reductions of rows">,
    Option<"chip", "chip", "std::string", "\"\"",
           "The chip; empty for the host's, on the target cpu">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect",
    "::mlir::tessera::TesseraDialect"];
}

//===----------------------------------------------------------------------===//
// SubgroupMmaToTessera
//===----------------------------------------------------------------------===//

def ConvertSubgroupMmaToTessera : Pass<"convert-subgroup-mma-to-tessera"> {
  let summary = "upstream gpu.subgroup_mma kernels to portable fragments";
  let description = [{
    Expects `gpu.launch` kernels that use `gpu.subgroup_mma_*`, written for
    subgroups of `subgroup-size` threads. Leaves fragments in their place, and a
    launch that counts `gpu.subgroup_size`: the kernel then runs on every target.

    The block size along x is to be a constant multiple of the subgroup size; of
    the thread's number along x, only its quotient by the subgroup size may be
    used. `gpu.subgroup_mma_extract_thread_local` and its counterpart are tied to
    one lane layout and are refused. Accesses are taken to be in bounds, as
    upstream's are.

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
           "Threads of a subgroup that the kernel was written for">];
  let dependentDialects = [
    "arith::ArithDialect", "memref::MemRefDialect",
    "::mlir::tessera::TesseraDialect"];
}

//===----------------------------------------------------------------------===//
// TesseraToNVVM
//===----------------------------------------------------------------------===//

def ConvertTesseraToNVVM
    : Pass<"convert-tessera-to-nvvm", "gpu::GPUModuleOp"> {
  let summary = "fragments to mma.sync or wgmma, ldmatrix and cp.async";
  let description = [{
    Expects kernels whose fragments `tessera-legalize-fragments` has distributed
    for an NVIDIA chip. Leaves no `tessera` op: a fragment becomes one vector for
    each tile of its instruction, a product `mma.sync`, a load from workgroup
    memory `ldmatrix` where the lane map permits it, an asynchronous copy
    `cp.async`. A product of a warpgroup becomes `wgmma.mma_async`, with their
    fence, commit and wait, and a load of an operand that it reads from workgroup
    memory the descriptor of that memory.

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
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_80\"",
           "Chip to compile for">];
  let dependentDialects = [
    "arith::ArithDialect", "gpu::GPUDialect", "LLVM::LLVMDialect",
    "math::MathDialect", "memref::MemRefDialect", "nvgpu::NVGPUDialect",
    "NVVM::NVVMDialect", "scf::SCFDialect", "vector::VectorDialect"];
}

def OverlapProducts : Pass<"tessera-overlap-products", "gpu::GPUModuleOp"> {
  let summary = "wait for a product where its result is first used";
  let description = [{
    Expects legalized fragments. The instructions of a warpgroup (wgmma) are
    asynchronous. Where element-wise work stands between a `tessera.mma` and the
    first use of its result, or a product that runs beside such work, a
    `tessera.await` is put before that use, with the number of later products
    that may still be computed then. A barrier, a branch or a loop between the
    two ends what can run beside. All other products are waited for where they
    stand.

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
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "Chip to compile for">];
}

def UseTensorMemory : Pass<"tessera-use-tensor-memory", "gpu::GPUModuleOp"> {
  let summary = "accumulators in tensor memory, and products that one thread issues";
  let description = [{
    Expects legalized fragments, before `tessera-use-bulk-copies`. Products whose
    instruction adds to tensor memory (`tcgen05.mma`, PTX ISA, "TensorCore 5th
    Generation Family Instructions") become instructions that the first thread
    of each group issues. An accumulator that goes through loops, and that
    nothing but products touches on its way, stays where it is: the loops carry
    it no more, the first product overwrites it where it begins at zero and each
    loop runs at least once, and its lanes store it before and load it behind the
    loops. Every other product has its accumulator stored and loaded where it
    stands.

    Leaves, at the beginning of the kernel, the allocation of as many columns as
    the accumulators of all groups have, and an mbarrier for each group; at its
    end, their release. Each step's products stand in an `scf.if` of the one
    thread (`tessera.issuer`), with the loads that describe their operands. In
    kernels that `tessera-use-bulk-copies` makes a producer for, they wait there
    for their slot, and their completion releases it; in the others this pass's
    second half, in `convert-tessera-to-nvvm`, has all threads wait for them.

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
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_100a\"",
           "Chip to compile for">];
  let dependentDialects = [
    "::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

def UseBulkCopies : Pass<"tessera-use-bulk-copies", "gpu::GPUModuleOp"> {
  let summary = "copies by the bulk copy engine, which a subgroup of its own feeds";
  let description = [{
    Expects kernels whose workgroup memory is still theirs to add to (before
    `tessera-pack-workgroup-memory`), with their threads known and, as outlining
    leaves them, `tessera.group` and `tessera.stages`. On chips that have it
    (sm_90 and up), the copies of a kernel's one step become bulk copies of
    tensors (TMA), where the engine takes all of them: swizzled tiles as wide as
    the workgroup memory they fill, of an argument whose rows begin at multiples
    of 16 bytes. The step is barrier, copies, barrier, and what reads the tiles,
    in loops or in none, as `tessera-pipeline-copies` leaves it alone. Other
    kernels stay as they are, and `tessera.copies` of the kernel says why
    (`--explain` prints it). Each of the kernel's tensor maps is listed for its
    launches (Conversion/TensorMaps.h).

    Leaves a ring of slots, as many as the kernel has stages, with two mbarriers
    each, and two roles. Launches add threads to the workgroup
    (`tessera.producer_threads`), one of which walks through the kernel's loops,
    waits for an empty slot, and copies; the others wait for a full slot, read it,
    and say that it is empty. Both count slots through all loops, so that the
    copies of the next tile run while this one's results are stored. Where the
    others are two warpgroups or more, the producer is one too; if accumulators
    are many, it gives registers to them.

    Other workgroup memory may hold tiles of the output (`stageOutput`), stored
    behind a barrier and copied out behind another. The first thread copies them
    by bulk copies, if the engine can write the output's rows, else all that read
    do (`tessera.copy_threads`). The barriers that are left are of these threads
    alone. A copy to that memory before what is stored, which the epilogue reads,
    is for a second subgroup besides the one that issues the operands' copies: it
    brings the tile while its product is computed and takes away what is made of
    it, and two mbarriers of their own take the place of the barriers.

    Where `tessera.sharers` of the kernel says that so many workgroups along M and
    N share tiles in a cluster, each brings a part of a tile to all that read it
    (multicast), waits until all of them have released the slot, and nobody ends
    before the others.

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
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"sm_90a\"",
           "Chip to compile for">];
  let dependentDialects = [
    "arith::ArithDialect", "gpu::GPUDialect", "LLVM::LLVMDialect",
    "memref::MemRefDialect", "NVVM::NVVMDialect", "scf::SCFDialect"];
}

def PlaceTensorMaps : Pass<"tessera-place-tensor-maps", "gpu::GPUModuleOp"> {
  let summary = "Tensor maps as parameters of kernels";
  let description = [{
    Expects kernels in the NVVM dialect. Each entry of a kernel's
    `tessera.tensor_maps` (Conversion/TensorMaps.h) names a global, whose address
    stands for the tensor map's. Leaves a `__grid_constant__` parameter for each
    entry, after the kernel's others and in the order of the list, also for a map
    that the kernel does not use. The parameter takes the place of the address;
    the globals are erased, and their names taken out of the list. An entry that
    names no global has its parameter already.

    The address of a map that a kernel lists is an error in any other function.

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

//===----------------------------------------------------------------------===//
// TesseraToROCDL
//===----------------------------------------------------------------------===//

def ScopeDirectLoads : Pass<"tessera-scope-direct-loads", "gpu::GPUModuleOp"> {
  let summary = "say that LDS is not read where loads to it are under way";
  let description = [{
    Expects kernels in the LLVM dialect. Where one has loads straight to LDS
    (`rocdl.load.to.lds`), these get an alias scope, and the kernel's other
    accesses to LDS are marked not to alias with it: a program reads what a copy
    writes behind a wait and a barrier only. Without that, LLVM waits for the
    copies of the next step ahead of the first read of this one.

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

def ConvertTesseraToROCDL
    : Pass<"convert-tessera-to-rocdl", "gpu::GPUModuleOp"> {
  let summary = "fragments to AMD's mfma or wmma";
  let description = [{
    Expects kernels whose fragments `tessera-legalize-fragments` has distributed
    for an AMD chip, and whose workgroup memory is packed. Leaves no `tessera`
    op: a fragment becomes one vector for each tile of its instruction, a product
    `amdgpu.mfma` on chips with subgroups of 64 lanes and `amdgpu.wmma` on those
    with 32 (`rocdl.wmma.i32.16x16x16.iu4` of i4), an exchange between lanes `rocdl.ds_bpermute`.

    A `gpu.barrier` that orders accesses to workgroup memory only becomes
    `amdgpu.lds_barrier`, which does not wait for loads from global memory. It
    stays where one thread's access to a buffer in global memory may come before
    the barrier and another's to the same buffer behind it, and one of them
    writes.

    Each kernel says how many threads its workgroup has
    (`rocdl.flat_work_group_size`): as many as the launch gives it, or else the
    chip's most.

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
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"gfx942\"",
           "Chip to compile for">,
    DirectCopiesOption];
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
  let summary = "fragments to vectors, kernels to functions";
  let description = [{
    Expects kernels whose fragments `tessera-legalize-fragments` has distributed
    for a chip of the target `cpu`, and whose workgroup memory
    `tessera-pack-workgroup-memory` has packed. Leaves no `tessera` and no `gpu`
    op in them: a kernel becomes a `func.func` with two arguments more, its
    context (`tessera_workgroup` of Runtime/CpuKernel.h), from which thread and
    workgroup numbers are read, and its workgroup memory; a barrier becomes a
    call of `tessera_cpu_barrier`. Memory spaces go.

    For a chip that emulates another (`chip=emulate=gfx942`), a thread is a lane:
    matrix instructions, exchanges between lanes and asynchronous copies become
    calls of `tessera_cpu_mma`, `tessera_cpu_shuffle` and `tessera_cpu_async_copy`
    of the same header, and a call of `tessera_cpu_access` stands before accesses
    to workgroup memory and those that rely on an alignment.

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
  let options = [
    Option<"chip", "chip", "std::string", /*default=*/"\"\"",
           "Chip to compile for (empty: the host's)">,
    DirectCopiesOption];
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
  let summary = "fragments to cooperative matrices, or to vectors by lane maps";
  let description = [{
    Expects kernels whose fragments `tessera-legalize-fragments` has distributed
    for a chip of the target `vulkan` or `opencl` (`level-zero` has the chips of `opencl`). Leaves no `tessera` op. A fragment of an
    instruction on the matrix unit becomes one `!spirv.coopmatrix` for each of its
    tiles; of these, only the device knows which lane holds which element. Other
    fragments become vectors by their lane maps.

    Loads and stores within bounds, products, fills and element-wise arithmetic
    that SPIR-V has for cooperative matrices are done on these. Everything else
    is done on vectors, to and from which a matrix goes through workgroup memory,
    a tile at a time.

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
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"vulkan\"",
           "Target to compile for: vulkan, opencl or level-zero">,
    Option<"chip", "chip", "std::string", /*default=*/"\"lavapipe\"",
           "Chip to compile for">];
  let dependentDialects = [
    "arith::ArithDialect", "gpu::GPUDialect", "math::MathDialect",
    "memref::MemRefDialect", "scf::SCFDialect", "spirv::SPIRVDialect",
    "vector::VectorDialect"];
}

def LowerMemoryToSPIRV
    : Pass<"tessera-lower-memory-to-spirv", "gpu::GPUModuleOp"> {
  let summary = "memrefs to SPIR-V pointers";
  let description = [{
    Expects kernels without subviews (`expand-strided-metadata`). Leaves no memref
    in them, and does not use their parameters: a buffer is an address of the device's
    (PhysicalStorageBuffer), workgroup memory a variable for each buffer of it,
    private memory a variable of the function. Elements of i4 share bytes, as in
    the memref: they come out of and go into bytes. The kernel reads its parameters
    from memory, 8 bytes each and in the order of a launch (a memref as the fields
    of its descriptor), whose address is the only push constant.

    For the target `vulkan`, loops that copy tiles to workgroup memory and multiply
    them as cooperative matrices load the next step's tiles before this step's
    products.

    For the target `opencl` a buffer is a pointer to bytes (CrossWorkgroup). The
    pointer and the descriptor's fields are casts of the parameter, each with its
    number in the launch (`tessera.field`), which tessera-convert-kernels-to-spirv
    makes parameters of.

    Before

    ```mlir
    gpu.func @k(%m: memref<64x64xf32>) kernel {
      %x = memref.load %m[%i, %j] : memref<64x64xf32>
    ```

    After

    ```mlir
    spirv.GlobalVariable @__params : !spirv.ptr<!spirv.struct<(i64 [0])>, PushConstant>
    gpu.func @k(%m: memref<64x64xf32>) kernel {
      %params = spirv.Load "PushConstant" ... : i64
      %base = spirv.Load "PhysicalStorageBuffer" ... ["Aligned", 8] : i64
      %p = spirv.ConvertUToPtr ... : i64 to !spirv.ptr<f32, PhysicalStorageBuffer>
      %x = spirv.Load "PhysicalStorageBuffer" %p ["Aligned", 4] : f32
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"vulkan\"",
           "Target to compile for: vulkan, opencl or level-zero">,
    Option<"chip", "chip", "std::string", /*default=*/"\"lavapipe\"",
           "Chip to compile for">];
  let dependentDialects = [
    "arith::ArithDialect", "gpu::GPUDialect", "memref::MemRefDialect",
    "scf::SCFDialect", "spirv::SPIRVDialect", "vector::VectorDialect"];
}

def ScalarizeVectors
    : Pass<"tessera-scalarize-vectors", "gpu::GPUModuleOp"> {
  let summary = "vectors to scalars, one for each element";
  let description = [{
    Expects kernels without memrefs. SPIR-V has vectors of two to four elements
    only: leaves none but those that wide accesses to memory read and write. Types
    that devices have no arithmetic of become integers of their size: bf16 and
    the 8-bit floats, and f16 where the chip lacks it, which is then computed with
    in f32. A value of i4 is carried as one of i8 whose upper half is zero.

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
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"vulkan\"",
           "Target to compile for: vulkan, opencl or level-zero">,
    Option<"chip", "chip", "std::string", /*default=*/"\"lavapipe\"",
           "Chip to compile for">];
  let dependentDialects = [
    "arith::ArithDialect", "scf::SCFDialect", "spirv::SPIRVDialect",
    "vector::VectorDialect"];
}

def ConvertKernelsToSPIRV
    : Pass<"tessera-convert-kernels-to-spirv", "gpu::GPUModuleOp"> {
  let summary = "kernels of scalars to spirv.module";
  let description = [{
    Expects kernels that use no parameters, memrefs and vectors. Leaves in each
    `gpu.module` a `spirv.module` of the target's memory model, with an entry point
    for each kernel and the capabilities that it needs. Of the kernels themselves
    the signature is left, which launches are checked against; for the target
    `opencl` also a list of those of the launch's arguments that the function has
    parameters for (`tessera.taken_arguments`).

    Divisions and remainders of indices and i64 are done in 32 bits where the
    numbers have no more, told when the kernel runs.

    A thread's number in a workgroup of one dimension is taken from its subgroup's
    number and its own within it, so that what the compiler takes for a subgroup
    is one on every device.

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
  let options = [
    Option<"target", "target", "std::string", /*default=*/"\"vulkan\"",
           "Target to compile for: vulkan, opencl or level-zero">,
    Option<"chip", "chip", "std::string", /*default=*/"\"lavapipe\"",
           "Chip to compile for">];
  let dependentDialects = [
    "arith::ArithDialect", "gpu::GPUDialect", "spirv::SPIRVDialect"];
}

//===----------------------------------------------------------------------===//
// LaunchToRuntime
//===----------------------------------------------------------------------===//

def ConvertLaunchToRuntime : Pass<"convert-launch-to-runtime", "ModuleOp"> {
  let summary = "host code to LLVM, launches to calls of the runtime";
  let description = [{
    Expects host functions with `gpu.launch_func`, allocations of buffers,
    control flow and scalar arithmetic. Kernels (`gpu.module`) are erased: they
    are compiled before. Leaves the LLVM dialect, where

    - a launch calls `tessera_rt_launch` (Runtime/Session.h), handing each memref
      as its descriptor's fields;
    - a launch of a kernel with tensor maps (`tessera.tensor_maps`,
      Conversion/TensorMaps.h) calls `tessera_rt_tensor_map` for each before,
      and hands them as the last arguments;
    - allocations call `tessera_rt_alloc_array`, so that buffers are the device's;
      it checks the sizes and reports where they are negative or their product
      overflows, with the element type and the location of the op;
    - a constant buffer is handed to `tessera_rt_constant`, which copies it to
      the device once;
    - each function `f` has a wrapper `__tessera_f(ptr)` that takes an array of
      pointers to its arguments and, last, to its result.

    With `separate-memory`, host code that reads or writes a buffer is an error,
    since the buffers are in the device's memory.

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
           "Buffers are not in the host's memory">];
  let dependentDialects = ["LLVM::LLVMDialect"];
}

def PackKernelArguments : Pass<"tessera-pack-kernel-arguments", "ModuleOp"> {
  let summary = "Wrappers by which the runtime calls the CPU's kernels";
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
