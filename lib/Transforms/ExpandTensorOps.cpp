//===- ExpandTensorOps.cpp - Indexed and Winograd ops to linalg -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TosaForms.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAEXPANDTENSOROPS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-expand-tensor-ops"

STATISTIC(numExpandedTensorOps, "Number of ops on tensors lowered to linalg");

using namespace mlir;
using namespace mlir::tessera;

/// The coordinates at `batch` in the last dimension of `indices`.
static SmallVector<Value> readCoordinates(OpBuilder &builder, Location loc,
                                          Value indices, ValueRange batch) {
  auto type = cast<RankedTensorType>(indices.getType());
  SmallVector<Value> result;
  for (int64_t i = 0; i < type.getShape().back(); ++i) {
    SmallVector<Value> at(batch);
    at.push_back(arith::ConstantIndexOp::create(builder, loc, i));
    Value value = tensor::ExtractOp::create(builder, loc, indices, at);
    if (!value.getType().isIndex())
      value = arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                         value);
    result.push_back(value);
  }
  return result;
}

/// Where the dimensions of the indexed tensor are in that of the slices, which
/// has `numBatch` leading dimensions; -1 where it has none.
static SmallVector<int64_t> placeSliceDims(int64_t rank, int64_t numBatch,
                                           int64_t sliceRank,
                                           ArrayRef<int64_t> indexed) {
  bool isReduced = sliceRank != numBatch + rank;
  SmallVector<int64_t> places;
  int64_t next = numBatch;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (llvm::is_contained(indexed, dim)) {
      places.push_back(-1);
      next += isReduced ? 0 : 1;
    } else {
      places.push_back(next++);
    }
  return places;
}

namespace {

struct ExpandGather : OpRewritePattern<tensor::GatherOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::GatherOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value source = op.getSource(), indices = op.getIndices();
    RankedTensorType type = op.getResultType();
    int64_t rank = op.getSourceType().getRank();
    int64_t numBatch = op.getIndicesType().getRank() - 1;
    SmallVector<int64_t> places =
        placeSliceDims(rank, numBatch, type.getRank(), op.getGatherDims());
    SmallVector<OpFoldResult> sizes;
    for (int64_t size : type.getShape())
      sizes.push_back(rewriter.getIndexAttr(size));
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      if (!type.isDynamicDim(dim))
        continue;
      if (dim < numBatch)
        sizes[dim] = tensor::getMixedSize(rewriter, loc, indices, dim);
      else
        sizes[dim] = tensor::getMixedSize(
            rewriter, loc, source, llvm::find(places, dim) - places.begin());
    }
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
    SmallVector<utils::IteratorType> iterators(type.getRank(),
                                               utils::IteratorType::parallel);
    rewriter.replaceOpWithNewOp<linalg::GenericOp>(
        op, type, ValueRange(), empty,
        ArrayRef<AffineMap>{rewriter.getMultiDimIdentityMap(type.getRank())},
        iterators, [&](OpBuilder &b, Location loc, ValueRange) {
          SmallVector<Value> point;
          for (int64_t dim = 0; dim < type.getRank(); ++dim)
            point.push_back(linalg::IndexOp::create(b, loc, dim));
          SmallVector<Value> at = readCoordinates(
              b, loc, indices, ArrayRef<Value>(point).take_front(numBatch));
          SmallVector<Value> element(rank);
          for (auto [value, dim] : llvm::zip_equal(at, op.getGatherDims()))
            element[dim] = value;
          for (int64_t dim = 0; dim < rank; ++dim)
            if (places[dim] >= 0)
              element[dim] = point[places[dim]];
          linalg::YieldOp::create(
              b, loc,
              ValueRange{tensor::ExtractOp::create(b, loc, source, element)});
        });
    ++numExpandedTensorOps;
    return success();
  }
};

