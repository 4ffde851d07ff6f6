//===- TesseraOps.td - Operations of the tessera dialect ---*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IR_TESSERAOPS_TD
#define TESSERA_IR_TESSERAOPS_TD

include "Dialect/Tessera/IR/TesseraTypes.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/DestinationStyleOpInterface.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/OpAsmInterface.td"

class Tessera_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tessera_Dialect, mnemonic, traits>;

def Tessera_AnyFloatOrInt : AnyTypeOf<[AnyFloat, AnySignlessInteger]>;

//===----------------------------------------------------------------------===//
// Fragments and memory
//===----------------------------------------------------------------------===//

/// Names its result after the role of the fragment.
def Tessera_NamesResult
    : DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>;

def Tessera_FillOp : Tessera_Op<"fill", [Pure, Tessera_NamesResult]> {
  let summary = "a fragment with the same value in all elements";
  let description = [{
    `result[i, j] = value`

    Constraints
    - `fill_c1`: `value` has the element type of the result.

    Example:

    ```mlir
    func.func @fill() -> !tessera.fragment<16x16xf32, acc> {
      %zero = arith.constant 0.0 : f32
      %f = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
      return %f : !tessera.fragment<16x16xf32, acc>
    }
    ```
  }];
  let arguments = (ins Tessera_AnyFloatOrInt:$value);
  let results = (outs Tessera_AnyFragment:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tessera_LoadOp : Tessera_Op<"load",
    [Tessera_NamesResult, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "load a fragment from memory";
  let description = [{
    `result[i, j] = memory[..., r + i, c + j]`, where `r, c` are the last two
    indices; with `transpose`, `result[i, j] = memory[..., r + j, c + i]`: the
    memory holds the fragment in column-major order. The leading dimension is
    the memref's stride, and may be dynamic.

    An element outside the last two dimensions of the memref reads as zero.
    `in_bounds` asserts that no element is outside, which saves the check.
    Indices must not be negative, and the indices before the last two must be in
    bounds.

    `swizzled` reads memory that a `swizzled` copy wrote; see `tessera.copy`.

    Constraints
    - `load_c1`: `memory` has rank 2 or more, and an index per dimension.
    - `load_c2`: `memory` and the result have the same element type.
    - `load_c3`: `swizzled` requires a memory that can be swizzled; see
      `tessera.copy`.

    Example:

    ```mlir
    func.func @load(%m: memref<64x48xf16>, %i: index, %j: index)
        -> (!tessera.fragment<16x16xf16, a>, !tessera.fragment<16x8xf16, b>) {
      %a = tessera.load %m[%i, %j] : memref<64x48xf16> -> !tessera.fragment<16x16xf16, a>
      %b = tessera.load %m[%i, %j] transpose in_bounds
          : memref<64x48xf16> -> !tessera.fragment<16x8xf16, b>
      return %a, %b : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x8xf16, b>
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$memory, Variadic<Index>:$indices,
                       UnitAttr:$transpose, UnitAttr:$inBounds,
                       UnitAttr:$swizzled);
  let results = (outs Tessera_AnyFragment:$result);
  let assemblyFormat = [{
    $memory `[` $indices `]` (`transpose` $transpose^)? (`in_bounds` $inBounds^)?
    (`swizzled` $swizzled^)? attr-dict `:` type($memory) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getMemRefType() {
      return ::llvm::cast<::mlir::MemRefType>(getMemory().getType());
    }
  }];
}

def Tessera_StoreOp : Tessera_Op<"store",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "store a fragment to memory";
  let description = [{
    `memory[..., r + i, c + j] = value[i, j]`, where `r, c` are the last two
    indices; with `transpose`, `memory[..., r + j, c + i] = value[i, j]`.

    An element outside the last two dimensions of the memref is not written.
    `in_bounds` asserts that no element is outside, which saves the check.
    Indices must not be negative, and the indices before the last two must be in
    bounds.

    `atomic_add` adds instead: `memory[..., r + i, c + j] += value[i, j]`,
    atomically for each element, and once for the subgroup. The order among
    workgroups is not defined: if additions round, the sum may differ between
    runs.

    `swizzled` writes memory that a `swizzled` load, or a copy with
    `from_swizzled`, reads; see `tessera.copy`.

    Constraints
    - `store_c1`: `memory` has rank 2 or more, and an index per dimension.
    - `store_c2`: `memory` and `value` have the same element type.
    - `store_c3`: `atomic_add` requires a `value` of role `acc`, of f32, f64 or
      i32.
    - `store_c4`: `swizzled` requires a memory that can be swizzled, and
      excludes `atomic_add`.

    Example:

    ```mlir
    func.func @store(%f: !tessera.fragment<16x16xf32, acc>, %m: memref<?x?xf32>, %i: index) {
      tessera.store %f, %m[%i, %i] : !tessera.fragment<16x16xf32, acc>, memref<?x?xf32>
      tessera.store %f, %m[%i, %i] atomic_add : !tessera.fragment<16x16xf32, acc>, memref<?x?xf32>
      return
    }
    ```
  }];
  let arguments = (ins Tessera_AnyFragment:$value, AnyMemRef:$memory,
                       Variadic<Index>:$indices,
                       UnitAttr:$transpose, UnitAttr:$inBounds,
                       UnitAttr:$atomicAdd, UnitAttr:$swizzled);
  let assemblyFormat = [{
    $value `,` $memory `[` $indices `]` (`transpose` $transpose^)?
    (`in_bounds` $inBounds^)? (`atomic_add` $atomicAdd^)?
    (`swizzled` $swizzled^)? attr-dict `:` type($value) `,` type($memory)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getMemRefType() {
      return ::llvm::cast<::mlir::MemRefType>(getMemory().getType());
    }
  }];
}

//===----------------------------------------------------------------------===//
// Arithmetic on fragments
//===----------------------------------------------------------------------===//

def Tessera_MmaOp : Tessera_Op<"mma",
    [Pure, Tessera_NamesResult, AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix multiply-accumulate of fragments";
  let description = [{
    `result[i, j] = acc[i, j] + sum over k of a[i, k] * b[k, j]`

    The sum is computed in the accumulator's element type, in any order.

    | a, b                                   | acc      |
    |----------------------------------------|----------|
    | f16                                    | f32, f16 |
    | bf16                                   | f32      |
    | f32                                    | f32      |
    | f64                                    | f64      |
    | i8 or i4 (or unsigned, by attribute)   | i32      |
    | f8E4M3FN, f8E5M2 (mixed too)           | f32, f16 |
    | f8E4M3FNUZ, f8E5M2FNUZ (mixed too)     | f32      |

    Multiplication of f32 is IEEE single precision. `precision tf32` permits an
    instruction that rounds or truncates `a` and `b` to tf32 (10 bits of
    mantissa). A matrix unit may keep as few as 14 bits of a sum of products of
    8-bit floats; where the chip's table states that it does, at most 128 terms
    are summed in this way before they are added in the accumulator's type.
    `precision fast_f8` permits the whole sum to be kept in so few bits.
    Integers wrap. `unsigned_a` and `unsigned_b` interpret elements of i8 and i4
    as unsigned.

    Constraints
    - `mma_c1`: `a` is MxK, `b` is KxN and `acc` is MxN.
    - `mma_c2`: the element types are those of one row of the table.
    - `mma_c3`: `unsigned_a` and `unsigned_b` require operands of i8 or i4.
    - `mma_c4`: `precision tf32` requires f32 operands, and `precision fast_f8`
      operands of 8-bit floats.

    Example:

    ```mlir
    func.func @mma(%a: !tessera.fragment<32x16xf16, a>, %b: !tessera.fragment<16x64xf16, b>,
                   %c: !tessera.fragment<32x64xf32, acc>) -> !tessera.fragment<32x64xf32, acc> {
      %d = tessera.mma %a, %b, %c
          : !tessera.fragment<32x16xf16, a>, !tessera.fragment<16x64xf16, b>
          -> !tessera.fragment<32x64xf32, acc>
      return %d : !tessera.fragment<32x64xf32, acc>
    }
    ```
  }];
  let arguments = (ins Tessera_FragmentOf<"A">:$a, Tessera_FragmentOf<"B">:$b,
                       Tessera_FragmentOf<"Acc">:$acc,
                       UnitAttr:$unsignedA, UnitAttr:$unsignedB,
                       DefaultValuedAttr<Tessera_PrecisionAttr,
                         "::mlir::tessera::Precision::Ieee">:$precision);
  let results = (outs Tessera_FragmentOf<"Acc">:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`unsigned_a` $unsignedA^)? (`unsigned_b` $unsignedB^)?
    (`precision` $precision^)?
    attr-dict `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tessera_MapOp : Tessera_Op<"map",
    [RecursivelySpeculatable, RecursiveMemoryEffects, Tessera_NamesResult,
     SingleBlock]> {
  let summary = "an element-wise function of fragments";
  let description = [{
    `result[i, j] = region(inputs[0][i, j], inputs[1][i, j], ...)`

    The region's arguments are the inputs' elements and, if the region has two
    more arguments of type index, the element's coordinates `i, j` in the
    fragment. The region may use values defined outside of it. It must not have
    side effects, but may read memory that the kernel does not write.

    Constraints
    - `map_c1`: inputs and result have the same shape and the same role.
    - `map_c2`: the region's arguments are the inputs' element types in order,
      optionally followed by two index values.
    - `map_c3`: the region yields one value, of the result's element type.
    - `map_c4`: the region's ops have no side effects other than reading memory.

    Example:

    ```mlir
    func.func @relu_lower(%f: !tessera.fragment<16x16xf32, acc>) -> !tessera.fragment<16x16xf32, acc> {
      %zero = arith.constant 0.0 : f32
      %g = tessera.map %f : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf32, acc> {
      ^bb0(%x: f32, %i: index, %j: index):
        %y = arith.maximumf %x, %zero : f32
        %below = arith.cmpi sge, %i, %j : index
        %z = arith.select %below, %y, %zero : f32
        tessera.yield %z : f32
      }
      return %g : !tessera.fragment<16x16xf32, acc>
    }
    ```
  }];
  let arguments = (ins Variadic<Tessera_AnyFragment>:$inputs);
  let results = (outs Tessera_AnyFragment:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $inputs attr-dict `:` type($inputs) `->` type($result) $body
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let extraClassDeclaration = [{
    /// Whether the region takes the element's coordinates.
    bool takesCoordinates() {
      return getBody().front().getNumArguments() == getInputs().size() + 2;
    }
  }];
}

def Tessera_BroadcastOp : Tessera_Op<"broadcast",
    [Tessera_NamesResult, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "broadcast a row or column vector to a fragment";
  let description = [{
    `dimension` is the dimension along which the result does not vary.

    From a vector fragment: `result[i, j] = source[0, j]` for `dimension 0`
    (the source is 1xN), `result[i, j] = source[i, 0]` for `dimension 1` (the
    source is Mx1).

    From memory of rank 1: `result[i, j] = source[o + j]` for `dimension 0`,
    `result[i, j] = source[o + i]` for `dimension 1`, where `o` is the index; an
    element outside the memref reads as zero, unless `in_bounds` asserts that no
    element is outside. This op adds a bias, for example.

    Constraints
    - `broadcast_c1`: a fragment source is a vector of the result's extent,
      without an index; a memref source has rank 1 and one index.
    - `broadcast_c2`: source and result have the same element type.
    - `broadcast_c3`: `dimension` is 0 or 1.
    - `broadcast_c4`: a fragment source has the result's role.

    Example:

    ```mlir
    func.func @bias(%bias: memref<?xf32>, %j: index) -> !tessera.fragment<16x32xf32, acc> {
      %f = tessera.broadcast %bias[%j] dimension 0 : memref<?xf32> -> !tessera.fragment<16x32xf32, acc>
      return %f : !tessera.fragment<16x32xf32, acc>
    }
    ```
  }];
  let arguments = (ins AnyTypeOf<[Tessera_AnyFragment, AnyMemRef]>:$source,
                       Optional<Index>:$index, I64Attr:$dimension,
                       UnitAttr:$inBounds);
  let results = (outs Tessera_AnyFragment:$result);
  let assemblyFormat = [{
    $source (`[` $index^ `]`)? `dimension` $dimension (`in_bounds` $inBounds^)?
    attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tessera_ReduceOp : Tessera_Op<"reduce", [Pure, Tessera_NamesResult]> {
  let summary = "reduce a fragment along a dimension";
  let description = [{
    `dimension 1`: `result[i, 0] = op over j of source[i, j]`; `dimension 0`:
    `result[0, j] = op over i of source[i, j]`. The order is not defined. `op`
    is one of:

    | op                 | integers           | floats                          |
    |--------------------|--------------------|---------------------------------|
    | `add`, `mul`       | wrap               | in the element type             |
    | `max`, `min`       | compare signed     | a NaN makes the result NaN      |
    | `maxnum`, `minnum` | -                  | a NaN counts for nothing        |
    | `umax`, `umin`     | compare unsigned   | -                               |

    Constraints
    - `reduce_c1`: `dimension` is 0 or 1; the result is Mx1 or 1xN.
    - `reduce_c2`: source and result have the same element type and role `acc`.
    - `reduce_c3`: the table supports `op` for the element type.

    Example:

    ```mlir
    func.func @row_max(%f: !tessera.fragment<16x32xf32, acc>) -> !tessera.fragment<16x1xf32, acc> {
      %m = tessera.reduce max %f dimension 1
          : !tessera.fragment<16x32xf32, acc> -> !tessera.fragment<16x1xf32, acc>
      return %m : !tessera.fragment<16x1xf32, acc>
    }
    ```
  }];
  let arguments = (ins Tessera_ReductionKindAttr:$kind,
                       Tessera_FragmentOf<"Acc">:$source, I64Attr:$dimension);
  let results = (outs Tessera_FragmentOf<"Acc">:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def Tessera_ConvertOp : Tessera_Op<"convert", [Pure, Tessera_NamesResult]> {
  let summary = "convert a fragment to another element type, role or distribution";
  let description = [{
    `result[i, j] = cast(source[i, j])`

    Changes the element type (`arith.extf`/`truncf`, rounding to nearest even;
    `sitofp`/`fptosi`, `extsi`/`trunci`; with `unsigned`, `uitofp`, `fptoui`,
    `extui`), the role (`acc` to `a` or `b`, for chained matmuls), or both.
    After legalization it also moves elements between lanes, if the lane maps of
    source and result differ.

    Constraints
    - `convert_c1`: source and result have the same shape.
    - `convert_c2`: `unsigned` requires that the source or the result has
      integer elements.

    Example:

    ```mlir
    func.func @chain(%s: !tessera.fragment<16x16xf32, acc>) -> !tessera.fragment<16x16xf16, a> {
      %p = tessera.convert %s : !tessera.fragment<16x16xf32, acc> -> !tessera.fragment<16x16xf16, a>
      return %p : !tessera.fragment<16x16xf16, a>
    }
    ```
  }];
  let arguments = (ins Tessera_AnyFragment:$source, UnitAttr:$isUnsigned);
  let results = (outs Tessera_AnyFragment:$result);
  let assemblyFormat = [{
    $source (`unsigned` $isUnsigned^)? attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tessera_AwaitOp : Tessera_Op<"await",
    [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["acc", "result"]>]> {
  let summary = "wait for the result of an asynchronous tessera.mma";
  let description = [{
    `result = acc`

    `acc` is the result of an earlier `tessera.mma`, or of a loop that
    yields it, which a target may execute asynchronously: it is complete after
    this op. At most `pending` of the `tessera.mma` ops between that op and this
    one may still be in flight. `keeping` lists values whose registers must stay
    unchanged until this op: operands of the matmul, and values computed in
    between.

    `tessera-overlap-matmuls` inserts this op before the first use of a matmul
    whose execution can overlap with other work. It does not change values.

    Example:

    ```mlir
    func.func @beside(%a: !tessera.fragment<64x16xf16, a>, %b: !tessera.fragment<16x64xf16, b>,
                      %x: !tessera.fragment<64x64xf32, acc>, %y: !tessera.fragment<64x64xf32, acc>)
        -> (!tessera.fragment<64x64xf32, acc>, !tessera.fragment<64x64xf32, acc>) {
      %0 = tessera.mma %a, %b, %x
          : !tessera.fragment<64x16xf16, a>, !tessera.fragment<16x64xf16, b>
          -> !tessera.fragment<64x64xf32, acc>
      %1 = tessera.mma %a, %b, %y
          : !tessera.fragment<64x16xf16, a>, !tessera.fragment<16x64xf16, b>
          -> !tessera.fragment<64x64xf32, acc>
      %2 = tessera.await %0 pending 1 : !tessera.fragment<64x64xf32, acc>
      %3 = tessera.await %1 keeping %a pending 0
          : !tessera.fragment<64x64xf32, acc>, !tessera.fragment<64x16xf16, a>
      return %2, %3 : !tessera.fragment<64x64xf32, acc>, !tessera.fragment<64x64xf32, acc>
    }
    ```
  }];
  let arguments = (ins Tessera_FragmentOf<"Acc">:$acc,
                       Variadic<Tessera_AnyFragment>:$kept,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$pending);
  let results = (outs Tessera_FragmentOf<"Acc">:$result);
  let assemblyFormat = [{
    $acc (`keeping` $kept^)? `pending` $pending attr-dict `:`
    type($acc) (`,` type($kept)^)?
  }];
}

def Tessera_SumPartsOp : Tessera_Op<"sum_parts",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "reduce the fragments of a cluster; each workgroup gets a part of the sum";
  let description = [{
    The workgroups of the grid form clusters of `parts` along z, whose members
    run at the same time. Each member holds a part of a sum. For a fragment of C
    columns, in the workgroup with rank r in its cluster:

    `result[i, j] = sum over p of value_p[i, r * C / parts + j]`

    where `value_p` is the operand of the workgroup of rank p; the sum is
    computed in the order of p. The parts are exchanged through `memory`,
    workgroup memory with one element for each element of all fragments of the
    workgroup, which must not have other uses.

    Collective over the cluster's subgroups that hold fragments: all of them
    must reach it, once.

    Constraints
    - `sum_parts_c1`: `parts` is a power of two, and divides the number of
      columns.
    - `sum_parts_c2`: the result has the same number of rows, the number of
      columns divided by `parts`, the same element type, f32 or i32, and role
      `acc`.
    - `sum_parts_c3`: `memory` is static workgroup memory of rank 1, with the
      fragment's element type.

    Example:

    ```mlir
    func.func @sum(%f: !tessera.fragment<64x128xf32, acc>,
                   %w: memref<8192xf32, #gpu.address_space<workgroup>>) {
      %r = tessera.sum_parts %f through %w parts 4
          : memref<8192xf32, #gpu.address_space<workgroup>>, !tessera.fragment<64x128xf32, acc>
         -> !tessera.fragment<64x32xf32, acc>
      return
    }
    ```
  }];
  let arguments = (ins Tessera_AnyFragment:$value, AnyMemRef:$memory,
                       I64Attr:$parts);
  let results = (outs Tessera_AnyFragment:$result);
  let assemblyFormat = [{
    $value `through` $memory `parts` $parts attr-dict `:` type($memory) `,`
    type($value) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Copies by the workgroup
//===----------------------------------------------------------------------===//

class Tessera_CopyLikeOp<string mnemonic> : Tessera_Op<mnemonic,
    [AttrSizedOperandSegments,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$sourceIndices,
                       AnyMemRef:$target, Variadic<Index>:$targetIndices,
                       DenseI64ArrayAttr:$shape, UnitAttr:$inBounds,
                       OptionalAttr<I64Attr>:$alignment,
                       OptionalAttr<I64Attr>:$contiguous,
                       OptionalAttr<Tessera_WindowAttr>:$window,
                       UnitAttr:$swizzled, UnitAttr:$fromSwizzled);
  let regions = (region AnyRegion:$gather);
  let hasVerifier = 1;
  code sharedDeclarations = [{
    /// Whether a region computes the source index of each element.
    bool isGather() { return !getGather().empty(); }
    /// The number of elements of a row that are known to be contiguous in the source.
    int64_t getContiguousElements() { return getContiguous().value_or(1); }
    ::mlir::MemRefType getSourceType() {
      return ::llvm::cast<::mlir::MemRefType>(getSource().getType());
    }
    ::mlir::MemRefType getTargetType() {
      return ::llvm::cast<::mlir::MemRefType>(getTarget().getType());
    }
  }];
  let extraClassDeclaration = sharedDeclarations;
}

def Tessera_CopyOp : Tessera_CopyLikeOp<"copy"> {
  let summary = "copy a tile, collectively over the workgroup";
  let description = [{
    For i < P, j < Q, where `shape = [P, Q]`:

    `target[..., tr + i, tc + j] = source[..., sr + i, sc + j]`

    where `sr, sc` and `tr, tc` are the last two indices of each. Elements
    outside the last two dimensions of the source read as zero; elements outside
    those of the target are not written. `in_bounds` asserts that no element is
    outside. Indices must not be negative.

    Collective over the workgroup: its threads share the work. The op does not
    synchronize: a `gpu.barrier` makes the tile visible to all threads.

    `alignment` asserts that the first element of each row of the tile is
    aligned to this many bytes, in the source and in the target, which permits
    wide accesses.

    Two elements of type i4 share a byte in memory, and a thread writes whole
    bytes: the rows of such a tile must have an even number of elements, start
    at whole bytes of the target, and lie within it.

    With a `gather` region, the source is not a tile: for each `i, j`, the
    region computes which element of the source is copied to `target[..., tr +
    i, tc + j]`, as an index for each dimension of the source, and an i1; if
    that is false, the element of the target becomes zero and nothing is read.
    The operand of a convolution is staged in this way, without an im2col
    matrix. `contiguous N` asserts that the elements `j` to `j + N - 1`, for j a
    multiple of N, are contiguous in the source's last dimension, and are either
    all read or all zero; `alignment` is then the alignment of each such group
    in the source, and of the rows of the target. `window` describes the same
    elements as the region as data, for TMA's im2col mode: the tile is a tile of
    the matrix that the attribute describes, and starts at the row and the
    column given by the source's two indices.

    `swizzled` permutes each row of the target, so that neither the accesses to
    a row nor those to a column conflict in memory banks: the 16-byte chunk `c`
    of row `r` is stored as chunk `c xor ((r / L) mod S)`, where `S = P / 16`
    and `L = 128 / P` for rows of `P` bytes. Longer rows are stored in panels:
    the first `P` bytes of all rows, then the next `P` bytes of all rows, each
    permuted on its own. `P` is 128 if it divides the row, else 64, and 32 for
    rows of 32 bytes. These are the 32, 64 and 128 byte swizzles of NVIDIA's
    tensor maps (CUDA driver API, CUtensorMapSwizzle), which `wgmma` reads. With
    elements of 64 bits the bits of `(r / L) mod S` are rotated by one to the
    left, since lanes read two chunks of each of four adjacent rows at once. Row
    and chunk are counted from the start of the last two dimensions of the
    memory, which must be aligned to 16 bytes. A load from
    such memory must have `swizzled` as well. `from_swizzled` is the counterpart
    for the source: it reads memory that a `swizzled` store wrote, for example
    to store a staged tile of the output in whole rows.

    Constraints
    - `copy_c1`: source and target have rank 2 or more, and an index per
      dimension; with `gather`, the source has any rank and no indices; with
      `window`, it has two indices.
    - `copy_c2`: source and target have the same element type.
    - `copy_c3`: `shape` has two positive entries.
    - `copy_c4`: `alignment` is a power of two, at least the element's size.
    - `copy_c6`: `gather` takes two index values, yields an index for each
      dimension of the source and an i1, and has no side effects other than
      reading memory that the kernel does not write; `contiguous`
      is a positive power of two that divides the row length of `shape`, and
      requires `gather`. `window` requires `gather` as well, and its map has a
      result for each dimension of the source.
    - `copy_c7`: `swizzled` requires a target whose last dimension is static,
      contiguous and unpadded, of 32 or a multiple of 64 bytes (beyond one
      panel the dimension before it must be static as well), with elements of 4
      to 128 bits.
    - `copy_c8`: `from_swizzled` requires such a source, and excludes `gather`.

    Example:

    ```mlir
    func.func @stage(%g: memref<?x?xf16>, %i: index, %k: index,
                     %w: memref<64x32xf16, #gpu.address_space<workgroup>>) {
      %c0 = arith.constant 0 : index
      tessera.copy %g[%i, %k], %w[%c0, %c0] shape [64, 32]
          : memref<?x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      return
    }
    ```

    Example (a row of padding on each side, gathered and swizzled):

    ```mlir
    func.func @gather(%image: memref<56x56x32xf16>, %h: index,
                      %w: memref<56x32xf16, #gpu.address_space<workgroup>>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c56 = arith.constant 56 : index
      tessera.copy %image[], %w[%c0, %c0] shape [56, 32] contiguous 8 swizzled gather {
      ^bb0(%i: index, %j: index):
        %x = arith.subi %i, %c1 : index
        %inside = arith.cmpi ult, %x, %c56 : index
        tessera.yield %h, %x, %j, %inside : index, index, index, i1
      } : memref<56x56x32xf16>, memref<56x32xf16, #gpu.address_space<workgroup>>
      gpu.barrier
      return
    }
    ```
  }];
  let assemblyFormat = [{
    $source `[` $sourceIndices `]` `,` $target `[` $targetIndices `]`
    `shape` $shape (`in_bounds` $inBounds^)? (`alignment` $alignment^)?
    (`contiguous` $contiguous^)? (`window` $window^)?
    (`swizzled` $swizzled^)? (`from_swizzled` $fromSwizzled^)?
    (`gather` $gather^)?
    attr-dict `:` type($source) `,` type($target)
  }];
}

def Tessera_TileOp : Tessera_Op<"tile",
    [Tessera_NamesResult, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a tile of an operand, independent of where it is stored";
  let description = [{
    For i < P, j < Q, where the result is `memref<PxQxT>`:

    `result[i, j] = source[..., r + i, c + j]`, where `r, c` are the last two
    indices. An element outside the last two dimensions of the source is zero;
    `in_bounds` asserts that no element is outside. With a `gather` region, the
    region computes the elements' indices; `gather`, `contiguous`, `window` and
    `alignment` are as for `tessera.copy`.

    All threads of a workgroup must name the same tile. Only `tessera.load` may
    read it, and it is valid until the end of the block. The tiling passes
    create this op, and `tessera-promote-tiles` lowers it to workgroup memory,
    or to loads directly from the source.

    Constraints
    - `tile_c1`: the source has rank 2 or more, and an index per dimension; with
      `gather`, it has any rank and no indices; with `window`, it has two
      indices.
    - `tile_c2`: the result is static, of rank 2, with an identity layout, and
      has the source's element type.
    - `tile_c3`: `gather`, `contiguous` and `window` satisfy `copy_c6`.
    - `tile_c4`: the result is only used by `tessera.load`.

    Example:

    ```mlir
    func.func @tile(%g: memref<?x?xf16>, %i: index, %k: index) -> !tessera.fragment<16x16xf16, a> {
      %c0 = arith.constant 0 : index
      %t = tessera.tile %g[%i, %k] : memref<?x?xf16> -> memref<64x32xf16>
      %a = tessera.load %t[%c0, %c0] in_bounds : memref<64x32xf16> -> !tessera.fragment<16x16xf16, a>
      return %a : !tessera.fragment<16x16xf16, a>
    }
    ```
  }];
  let arguments = (ins AnyMemRef:$source, Variadic<Index>:$sourceIndices,
                       UnitAttr:$inBounds, OptionalAttr<I64Attr>:$alignment,
                       OptionalAttr<I64Attr>:$contiguous,
                       OptionalAttr<Tessera_WindowAttr>:$window);
  let results = (outs AnyMemRef:$result);
  let regions = (region AnyRegion:$gather);
  let assemblyFormat = [{
    $source `[` $sourceIndices `]` (`in_bounds` $inBounds^)?
    (`alignment` $alignment^)? (`contiguous` $contiguous^)? (`window` $window^)?
    (`gather` $gather^)?
    attr-dict `:` type($source) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getSourceType() {
      return ::llvm::cast<::mlir::MemRefType>(getSource().getType());
    }
    ::mlir::MemRefType getResultType() {
      return ::llvm::cast<::mlir::MemRefType>(getResult().getType());
    }
    /// Whether a region computes the source index of each element.
    bool isGather() { return !getGather().empty(); }
  }];
}

def Tessera_AsyncCopyOp : Tessera_CopyLikeOp<"async_copy"> {
  let summary = "copy a tile asynchronously, collectively over the workgroup";
  let description = [{
    Like `tessera.copy`, but the copy is complete only after a `tessera.wait`
    for the token. A target implements it with `cp.async` or a similar
    instruction; a target without one copies synchronously.

    Constraints
    - `copy_c1` to `copy_c4`, and `copy_c6` to `copy_c8`, as for `tessera.copy`.
    - `copy_c5`: the target is in workgroup memory.

    Example:

    ```mlir
    func.func @stage(%g: memref<?x?xf16>, %i: index, %k: index,
                     %w: memref<64x32xf16, #gpu.address_space<workgroup>>) {
      %c0 = arith.constant 0 : index
      %t = tessera.async_copy %g[%i, %k], %w[%c0, %c0] shape [64, 32]
          : memref<?x?xf16>, memref<64x32xf16, #gpu.address_space<workgroup>>
      tessera.wait for %t
      gpu.barrier
      return
    }
    ```
  }];
  let results = (outs Tessera_TokenType:$token);
  let assemblyFormat = [{
    $source `[` $sourceIndices `]` `,` $target `[` $targetIndices `]`
    `shape` $shape (`in_bounds` $inBounds^)? (`alignment` $alignment^)?
    (`contiguous` $contiguous^)? (`window` $window^)?
    (`swizzled` $swizzled^)? (`from_swizzled` $fromSwizzled^)?
    (`gather` $gather^)?
    attr-dict `:` type($source) `,` type($target)
  }];
}

def Tessera_WaitOp : Tessera_Op<"wait",
    [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for asynchronous copies";
  let description = [{
    Waits until this thread's part of the tokens' copies is complete. The
    `pending` (default 0) copies that the workgroup issued last may stay in
    flight; the tokens' copies must be older than these. A `gpu.barrier` after
    it makes the parts of all threads visible.

    Constraints
    - `wait_c1`: `pending` is not negative.

    Example:

    ```mlir
    func.func @wait(%t0: !tessera.token, %t1: !tessera.token) {
      tessera.wait for %t0, %t1 pending 2
      gpu.barrier
      return
    }
    ```
  }];
  let arguments = (ins Variadic<Tessera_TokenType>:$tokens,
                       DefaultValuedAttr<I64Attr, "0">:$pending);
  let assemblyFormat = "(`for` $tokens^)? (`pending` $pending^)? attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Virtual threads
//===----------------------------------------------------------------------===//

def Tessera_VThreadOp : Tessera_Op<"vthread",
    [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "a region that runs once for each virtual thread";
  let description = [{
    Runs the region for each point of a static grid of virtual threads, which
    one group of hardware threads executes in an interleaved way. The first
    arguments of the region are the vthread's indices, one per dimension of
    `grid`.

    A value defined outside and used inside is shared by all vthreads; a value
    defined inside belongs to one of them. `private(%x = [%v0, %v1])` passes a
    separate value to each vthread, in the order of the linear vthread index
    (the last dimension runs fastest): the region receives it as one more
    argument.

    The results are the yielded values of every vthread, value by value: for
    values x, y and vthreads 0, 1 they are `x0, x1, y0, y1`.

    Expansion (`tessera-expand-vthreads`) replicates the region statement by
    statement, so that independent matrix instructions become adjacent. `order
    groups(N)` does so for N vthreads at a time, group after group; `order
    depth_first` runs one vthread after the other, and `breadth_first`, the
    default, interleaves all of them (`#tessera.interleave`).

    Memory allocated inside belongs to one vthread, like every value defined
    inside: each vthread has its own allocation at the position of the op, so
    that an allocation in a loop is a new one in each iteration.

    Vthreads are not ordered: one must not read what another writes, unless a
    barrier is in between. A `gpu.barrier` or `tessera.wait` inside is a single
    one for all vthreads; the loops and branches around it must take the same
    path in all vthreads. Atomic updates of shared memory are performed by each
    vthread. `pending` of a `tessera.wait` counts the copies of all vthreads.

    Constraints
    - `vthread_c1`: `grid` has one or more entries, all positive, and the
      region an index argument for each.
    - `vthread_c2`: each private operand has one value per vthread, all of one
      type, and the region an argument of that type.
    - `vthread_c3`: the result types are the yielded values' types, each
      repeated for every vthread.
    - `vthread_c4`: a write from the region to memory defined outside has an
      address that depends on the vthread indices, or on a private operand, for
      each dimension of the grid larger than 1. Where the addresses can be
      computed, the expansion checks that they do not overlap.
    - `vthread_c5` (checked by the expansion, where the addresses can be
      computed): without a barrier in between, no vthread reads an address that
      another one writes.

    Example (two tiles of C share B):

    ```mlir
    func.func @two(%A: memref<32x16xf16>, %B: memref<16x16xf16>, %C: memref<32x16xf32>) {
      %c0 = arith.constant 0 : index
      %c16 = arith.constant 16 : index
      %zero = arith.constant 0.0 : f32
      %b = tessera.load %B[%c0, %c0] : memref<16x16xf16> -> !tessera.fragment<16x16xf16, b>
      tessera.vthread (%v) in (2) {
        %row = arith.muli %v, %c16 : index
        %a = tessera.load %A[%row, %c0] : memref<32x16xf16> -> !tessera.fragment<16x16xf16, a>
        %init = tessera.fill %zero : !tessera.fragment<16x16xf32, acc>
        %c = tessera.mma %a, %b, %init
            : !tessera.fragment<16x16xf16, a>, !tessera.fragment<16x16xf16, b>
            -> !tessera.fragment<16x16xf32, acc>
        tessera.store %c, %C[%row, %c0] : !tessera.fragment<16x16xf32, acc>, memref<32x16xf32>
        tessera.yield
      }
      return
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$privates,
                       DenseI64ArrayAttr:$grid,
                       OptionalAttr<Tessera_InterleaveAttr>:$order);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The number of virtual threads: the product of the extents of the grid.
    int64_t getNumVThreads();
    /// How many vthreads are interleaved: all of them without an `order`.
    int64_t getGroupSize() {
      int64_t count = getNumVThreads();
      return getOrder() ? getOrder()->getGroupSize(count) : count;
    }
    /// The number of private arguments of the region.
    unsigned getNumPrivates() {
      return getBody().front().getNumArguments() - getGrid().size();
    }
    /// The value that private argument `index` has in vthread `linear`.
    ::mlir::Value getPrivate(unsigned index, int64_t linear) {
      return getPrivates()[index * getNumVThreads() + linear];
    }
  }];
}

def Tessera_YieldOp : Tessera_Op<"yield",
    [Pure, Terminator, ReturnLike,
     ParentOneOf<["MapOp", "VThreadOp", "ContractOp", "AttentionOp", "CopyOp",
                  "AsyncCopyOp", "TileOp"]>]> {
  let summary = "ends a region of map, vthread, contract, attention, copy or tile";
  let description = [{
    Passes values to the enclosing op.

    Example:

    ```mlir
    func.func @negate(%f: !tessera.fragment<8x8xf32, acc>) -> !tessera.fragment<8x8xf32, acc> {
      %g = tessera.map %f : !tessera.fragment<8x8xf32, acc> -> !tessera.fragment<8x8xf32, acc> {
      ^bb0(%x: f32):
        %y = arith.negf %x : f32
        tessera.yield %y : f32
      }
      return %g : !tessera.fragment<8x8xf32, acc>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let builders = [OpBuilder<(ins), [{ }]>];
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Whole contractions
//===----------------------------------------------------------------------===//

def Tessera_RowReduceOp : Tessera_Op<"row_reduce",
    [Pure, HasParent<"ContractOp">, AllTypesMatch<["source", "result"]>]> {
  let summary = "reduce along N, in the epilogue of tessera.contract";
  let description = [{
    `result = op over all of N of source`

    The epilogue is a function of one element of the accumulator. This op
    reduces the value that `source` has for all elements of the same row, that
    is over all points of the contraction's N dimensions with the same M and
    batch indices. `op` is as for `tessera.reduce`; the order is not defined.

    The kernel of such a contraction keeps whole rows in the tile of one
    subgroup (`schedule_c18`).

    Constraints
    - `row_reduce_c1`: the op is in the epilogue, not in a producer.
    - `row_reduce_c2`: `tessera.reduce` supports `op` for the type.

    Example (softmax over the rows of a matmul's result, with its largest
    element subtracted first):

    ```mlir
    func.func @softmax(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %c: tensor<64x48xf32>)
        -> tensor<64x48xf32> {
      %zero = arith.constant 0.0 : f32
      %r = tessera.contract ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
          init(%zero : f32) outs(%c : tensor<64x48xf32>)
          maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                affine_map<(m, n, k) -> (m, n)>]
          accumulate f32 {
      ^bb0(%acc: f32):
        %max = tessera.row_reduce max %acc : f32
        %below = arith.subf %acc, %max : f32
        %power = math.exp %below : f32
        %sum = tessera.row_reduce add %power : f32
        %y = arith.divf %power, %sum : f32
        tessera.yield %y : f32
      } -> tensor<64x48xf32>
      return %r : tensor<64x48xf32>
    }
    ```
  }];
  let arguments = (ins Tessera_ReductionKindAttr:$kind,
                       Tessera_AnyFloatOrInt:$source);
  let results = (outs Tessera_AnyFloatOrInt:$result);
  let assemblyFormat = [{
    custom<ReductionKind>($kind) $source attr-dict `:` type($source)
  }];
  let hasVerifier = 1;
}

def Tessera_ContractOp : Tessera_Op<"contract",
    [AttrSizedOperandSegments, DestinationStyleOpInterface,
     DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     DeclareOpInterfaceMethods<RegionBranchOpInterface>]> {
  let summary = "a contraction with its producers and epilogue, lowered to one kernel";
  let description = [{
    For every point of the output, with the reduction running over the
    iteration dimensions that the output's map does not use:

    `acc = init + sum of lhsProducer(lhs[...], ...) * rhsProducer(rhs[...], ...)`

    `output[...] = epilogue(acc, extras[0][...], ...)`

    Operands are tensors or memrefs. `maps` holds the indexing maps of lhs, rhs,
    output, each extra operand, and each input of the producers, over one
    iteration space. A dimension used by lhs, rhs and output is a batch
    dimension; by lhs and output, M; by rhs and not by lhs, N; by lhs and rhs,
    K. There may be several dimensions of each kind: the contraction is a matmul
    over their linear indices. Without `init`, the sum starts from the output's
    old value.

    The epilogue may reduce along N with `tessera.row_reduce`, whose result is
    the same for all of N. If the epilogue yields only such results, the output
    may lack the N dimensions.

    The maps of output and extras are projected permutations. The results of the
    maps of lhs and rhs may be sums of dimensions with constant, positive
    factors, and a constant: `(n, h * 2 + r - 1, w * 2 + s - 1, c)` is the image
    of a convolution of stride 2 and padding 1. An element outside the operand
    is zero. The extent of a dimension is that of the operand dimensions that it
    indexes alone.

    The producers are functions of an element, without side effects, such as the
    dequantization of a weight. A missing producer is the identity. Their
    further arguments are the elements of `lhs_inputs` (`rhs_inputs`), whose
    maps may divide a dimension: `(k floordiv 64, n)` is a scale for each 64
    rows of rhs. If an operand has a producer, its map must not index elements
    outside of it.

    A matched `linalg` contraction and its element-wise consumers become this op
    before they are tiled; it is not collective, and is part of host code.

    Constraints
    - `contract_c1`: there is one map per operand, over one iteration space, of
      the form described above, with as many results as the operand has
      dimensions; each dimension indexes some operand alone.
    - `contract_c2`: the output and the extras do not use K dimensions; a
      dimension that the output lacks is used by lhs and rhs, or is an N
      dimension of a contraction with `init` whose yielded value does not vary
      along N.
    - `contract_c3`: the region's arguments are the accumulator and the extras'
      element types; it yields the output's element type.
    - `contract_c5`: a producer's arguments are the operand's and its inputs'
      element types; it yields one value of a type that `tessera.mma` supports.
      Inputs require a producer.
    - `contract_c4`: the operands are all tensors or all memrefs; the op has a
      result if and only if the output is a tensor.

    Example:

    ```mlir
    func.func @matmul_relu(%a: tensor<64x32xf16>, %b: tensor<32x48xf16>, %c: tensor<64x48xf32>)
        -> tensor<64x48xf32> {
      %zero = arith.constant 0.0 : f32
      %r = tessera.contract ins(%a, %b : tensor<64x32xf16>, tensor<32x48xf16>)
          init(%zero : f32) outs(%c : tensor<64x48xf32>)
          maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>,
                affine_map<(m, n, k) -> (m, n)>]
          accumulate f32 {
      ^bb0(%acc: f32):
        %y = arith.maximumf %acc, %zero : f32
        tessera.yield %y : f32
      } -> tensor<64x48xf32>
      return %r : tensor<64x48xf32>
    }
    ```
  }];
  let arguments = (ins AnyShaped:$lhs, AnyShaped:$rhs,
                       Optional<Tessera_AnyFloatOrInt>:$init,
                       Variadic<AnyShaped>:$extras,
                       Variadic<AnyShaped>:$lhsInputs,
                       Variadic<AnyShaped>:$rhsInputs, AnyShaped:$output,
                       AffineMapArrayAttr:$maps, TypeAttr:$accumulatorType,
                       UnitAttr:$unsignedA, UnitAttr:$unsignedB,
                       DefaultValuedAttr<Tessera_PrecisionAttr,
                         "::mlir::tessera::Precision::Ieee">:$precision,
                       OptionalAttr<Tessera_ScheduleAttr>:$schedule);
  let results = (outs Optional<AnyRankedTensor>:$result);
  let regions = (region AnyRegion:$lhsProducer, AnyRegion:$rhsProducer,
                        SizedRegion<1>:$epilogue);
  let assemblyFormat = [{
    `ins` `(` $lhs `,` $rhs `:` type($lhs) `,` type($rhs) `)`
    (`init` `(` $init^ `:` type($init) `)`)?
    (`extras` `(` $extras^ `:` type($extras) `)`)?
    (`lhs_inputs` `(` $lhsInputs^ `:` type($lhsInputs) `)`)?
    (`rhs_inputs` `(` $rhsInputs^ `:` type($rhsInputs) `)`)?
    `outs` `(` $output `:` type($output) `)`
    `maps` $maps `accumulate` $accumulatorType
    (`unsigned_a` $unsignedA^)? (`unsigned_b` $unsignedB^)?
    (`precision` $precision^)? (`schedule` $schedule^)?
    (`lhs_producer` $lhsProducer^)? (`rhs_producer` $rhsProducer^)?
    attr-dict-with-keyword $epilogue (`->` type($result)^)?
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MutableOperandRange getDpsInitsMutable() { return getOutputMutable(); }
    /// The operands that have a map, in the order of the maps: lhs, rhs, the
    /// output, the extras, the inputs of lhs, the inputs of rhs.
    ::llvm::SmallVector<::mlir::Value> getMappedOperands();
    /// The indexing map of lhs (0), rhs (1), the output (2), extra i (3 + i).
    ::mlir::AffineMap getMap(unsigned index) {
      return ::llvm::cast<::mlir::AffineMapAttr>(getMaps()[index]).getValue();
    }
    /// The map of input `index` of the producer of lhs (0) or rhs (1).
    ::mlir::AffineMap getInputMap(unsigned side, unsigned index) {
      return getMap(3 + getExtras().size() +
                    (side ? getLhsInputs().size() : 0) + index);
    }
    /// The region of lhs (0) or rhs (1); empty for the identity.
    ::mlir::Region &getProducer(unsigned side) {
      return side ? getRhsProducer() : getLhsProducer();
    }
    /// The element type of operand lhs (0) or rhs (1) of the matmul: that of
    /// the value that its producer yields.
    ::mlir::Type getFactorType(unsigned side);
    /// The iteration dimensions by kind, in the order of the output (K: in the
    /// order of lhs). Empty if the contraction has none of a kind.
    struct Dims {
      ::llvm::SmallVector<unsigned> batch, m, n, k;
    };
    Dims getDims();
    /// Whether the epilogue reduces along N.
    bool reducesRows() {
      return !getEpilogue().front().getOps<RowReduceOp>().empty();
    }
    /// Values of the iteration extents (ops are created for dynamic ones).
    ::llvm::SmallVector<::mlir::OpFoldResult>
    getExtents(::mlir::OpBuilder &builder);
  }];
}

include "Dialect/Tessera/IR/AttentionOp.td"

#endif // TESSERA_IR_TESSERAOPS_TD
