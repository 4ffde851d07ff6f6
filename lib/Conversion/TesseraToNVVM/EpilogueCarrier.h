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

  /// `plan` with copies that `canRun` has found fit. Two mbarriers of
  /// `barriers` are its own, from `firstBarrier` on.
  EpilogueCarrier(gpu::GPUFuncOp kernel, StagingPlan &plan,
                  BulkInstructions &instructions, Value barriers,
                  int64_t firstBarrier)
      : kernel(kernel), plan(plan), instructions(instructions),
        barriers(barriers), firstBarrier(firstBarrier), loc(kernel.getLoc()) {}

  static constexpr int64_t numBarriers = 2;

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
  Value emitTile(OpBuilder &builder, size_t depth, Value parity,
                 IRMapping &mapping, RepeatFn repeat);
  Value number(OpBuilder &builder, int64_t value);
  Value flip(OpBuilder &builder, Value parity);
  /// The mbarriers: the input is loaded, the output is written.
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
