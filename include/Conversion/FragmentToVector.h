//===- FragmentToVector.h - Fragments to the lanes' registers ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all targets that run lane by lane share: a legalized fragment becomes
// one vector for each tile of its instruction, holding what this lane has of
// it. Everything here is written over the lane maps; what only a vendor can do
// is behind `FragmentTarget`.
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_FRAGMENTTOVECTOR_H
#define CONVERSION_FRAGMENTTOVECTOR_H

#include "Conversion/DirectCopies.h"
#include "Dialect/Tessera/Target/Chip.h"

#include "mlir/Transforms/DialectConversion.h"

namespace mlir::tessera {

/// How a legalized fragment is cut up: `tiles[0]` by `tiles[1]` tiles, row by
/// row, each distributed by `map`.
struct TileLayout {
  LaneMap map;
  std::array<int64_t, 2> tiles;
  /// What a lane has of a tile: its elements, or the description of where the
  /// instruction finds it in workgroup memory, as one i64.
  VectorType vectorType;
  const MatrixInstruction *instruction;
  /// The instruction reads the tile from workgroup memory.
  bool inMemory = false;

  int64_t getNumTiles() const { return tiles[0] * tiles[1]; }
  /// The tile's extent along a dimension.
  int64_t getExtent(unsigned dimension) const {
    return dimension == 0 ? map.getRows() : map.getCols();
  }
  /// Bits of the element's coordinates that the lane's number gives, as code.
  std::array<Value, 2> getLaneOffset(OpBuilder &builder, Location loc,
                                     Value lane) const;
};

/// Whether `steps` double from `first` on along `dimension`, and go nowhere
/// else.
bool runsAlong(ArrayRef<LaneMap::Step> steps, unsigned dimension,
               int64_t first = 1);

/// Whether the type names an instruction whose lane maps nobody knows.
bool isOpaque(const Chip &chip, FragmentType type);

/// Fails where the type names no instruction of the chip, or an opaque one.
FailureOr<TileLayout> getTileLayout(const Chip &chip, FragmentType type);

/// Where a swizzled memory of `type` keeps element `row`, `col` of its last two
/// dimensions; see `tessera.copy`. What follows in the same 16 bytes follows
/// there as well.
std::array<Value, 2> emitSwizzledPlace(OpBuilder &builder, Location loc,
                                       MemRefType type, Value row, Value col);

/// Vectors of one type, as many as a power of two, one after the other.
Value emitConcatenation(OpBuilder &builder, Location loc,
                        ArrayRef<Value> parts);

/// A copy whose loads bring what they read straight to workgroup memory.
struct DirectCopy {
  /// Where the tile begins, and whether that is the same for all threads. All
  /// of it is there.
  Value source;
  ValueRange origin;
  bool isUniform;
  /// The tile's rows and columns.
  ArrayRef<int64_t> shape;
  /// The workgroup memory, as one row of elements.
  Value to;
  /// This thread's number in its workgroup, and how many elements a load
  /// brings.
  Value thread;
  int64_t width;

  /// Row and column `place` of the tile, in the source.
  SmallVector<Value> emitSourceIndices(OpBuilder &builder, Location loc,
                                       std::array<Value, 2> place) const;
};

/// What a vendor does its own way.
class FragmentTarget {
public:
  explicit FragmentTarget(const Chip &chip) : chip(chip) {}
  virtual ~FragmentTarget();

  const Chip &chip;

  /// This lane's number within its subgroup, or group of subgroups that own
  /// the fragments of `op` together, of type index.
  virtual Value getLane(OpBuilder &builder, Operation *op) const;

  /// This lane's number within its subgroup, of type index: what exchanges
  /// between lanes count.
  Value getSubgroupLane(OpBuilder &builder, Location loc) const;

  /// One matrix instruction: per-lane vectors in, the accumulator out. Asked
  /// for several elements of K without a matrix unit as well. Null where the
  /// row is not one of the vendor's.
  virtual Value emitMma(OpBuilder &builder, Location loc,
                        const MatrixInstruction &row, MmaOp op, Value a,
                        Value b, Value acc) const;

  /// The whole of a product, where instructions of several tiles are issued
  /// together; the accumulators' tiles out. Empty where `emitMma` does each by
  /// itself.
  virtual SmallVector<Value> emitProduct(OpBuilder &builder, Location loc,
                                         const MatrixInstruction &row, MmaOp op,
                                         ValueRange a, ValueRange b,
                                         ValueRange acc) const;

  /// The tiles of a product that was issued before, once it is done, with what
  /// `op` keeps. Empty: it was done where it stands.
  virtual SmallVector<Value> emitAwait(OpBuilder &builder, Location loc,
                                       AwaitOp op, ValueRange product,
                                       ValueRange kept) const;

  /// The description (i64) of a tile that an instruction reads from workgroup
  /// memory. `row` and `col` are where it begins in the last two dimensions of
  /// the memory. Null where the target has no such instructions.
  virtual Value emitMemoryOperand(OpBuilder &builder, Location loc, LoadOp op,
                                  const TileLayout &layout, Value row,
                                  Value col) const;

  /// The tiles of a whole fragment, where instructions of several tiles bring
  /// them, whatever lies outside of the memory as zeros. Empty where there are
  /// none.
  virtual SmallVector<Value> emitFragmentLoad(OpBuilder &builder, LoadOp op,
                                              const TileLayout &layout) const;

