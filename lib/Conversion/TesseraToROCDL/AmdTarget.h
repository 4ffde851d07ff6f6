//===- AmdTarget.h - Hooks of the AMD target --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATOROCDL_AMDTARGET_H
#define CONVERSION_TESSERATOROCDL_AMDTARGET_H

#include "Conversion/FragmentToVector.h"

namespace mlir::tessera {

class AmdTarget : public FragmentTarget {
public:
  explicit AmdTarget(const Chip &chip) : FragmentTarget(chip) {}

  /// Mfma.cpp (subgroups of 64 lanes), Wmma.cpp (of 32), or Dot.cpp where the
  /// row is of no matrix unit.
  Value emitMma(OpBuilder &builder, Location loc, const MatrixInstruction &row,
                MmaOp op, Value a, Value b, Value acc) const override;

  /// TransposingReads.cpp, or else QuadTranspose.cpp
  Value emitTileLoad(OpBuilder &builder, Location loc, LoadOp op,
                     const TileLayout &layout, Value memory, ValueRange indices,
                     int64_t alignment) const override;

  /// LdsLoads.cpp
  bool emitLdsLoad(OpBuilder &builder, Location loc, const LdsCopy &copy,
                   std::array<Value, 2> position, int64_t rows, Value begin,
                   int64_t number) const override;
  void emitAsyncWait(OpBuilder &builder, Location loc, int64_t pending,
                     std::optional<int64_t> ldsLoads) const override;

  /// BufferAccess.cpp
  Value emitTileRead(OpBuilder &builder, Location loc, Value memory,
                     ValueRange origin, ValueRange position,
                     int64_t width) const override;
  Value emitGuardedRead(OpBuilder &builder, Location loc, Value memory,
                        ValueRange indices, int64_t width,
                        Value whole) const override;
  bool emitGuardedWrite(OpBuilder &builder, Location loc, Value value,
                        Value memory, ValueRange indices,
                        Value whole) const override;

  void emitSubgroupBarrier(OpBuilder &builder, Location loc) const override;

  /// One v_perm_b32.
  Value emitBytePermute(OpBuilder &builder, Location loc, Value low, Value high,
                        uint32_t selector) const override;

  /// Keeps the loads of a copy in place, before the matmuls with which they
  /// overlap: the scheduler would otherwise delay them until registers are
  /// free.
  void emitAsyncCommit(OpBuilder &builder, Location loc) const override;

  /// Keeps the use of loaded data after the matmuls, which would otherwise wait
  /// for the loads: the scheduler underestimates the latency of memory.
  void emitLateUse(OpBuilder &builder, Location loc) const override;

  /// One ds_bpermute. The lane is one of the subgroup.
  Value emitShuffle(OpBuilder &builder, Location loc, Value value,
                    Value lane) const override;

private:
  /// Reads a tile with transposing instructions of the chip. Null if there are
  /// none for it.
  Value emitTransposingRead(OpBuilder &builder, Location loc, LoadOp op,
                            const TileLayout &layout, Value memory,
                            ValueRange indices, int64_t alignment) const;
  /// The same if lanes exchange the elements that they have read.
  Value emitQuadTranspose(OpBuilder &builder, Location loc, LoadOp op,
                          const TileLayout &layout, Value memory,
                          ValueRange indices, int64_t alignment) const;
};

/// v_perm_b32: byte i of the result (i32) is the one whose number is byte i of
/// `selector`, from 0 on of `low` and from 4 on of `high`.
Value emitPermute(OpBuilder &builder, Location loc, Value high, Value low,
                  Value selector);

/// The position in memory at `first` and `step` (row, column) from the tile of
/// `op` at `indices`, permuted if the memory is swizzled.
SmallVector<Value> emitTilePosition(OpBuilder &builder, Location loc, LoadOp op,
                                    ValueRange indices,
                                    std::array<Value, 2> first,
                                    std::pair<int64_t, int64_t> step);

/// A v_mfma instruction.
Value emitMfma(OpBuilder &builder, Location loc, const MatrixInstruction &row,
               MmaOp op, Value a, Value b, Value acc);

/// A v_wmma instruction.
Value emitWmma(OpBuilder &builder, Location loc, const MatrixInstruction &row,
               MmaOp op, Value a, Value b, Value acc);

/// v_dot2 or v_dot4 instructions. Null where `row` is neither.
Value emitDot(OpBuilder &builder, Location loc, const MatrixInstruction &row,
              Value a, Value b, Value acc);

/// Replaces barriers that order accesses to workgroup memory alone by those
/// that wait for nothing else. Expects memory accesses as ops of other dialects
/// than Tessera's.
void relaxBarriers(Operation *kernel);

/// Gives the loads to workgroup memory of `kernel` that read a buffer their
/// constants as scalar and immediate offsets. Runs after `relaxBarriers`, which
/// needs their memrefs.
void lowerLdsLoads(Operation *kernel);

/// Specifies the issue order of matmuls and LDS reads in each scheduling region
/// of the kernel. For MFMA only: WMMA does not benefit.
void orderMatmuls(Operation *kernel);

/// Emits an error for each function of f64 under `root` without instructions,
/// and expands functions of f32 that LLVM's back end lacks to others.
LogicalResult checkMath(Operation *root);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATOROCDL_AMDTARGET_H
