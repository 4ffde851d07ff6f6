//===- FixedPoint.h - Patterns that must reach a fixed point ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_FIXEDPOINT_H
#define DIALECT_TESSERA_UTILS_FIXEDPOINT_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tessera {

/// Applies the patterns to the ops below `root` until none matches. The greedy
/// driver fails silently after too many iterations; this emits an error at
/// `root` then. `what` names the patterns: "vector lowering".
LogicalResult
applyToFixedPoint(Operation *root, RewritePatternSet &&patterns,
                  llvm::StringRef what,
                  const GreedyRewriteConfig &config = GreedyRewriteConfig());

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_FIXEDPOINT_H
