//===- FuseElementwise.cpp - Fewer, larger element-wise linalg ops --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DropEmptyTensors.h"

#include "Dialect/Tessera/Utils/FixedPoint.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAFUSEELEMENTWISE
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-fuse-elementwise"

using namespace mlir;
using namespace mlir::tessera;

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
      return rewriter.notifyMatchFailure(
          op, "not a named element-wise op on tensors");
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
      return rewriter.notifyMatchFailure(op, "cannot be decomposed");
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
      return rewriter.notifyMatchFailure(op, "not on tensors");
    return linalg::lowerPack(rewriter, op);
  }
};
struct LowerUnPack : public OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "not on tensors");
    return linalg::lowerUnPack(rewriter, op);
  }
};

/// Whether an element-wise op of that many elements is on a path of
/// element-wise ops from a contraction, which will compute it as a part of its
/// epilogue.
bool followsContraction(Operation *op, int64_t elements, unsigned depth = 0) {
  // Longer chains than this are not worth the search.
  constexpr unsigned maxDepth = 8;
  auto linalgOp = dyn_cast_if_present<linalg::LinalgOp>(op);
  if (!linalgOp || depth > maxDepth || op->getNumResults() != 1)
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != elements)
    return false;
  if (linalgOp.getNumReductionLoops() != 0)
    return linalg::isaContractionOpInterface(linalgOp) ||
           linalg::isaConvolutionOpInterface(linalgOp);
  return llvm::any_of(linalgOp.getDpsInputs(), [&](Value input) {
    return followsContraction(input.getDefiningOp(), elements, depth + 1);
  });
}

/// Whether fusing `producer` would take it from the epilogue of a contraction
/// to an op that computes each element of it several times, or that is a
/// reduction.
bool belongsToEpilogue(linalg::LinalgOp producer, linalg::LinalgOp consumer) {
  if (producer.getNumReductionLoops() != 0 || producer->getNumResults() != 1)
    return false;
  auto type = dyn_cast<RankedTensorType>(producer->getResult(0).getType());
  if (!type || !type.hasStaticShape())
    return false;
  int64_t points = 1;
  for (int64_t extent : consumer.getStaticLoopRanges()) {
    if (ShapedType::isDynamic(extent))
      return false;
    points *= extent;
  }
  return (points > type.getNumElements() ||
          consumer.getNumReductionLoops() != 0) &&
         followsContraction(producer, type.getNumElements());
}

/// The operands of an element-wise op that have an element for each of its
/// points.
SmallVector<OpOperand *> getWholeInputs(linalg::LinalgOp op) {
  SmallVector<OpOperand *> whole;
  for (OpOperand *input : op.getDpsInputOperands())
    if (op.getMatchingIndexingMap(input).isPermutation())
      whole.push_back(input);
  return whole;
}

bool isPointwise(linalg::LinalgOp op) {
  return op && linalg::isElementwise(op) && op->getNumResults() == 1;
}

/// Whether `producer` rounds the sums of a contraction, and a later operand of
/// `consumer` follows another one. Only one of both contractions can compute
/// `consumer`. The results of the other one are written, rounded if `producer`
/// stays with it.
bool roundsOtherSums(linalg::LinalgOp producer, OpOperand *operand,
                     linalg::LinalgOp consumer) {
  if (!isPointwise(producer) || !isPointwise(consumer))
    return false;
  auto type = dyn_cast<RankedTensorType>(producer->getResult(0).getType());
  SmallVector<OpOperand *> sums = getWholeInputs(producer);
  if (!type || !type.hasStaticShape() ||
      !isa<FloatType>(type.getElementType()) || sums.size() != 1)
    return false;
  Type from = getElementTypeOrSelf(sums.front()->get());
  int64_t elements = type.getNumElements();
  auto follows = [&](Value value) {
    // An op that has been fused is erased later.
    return llvm::count_if(
               value.getUsers(),
               [](Operation *user) { return !isOpTriviallyDead(user); }) == 1 &&
           followsContraction(value.getDefiningOp(), elements);
  };
  return isa<FloatType>(from) &&
         from.getIntOrFloatBitWidth() > type.getElementTypeBitWidth() &&
         follows(sums.front()->get()) &&
         llvm::any_of(getWholeInputs(consumer), [&](OpOperand *other) {
           return other->getOperandNumber() > operand->getOperandNumber() &&
                  other->get() != operand->get() && follows(other->get());
         });
}