/// `dest`, with each element replaced by the update whose coordinates match.
/// The loops are those of `dest`, and then those of the updates.
static Value
createScatter(OpBuilder &builder, Location loc, Value source, Value dest,
              AffineMap sourceMap, int64_t numBatch,
              function_ref<Value(OpBuilder &, ArrayRef<Value>)> matches) {
  auto type = cast<RankedTensorType>(dest.getType());
  int64_t rank = type.getRank(), numLoops = sourceMap.getNumDims();
  AffineMap destMap = AffineMap::getMultiDimIdentityMap(
                          static_cast<unsigned>(numLoops), builder.getContext())
                          .getMajorSubMap(static_cast<unsigned>(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  iterators.append(numBatch, utils::IteratorType::reduction);
  auto op = linalg::GenericOp::create(
      builder, loc, type, source, dest, ArrayRef<AffineMap>{sourceMap, destMap},
      iterators, [&](OpBuilder &b, Location loc, ValueRange arguments) {
        SmallVector<Value> point;
        for (int64_t dim = 0; dim < numLoops; ++dim)
          point.push_back(linalg::IndexOp::create(b, loc, dim));
        Value chosen = arith::SelectOp::create(b, loc, matches(b, point),
                                               arguments[0], arguments[1]);
        linalg::YieldOp::create(b, loc, chosen);
      });
  ++numExpandedTensorOps;
  return op.getResult(0);
}

struct ExpandScatter : OpRewritePattern<tensor::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ScatterOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value indices = op.getIndices();
    int64_t rank = op.getDestType().getRank();
    int64_t numBatch = op.getIndicesType().getRank() - 1;
    int64_t sliceRank = op.getSourceType().getRank();
    SmallVector<int64_t> places =
        placeSliceDims(rank, numBatch, sliceRank, op.getScatterDims());
    // The dimensions of size 1 that the slices have in place of indexed ones.
    SmallVector<AffineExpr> exprs(sliceRank, rewriter.getAffineConstantExpr(0));
    for (int64_t dim = 0; dim < numBatch; ++dim)
      exprs[dim] = rewriter.getAffineDimExpr(rank + dim);
    for (int64_t dim = 0; dim < rank; ++dim)
      if (places[dim] >= 0)
        exprs[places[dim]] = rewriter.getAffineDimExpr(dim);
    AffineMap map =
        AffineMap::get(rank + numBatch, 0, exprs, rewriter.getContext());
    Value result = createScatter(
        rewriter, loc, op.getSource(), op.getDest(), map, numBatch,
        [&](OpBuilder &b, ArrayRef<Value> point) {
          SmallVector<Value> at =
              readCoordinates(b, loc, indices, point.drop_front(rank));
          Value all;
          for (auto [value, dim] : llvm::zip_equal(at, op.getScatterDims())) {
            Value isEqual = arith::CmpIOp::create(
                b, loc, arith::CmpIPredicate::eq, value, point[dim]);
            all = all ? arith::AndIOp::create(b, loc, all, isEqual).getResult()
                      : isEqual;
          }
          return all;
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct ExpandTosaScatter : OpRewritePattern<tosa::ScatterOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tosa::ScatterOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value indices = op.getIndices();
    if (op.getValuesIn().getType() != op.getType())
      return rewriter.notifyMatchFailure(op, "the result has another type");
    // Loops n, k, c and w.
    AffineExpr n, k, c, w;
    bindDims(rewriter.getContext(), n, k, c, w);
    AffineMap map = AffineMap::get(4, 0, {n, w, c}, rewriter.getContext());
    Value result = createScatter(
        rewriter, loc, op.getInput(), op.getValuesIn(), map, /*numBatch=*/1,
        [&](OpBuilder &b, ArrayRef<Value> point) -> Value {
          Value at = tensor::ExtractOp::create(b, loc, indices,
                                               ValueRange{point[0], point[3]});
          at = arith::IndexCastOp::create(b, loc, b.getIndexType(), at);
          return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, at,
                                       point[1]);
        });
    rewriter.replaceOp(op, result);
    return success();
  }
};

/// A negative amount cuts the source off.
struct ExpandNegativePad : OpRewritePattern<tensor::PadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::PadOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto isNegative = [](OpFoldResult amount) {
      std::optional<int64_t> value = getConstantIntValue(amount);
      return value && *value < 0;
    };
    SmallVector<OpFoldResult> low = op.getMixedLowPad(),
                              high = op.getMixedHighPad();
    if (llvm::none_of(low, isNegative) && llvm::none_of(high, isNegative))
      return failure();
    SmallVector<OpFoldResult> offsets, sizes,
        strides(low.size(), rewriter.getIndexAttr(1));
    for (size_t dim = 0; dim < low.size(); ++dim) {
      int64_t first =
          isNegative(low[dim]) ? -*getConstantIntValue(low[dim]) : 0;
      int64_t last =
          isNegative(high[dim]) ? -*getConstantIntValue(high[dim]) : 0;
      OpFoldResult size = tensor::getMixedSize(rewriter, loc, op.getSource(),
                                               static_cast<int64_t>(dim));
      std::optional<int64_t> known = getConstantIntValue(size);
      if (!known || *known < first + last)
        return rewriter.notifyMatchFailure(
            op, "the size of a dimension that is cut off must be static");
      offsets.push_back(rewriter.getIndexAttr(first));
      sizes.push_back(rewriter.getIndexAttr(*known - first - last));
      if (first > 0)
        low[dim] = rewriter.getIndexAttr(0);
      if (last > 0)
        high[dim] = rewriter.getIndexAttr(0);
    }
    Value slice = tensor::ExtractSliceOp::create(rewriter, loc, op.getSource(),
                                                 offsets, sizes, strides);
    auto pad = tensor::PadOp::create(rewriter, loc, op.getType(), slice, low,
                                     high, op.getNofold());
    rewriter.inlineRegionBefore(op.getRegion(), pad.getRegion(),
                                pad.getRegion().end());
    rewriter.replaceOp(op, pad);
    ++numExpandedTensorOps;
    return success();
  }
};

struct ExpandTensorOpsPass
    : public tessera::impl::TesseraExpandTensorOpsBase<ExpandTensorOpsPass> {
  void runOnOperation() override {
    WalkResult result = getOperation()->walk([](tosa::CustomOp op) {
      op.emitError() << "operator '" << op.getOperatorName() << "' of domain '"
                     << op.getDomainName()
                     << "' is not supported: TOSA does not define it";
      return WalkResult::interrupt();
    });
    if (!result.wasInterrupted())
      result = getOperation()->walk([](Operation *op) {
        return succeeded(checkTosaForm(op)) ? WalkResult::advance()
                                            : WalkResult::interrupt();
      });
    if (result.wasInterrupted())
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns
        .add<ExpandGather, ExpandScatter, ExpandTosaScatter, ExpandNegativePad>(
            &getContext());
    linalg::populateDecomposeWinogradOpsPatterns(patterns);
    // Only the new ops: the program is otherwise as it was written.
    GreedyRewriteConfig config;
    config.enableFolding(false).enableConstantCSE(false);
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<tensor::GatherOp, tensor::ScatterOp, tosa::ScatterOp,
              tensor::PadOp, linalg::WinogradFilterTransformOp,
              linalg::WinogradInputTransformOp,
              linalg::WinogradOutputTransformOp>(op))
        ops.push_back(op);
    });
    config.setStrictness(GreedyRewriteStrictness::ExistingOps);
    if (!ops.empty() &&
        failed(applyOpPatternsGreedily(ops, std::move(patterns), config)))
      LDBG() << getOperation()->getLoc() << ": no fixed point was reached";
  }
};

} // namespace
