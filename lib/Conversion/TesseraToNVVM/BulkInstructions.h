//===- BulkInstructions.h - The instructions of bulk copies -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_BULKINSTRUCTIONS_H
#define CONVERSION_TESSERATONVVM_BULKINSTRUCTIONS_H

#include "Target/NVIDIA/BulkWindows.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::tessera {

/// The part of a tile that this workgroup loads for several workgroups of its
/// cluster.
struct SharedTile {
  int64_t parts = 1;
  /// The index of this workgroup's part, and a mask of the workgroups that
  /// receive it, a bit each (i16).
  Value part, mask;
};

/// Makes the instructions of one kernel's bulk copies, and its tensor maps.
class BulkInstructions {
public:
  BulkInstructions(gpu::GPUFuncOp kernel, const Chip &chip)
      : kernel(kernel), chip(chip) {}

  /// Allocates workgroup memory for `count` mbarriers.
  Value addBarriers(Location loc, int64_t count);
  /// The pointer to mbarrier `number` in workgroup memory.
  static Value emitPointer(OpBuilder &builder, Location loc, Value barriers,
                           Value number);
  /// Sets up mbarrier `number`, whose phases are over after `arrivals`.
  void emitInit(OpBuilder &builder, Location loc, Value barriers,
                int64_t number, int64_t arrivals);

  /// Announces a number of bytes to mbarrier `number`, which counts as one
  /// arrival.
  void emitExpectation(OpBuilder &builder, Location loc, Value barriers,
                       Value number, int64_t bytes);
  /// Arrives at mbarrier `number`, once for the subgroup. `when` (i1): if so;
  /// null: always.
  void emitArrival(OpBuilder &builder, Location loc, Value barriers,
                   Value number, Value when = Value());
  /// Arrives at mbarrier `number` of `count` workgroups of the cluster: lane i
  /// at that of the workgroup that its `rank` (i32) selects.
  void emitArrivals(OpBuilder &builder, Location loc, Value barriers,
                    Value number, Value rank, int64_t count,
                    Value when = Value());
  /// Waits until the phase of that parity (i32) of mbarrier `number` is over.
  void emitWait(OpBuilder &builder, Location loc, Value barriers, Value number,
                Value parity);

  /// Loads the tile of `op` to slot `slot` of `memory`, or this workgroup's
  /// part of it to all workgroups that share it; mbarrier `number` counts its
  /// bytes. Executed by one thread.
  void emitLoad(OpBuilder &builder, CopyOp op, ValueRange sourceIndices,
                Value memory, Value slot, Value barriers, Value number,
                const SharedTile *shared = nullptr);
  /// Stores slot `slot` of `memory`, the tile of `op`, to its target, as a bulk
  /// group of its own. Executed by one thread.
  void emitStore(OpBuilder &builder, CopyOp op, ValueRange targetIndices,
                 Value memory, Value slot);
  /// Waits until the thread's stores have read workgroup memory.
  void emitStoreWait(OpBuilder &builder, Location loc);

  /// Has the engine read the descriptions of all memories that it copies from
  /// or to. By one thread.
  void emitPrefetches(OpBuilder &builder, Location loc);
  /// The tensor maps that launches must create (`tessera.tensor_maps`).
  ArrayRef<Attribute> getMaps() const { return maps; }

private:
  /// The address of the tensor map by which `op` copies boxes of the given rows
  /// and columns from or to `argument`, by windows over it if `op` has some.
  Value emitMap(OpBuilder &builder, CopyOp op, Value argument,
                std::array<int64_t, 2> tileBox,
                const std::optional<BulkWindow> &window = std::nullopt);
  /// Calls `emit` for each panel of the tile, or of the shared part of it, with
  /// the pointer to it in workgroup memory, and its position in the tensor,
  /// innermost first (i32).
  void forEachPanel(OpBuilder &builder, CopyOp op, Value first,
                    ValueRange indices, const SharedTile *shared,
                    function_ref<void(Value, ValueRange)> emit);

  gpu::GPUFuncOp kernel;
  const Chip &chip;
  SmallVector<Attribute> maps;
};

/// Whether this is thread `number` of the workgroup (i1).
Value emitIsThread(OpBuilder &builder, gpu::GPUFuncOp kernel, int64_t number);

/// Bytes of the tile that `op` copies.
int64_t getTileBytes(CopyOp op);

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_BULKINSTRUCTIONS_H
