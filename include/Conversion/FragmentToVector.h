//===- FragmentToVector.h - Fragments to the lanes' registers ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The common part of all targets that execute lane by lane: a legalized
// fragment becomes one vector for each tile of its instruction, with this
// lane's elements of the tile. The patterns are written in terms of the lane
// maps; `FragmentTarget` contains the vendor-specific parts.
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_FRAGMENTTOVECTOR_H
#define CONVERSION_FRAGMENTTOVECTOR_H

#include "Flags/CompileFlags.h"
#include "TargetInfo/Chip.h"

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::tessera {

/// The decomposition of a legalized fragment: `tiles[0]` by `tiles[1]` tiles,
/// in row-major order, each distributed by `map`.
struct TileLayout {
  LaneMap map;
  std::array<int64_t, 2> tiles;
  /// A lane's part of a tile: its elements, or, as one i64, the descriptor of
  /// the tile in workgroup memory that the instruction reads.
  VectorType vectorType;
  const MatrixInstruction *instruction;
  /// Whether the instruction reads the tile from workgroup memory.
  bool inMemory = false;

  int64_t getNumTiles() const { return tiles[0] * tiles[1]; }
  /// The tile's extent along a dimension.
  int64_t getExtent(unsigned dimension) const {
    return dimension == 0 ? map.getRows() : map.getCols();
  }
  /// Emits the part of the element's coordinates that depends on the lane id.
  std::array<Value, 2> getLaneOffset(OpBuilder &builder, Location loc,
                                     Value lane) const;
};

/// Whether `steps` are `first`, 2 * `first`, 4 * `first`, ... along
/// `dimension`, and zero along the other one.
bool runsAlong(ArrayRef<LaneMap::Step> steps, unsigned dimension,
               int64_t first = 1);

/// Whether the type names an instruction whose lane maps are unknown.
bool isOpaque(const Chip &chip, FragmentType type);

/// The layout of a fragment. Fails if the type names no instruction of the
/// chip, or an opaque one.
FailureOr<TileLayout> getTileLayout(const Chip &chip, FragmentType type);

/// The position in a swizzled memory of `type` of element `row`, `col` of its
/// last two dimensions; see `tessera.copy`. Elements of the same 16-byte chunk
/// are contiguous there as well.
std::array<Value, 2> emitSwizzledPosition(OpBuilder &builder, Location loc,
                                          MemRefType type, Value row,
                                          Value col);

/// Concatenates vectors of one type, whose number is a power of two.
Value emitConcatenation(OpBuilder &builder, Location loc,
                        ArrayRef<Value> parts);

/// A copy by loads directly to workgroup memory (async copy to LDS).
struct LdsCopy {
  /// The source and the tile's origin in it, and whether the origin is the same
  /// for all threads. The whole tile is in bounds.
  Value source;
  ValueRange origin;
  bool isUniform;
  /// The tile's rows and columns.
  ArrayRef<int64_t> shape;
  /// The workgroup memory, as one row of elements.
  Value to;
  /// This thread's id in its workgroup, and the number of elements of one load.
  Value thread;
  int64_t width;
  /// The number of loads of a thread. Those of a subgroup write adjacent chunks
  /// of `loads` times `width` elements for each lane, load by load.
  int64_t loads;

  /// The indices in the source of row and column `position` of the tile.
  SmallVector<Value> emitSourceIndices(OpBuilder &builder, Location loc,
                                       std::array<Value, 2> position) const;
};

/// The vendor-specific part of the conversion.
class FragmentTarget {
public:
  explicit FragmentTarget(const Chip &chip) : chip(chip) {}
  virtual ~FragmentTarget();

  const Chip &chip;

  /// This lane's id within its subgroup, or within the group of subgroups that
  /// own the fragments of `op` together, of type index.
  virtual Value getLane(OpBuilder &builder, Operation *op) const;

  /// This lane's id within its subgroup, of type index, as exchanges between
  /// lanes count it.
  Value getSubgroupLane(OpBuilder &builder, Location loc) const;

  /// Emits one matrix instruction on per-lane vectors and returns the
  /// accumulator. It is also called for several elements of K without a matrix
  /// unit. Null if the row is not one of the vendor's.
  virtual Value emitMma(OpBuilder &builder, Location loc,
                        const MatrixInstruction &row, MmaOp op, Value a,
                        Value b, Value acc) const;

  /// Emits a whole `tessera.mma` if the instructions of several tiles are
  /// issued together, and returns the accumulators' tiles. Empty if `emitMma`
  /// emits each of them.
  virtual SmallVector<Value> emitMatmul(OpBuilder &builder, Location loc,
                                        const MatrixInstruction &row, MmaOp op,
                                        ValueRange a, ValueRange b,
                                        ValueRange acc) const;

  /// Waits for a `tessera.mma` that was issued earlier and returns its tiles,
  /// followed by the values that `op` keeps. Empty if it was complete when it
  /// was issued.
  virtual SmallVector<Value> emitAwait(OpBuilder &builder, Location loc,
                                       AwaitOp op, ValueRange matmul,
                                       ValueRange kept) const;

  /// An array in memory of this lane's own, for ops of the function around `op`
  /// that use it one after the other: those with the same `slot` and `type`
  /// share it. Null if the target has no such memory as fast as a cache, or the
  /// function has used it up.
  virtual Value getLocalArray(OpBuilder &builder, Operation *op, unsigned slot,
                              MemRefType type) const;

  /// Whether the target has vectors of elements at several addresses
  /// (`vector.gather`).
  virtual bool canGather() const { return false; }

  /// The descriptor (i64) of a tile that an instruction reads from workgroup
  /// memory. `row` and `col` are the tile's origin in the last two dimensions
  /// of the memory. Null if the target has no such instructions.
  virtual Value emitMemoryOperand(OpBuilder &builder, Location loc, LoadOp op,
                                  const TileLayout &layout, Value row,
                                  Value col) const;

  /// Loads the tiles of a whole fragment with instructions that load several
  /// tiles, with zeros for elements out of bounds. Empty if the target has
  /// none.
  virtual SmallVector<Value> emitFragmentLoad(OpBuilder &builder, LoadOp op,
                                              const TileLayout &layout) const;

  /// Loads a tile with a dedicated instruction (ldmatrix); null if there is
  /// none. `indices` are the tile's position in the memory, without the
  /// swizzle; `alignment` is the known alignment of every row of the tile.
  virtual Value emitTileLoad(OpBuilder &builder, Location loc, LoadOp op,
                             const TileLayout &layout, Value memory,
                             ValueRange indices, int64_t alignment) const;

  /// Stores `tile` with a dedicated instruction (stmatrix). Returns false,
  /// without emitting anything, if there is none.
  virtual bool emitTileStore(OpBuilder &builder, Location loc, StoreOp op,
                             const TileLayout &layout, Value tile,
                             ValueRange indices, int64_t alignment) const;

  /// This workgroup's share of sums over its cluster. `values` are rows of
  /// equal length; the share of each row starts at element `rank * n`, where
  /// rank is the workgroup's rank in the cluster and n the length of a row
  /// divided by the number of parts. Empty if the target has no clusters.
  virtual SmallVector<Value> emitClusterSum(OpBuilder &builder, SumPartsOp op,
                                            ValueRange values,
                                            int64_t rows) const;

  /// Emits a barrier for the lanes of a subgroup, after which each of them sees
  /// the writes to memory that the others made before it.
  virtual void emitSubgroupBarrier(OpBuilder &builder, Location loc) const;

  /// The `value` (i32) of the lane with id `lane` (index).
  virtual Value emitShuffle(OpBuilder &builder, Location loc, Value value,
                            Value lane) const;

  /// A word (i32) of selected bytes of two others: byte i of the result is
  /// selected by byte i of `selector`: 0 and on for `low`, 4 and on for `high`.
  /// Null if the target has no instruction for it.
  virtual Value emitBytePermute(OpBuilder &builder, Location loc, Value low,
                                Value high, uint32_t selector) const;

  /// Reads `width` elements (one: a scalar) from row and column `position` of a
  /// tile whose `origin` is the same for all threads. All are in bounds. Null
  /// if the target has nothing better than a load from the sum of the two.
  virtual Value emitTileRead(OpBuilder &builder, Location loc, Value memory,
                             ValueRange origin, ValueRange position,
                             int64_t width) const;

  /// Reads `width` elements from `indices` on (one: a scalar) if `whole` (i1),
  /// and otherwise returns zeros, without a branch and without an access out of
  /// bounds. Null if the target cannot do that for this memory.
  virtual Value emitGuardedRead(OpBuilder &builder, Location loc, Value memory,
                                ValueRange indices, int64_t width,
                                Value whole) const;
  /// Writes `value` if `whole`, in the same way. Returns false if the target
  /// has no such instruction.
  virtual bool emitGuardedWrite(OpBuilder &builder, Location loc, Value value,
                                Value memory, ValueRange indices,
                                Value whole) const;

  /// Copies `width` elements, the first `count` (index; null: all) of which are
  /// read and the others set to zero. Returns false if the target has no such
  /// copy of this size.
  virtual bool emitAsyncCopy(OpBuilder &builder, Location loc, Value source,
                             ValueRange sourceIndices, Value target,
                             ValueRange targetIndices, int64_t width,
                             Value count) const;
  /// Emits load `number` of each thread of a `LdsCopy`. Its element (index) is
  /// `begin`, plus that of the subgroup and of the load, plus `width` times the
  /// lane. It reads `rows` below row and column `position` of the tile.
  /// Returns false if the target has no such load.
  virtual bool emitLdsLoad(OpBuilder &builder, Location loc,
                           const LdsCopy &copy, std::array<Value, 2> position,
                           int64_t rows, Value begin, int64_t number) const;

  /// Commits the group of asynchronous copies that one async_copy issued.
  virtual void emitAsyncCommit(OpBuilder &builder, Location loc) const;
  /// Called before the first use of data that a copy keeps in registers while
  /// matmuls are in flight.
  virtual void emitLateUse(OpBuilder &builder, Location loc) const;
  /// Waits until at most `pending` groups are in flight. If some groups use
  /// `emitLdsLoad`, at most `ldsLoads` loads of this thread remain in
  /// flight.
  virtual void emitAsyncWait(OpBuilder &builder, Location loc, int64_t pending,
                             std::optional<int64_t> ldsLoads) const;

  /// Adds the conversions of fragments of instructions whose lane maps are
  /// unknown (`MatrixInstruction::opaque`): their types, and patterns for the
  /// ops that use or define them. Most targets have none.
  virtual void populateOpaque(TypeConverter &converter,
                              RewritePatternSet &patterns) const;
};

/// Adds the conversion of fragments to vectors, one to many, and of tokens to
/// nothing.
void populateFragmentTypeConversion(TypeConverter &converter, const Chip &chip);

/// Adds patterns for every op of the dialect except `vthread` and `contract`.
/// `converter` and `target` must outlive them.
void populateFragmentToVectorPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      const FragmentTarget &target);

/// Emits an error at `op` if `flags` require loads directly to workgroup memory
/// on a chip without them.
LogicalResult checkLdsCopies(Operation *op, const Chip &chip,
                             const CompileFlags &flags);

/// Inserts a subgroup barrier before each access to a fragment in memory that
/// must follow an earlier access of another lane, in the kernels under `root`
/// that were not tiled by the compiler. Must run before the conversion.
void orderAccesses(Operation *root, const FragmentTarget &target);

/// Converts all fragments under `root`.
LogicalResult convertFragmentsToVectors(Operation *root,
                                        const FragmentTarget &target,
                                        const CompileFlags &flags = {});

} // namespace mlir::tessera

#endif // CONVERSION_FRAGMENTTOVECTOR_H
