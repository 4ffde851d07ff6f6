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
    The tiling of one contraction. docs/Schedules.md describes each field, with
    its default value. ScheduleFields.def defines them.

    The text form has the fields in any order, separated by commas. Those that
    are omitted have their default values; `workgroup`, `subgroup` and `k` must
    be given. A former name of a field is read with a warning.

    Example:

    ```mlir
    #tessera.schedule<workgroup = [128, 128], subgroup = [64, 64], k = 32,
                      kFragment = 16, stages = 3, vthread = [1, 1]>
    ```

    Constraints
    - `schedule_c1`: `workgroup`, `subgroup` and `vthread` have two positive
      elements; `k` and `kFragment` are positive, `stages` is not negative.
    - `schedule_c2`: `subgroup` divides `workgroup`, and `subgroupBatches`
      divides `batches`.
    - `schedule_c3`: `vthread` divides `subgroup`.
    - `schedule_c4`: `kFragment` divides `k`.
    - `schedule_c5`: each of the other fields has at least its minimum;
      `interleave` is at most the number of virtual threads.
    - `schedule_c6`: `swizzle` requires `stages` of 1 or more.

    docs/Schedules.md lists the constraints of a chip (`schedule_c7` and on),
    and explains how a schedule is chosen, set and printed.
  }];
  let parameters = (ins
    AttrParameter<"::mlir::tessera::ScheduleFields", "the fields",
                  "const ::mlir::tessera::ScheduleFields &">:$fields);
  let extraClassDeclaration = [{
    // An accessor for each field: `getSplitK()`. Pairs are of M and N.
    #define SCHEDULE_PAIR(Name, name, ...) \
      ::llvm::ArrayRef<int64_t> get##Name() const { return getFields().name; }
    #define SCHEDULE_INTEGER(Name, name, ...) \
      int64_t get##Name() const { return getFields().name; }
    #define SCHEDULE_FLAG(Name, name, ...) \
      bool get##Name() const { return getFields().name; }
    #define SCHEDULE_ENUM(Name, name, Type, ...) \
      Type get##Name() const { return getFields().name; }
    #include "Dialect/Tessera/IR/ScheduleFields.def"

    int64_t getClusterM() const { return getCluster()[0]; }
    int64_t getClusterN() const { return getCluster()[1]; }
    /// The number of virtual threads of a subgroup.
    int64_t getNumVThreads() const { return getVthread()[0] * getVthread()[1]; }
    int64_t getNumSubgroups() const {
      return getSubgroupsOfTile() * (getBatches() / getSubgroupBatches());
    }
    /// The subgroups that compute one tile of one matrix.
    int64_t getSubgroupsOfTile() const {
      return (getWorkgroup()[0] / getSubgroup()[0]) *
             (getWorkgroup()[1] / getSubgroup()[1]) *
             getSubgroupsPerFragment();
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

def Tessera_ChipAttr : AttrDef<Tessera_Dialect, "Chip"> {
  let mnemonic = "chip";
  let summary = "the chip that a module is compiled for";
  let description = [{
    Names a chip by its row in the tables of docs/generated/Chips.md: the target
    that the chip belongs to, and the name of the chip. The discardable
    attribute `tessera.chip` of a module, or of a `gpu.module`, holds it; the
    innermost one applies. `tessera-attach-chip` and the tools attach it, and
    the passes that depend on the chip read it.

    The dialect does not know the tables: a name of an unknown chip is reported
    by the first pass that reads the attribute.

    Example:

    ```mlir
    module attributes {tessera.chip = #tessera.chip<"cuda", "sm_90a">} {
    }
    ```

    Constraints
    - `chip_c1`: both names are not empty.
  }];
  let parameters = (ins
    StringRefParameter<"the target: cuda">:$target,
    StringRefParameter<"the chip: sm_90a">:$name);
  let assemblyFormat = "`<` $target `,` $name `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The discardable attribute that holds it.
    static ::llvm::StringRef getAttrName() { return "tessera.chip"; }
  }];
}

#endif // TESSERA_IR_TESSERAATTRS_TD
