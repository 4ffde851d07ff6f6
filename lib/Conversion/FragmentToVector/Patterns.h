//===- Patterns.h - The parts of fragments to vectors -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_FRAGMENTTOVECTOR_PATTERNS_H
#define CONVERSION_FRAGMENTTOVECTOR_PATTERNS_H

#include "Conversion/FragmentToVector.h"
#include "Dialect/Tessera/Utils/IndexMath.h"

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

/// a * b + acc, of scalars or vectors.
Value emitMultiplyAdd(OpBuilder &builder, Location loc, Value a, Value b,
                      Value acc);

/// The type in which an mma without a matrix unit adds accumulators of `type`.
/// Floats narrower than f32 are added in f32 and rounded once, as matrix units
/// do: targets without arithmetic on such floats round each element by several
/// operations.
VectorType getSumType(VectorType type);
/// An accumulator in that type.
Value widenAccumulator(OpBuilder &builder, Location loc, Value acc);

/// Emits a large matmul of one lane's vectors as loops over its rows and K,
/// whose operands are in memory, and returns its accumulators (widened). Empty
/// for others, and on targets without local arrays.
SmallVector<Value> emitRolledMatmul(OpBuilder &builder,
                                    const FragmentTarget &target,
                                    const MatrixInstruction &row, MmaOp op,
                                    ValueRange a, ValueRange b, ValueRange acc);

/// `value` of the lane numbered `lane` (index), for any element type.
Value emitShuffleAny(OpBuilder &builder, Location loc,
                     const FragmentTarget &target, Value value, Value lane);

/// A mask of `width` bits, the first `count` (index) of which are set.
Value emitMask(OpBuilder &builder, Location loc, Value count, int64_t width);

/// Whether `emitTransposedTiles` can make such tiles.
bool canTransposeTiles(const TileLayout &layout);
/// The tiles of a fragment that memory holds column by column, for a subgroup
/// of one lane. `load` reads `count` elements of a column from a row on.
SmallVector<Value> emitTransposedTiles(
    OpBuilder &builder, Location loc, const TileLayout &layout,
    function_ref<Value(int64_t column, int64_t row, int64_t count)> load);

/// The number of the `width` elements from `position` on in the last two
/// dimensions of `memory` that are in bounds (index).
Value emitCountInBounds(OpBuilder &builder, Location loc, Value memory,
                        std::array<Value, 2> position, int64_t width);

/// The alignment in bytes of an access to `width` elements whose rows have the
/// alignment `known`: the full width if the chip requires aligned accesses.
/// Empty for packed elements that may start in the middle of a byte.
llvm::MaybeAlign getAccessAlignment(Type element, int64_t width, int64_t known,
                                    bool alignedAccess);

/// The k-packed layout of a tile, see KPackedTiles.cpp: words of several
/// elements of a column, in lines of several columns.
struct KPacking {
  int64_t rows, columns;
};

/// The attribute `tessera.k_packed` of `op`, if present: on copies to a tile
/// of this layout, and on loads from it.
std::optional<KPacking> getKPacking(Operation *op);

/// Sets `tessera.k_packed` for the tiles under `root` that can have this
/// layout, on chips that use it.
void markKPackedTiles(Operation *root, const Chip &chip);

/// A view of `memory` with one more dimension. The word of rows `r` and
/// following, a multiple of P, and column `c` starts at `c / B, r, c mod B * P`
/// of its last three dimensions. (Rows of the view overlap.)
Value emitKPackedView(OpBuilder &builder, Location loc, Value memory,
                      KPacking by);

/// The number of threads that share a copy, if the kernel states it.
std::optional<int64_t> getCopyThreads(Operation *op);

/// The column, within a row or its panel, in which a swizzled memory of `type`
/// stores an element of `row` whose logical column there is `col`
/// (Swizzle.cpp).
Value emitSwizzledColumn(OpBuilder &builder, Location loc, MemRefType type,
                         Value row, Value col);

/// The number of elements that a thread loads at once in an async copy to LDS;
/// empty for other copies.
std::optional<int64_t> getDirectWidth(AsyncCopyOp op);

/// The number of loads of one thread that may be in flight after a wait, if its
/// kernel has such copies.
std::optional<int64_t> getLdsLoads(WaitOp op);

/// Marks the copies under `root` that can be async copies to LDS, and the waits
/// of their kernels. If all copies are requested to be such, emits a remark
/// with the reason for each one that cannot.
void markLdsCopies(Operation *root, const Chip &chip,
                   const CompileFlags &flags);

/// Emits a marked copy. Returns false if the target has no such loads.
bool emitLdsCopy(OpBuilder &builder, AsyncCopyOp op,
                 const FragmentTarget &target);

/// Whether consecutive elements of the last dimension are adjacent in memory.
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
