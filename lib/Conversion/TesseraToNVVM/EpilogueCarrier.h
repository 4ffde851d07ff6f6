//===- EpilogueCarrier.h - A subgroup for the epilogue's tiles --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_TESSERATONVVM_EPILOGUECARRIER_H
#define CONVERSION_TESSERATONVVM_EPILOGUECARRIER_H

#include "BulkInstructions.h"
#include "Dialect/Tessera/Transforms/BulkCopies.h"

namespace mlir::tessera {

/// Brings what the epilogue reads and takes away what it has made, by bulk
/// copies of one thread.
class EpilogueCarrier {
public:
  /// Emits a value of the others' once more, for the carrier.
  using RepeatFn = function_ref<Value(OpBuilder &, Value)>;

  /// `plan` with copies that `canRun` has found fit. Two mbarriers of
  /// `barriers` are its own, from `firstBarrier` on.
  EpilogueCarrier(gpu::GPUFuncOp kernel, StagingPlan &plan,
                  BulkInstructions &instructions, Value barriers,
                  int64_t firstBarrier)
      : kernel(kernel), plan(plan), instructions(instructions),
        barriers(barriers), firstBarrier(firstBarrier), loc(kernel.getLoc()) {}

  static constexpr int64_t numBarriers = 2;

  /// Whether it is for the epilogue of `plan`. Otherwise `why` says what is in
  /// the way; it stays empty where nothing is brought.
  static bool canRun(const StagingPlan &plan, const Chip &chip,
                     std::string &why);
  /// What its copies and loops are computed from.
  static SmallVector<Value> getNeeded(const StagingPlan &plan);

  /// Sets up its mbarriers, for so many subgroups that compute.
  void emitSetUp(OpBuilder &one, int64_t subgroups);
  /// All that the carrier does, by one thread; `mapping` receives what its
  /// loops count with.
  void emit(OpBuilder &builder, IRMapping &mapping, RepeatFn repeat);
  /// The others wait for mbarriers rather than copy. Loops around
  /// are made anew.
  void convertOthers();

private:
  Value emitTile(OpBuilder &builder, size_t depth, Value parity,
                 IRMapping &mapping, RepeatFn repeat);
  Value number(OpBuilder &builder, int64_t value);
  Value flip(OpBuilder &builder, Value parity);
  /// The mbarriers: what is read has come, what is made is there.
  Value emitCome(OpBuilder &builder);
  Value emitMade(OpBuilder &builder);

  gpu::GPUFuncOp kernel;
  StagingPlan &plan;
  BulkInstructions &instructions;
  Value barriers;
  int64_t firstBarrier;
  Location loc;
};

} // namespace mlir::tessera

#endif // CONVERSION_TESSERATONVVM_EPILOGUECARRIER_H
