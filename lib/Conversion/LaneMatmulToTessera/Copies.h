//===- Copies.h - Copies by all threads of a workgroup ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_CONVERSION_LANEMATMULTOTESSERA_COPIES_H
#define LIB_CONVERSION_LANEMATMULTOTESSERA_COPIES_H

#include "LaneElements.h"

#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::tessera {

/// A tile that the threads of a workgroup copy to workgroup memory.
struct WorkgroupCopy {
  /// The store, or the asynchronous copy.
  Operation *op;
  Value source, target;
  /// The first element of the tile, in forms of the workgroup.
  SmallVector<LaneForm> sourceIndices, targetIndices;
  int64_t rows, cols;
  /// The alignment of its rows in bytes; 0 if unknown.
  int64_t alignment = 0;
};

/// Finds copies of whole tiles to workgroup memory.
class WorkgroupCopies {
public:
  WorkgroupCopies(gpu::LaunchOp launch, int64_t subgroupSize,
                  Obstacle &obstacle)
      : launch(launch), subgroupSize(subgroupSize), obstacle(obstacle) {}

  /// Fails if a store to workgroup memory of a loaded value, or an asynchronous
  /// copy, is not a copy of a tile, or if no barriers separate it from loads.
  LogicalResult run();

  /// Replaces the copies by `tessera.copy`.
  void emit();

  /// The memories that are copied from.
  SmallVector<Value> getSources() const {
    return llvm::map_to_vector(
        copies, [](const WorkgroupCopy &copy) { return copy.source; });
  }

  /// Whether `op` is the store of a copy, or copies asynchronously.
  bool isCopy(Operation *op) const { return ops.contains(op); }

private:
  FailureOr<bool> findAccesses(Operation *op, LaneAccess &source,
                               LaneAccess &target);
  LogicalResult match(Operation *op);
  /// The offsets of all elements of all threads from those of the first one of
  /// the first thread: rows and columns.
  std::optional<std::vector<std::pair<int64_t, int64_t>>>
  getOffsets(const LaneAccess &access) const;
  LogicalResult checkBarriers(const WorkgroupCopy &copy);
  bool mayOverlap(const WorkgroupCopy &a, const WorkgroupCopy &b) const;

  gpu::LaunchOp launch;
  int64_t subgroupSize;
  std::optional<LaneForms> forms;
  Obstacle &obstacle;
  std::vector<WorkgroupCopy> copies;
  llvm::SmallPtrSet<Operation *, 8> ops;
};

} // namespace mlir::tessera

#endif // LIB_CONVERSION_LANEMATMULTOTESSERA_COPIES_H
