//===- Simt.h - Kernels of plain threads ------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The common part of the passes that create kernels without fragments: code for
// one point of an iteration space or for several consecutive ones
// (SimtBody.cpp, SimtLoops.cpp), reductions by many threads
// (SimtReduction.cpp), and groups of reductions and element-wise ops of rows
// (SimtRows.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_LINALGTOGPU_SIMT_H
#define LIB_CONVERSION_LINALGTOGPU_SIMT_H

#include "Conversion/LinalgToGPU/RowGroups.h"
#include "Dialect/Tessera/Utils/IndexMath.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include <functional>
#include <optional>

namespace mlir::tessera::simt {

/// A memref, and where a point of the iteration space finds its element.
struct Operand {
  Value memory;
  AffineMap map;
};

/// A point of an iteration space; or `width` consecutive points along dimension
/// `along`, the first of which is `index`.
struct Position {
  llvm::SmallVector<Value> index;
  unsigned along = 0;
  int64_t width = 1;
  /// The alignment of accesses in bytes. 0: that of a first index that is a
  /// multiple of 16.
  int64_t alignment = 0;
};

/// The block's argument for `operand` of `op`, if it is read.
BlockArgument getReadArgument(linalg::LinalgOp op, OpOperand &operand);

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

/// Multiplies the constants in `sizes` at `dims`; empty if one is unknown.
std::optional<int64_t> getStaticProduct(ArrayRef<Value> sizes,
                                        ArrayRef<unsigned> dims);

/// A one-dimensional launch along x, with the insertion point in its body.
gpu::LaunchOp createLaunch(ImplicitLocOpBuilder &builder, Value gridX,
                           Value gridY, int64_t threads);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The dimension along which `operand` is contiguous in memory, if any. If an
/// index is a sum, the first of `preferred` that is part of it.
std::optional<unsigned> getFastestDim(const Operand &operand,
                                      ArrayRef<unsigned> preferred);

/// How `operand` moves along dimension `dim`.
enum class Movement { None, Contiguous, Strided };
Movement getMovement(const Operand &operand, unsigned dim);

/// Whether a vector in memory is its elements in order, without gaps: not one
/// of booleans, which are bits.
bool isDense(Type element);

/// The most points along `dim` that one access to each of `operands` can cover:
/// a power of two, as wide as the chip's accesses if all operands that move are
/// contiguous and, if the chip requires it, provably aligned (for a first index
/// that is a multiple of the width); 1 otherwise. Those of `anywhere` need not
/// be aligned: they are accessed in several pieces.
int64_t getVectorWidth(ArrayRef<Operand> operands, unsigned dim,
                       const Chip &chip, ArrayRef<Operand> anywhere = {});

/// Loads `position.width` elements: a scalar, or a vector for a width above
/// one.
Value emitLoad(ImplicitLocOpBuilder &builder, const Operand &operand,
               const Position &position);

/// Stores a scalar, or `position.width` elements.
void emitStore(ImplicitLocOpBuilder &builder, Value value,
               const Operand &operand, const Position &position);

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Whether `body` can be cloned for several points at once.
bool canVectorize(Block &body);

/// Clones the ops of `body`, except the terminator and `except`, for the points
/// of `position`, under `mapping` (of the arguments to scalars or vectors).
void cloneBody(ImplicitLocOpBuilder &builder, Block &body,
               const Position &position, IRMapping &mapping,
               Operation *except = nullptr);

/// Clones an element-wise op on scalars for vectors of `width` elements.
Operation *cloneWide(ImplicitLocOpBuilder &builder, Operation &op,
                     ValueRange operands, int64_t width);

/// The most points along `dim` for which `body` can be cloned although it has
/// loops and reads memory by itself, as a window does: each load whose last
/// index is that of the dimension becomes one access. Nothing if it depends on
/// the index in another way, or has other ops with regions.
std::optional<int64_t> getVectorWidthOfLoops(Block &body, unsigned dim,
                                             const Chip &chip);

/// The last of `dims` along which a window of `body` slides: the index of a
/// load depends on it and on an iteration of a loop.
std::optional<unsigned> getSlidingDim(Block &body, ArrayRef<unsigned> dims);

/// Whether the only loop of `body` that is in no other one has few iterations,
/// and the windows slide along `dim` by it.
bool slidesByOuterLoop(Block &body, unsigned dim);

/// The greatest distance of the windows of adjacent points along `dim`, over
/// the loads of `body`; 1 if it is not known.
int64_t getSlidingStride(Block &body, unsigned dim);

/// Consecutive points along a dimension of `extent` points, a multiple of
/// `width`, each of which is a position of its own. Their windows overlap.
struct Strip {
  int64_t width = 1, extent = 1;
};

/// The most points along `dim`, of `extent` points, that a strip can have, if
/// the windows of `body` slide along it and are contiguous in memory; nothing
/// otherwise.
std::optional<int64_t> getStripWidth(Block &body, unsigned dim, int64_t extent,
                                     const Chip &chip);

/// Positions along a dimension by which windows slide by the outer loop
/// (`slidesByOuterLoop`), each of them with equally many along others; adjacent
/// windows are `stride` elements apart.
struct Lines {
  int64_t count = 1, stride = 1;
};

/// Clones the ops of such a body, except the terminator, for the points of
/// each of `positions`, which have the same dimension and width, under its
/// mapping (of the arguments). Loops with at most `mostOfWindow` iterations,
/// those of loops in them included, are unrolled; so is the outer one for
/// several lines. The positions may be those of strips, one after the other, or
/// of lines, without strips.
void cloneLoops(ImplicitLocOpBuilder &builder, Block &body,
                ArrayRef<Position> positions,
                MutableArrayRef<IRMapping> mappings, const Strip &strip,
                const Lines &lines, int64_t mostOfWindow, const Chip &chip);

/// The indices along dimension `dim` of the points of `position`.
Value emitIndex(ImplicitLocOpBuilder &builder, const Position &position,
                unsigned dim);

/// `value`, repeated if `position` has several points and it is a scalar.
Value broadcast(ImplicitLocOpBuilder &builder, Value value, int64_t width);

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// A reduction over some dimensions of an iteration space; several at once, if
/// it has several results.
struct Reduction {
  /// The combiner of one result, and its initial value.
  struct Result {
    Type type;
    vector::CombiningKind kind;
    TypedAttr identity;
  };

