//===- LowerWarpRegions.cpp - Regions of one lane as conditions -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's lowering of `gpu.warp_execute_on_lane_0`, of which upstream has
// patterns and no pass.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/Transforms/VectorDistribution.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERALOWERWARPREGIONS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-lower-warp-regions"

using namespace mlir;
using namespace mlir::tessera;

STATISTIC(numLowered, "Number of regions that one lane executes");

namespace {
struct LowerWarpRegionsPass
    : public tessera::impl::TesseraLowerWarpRegionsBase<LowerWarpRegionsPass> {
  void runOnOperation() override {
    WalkResult result =
        getOperation()->walk([](gpu::WarpExecuteOnLane0Op op) -> WalkResult {
          if (!op.getArgs().empty() || op.getNumResults() != 0)
            return op->emitOpError()
                   << "with operands or results is not supported on any "
                      "target: pass the values through memory";
          LDBG() << op->getLoc() << ": becomes a condition";
          ++numLowered;
          return WalkResult::advance();
        });
    if (result.wasInterrupted())
      return signalPassFailure();
    // Operands and results alone need memory and synchronization.
    RewritePatternSet patterns(&getContext());
    vector::populateWarpExecuteOnLane0OpToScfForPattern(
        patterns, vector::WarpExecuteOnLane0LoweringOptions());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};
} // namespace
