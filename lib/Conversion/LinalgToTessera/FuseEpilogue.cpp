//===- FuseEpilogue.cpp - Element-wise consumers into tessera.contract ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractionBody.h"
#include "Conversion/LinalgToTessera.h"
#include "Elementwise.h"
#include "FuseConsumers.h"

#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-linalg-to-tessera"

STATISTIC(numFusedConsumers, "Number of element-wise ops fused into epilogues");

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// Replaces `consumer(contract)` by `contract` with a longer epilogue, at the
/// position of the consumer.
struct FuseConsumer : public OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ContractOp op,
                                PatternRewriter &rewriter) const override {
    Value contraction = op.getResult();
    if (!contraction || contraction.use_empty())
      return rewriter.notifyMatchFailure(op, "its result is not used");
    auto consumer = dyn_cast<linalg::LinalgOp>(*contraction.user_begin());
    if (!consumer || consumer->getBlock() != op->getBlock() ||
        !llvm::all_of(contraction.getUsers(), [&](Operation *user) {
          return user == consumer.getOperation();
        }))
      return rewriter.notifyMatchFailure(
          op, "its users are not a single linalg op of the same block");
    return fuse(op, consumer, rewriter);
  }

private:
  static LogicalResult fuse(ContractOp op, linalg::LinalgOp consumer,
                            PatternRewriter &rewriter);
};
} // namespace

LogicalResult FuseConsumer::fuse(ContractOp op, linalg::LinalgOp consumer,
                                 PatternRewriter &rewriter) {
  if (!isElementwise(consumer) ||
      !canBeOutput(getElementTypeOrSelf(consumer->getResult(0).getType())))
    return rewriter.notifyMatchFailure(
        consumer, "not element-wise, or of an element type that fragments "
                  "do not support");
  Value contraction = op.getResult();

  // The map by which the consumer reads the contraction: a single permutation.
  AffineMap contractionMap;
  for (OpOperand &operand : consumer->getOpOperands()) {
    AffineMap map = consumer.getMatchingIndexingMap(&operand);
    if (operand.get() == contraction) {
      if (contractionMap && map != contractionMap)
        return rewriter.notifyMatchFailure(consumer,
                                           "reads the contraction by two maps");
      contractionMap = map;
    } else if (!canBeExtra(consumer, operand)) {
      return rewriter.notifyMatchFailure(
          consumer, "an operand cannot be an input of the epilogue");
    }
  }
  if (!contractionMap || !contractionMap.isPermutation())
    return rewriter.notifyMatchFailure(
        consumer, "does not read the contraction by a permutation");
  LDBG() << op.getLoc() << ": epilogue " << consumer.getLoc();
  ++numFusedConsumers;

  // The consumer's loops, as dimensions of the contraction.
  AffineMap outMap = op.getMap(2);
  SmallVector<unsigned> dims(contractionMap.getNumDims());
  for (unsigned r = 0; r < contractionMap.getNumResults(); ++r)
    dims[contractionMap.getDimPosition(r)] = outMap.getDimPosition(r);
  fuseConsumers(op, Consumer{consumer, dims, std::nullopt}, rewriter);
  return success();
}

void mlir::tessera::populateFuseEpiloguePatterns(RewritePatternSet &patterns) {
  patterns.add<FuseConsumer>(patterns.getContext());
}
