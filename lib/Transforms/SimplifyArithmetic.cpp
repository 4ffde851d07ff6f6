//===- SimplifyArithmetic.cpp - Canonical forms, all but the loops' -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERASIMPLIFYARITHMETIC
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-simplify-arithmetic"

using namespace mlir;
using namespace mlir::tessera;

namespace {
struct SimplifyArithmeticPass
    : public tessera::impl::TesseraSimplifyArithmeticBase<
          SimplifyArithmeticPass> {
  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(set);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      if (!op.hasInterface<RegionBranchOpInterface>())
        op.getCanonicalizationPatterns(set, context);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    // As for the canonicalizer, not reaching a fixed point is not an error.
    GreedyRewriteConfig config;
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(applyPatternsGreedily(getOperation(), patterns, config)))
      LDBG() << getOperation()->getLoc() << ": no fixed point was reached";
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