  /// A tile's load by an instruction of its own (ldmatrix), or null. `indices`
  /// are the tile's place in the memory, not swizzled; `alignment` is what
  /// every row of the tile is known to have.
  virtual Value emitTileLoad(OpBuilder &builder, Location loc, LoadOp op,
                             const TileLayout &layout, Value memory,
                             ValueRange indices, int64_t alignment) const;

  /// The same of a tile's store (stmatrix), of `tile`. False: there is none,
  /// and nothing was made.
  virtual bool emitTileStore(OpBuilder &builder, Location loc, StoreOp op,
                             const TileLayout &layout, Value tile,
                             ValueRange indices, int64_t alignment) const;

  /// The share of this workgroup's of sums over its cluster. `values` are rows
  /// of as many elements; of each row the elements from `rank * n` on, where
  /// rank is the workgroup's number in the cluster and n a row's elements over
  /// the parts. Empty where the target has no clusters.
  virtual SmallVector<Value> emitClusterSum(OpBuilder &builder, SumPartsOp op,
                                            ValueRange values,
                                            int64_t rows) const;

  /// A barrier for the lanes of a subgroup, after which each of them sees what
  /// the others wrote to memory before it.
  virtual void emitSubgroupBarrier(OpBuilder &builder, Location loc) const;

  /// `value` (i32) of the lane numbered `lane` (index).
  virtual Value emitShuffle(OpBuilder &builder, Location loc, Value value,
                            Value lane) const;

  /// A word (i32) of bytes of two others: byte i is the one whose number is
  /// byte i of `selector`, from 0 on of `low` and from 4 on of `high`. Null
  /// where the target has no instruction for it.
  virtual Value emitBytePermute(OpBuilder &builder, Location loc, Value low,
                                Value high, uint32_t selector) const;

  /// `width` elements of a tile that begins at `origin` for all threads (one: a
  /// scalar), from row and column `place` on. All lie in the memory. Null
  /// where the target has nothing better than a load from the sum of the two.
  virtual Value emitTileRead(OpBuilder &builder, Location loc, Value memory,
                             ValueRange origin, ValueRange place,
                             int64_t width) const;

  /// `width` elements from `indices` on (one: a scalar) if `whole` (i1), else
  /// zeros without reading anything, by an instruction that needs no branch.
  /// Null where the target has none for this memory.
  virtual Value emitGuardedRead(OpBuilder &builder, Location loc, Value memory,
                                ValueRange indices, int64_t width,
                                Value whole) const;
  /// Writes `value` if `whole`, likewise. False where the target has no such
  /// instruction.
  virtual bool emitGuardedWrite(OpBuilder &builder, Location loc, Value value,
                                Value memory, ValueRange indices,
                                Value whole) const;

  /// Copies `width` elements of which the first `count` (index; null: all) are
  /// read and the rest set to zero. False where the target has no such copy of
  /// this size.
  virtual bool emitAsyncCopy(OpBuilder &builder, Location loc, Value source,
                             ValueRange sourceIndices, Value target,
                             ValueRange targetIndices, int64_t width,
                             Value count) const;
  /// One load of each thread of a `DirectCopy`, to its element `first` (index)
  /// plus `width` times the thread's number. It reads at row and column `place`
  /// of the tile. False where the target has no such load.
  virtual bool emitDirectLoad(OpBuilder &builder, Location loc,
                              const DirectCopy &copy,
                              std::array<Value, 2> place, Value first) const;

  /// Closes the group of asynchronous copies that one async_copy issued.
  virtual void emitAsyncCommit(OpBuilder &builder, Location loc) const;
  /// Stands ahead of the first use of what a copy keeps in registers, where
  /// products are under way meanwhile.
  virtual void emitLateUse(OpBuilder &builder, Location loc) const;
  /// Waits until at most `pending` groups are in flight. Where some are of
  /// `emitDirectLoad`, at most `directLoads` loads of this thread then are.
  virtual void emitAsyncWait(OpBuilder &builder, Location loc, int64_t pending,
                             std::optional<int64_t> directLoads) const;

  /// Adds what the target does with fragments of instructions whose lane maps
  /// nobody knows (`MatrixInstruction::opaque`): their types, and patterns for
  /// the ops that take or give them. Others have none of these.
  virtual void populateOpaque(TypeConverter &converter,
                              RewritePatternSet &patterns) const;
};

/// Adds the conversion of fragments to vectors, one to many, and of tokens to
/// nothing.
void populateFragmentTypeConversion(TypeConverter &converter, const Chip &chip);

/// Adds patterns for every op of the dialect but `vthread` and `contract`.
/// `converter` and `target` outlive them.
void populateFragmentToVectorPatterns(const TypeConverter &converter,
                                      RewritePatternSet &patterns,
                                      const FragmentTarget &target);

/// An error at `op` where `use` says anything of copies of a chip whose loads
/// cannot go straight to workgroup memory.
LogicalResult checkDirectCopies(Operation *op, const Chip &chip,
                                DirectCopies use);

/// Puts a barrier of the subgroup before each access to a fragment in memory
/// that another lane's earlier access must precede, in the kernels under `root`
/// that the compiler did not tile itself. Precedes the conversion.
void orderAccesses(Operation *root, const FragmentTarget &target);

/// Converts all fragments under `root`.
LogicalResult
convertFragmentsToVectors(Operation *root, const FragmentTarget &target,
                          DirectCopies directCopies = DirectCopies::Auto);

} // namespace mlir::tessera

#endif // CONVERSION_FRAGMENTTOVECTOR_H
