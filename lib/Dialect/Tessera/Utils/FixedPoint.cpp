//===- FixedPoint.cpp - Patterns that must reach a fixed point ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/FixedPoint.h"

using namespace mlir;

LogicalResult tessera::applyToFixedPoint(Operation *root,
                                         RewritePatternSet &&patterns,
                                         llvm::StringRef what,
                                         const GreedyRewriteConfig &config) {
  if (succeeded(applyPatternsGreedily(root, std::move(patterns), config)))
    return success();
  return root->emitError() << "compiler defect: the patterns for " << what
                           << " still match after the last iteration";
}
