//===- EpilogueCarrier.h - A subgroup for the epilogue's tiles --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_EPILOGUECARRIER_H
#define CONVERSION_TESSERATONVVM_EPILOGUECARRIER_H

#include "BulkInstructions.h"
#include "Target/NVIDIA/BulkCopies.h"

namespace mlir::tessera {

/// Loads the epilogue's input and stores its output by bulk copies that one
/// thread issues.
class EpilogueCarrier {
public:
  /// Emits a value of the others' once more, for the carrier.
  using RepeatFn = function_ref<Value(OpBuilder &, Value)>;

  /// `plan` with copies that `canRun` has found fit. `slots` is that of
  /// `countSlots`; mbarriers of `barriers` are its own, from `firstBarrier` on.
  EpilogueCarrier(gpu::GPUFuncOp kernel, StagingPlan &plan,
                  BulkInstructions &instructions, Value barriers,
                  int64_t firstBarrier, int64_t slots);

  /// The number of tiles in workgroup memory: two, if there is room, where the
  /// epilogue has an input, whose next tile is loaded meanwhile; otherwise one.
  static int64_t countSlots(const StagingPlan &plan, const Chip &chip);
  static int64_t countBarriers(int64_t slots) { return 2 * slots; }

  /// Whether it supports the epilogue of `plan`. Otherwise `why` receives the
  /// reason; it stays empty if nothing is loaded.
  static bool canRun(const StagingPlan &plan, const Chip &chip,
                     std::string &why);
  /// The values from which its copies and loops are computed.
  static SmallVector<Value> getNeeded(const StagingPlan &plan);

  /// Sets up its mbarriers, for the given number of consumer subgroups.
  void emitSetUp(OpBuilder &one, int64_t subgroups);
  /// Emits the whole work of the carrier, for one thread; `mapping` receives
  /// the induction variables of its loops.
  void emit(OpBuilder &builder, IRMapping &mapping, RepeatFn repeat);
  /// The others wait for mbarriers rather than copy. Loops around
  /// are made anew.
  void convertOthers();

private:
  /// The values that loops carry: the number of the tile, modulo twice the
  /// number of slots, as an i32. With two slots also whether a tile has not
  /// been stored yet (i1), and its target's indices.
  using State = SmallVector<Value>;

  State emitTile(OpBuilder &builder, size_t depth, State state,
                 IRMapping &mapping, RepeatFn repeat);
  /// Stores the tile of `state` that has not been stored yet, if there is one.
  void emitPending(OpBuilder &builder, const State &state);
  Value number(OpBuilder &builder, int64_t value);
  /// The next tile's number, and the one before, and a tile's slot (index) and
  /// parity.
  Value emitNext(OpBuilder &builder, Value tile);
  Value emitPrevious(OpBuilder &builder, Value tile);
  Value emitSlot(OpBuilder &builder, Value tile);
  Value emitParity(OpBuilder &builder, Value tile);
  /// The mbarriers of a slot: the input is loaded, the output is written.
  Value emitCome(OpBuilder &builder, Value slot);
  Value emitMade(OpBuilder &builder, Value slot);

  gpu::GPUFuncOp kernel;
  StagingPlan &plan;
  BulkInstructions &instructions;
  Value barriers;
  int64_t firstBarrier, slots;
  Location loc;
  /// The memory of the tiles, with a dimension for the slots if there are two.
  Value memory;
};

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_EPILOGUECARRIER_H
