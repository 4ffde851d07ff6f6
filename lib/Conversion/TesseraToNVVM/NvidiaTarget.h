//===- NvidiaTarget.h - Hooks of the NVIDIA target --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_NVIDIATARGET_H
#define CONVERSION_TESSERATONVVM_NVIDIATARGET_H

#include "Conversion/FragmentToVector.h"

namespace mlir::tessera {

/// Compute capability of an NVIDIA chip, as 10 * major + minor.
int64_t getComputeCapability(const Chip &chip);

class NvidiaTarget : public FragmentTarget {
public:
  explicit NvidiaTarget(const Chip &chip);

  /// MmaSync.cpp
  Value emitMma(OpBuilder &builder, Location loc, const MatrixInstruction &row,
                MmaOp op, Value a, Value b, Value acc) const override;

  /// Wgmma.cpp
  SmallVector<Value> emitMatmul(OpBuilder &builder, Location loc,
                                const MatrixInstruction &row, MmaOp op,
                                ValueRange a, ValueRange b,
                                ValueRange acc) const override;
  SmallVector<Value> emitAwait(OpBuilder &builder, Location loc, AwaitOp op,
                               ValueRange matmul,
                               ValueRange kept) const override;
  Value emitMemoryOperand(OpBuilder &builder, Location loc, LoadOp op,
                          const TileLayout &layout, Value row,
                          Value col) const override;

  void emitSubgroupBarrier(OpBuilder &builder, Location loc) const override;

  /// Cluster.cpp
  SmallVector<Value> emitClusterSum(OpBuilder &builder, SumPartsOp op,
                                    ValueRange values,
                                    int64_t rows) const override;

  /// LdMatrix.cpp
  Value emitTileLoad(OpBuilder &builder, Location loc, LoadOp op,
                     const TileLayout &layout, Value memory, ValueRange indices,
                     int64_t alignment) const override;
  bool emitTileStore(OpBuilder &builder, Location loc, StoreOp op,
                     const TileLayout &layout, Value tile, ValueRange indices,
                     int64_t alignment) const override;

  /// CpAsync.cpp
  bool emitAsyncCopy(OpBuilder &builder, Location loc, Value source,
                     ValueRange sourceIndices, Value target,
                     ValueRange targetIndices, int64_t width,
                     Value count) const override;
  void emitAsyncCommit(OpBuilder &builder, Location loc) const override;
  void emitAsyncWait(OpBuilder &builder, Location loc, int64_t pending,
                     std::optional<int64_t> ldsLoads) const override;

private:
  /// MmaSync.cpp
  Value emitRepeated(OpBuilder &builder, Location loc,
                     const MatrixInstruction &row, MmaOp op, Value a, Value b,
                     Value acc) const;
  Value emitPairs(OpBuilder &builder, Location loc,
                  const MatrixInstruction &row, MmaOp op, Value a, Value b,
                  Value acc) const;

  /// Compute capability, as 10 * major + minor.
  int64_t level;
};

/// Makes this thread's writes to workgroup memory visible, after a barrier, to
/// bulk copies and to instructions that read their operands there (PTX ISA,
/// "fence.proxy.async").
void emitProxyFence(OpBuilder &builder, Location loc);

/// Makes the threads' writes to workgroup memory visible to instructions that
/// read their operands there after a barrier, by inserting this fence before
/// it.
void fenceMemoryOperands(Operation *root);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_NVIDIATARGET_H
