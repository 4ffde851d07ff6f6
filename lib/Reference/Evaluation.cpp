//===- Evaluation.cpp - The reference, and what coarse sums lose ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reference/Evaluation.h"

#include "Entry.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace mlir::tessera::reference;

/// The arguments, with memory that may be changed.
static SmallVector<Array> copyArguments(func::FuncOp entry,
                                        ArrayRef<Array> arguments) {
  SmallVector<Array> copies(arguments.begin(), arguments.end());
  for (auto [array, type] : llvm::zip(copies, entry.getArgumentTypes()))
    if (isa<BaseMemRefType>(type) && array.storage) {
      bool isRecorded = array.storage->written() != nullptr;
      array = array.clone();
      if (isRecorded)
        array.storage->recordWrites();
    }
  return copies;
}

Evaluation tessera::reference::evaluate(func::FuncOp original,
                                        ArrayRef<Array> arguments,
                                        const Options &options) {
  Source source(original);
  if (!source.entry) {
    Evaluation failure;
    failure.outcome =
        failAt(original, "the program cannot be lowered from TOSA");
    return failure;
  }
  Evaluation evaluation = evaluateLowered(source.entry, arguments, options);
  // Ops of a copy do not live longer.
  if (source.copy)
    evaluation.outcome.unspecified.clear();
  return evaluation;
}

Evaluation tessera::reference::evaluateLowered(func::FuncOp entry,
                                               ArrayRef<Array> arguments,
                                               const Options &options) {
  Evaluation evaluation;
  auto evaluateOnce = [&](CoarseSums sums, Evaluation::Arrays &arrays) {
    Options own = options;
    own.coarseSums = sums;
    arrays.arguments = copyArguments(entry, arguments);
    Outcome outcome = runLowered(entry, arrays.arguments, own);
    arrays.results = outcome.results;
    return outcome;
  };
  evaluation.outcome = evaluateOnce(CoarseSums::Bounded, evaluation.arrays);
  if (!evaluation.outcome.succeeded() || !evaluation.outcome.coarseBits)
    return evaluation;
  for (CoarseSums sums :
       {CoarseSums::EmulatedForward, CoarseSums::EmulatedBackward}) {
    Outcome outcome = evaluateOnce(sums, evaluation.emulated.emplace_back());
    if (outcome.succeeded())
      continue;
    evaluation.emulated.clear();
    evaluation.missing = "their emulation fails: " + outcome.message;
    return evaluation;
  }
  Evaluation::Arrays arrays;
  Outcome outcome = evaluateOnce(CoarseSums::WithoutStep, arrays);
  if (outcome.succeeded() && outcome.leftOutStep)
    evaluation.withoutStep = std::move(arrays);
  return evaluation;
}

std::optional<CoarseLosses> Evaluation::getLosses(bool isResult,
                                                  unsigned index) const {
  if (!outcome.coarseBits)
    return std::nullopt;
  CoarseLosses losses;
  losses.bits = outcome.coarseBits;
  losses.missing = missing;
  if (!missing.empty())
    return losses;
  losses.bounded = arrays.get(isResult, index);
  losses.forward = emulated[0].get(isResult, index);
  losses.backward = emulated[1].get(isResult, index);
  if (withoutStep)
    losses.withoutStep = withoutStep->get(isResult, index);
  return losses;
}
