//===- TileSharing.h - Workgroups that share tiles --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_TILESHARING_H
#define CONVERSION_TESSERATONVVM_TILESHARING_H

#include "BulkInstructions.h"

namespace mlir::tessera {

/// The cluster of a kernel whose workgroups share tiles of operands
/// (`tessera.sharers`), or one workgroup alone.
class TileSharing {
public:
  explicit TileSharing(gpu::GPUFuncOp kernel);

  bool isUsed() const { return m * n > 1; }
  /// The number of workgroups that read the data loaded by one of them,
  /// including itself.
  int64_t countReaders() const { return m + n - 1; }

  /// Computes the members below. Executed by all threads.
  void emitSetUp(OpBuilder &builder);
  /// The part of the tile of `op` that this workgroup loads for all workgroups
  /// that share it; empty if the tile is not shared.
  std::optional<SharedTile> getShare(CopyOp op) const;
  /// The workgroup whose slots lane i of a subgroup releases (i32), for as many
  /// lanes as there are readers.
  Value getReleased() const { return released; }
  /// A mask of all of these workgroups (i16); null if there are no others.
  Value emitReleasedMask(OpBuilder &builder);
  /// Waits for all threads of the cluster. `aligned`: those of a subgroup are
  /// together.
  void emitMeeting(OpBuilder &builder, bool aligned);

private:
  gpu::GPUFuncOp kernel;
  int64_t m = 1, n = 1;
  /// The workgroup's position along M and N (i32).
  Value positionM, positionN;
  /// The shares of lhs and rhs.
  std::array<SharedTile, 2> shares;
  Value released;
};

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_TILESHARING_H
