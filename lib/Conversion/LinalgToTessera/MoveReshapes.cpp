//===- MoveReshapes.cpp - Reshapes out of the way of an epilogue ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   tessera.contract (64x48)                tessera.contract (64x48)
//         |                                        |
//   expand_shape (4x16x48)           ->     add (64x48), collapse_shape(x)
//         |                                        |
//   add (4x16x48), x                        expand_shape (4x16x48)
//
// After this, the consumer can become part of the epilogue.
//
//===----------------------------------------------------------------------===//

#include "Conversion/LinalgToTessera.h"
#include "Elementwise.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::tessera;

/// Whether `operand` of an element-wise op is a contraction's result, reshaped,
/// and nothing else uses that.
static bool isReshapedContraction(OpOperand *operand) {
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  Operation *reshape = operand->get().getDefiningOp();
  if (!consumer || !tessera::isElementwise(consumer) ||
      !isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
          reshape) ||
      !reshape->hasOneUse())
    return false;
  Operation *contraction = reshape->getOperand(0).getDefiningOp();
  return isa_and_nonnull<ContractOp>(contraction) && contraction->hasOneUse() &&
         contraction->getBlock() == consumer->getBlock();
}

namespace {
/// Reshapes move over generic ops.
struct GeneralizeConsumer : public OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp>(op) ||
        llvm::none_of(op->getOpOperands(), [](OpOperand &operand) {
          return isReshapedContraction(&operand);
        }))
      return rewriter.notifyMatchFailure(
          op, "generic already, or not of a reshaped contraction");
    return linalg::generalizeNamedOp(rewriter, op);
  }
};
} // namespace

void mlir::tessera::populateMoveReshapePatterns(RewritePatternSet &patterns) {
  patterns.add<GeneralizeConsumer>(patterns.getContext());
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns,
                                                    isReshapedContraction);
  linalg::populateFoldReshapeOpsByCollapsingPatterns(patterns,
                                                     isReshapedContraction);
  tensor::populateFoldTensorEmptyPatterns(patterns);
}
