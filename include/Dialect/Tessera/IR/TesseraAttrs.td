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
    "the operand of a matrix product that a fragment can be", [
      I32EnumAttrCase<"A", 0, "a">,
      I32EnumAttrCase<"B", 1, "b">,
      I32EnumAttrCase<"Acc", 2, "acc">]>;

def Tessera_Precision : Tessera_I32Enum<"Precision",
    "what a product may lose", [
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
    "how the parts of a reduction are added up", [
      I32EnumAttrCase<"Ordered", 0, "ordered">,
      I32EnumAttrCase<"Atomic", 1, "atomic">,
      I32EnumAttrCase<"Cluster", 2, "cluster">]>;

def Tessera_InterleaveAttr : AttrDef<Tessera_Dialect, "Interleave"> {
  let mnemonic = "interleave";
  let summary = "the order in which the statements of virtual threads are issued";
  let description = [{
    How many virtual threads are interleaved statement by statement, in groups
    of consecutive linear indices that follow one another:

    - `breadth_first`: all of them;
    - `groups(N)`: N at a time; the last group has what is left;
    - `depth_first`: one at a time, which is what `groups(1)` prints as.

    In C++, `InterleaveAttr::get(context, N)`, where 0 stands for all: the
    attribute then means the same for every grid.

    Example:

    ```mlir
    #tessera.interleave<groups(2)>
    ```

    Constraints
    - `interleave_c1`: N is not negative, and as text 1 or more.
  }];
  let parameters = (ins "int64_t":$size);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// All vthreads, statement by statement.
    static InterleaveAttr getBreadthFirst(::mlir::MLIRContext *context) {
      return get(context, 0);
    }
    /// One vthread after the other.
    static InterleaveAttr getDepthFirst(::mlir::MLIRContext *context) {
      return get(context, 1);
    }
    /// How many of `count` vthreads are interleaved.
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
  let summary = "how a contraction is cut up for one target";
  let description = [{
    The tiling of one contraction, in elements:

    - `workgroup`: the MxN tile of the result that one workgroup computes;
    - `subgroup`: the MxN tile that one subgroup computes; it divides
      `workgroup`, and the quotient is the number of subgroups (of groups);
    - `k`: how far the reduction advances for each staging of the operands;
    - `kFragment`: how far it advances for each `tessera.mma`; divides `k`;
    - `stages`: how many stagings of the operands in workgroup memory are in
      flight: 0 loads fragments straight from global memory, 1 stages
      synchronously, more use asynchronous copies;
    - `vthread`: the grid of virtual threads into which a subgroup's tile is
      divided; it divides `subgroup`.

    What follows may be left out, and then is as said in parentheses:

    - `interleave` (0): how many virtual threads are issued interleaved: 0 is
      all of them, 1 one after the other;
    - `swizzle` (false): staged tiles are swizzled, and not padded, against bank
      conflicts;
    - `splitK` (1): into how many parts the reduction is cut; each is computed
      by workgroups of its own;
    - `splitKReduction` (ordered): how the parts are added up. `ordered`: by a
      second kernel, always in the same order. `atomic`: by atomic adds, in the
      order in which the workgroups come to it, so that a float may be rounded
      otherwise in each run. `cluster`: by the workgroups of a tile themselves,
      which run at the same time and read each other's workgroup memory, always
      in the same order;
    - `raster` (0): tiles are taken in bands of so many along M, down a band's
      M first and then along N, so that what is in the L2 cache is used again;
      0 makes all of M one band;
    - `persistent` (0): how many workgroups are launched, each of which walks
      through several tiles; 0 launches one for each tile;
    - `group` (1): how many subgroups own a fragment together. `subgroup` is
      then the tile of such a group. Chips have instructions for some numbers:
      four subgroups of Hopper are a warpgroup, which `wgmma` works with;
    - `stageOutput` (false): a tile of the output goes through workgroup memory,
      and leaves it in whole rows, rather than straight from the lanes'
      registers;
    - `cluster` ([1, 1]): workgroups of so many neighbouring tiles along M and N
      run at the same time, go through as many tiles each, and share the tiles of
      the operands that they have in common;
    - `batches` (1): how many matrices of the batch one workgroup computes, the
      tile at the same place of each;
    - `subgroupBatches` (1): how many of these one subgroup computes; it divides
      `batches`, and there are as many times as many subgroups as the quotient
      says.

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
    - `schedule_c6`: `swizzle` needs `stages` of 1 or more.

    What a chip asks for besides (`schedule_c7` and on) is in
    docs/Schedules.md, with how a schedule is chosen, set and printed.
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
    /// The number of virtual threads, and of subgroups.
    int64_t getNumVThreads() const { return getVthread()[0] * getVthread()[1]; }
    int64_t getNumSubgroups() const {
      return getSubgroupsOfTile() * (getBatches() / getSubgroupBatches());
    }
    /// The subgroups that compute one tile of one matrix.
    int64_t getSubgroupsOfTile() const {
      return (getWorkgroup()[0] / getSubgroup()[0]) *
             (getWorkgroup()[1] / getSubgroup()[1]) * getGroup();
    }
    /// How many workgroups share tiles of the operands.
    int64_t getNumClustered() const { return getClusterM() * getClusterN(); }
    /// Whether partial sums are added atomically, in no fixed order.
    bool addsAtomically() const {
      return getSplitK() > 1 &&
             getSplitKReduction() == SplitReduction::Atomic;
    }
    /// Whether the workgroups of a tile add their parts up themselves.
    bool addsInCluster() const {
      return getSplitK() > 1 &&
             getSplitKReduction() == SplitReduction::Cluster;
    }
    /// Whether parts go to memory, where another kernel adds them up.
    bool leavesParts() const { return getSplitK() > 1 && !addsInCluster(); }
  }];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tessera_WindowAttr : AttrDef<Tessera_Dialect, "Window"> {
  let mnemonic = "window";
  let summary = "a gathered tile as windows over an image";
  let description = [{
    Says of a matrix that is gathered which element of an image each of its
    elements is. The row is the linear index of dimensions with the extents
    `rows`, the column that of dimensions with the extents `cols`; the last one
    runs fastest. `map` gives the place in the image for the rows' dimensions,
    followed by the columns'. Outside of the image, and beyond the last row or
    column, the matrix is zero.

    Example, a 3x3 convolution of two images of 28x28 with zeros around them:

    ```mlir
    #tessera.window<rows = [2, 28, 28], cols = [3, 3, 64],
      map = (n, h, w, r, s, c) -> (n, h + r - 1, w + s - 1, c)>
    ```

    Constraints
    - `window_c1`: `rows` and `cols` are not empty, and positive.
    - `window_c2`: `map` has a dimension for each of `rows` and of `cols`, no
      symbols, and results that are sums of dimensions with positive factors
      and a constant.
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

#endif // TESSERA_IR_TESSERAATTRS_TD
