//===- TesseraAttrs.td - Attributes of the tessera dialect -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_IR_TESSERAATTRS_TD
#define TESSERA_IR_TESSERAATTRS_TD

include "Dialect/Tessera/IR/TesseraDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Tessera_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::mlir::tessera";
  let genSpecializedAttr = 0;
}

def Tessera_Role : Tessera_I32Enum<"Role",
    "the operand of a matmul that a fragment can be", [
      I32EnumAttrCase<"A", 0, "a">,
      I32EnumAttrCase<"B", 1, "b">,
      I32EnumAttrCase<"Acc", 2, "acc">]>;

def Tessera_Precision : Tessera_I32Enum<"Precision",
    "the precision that a matmul must keep", [
      I32EnumAttrCase<"Ieee", 0, "ieee">,
      I32EnumAttrCase<"Tf32", 1, "tf32">,
      I32EnumAttrCase<"FastF8", 2, "fast_f8">]>;
def Tessera_PrecisionAttr
    : EnumAttr<Tessera_Dialect, Tessera_Precision, "precision">;

def Tessera_ReductionKind : Tessera_I32Enum<"ReductionKind",
    "the operation of a reduction", [
      I32EnumAttrCase<"Add", 0, "add">,
      I32EnumAttrCase<"Mul", 1, "mul">,
      I32EnumAttrCase<"Max", 2, "max">,
      I32EnumAttrCase<"Min", 3, "min">,
      I32EnumAttrCase<"MaxNum", 4, "maxnum">,
      I32EnumAttrCase<"MinNum", 5, "minnum">,
      I32EnumAttrCase<"MaxU", 6, "umax">,
      I32EnumAttrCase<"MinU", 7, "umin">]>;
def Tessera_ReductionKindAttr
    : EnumAttr<Tessera_Dialect, Tessera_ReductionKind, "reduction"> {
  let assemblyFormat = "`<` $value `>`";
}

def Tessera_SplitReduction : Tessera_I32Enum<"SplitReduction",
    "how the partial sums of split-K are reduced", [
      I32EnumAttrCase<"Ordered", 0, "ordered">,
      I32EnumAttrCase<"Atomic", 1, "atomic">,
      I32EnumAttrCase<"Cluster", 2, "cluster">]>;

def Tessera_InterleaveAttr : AttrDef<Tessera_Dialect, "Interleave"> {
  let mnemonic = "interleave";
  let summary = "the order in which the statements of virtual threads are issued";
  let description = [{
    The number of virtual threads that are interleaved statement by statement,
    in groups of consecutive linear indices:

    - `breadth_first`: all of them;
    - `groups(N)`: N at a time; the last group has the remaining ones;
    - `depth_first`: one at a time; `groups(1)` is printed this way.

    In C++, use `InterleaveAttr::get(context, N)`, where 0 means all virtual
    threads, whatever the grid.

    Example:

    ```mlir
    #tessera.interleave<groups(2)>
    ```

    Constraints
    - `interleave_c1`: N is not negative; in the text form, N is 1 or more.
  }];
  let parameters = (ins "int64_t":$size);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// All vthreads, statement by statement.
    static InterleaveAttr getBreadthFirst(::mlir::MLIRContext *context) {
      return get(context, 0);
    }
    /// One vthread at a time.
    static InterleaveAttr getDepthFirst(::mlir::MLIRContext *context) {
      return get(context, 1);
    }
    /// The number of vthreads, of `count`, that are interleaved.
    int64_t getGroupSize(int64_t count) const {
      return getSize() == 0 || getSize() > count ? count : getSize();
    }
    /// `breadth_first`, `depth_first` or `groups(N)`; null after an error.
    static InterleaveAttr parseOrder(::mlir::AsmParser &parser);
    void printOrder(::llvm::raw_ostream &os) const;
  }];
}

