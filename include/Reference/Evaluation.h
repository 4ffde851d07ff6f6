//===- Evaluation.h - The reference, and what coarse sums lose --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef REFERENCE_EVALUATION_H
#define REFERENCE_EVALUATION_H

#include "Reference/Compare.h"
#include "Reference/Interpreter.h"

namespace mlir::tessera::reference {

/// A run of the reference. Where the program has coarse sums, there are three
/// more, two with emulated sums and one with a fault.
struct Evaluation {
  struct Arrays {
    SmallVector<Array> arguments, results;
    const Array &get(bool isResult, unsigned index) const {
      return isResult ? results[index] : arguments[index];
    }
  };
  Outcome outcome;
  /// As the run leaves them.
  Arrays arrays;
  /// For `CoarseSums::EmulatedForward` and `EmulatedBackward`; empty without
  /// coarse sums, and where the emulation is too much work.
  SmallVector<Arrays, 2> emulated;
  /// Why it is empty in the latter case.
  std::string missing;
  /// For `CoarseSums::WithoutStep`; empty if no sum has a step to leave out.
  std::optional<Arrays> withoutStep;

  /// The losses of a result or an argument, for `CompareOptions::losses`; empty
  /// without coarse sums.
  std::optional<CoarseLosses> getLosses(bool isResult, unsigned index) const;
};

/// Evaluates `entry`. The arguments are not changed.
Evaluation evaluate(func::FuncOp entry, ArrayRef<Array> arguments,
                    const Options &options);

} // namespace mlir::tessera::reference

#endif // REFERENCE_EVALUATION_H
