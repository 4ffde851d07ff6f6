//===- InitialValue.h - Where a sum starts ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef CONVERSION_LINALGTOTESSERA_INITIALVALUE_H
#define CONVERSION_LINALGTOTESSERA_INITIALVALUE_H

#include "Conversion/LinalgToTessera.h"
#include "Source.h"

namespace mlir::tessera {

/// Where the sum starts: `init`, or the old value of `output`, or zero and
/// `addend` in the epilogue.
struct InitialValue {
  Value init;
  Value output;
  std::optional<Source> addend;
};

/// Finds the initial value of the output of `op`, which matches `contraction`.
/// Erases a fill of a memref that is absorbed.
InitialValue findInitialValue(linalg::LinalgOp op,
                              const LinalgContraction &contraction,
                              RewriterBase &rewriter);

} // namespace mlir::tessera

#endif // CONVERSION_LINALGTOTESSERA_INITIALVALUE_H