def Tessera_ScheduleAttr : AttrDef<Tessera_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "the tiling of a contraction for one target";
  let description = [{
    The tiling of one contraction, in elements:

    - `workgroup`: the MxN tile of the result that one workgroup computes;
    - `subgroup`: the MxN tile that one subgroup (or, with `group`, one group of
      subgroups) computes; it divides `workgroup`, and the quotient is the
      number of these;
    - `k`: the extent of one staged tile along K;
    - `kFragment`: the extent of one `tessera.mma` along K; it divides `k`;
    - `stages`: the number of staged tiles of each operand in workgroup memory
      that are in flight: with 0, fragments are loaded directly from global
      memory; with 1, copies are synchronous; with more, copies are
      asynchronous;
    - `vthread`: the grid of virtual threads into which the tile of a subgroup
      is divided; it divides `subgroup`.

    The following fields are optional; their defaults are in parentheses:

    - `interleave` (0): the number of virtual threads that are interleaved: 0
      interleaves all of them, 1 runs one after the other;
    - `swizzle` (false): staged tiles are swizzled instead of padded to avoid
      bank conflicts;
    - `splitK` (1): the number of parts into which the reduction is split, each
      computed by workgroups of its own;
    - `splitKReduction` (ordered): how the parts are reduced. `ordered`: by a
      second kernel, always in the same order. `atomic`: by atomic adds in the
      order of the workgroups' completion, so that the rounding of floats may
      differ between runs. `cluster`: by the workgroups of a tile themselves,
      which run at the same time and read each other's workgroup memory, always
      in the same order;
    - `raster` (0): the tiles are visited in bands of this many tiles along M;
      within a band, M runs faster than N, so that data in the L2 cache is
      reused; 0 makes all of M one band;
    - `persistent` (0): the number of workgroups to launch, each of which
      computes several tiles; 0 launches one workgroup per tile;
    - `group` (1): the number of subgroups that own a fragment together.
      `subgroup` is then the tile of such a group. Chips have instructions for
      some group sizes: on Hopper, four subgroups form a warpgroup, as `wgmma`
      requires;
    - `stageOutput` (false): a tile of the output is staged in workgroup memory
      and stored in whole rows, instead of directly from the lanes' registers;
    - `cluster` ([1, 1]): the number of workgroups of adjacent tiles along M and
      N that run at the same time, compute the same number of tiles each, and
      share their common tiles of the operands (multicast);
    - `batches` (1): the number of matrices of the batch that one workgroup
      computes: the same tile of each;
    - `subgroupBatches` (1): the number of these that one subgroup computes; it
      divides `batches`, and the quotient multiplies the number of subgroups.

    Example:

    ```mlir
    #tessera.schedule<workgroup = [128, 128], subgroup = [64, 64], k = 32,
                      kFragment = 16, stages = 3, vthread = [1, 1]>
    ```

    Constraints
    - `schedule_c1`: `workgroup`, `subgroup` and `vthread` have two positive
      entries; `k` and `kFragment` are positive, `stages` is not negative.
    - `schedule_c2`: `subgroup` divides `workgroup`, and `subgroupBatches`
      divides `batches`.
    - `schedule_c3`: `vthread` divides `subgroup`.
    - `schedule_c4`: `kFragment` divides `k`.
    - `schedule_c5`: `splitK`, `group`, `batches` and `subgroupBatches` are
      positive; `raster`, `interleave` and `persistent` are not negative;
      `interleave` is at most the number of virtual threads; `cluster` has two
      positive entries.
    - `schedule_c6`: `swizzle` requires `stages` of 1 or more.

    docs/Schedules.md lists the constraints of a chip (`schedule_c7` and on),
    and explains how a schedule is chosen, set and printed.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "MxN tile of a workgroup">:$workgroup,
    ArrayRefParameter<"int64_t", "MxN tile of a subgroup">:$subgroup,
    "int64_t":$k,
    "int64_t":$kFragment,
    "int64_t":$stages,
    ArrayRefParameter<"int64_t", "grid of virtual threads">:$vthread,
    DefaultValuedParameter<"int64_t", "0">:$interleave,
    DefaultValuedParameter<"bool", "false">:$swizzle,
    DefaultValuedParameter<"int64_t", "1">:$splitK,
    DefaultValuedParameter<"::mlir::tessera::SplitReduction",
      "::mlir::tessera::SplitReduction::Ordered">:$splitKReduction,
    DefaultValuedParameter<"int64_t", "0">:$raster,
    DefaultValuedParameter<"int64_t", "0">:$persistent,
    DefaultValuedParameter<"int64_t", "1">:$group,
    DefaultValuedParameter<"bool", "false">:$stageOutput,
    DefaultValuedParameter<"int64_t", "1">:$clusterM,
    DefaultValuedParameter<"int64_t", "1">:$clusterN,
    DefaultValuedParameter<"int64_t", "1">:$batches,
    DefaultValuedParameter<"int64_t", "1">:$subgroupBatches);
  let extraClassDeclaration = [{
    /// The number of virtual threads of a subgroup.
    int64_t getNumVThreads() const { return getVthread()[0] * getVthread()[1]; }
    int64_t getNumSubgroups() const {
      return getSubgroupsOfTile() * (getBatches() / getSubgroupBatches());
    }
    /// The subgroups that compute one tile of one matrix.
    int64_t getSubgroupsOfTile() const {
      return (getWorkgroup()[0] / getSubgroup()[0]) *
             (getWorkgroup()[1] / getSubgroup()[1]) * getGroup();
    }
    /// The number of workgroups in a cluster that share tiles of the operands.
    int64_t getNumClustered() const { return getClusterM() * getClusterN(); }
    /// Whether partial sums are added atomically, in no fixed order.
    bool addsAtomically() const {
      return getSplitK() > 1 &&
             getSplitKReduction() == SplitReduction::Atomic;
    }
    /// Whether the workgroups of a tile reduce their parts in a cluster.
    bool addsInCluster() const {
      return getSplitK() > 1 &&
             getSplitKReduction() == SplitReduction::Cluster;
    }
    /// Whether parts are stored to memory, for reduction by another kernel.
    bool leavesParts() const { return getSplitK() > 1 && !addsInCluster(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tessera_WindowAttr : AttrDef<Tessera_Dialect, "Window"> {
  let mnemonic = "window";
  let summary = "a gathered tile as windows over an image";
  let description = [{
    Describes the elements of a gathered matrix as elements of an image. The row
    is the linear index of dimensions with the extents `rows`, and the column
    that of dimensions with the extents `cols`; the last dimension runs fastest.
    `map` takes the dimensions of the row, followed by those of the column, to
    the indices of an element of the image. An element outside the image, or
    beyond the last row or column, is zero.

    Example, a 3x3 convolution of two images of 28x28 with zeros around them:

    ```mlir
    #tessera.window<rows = [2, 28, 28], cols = [3, 3, 64],
      map = (n, h, w, r, s, c) -> (n, h + r - 1, w + s - 1, c)>
    ```

    Constraints
    - `window_c1`: `rows` and `cols` are not empty, and their entries are
      positive.
    - `window_c2`: `map` has one dimension for each entry of `rows` and of
      `cols`, and no symbols; its results are sums of dimensions with positive
      factors and a constant.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "extents of the row's dimensions">:$rows,
    ArrayRefParameter<"int64_t", "extents of the column's dimensions">:$cols,
    "::mlir::AffineMap":$map);
  let assemblyFormat = [{
    `<` `rows` `=` `[` $rows `]` `,` `cols` `=` `[` $cols `]` `,`
    `map` `=` $map `>`
  }];
  let genVerifyDecl = 1;
}

def Tessera_PlainMatmulAttr : AttrDef<Tessera_Dialect, "PlainMatmul"> {
  let mnemonic = "plain_matmul";
  let summary = "a matmul that a kernel computes without fragments";
  let description = [{
    The extents M, N and K of a matmul (`?` if dynamic), the element types of
    its operands and of its sum, and a text that states how the kernel computes
    it and why without matrix instructions. Reports print it.

    ```mlir
    #tessera.plain_matmul<4096x1x1024, f32 x f32 -> f32, "plain threads, a subgroup for each row">
    ```

    Constraint:

    - `plain_matmul_c1`: there are three extents.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "M, N and K">:$extents,
    "::mlir::Type":$aType,
    "::mlir::Type":$bType,
    "::mlir::Type":$accType,
    "::mlir::StringAttr":$how);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The matmul without `how`: "4096x1x1024 f32 x f32 -> f32".
    std::string describe() const;
  }];
}

#endif // TESSERA_IR_TESSERAATTRS_TD
