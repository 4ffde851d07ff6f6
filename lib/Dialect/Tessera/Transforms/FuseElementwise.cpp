//===- FuseElementwise.cpp - Fewer, larger element-wise linalg ops --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAFUSEELEMENTWISE
#include "Dialect/Tessera/Transforms/Passes.h.inc"
} // namespace mlir::tessera

using namespace mlir;
using namespace mlir::tessera;

/// Whether a tensor has no elements.
static bool isEmpty(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
}

/// What computes a tensor without elements computes nothing, what pads it is
/// all padding, nothing is inserted by inserting it, and loops without
/// iterations leave the outputs as they are. Upstream's lowerings take views of
/// empty operands that their verifiers refuse.
static void dropEmptyTensors(Operation *root) {
  root->walk([](Operation *op) {
    if (auto linalg = dyn_cast<linalg::LinalgOp>(op);
        linalg && llvm::is_contained(linalg.getStaticLoopRanges(), 0)) {
      op->replaceAllUsesWith(
          linalg.getDpsInits().take_front(op->getNumResults()));
      op->erase();
      return;
    }
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op);
        insert && isEmpty(insert.getSourceType())) {
      insert.replaceAllUsesWith(insert.getDest());
      insert.erase();
      return;
    }
    if (auto pad = dyn_cast<tensor::PadOp>(op);
        pad && isEmpty(pad.getSourceType()) &&
        pad.getResultType().hasStaticShape())
      if (Value value = pad.getConstantPaddingValue()) {
        OpBuilder builder(op);
        Value empty = tensor::EmptyOp::create(
            builder, op->getLoc(), pad.getResultType().getShape(),
            pad.getResultType().getElementType());
        pad.replaceAllUsesWith(
            linalg::FillOp::create(builder, op->getLoc(), value, empty)
                .getResult(0));
        pad.erase();
        return;
      }
    if (isa<tensor::EmptyOp>(op) || op->getNumResults() != 1 || !isPure(op))
      return;
    if (!isEmpty(op->getResult(0).getType()))
      return;
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    OpBuilder builder(op);
    op->getResult(0).replaceAllUsesWith(tensor::EmptyOp::create(
        builder, op->getLoc(), type.getShape(), type.getElementType()));
    op->erase();
  });
}

namespace {
/// Element-wise named ops, to be fused as generic ones.
struct GeneralizeElementwise
    : public OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (isa<linalg::GenericOp, linalg::FillOp>(op) ||
        !op.hasPureTensorSemantics() ||
        op.getNumParallelLoops() != op.getNumLoops())
      return failure();
    return linalg::generalizeNamedOp(rewriter, op);
  }
};

/// softmax and its like, as ops that can be mapped.
struct DecomposeAggregate
    : public OpInterfaceRewritePattern<linalg::AggregatedOpInterface> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::AggregatedOpInterface op,
                                PatternRewriter &rewriter) const override {
    FailureOr<SmallVector<Value>> values = op.decomposeOperation(rewriter);
    if (failed(values) || values->size() != op->getNumResults())
      return failure();
    rewriter.replaceOp(op, *values);
    return success();
  }
};

/// Packing, as padding, a reshape and a transposition; and back.
struct LowerPack : public OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    return linalg::lowerPack(rewriter, op);
  }
};
struct LowerUnPack : public OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return failure();
    return linalg::lowerUnPack(rewriter, op);
  }
};

struct TesseraFuseElementwisePass
    : public tessera::impl::TesseraFuseElementwiseBase<
          TesseraFuseElementwisePass> {
  using TesseraFuseElementwiseBase::TesseraFuseElementwiseBase;

  void runOnOperation() override {
    dropEmptyTensors(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns
        .add<GeneralizeElementwise, DecomposeAggregate, LowerPack, LowerUnPack>(
            &getContext());
    linalg::populateElementwiseOpsFusionPatterns(
        patterns, [](OpOperand *operand) {
          Operation *producer = operand->get().getDefiningOp();
          auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
          // A contraction is recognized by its body, which is to stay as it is.
          return producer && producer->hasOneUse() && consumer &&
                 (consumer.getNumReductionLoops() == 0 ||
                  consumer.getNumDpsInputs() == 1);
        });
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // A size is no use of what has it. By themselves: the patterns above make
    // sizes as well, and take an empty tensor of a known size behind a cast for
    // one with contents.
    RewritePatternSet sizes(&getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(sizes, &getContext());
    tensor::DimOp::getCanonicalizationPatterns(sizes, &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(sizes))))
      signalPassFailure();
  }
};
} // namespace
