//===- Patterns.h - The parts of fragments to vectors -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_FRAGMENTTOVECTOR_PATTERNS_H
#define CONVERSION_FRAGMENTTOVECTOR_PATTERNS_H

#include "Conversion/FragmentToVector.h"
#include "Dialect/Tessera/Transforms/IndexMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::tessera {

/// A pattern that knows its target.
template <typename Op> class FragmentPattern : public OpConversionPattern<Op> {
public:
  FragmentPattern(const TypeConverter &converter, MLIRContext *context,
                  const FragmentTarget &target)
      : OpConversionPattern<Op>(converter, context), target(target) {}

protected:
  FailureOr<TileLayout> getLayout(Value fragment) const {
    return getTileLayout(target.chip, cast<FragmentType>(fragment.getType()));
  }
  const FragmentTarget &target;
};

/// Casts a scalar or a vector to the element type of `to`, rounding to
/// nearest even; integers by `isUnsigned`.
Value emitElementCast(OpBuilder &builder, Location loc, Value value,
                      Type toElement, bool isUnsigned);

/// `value` of the lane numbered `lane` (index), for any element type.
Value emitShuffleAny(OpBuilder &builder, Location loc,
                     const FragmentTarget &target, Value value, Value lane);

/// A mask of `width` bits, of which the first `count` (index) are set.
Value emitMask(OpBuilder &builder, Location loc, Value count, int64_t width);

/// Whether `emitTransposedTiles` can make such tiles.
bool canTransposeTiles(const TileLayout &layout);
/// The tiles of a fragment that memory holds column by column, for a subgroup
/// of one lane. `load` reads `count` elements of a column from a row on.
SmallVector<Value> emitTransposedTiles(
    OpBuilder &builder, Location loc, const TileLayout &layout,
    function_ref<Value(int64_t column, int64_t row, int64_t count)> load);

/// How many of the `width` elements from `place` on in the last two dimensions
/// of `memory` lie in it (index).
Value emitCountInBounds(OpBuilder &builder, Location loc, Value memory,
                        std::array<Value, 2> place, int64_t width);

/// The alignment in bytes to be told of an access to `width` elements whose
/// rows have that of `known`: all of them where the chip asks for aligned
/// accesses. None for packed elements that may begin in the middle of a byte.
llvm::MaybeAlign getAccessAlignment(Type element, int64_t width, int64_t known,
                                    bool alignedAccess);

/// The discardable attribute on a copy of packed elements of which there is a
/// whole number of bytes, where it reaches the end of a row.
inline llvm::StringRef getWholeBytesAttrName() { return "tessera.whole_bytes"; }

/// How a tile is kept that is interleaved, see InterleavedTiles.cpp: words of
/// so many elements of a column, in lines of so many columns.
struct Interleaving {
  int64_t rows, columns;
};

/// The discardable attribute on the copies to an interleaved tile, and on the
/// loads from it: an array of these two numbers.
inline llvm::StringRef getInterleavedAttrName() {
  return "tessera.interleaved";
}

/// What that attribute of `op` says, if it has it.
std::optional<Interleaving> getInterleaving(Operation *op);

/// Sets that attribute for the tiles under `root` that can be kept so, on chips
/// that want it.
void markInterleavedTiles(Operation *root, const Chip &chip);

/// `memory` with one dimension more. The word of rows `r` and following, a
/// multiple of P, and column `c` begins there at `c / B, r, c mod B * P` of the
/// last three dimensions. (Rows of the view overlap.)
Value emitInterleavedView(OpBuilder &builder, Location loc, Value memory,
                          Interleaving by);

/// The number of threads that share a copy, if the kernel says.
std::optional<int64_t> getCopyThreads(Operation *op);

/// The column, within a row or its panel, at which a swizzled memory of `type`
/// keeps an element of `row` whose column there is `col` (Swizzle.cpp).
Value emitSwizzledColumn(OpBuilder &builder, Location loc, MemRefType type,
                         Value row, Value col);

/// How many elements a thread brings at once by an asynchronous copy that goes
/// straight to workgroup memory; none for others.
std::optional<int64_t> getDirectWidth(AsyncCopyOp op);

/// How many loads of one thread may be in flight behind a wait, where its
/// kernel has such copies.
std::optional<int64_t> getDirectLoads(WaitOp op);

/// Marks the copies under `root` that can be made so, and their kernels' waits.
/// Of those that cannot, a remark says why, where all of them are wanted.
void markDirectCopies(Operation *root, const Chip &chip, DirectCopies use);

/// Emits a copy that is marked. False where the target has no such loads.
bool emitDirectCopy(OpBuilder &builder, AsyncCopyOp op,
                    const FragmentTarget &target);

/// Whether consecutive elements of the last dimension lie side by side.
bool isInnerContiguous(MemRefType type);

void populateMemoryPatterns(const TypeConverter &converter,
                            RewritePatternSet &patterns,
                            const FragmentTarget &target);
void populateArithmeticPatterns(const TypeConverter &converter,
                                RewritePatternSet &patterns,
                                const FragmentTarget &target);
void populateConvertPattern(const TypeConverter &converter,
                            RewritePatternSet &patterns,
                            const FragmentTarget &target);
void populateSumPartsPattern(const TypeConverter &converter,
                             RewritePatternSet &patterns,
                             const FragmentTarget &target);
void populateCopyPatterns(const TypeConverter &converter,
                          RewritePatternSet &patterns,
                          const FragmentTarget &target);

} // namespace mlir::tessera

#endif // CONVERSION_FRAGMENTTOVECTOR_PATTERNS_H