/// Whether `value` is of bytes or less, as quantized values are, but not of
/// truth values.
bool isQuantized(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  return type.isInteger() && !type.isInteger(1) &&
         type.getIntOrFloatBitWidth() <= 8;
}

/// Whether `op` computes quantized values from wider ones.
bool quantizes(linalg::LinalgOp op) {
  return isPointwise(op) && isQuantized(op->getResult(0)) &&
         llvm::all_of(getWholeInputs(op), [](OpOperand *input) {
           return !isQuantized(input->get());
         });
}

/// Whether `op` computes floats from quantized values, in few steps.
bool dequantizes(linalg::LinalgOp op) {
  if (!isa_and_present<linalg::GenericOp>(op) || !isPointwise(op) ||
      !isa<FloatType>(getElementTypeOrSelf(op->getResult(0).getType())))
    return false;
  constexpr size_t maxSteps = 8;
  SmallVector<OpOperand *> whole = getWholeInputs(op);
  return whole.size() == 1 && isQuantized(whole.front()->get()) &&
         op.getBlock()->getOperations().size() <= maxSteps;
}

/// Whether what `op` computes is read by one element-wise op that reads nothing
/// else of that size.
bool hasPlainUser(Operation *op) {
  if (!op->hasOneUse())
    return false;
  auto user = dyn_cast<linalg::LinalgOp>(*op->user_begin());
  return isPointwise(user) && getWholeInputs(user).size() == 1;
}

/// Whether quantized values are written between `producer` and
/// `consumer`: they are the narrowest, and what follows does not belong to the
/// producer's kernel alone.
bool isNarrowest(linalg::LinalgOp producer, linalg::LinalgOp consumer) {
  if (!quantizes(producer))
    return false;
  return dequantizes(consumer) ? !hasPlainUser(consumer)
                               : getWholeInputs(consumer).size() > 1;
}

/// Lets each user of dequantized values have an op of its own, to be fused.
void cloneDequantizations(Operation *function) {
  IRRewriter rewriter(function->getContext());
  SmallVector<linalg::GenericOp> ops;
  function->walk([&](linalg::GenericOp op) {
    if (dequantizes(op) && !op->hasOneUse())
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops)
    for (OpOperand &use : llvm::make_early_inc_range(op->getUses())) {
      if (op->hasOneUse())
        break;
      rewriter.setInsertionPoint(op);
      use.set(rewriter.clone(*op)->getResult(0));
    }
}

/// Whether the body of `op`, all of whose loops are parallel, loops over a
/// window.
bool isWindow(linalg::LinalgOp op) {
  return isa_and_present<linalg::GenericOp>(op) &&
         op.getNumParallelLoops() == op.getNumLoops() &&
         !op.getBlock()->getOps<LoopLikeOpInterface>().empty();
}

/// Whether `consumer` stores what `producer`, a large window, computes with
/// another dimension running fastest, so that no elements of a window would be
/// contiguous for its threads.
bool transposesWindow(linalg::LinalgOp producer, OpOperand *operand,
                      linalg::LinalgOp consumer) {
  // For fewer elements, a kernel of its own takes longer.
  constexpr int64_t manyElements = 1 << 20;
  auto type = cast<RankedTensorType>(operand->get().getType());
  if (!isWindow(producer) || !type.hasStaticShape() ||
      type.getNumElements() < manyElements)
    return false;
  AffineMap from = consumer.getMatchingIndexingMap(operand);
  return llvm::any_of(consumer.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap to = consumer.getMatchingIndexingMap(&init);
    return from.getNumResults() != 0 && to.getNumResults() != 0 &&
           from.getResults().back() != to.getResults().back();
  });
}