  explicit Reduction(Location loc) : loc(loc) {}

  Location loc;
  /// The iteration space: extents on the host, and the dimensions of the
  /// results and of the reduction, slowest first.
  llvm::SmallVector<Value> sizes;
  llvm::SmallVector<unsigned> parallel, reduction;
  /// The operands read at each point, and those read or written at the end.
  llvm::SmallVector<Operand> operands, outputs;
  llvm::SmallVector<Result> results;
  /// Whether `accumulate` can do several points at once, and `finish`.
  bool vectorizable = true, vectorFinish = true;
  /// Whether it may use two kernels.
  bool mayBeSplit = true;
  /// The steps that a thread should have at least where more workgroups share a
  /// reduction of columns, if they are other than usual.
  std::optional<int64_t> leastStepsOfPart;
  /// Combines the accumulators (scalars, or vectors of the position's width)
  /// with the elements at `position`.
  std::function<llvm::SmallVector<Value>(ImplicitLocOpBuilder &,
                                         const Position &, ValueRange)>
      accumulate;
  /// Stores the reduced values; runs once for each point of `parallel`.
  std::function<void(ImplicitLocOpBuilder &, const Position &, ValueRange)>
      finish;
};

/// A description of how a reduction was lowered.
struct ReductionReport {
  std::string how;
  /// The kernel that reads the operands.
  gpu::LaunchOp launch;
};

/// Emits `reduction` as one kernel, or two where the first leaves partial
/// results. The order in which elements are combined depends on nothing but the
/// sizes.
ReductionReport emitReduction(OpBuilder &builder, const Reduction &reduction,
                              const Chip &chip);

/// The operation of `gpu.subgroup_reduce` that combines like `kind`.
gpu::AllReduceOperation toAllReduce(vector::CombiningKind kind);

/// For reductions, the scalars with which their outputs begin; null where the
/// start is in memory.
using ReductionStarts = const DenseMap<Operation *, llvm::SmallVector<Value>> &;

/// Replaces the ops of `group` by one kernel.
void emitRowGroup(const RowGroup &group, ReductionStarts starts,
                  const Chip &chip);

} // namespace mlir::tessera::simt

#endif // LIB_CONVERSION_LINALGTOGPU_SIMT_H