/// Whether `operand` of an element-wise op is the result of an op whose body
/// loops over a window, reshaped to fewer dimensions, and nothing else uses
/// that: the groups of a convolution, as its channels.
bool isCollapsedWindow(OpOperand *operand) {
  auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
  auto reshape = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  if (!isPointwise(consumer) || !reshape || !reshape->hasOneUse())
    return false;
  auto window = reshape.getSrc().getDefiningOp<linalg::GenericOp>();
  return window && window->hasOneUse() && isWindow(window);
}

struct TesseraFuseElementwisePass
    : public tessera::impl::TesseraFuseElementwiseBase<
          TesseraFuseElementwisePass> {
  using TesseraFuseElementwiseBase::TesseraFuseElementwiseBase;

  void runOnOperation() override {
    dropEmptyTensors(getOperation());
    cloneDequantizations(getOperation());
    RewritePatternSet patterns(&getContext());
    patterns
        .add<GeneralizeElementwise, DecomposeAggregate, LowerPack, LowerUnPack>(
            &getContext());
    linalg::populateElementwiseOpsFusionPatterns(
        patterns, [](OpOperand *operand) {
          Operation *producer = operand->get().getDefiningOp();
          auto consumer = dyn_cast<linalg::LinalgOp>(operand->getOwner());
          // A contraction is recognized by its body, which must not change.
          if (!producer || !consumer)
            return false;
          bool isFused =
              producer->hasOneUse() && (consumer.getNumReductionLoops() == 0 ||
                                        consumer.getNumDpsInputs() == 1);
          auto op = dyn_cast<linalg::LinalgOp>(producer);
          if (op && isFused && belongsToEpilogue(op, consumer) &&
              !dequantizes(op)) {
            LDBG() << producer->getLoc() << ": stays with its contraction";
            return false;
          }
          if (op && isFused && roundsOtherSums(op, operand, consumer)) {
            LDBG() << producer->getLoc() << ": rounds what is written";
            return false;
          }
          if (op && isFused && isNarrowest(op, consumer)) {
            LDBG() << producer->getLoc() << ": its quantized values are kept";
            return false;
          }
          if (op && isFused && transposesWindow(op, operand, consumer)) {
            LDBG() << producer->getLoc() << ": its result is transposed";
            return false;
          }
          LDBG() << producer->getLoc() << ": "
                 << (isFused ? "may be fused into " : "is not fused into ")
                 << consumer.getLoc()
                 << (isFused                 ? ""
                     : producer->hasOneUse() ? ", which may be a contraction"
                                             : ", since it has other uses");
          return isFused;
        });
    // Ops after the reshape are computed before it, and then fused.
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns,
                                                      isCollapsedWindow);
    linalg::GenericOp::getCanonicalizationPatterns(patterns, &getContext());
    affine::AffineApplyOp::getCanonicalizationPatterns(patterns, &getContext());
    if (failed(applyToFixedPoint(getOperation(), std::move(patterns),
                                 "element-wise fusion")))
      return signalPassFailure();
    // A use of a tensor's size must not keep the tensor alive. These patterns
    // run separately: the patterns above create sizes as well, and treat an
    // empty tensor of static size behind a cast as one with contents.
    RewritePatternSet sizes(&getContext());
    tensor::EmptyOp::getCanonicalizationPatterns(sizes, &getContext());
    tensor::DimOp::getCanonicalizationPatterns(sizes, &getContext());
    if (failed(applyToFixedPoint(getOperation(), std::move(sizes),
                                 "sizes of tensors")))
      signalPassFailure();
  }
};
} // namespace
