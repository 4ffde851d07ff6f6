//===- FuseEpilogue.cpp - Element-wise consumers into tessera.contract ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Conversion/LinalgToTessera.h"
#include "Elementwise.h"
#include "ProductBody.h"
#include "Source.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::tessera;

/// `map` with its dimensions renamed to those of `dims`, of `numDims`.
static AffineMap renameDims(AffineMap map, ArrayRef<unsigned> dims,
                            unsigned numDims) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults())
    results.push_back(getAffineDimExpr(
        dims[cast<AffineDimExpr>(result).getPosition()], map.getContext()));
  return AffineMap::get(numDims, 0, results, map.getContext());
}

namespace {
/// `consumer(contract)` to `contract` with a longer epilogue, in the place of
/// the consumer.
struct FuseConsumer : public OpRewritePattern<ContractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ContractOp op,
                                PatternRewriter &rewriter) const override {
    Value product = op.getResult();
    if (!product || product.use_empty())
      return failure();
    auto consumer = dyn_cast<linalg::LinalgOp>(*product.user_begin());
    if (!consumer || consumer->getBlock() != op->getBlock() ||
        !llvm::all_of(product.getUsers(), [&](Operation *user) {
          return user == consumer.getOperation();
        }))
      return failure();
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
    return failure();
  Value product = op.getResult();
  OpOperand *init = consumer.getDpsInitOperand(0);

  // How the consumer reads the product: by one permutation.
  AffineMap productMap;
  for (OpOperand &operand : consumer->getOpOperands()) {
    AffineMap map = consumer.getMatchingIndexingMap(&operand);
    bool isRead = consumer.payloadUsesValueFromOperand(&operand);
    if (operand.get() == product) {
      if (productMap && map != productMap)
        return failure();
      productMap = map;
    } else if (isRead && isa<ShapedType>(operand.get().getType())) {
      // The elements are to be a fragment's, unless it is one for all.
      if (!isa<RankedTensorType>(operand.get().getType()) ||
          (map.getNumResults() > 0 &&
           !FragmentType::isValidElementType(
               getElementTypeOrSelf(operand.get().getType()))) ||
          !map.isProjectedPermutation(/*allowZeroInResults=*/true))
        return failure();
      for (auto [r, result] : llvm::enumerate(map.getResults()))
        if (!isa<AffineDimExpr>(result) &&
            cast<RankedTensorType>(operand.get().getType()).getDimSize(r) != 1)
          return failure();
    }
  }
  if (!productMap || !productMap.isPermutation())
    return failure();

  // The consumer's loops, as dimensions of the contraction.
  AffineMap outMap = op.getMap(2);
  unsigned numDims = outMap.getNumDims();
  SmallVector<unsigned> dims(productMap.getNumDims());
  for (unsigned r = 0; r < productMap.getNumResults(); ++r)
    dims[productMap.getDimPosition(r)] = outMap.getDimPosition(r);

  Location loc = rewriter.getFusedLoc({op.getLoc(), consumer.getLoc()});
  rewriter.setInsertionPoint(consumer);
  SmallVector<AffineMap> maps{
      op.getMap(0), op.getMap(1),
      renameDims(consumer.getMatchingIndexingMap(init), dims, numDims)};
  SmallVector<Value> extras(op.getExtras());
  for (unsigned i = 0; i < extras.size(); ++i)
    maps.push_back(op.getMap(3 + i));
  SmallVector<AffineMap> inputMaps;
  for (unsigned i = maps.size(); i < op.getMaps().size(); ++i)
    inputMaps.push_back(op.getMap(i));
  auto addExtra = [&](Value value, AffineMap map) -> unsigned {
    for (unsigned i = 0; i < extras.size(); ++i)
      if (extras[i] == value && maps[3 + i] == map)
        return i;
    extras.push_back(value);
    maps.push_back(map);
    return extras.size() - 1;
  };

  // Where the sum started from an old value, it starts from zero, and the old
  // value is an operand of the epilogue: the output is another tensor now.
  Type acc = op.getAccumulatorType();
  Value start = op.getInit();
  std::optional<unsigned> oldValue;
  if (!start) {
    start = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(acc));
    oldValue = addExtra(op.getOutput(), outMap);
  }
  // The consumer's other operands. None for scalars and the product itself.
  SmallVector<std::optional<unsigned>> extraOf(consumer->getNumOperands());
  for (OpOperand &operand : consumer->getOpOperands()) {
    if (operand.get() == product || !isa<ShapedType>(operand.get().getType()) ||
        !consumer.payloadUsesValueFromOperand(&operand))
      continue;
    AffineMap map = consumer.getMatchingIndexingMap(&operand);
    Value value = sliceAtConstants(rewriter, loc, operand.get(), map);
    Source source = lookThroughMoves({value, renameDims(map, dims, numDims)});
    extraOf[operand.getOperandNumber()] = addExtra(source.value, source.map);
  }

  // The output: the consumer's own, unless that is the product.
  Value output = init->get();
  auto resultType = cast<RankedTensorType>(consumer->getResult(0).getType());
  if (output == product) {
    output = op.getOutput();
    if (oldValue || output.getType() != resultType || maps[2] != outMap) {
      SmallVector<OpFoldResult> sizes =
          tensor::getMixedSizes(rewriter, loc, op.getOutput());
      // The product's dimensions, in the order of the result's.
      AffineMap reorder = consumer.getMatchingIndexingMap(init).compose(
          inversePermutation(productMap));
      SmallVector<OpFoldResult> resultSizes;
      for (unsigned r = 0; r < reorder.getNumResults(); ++r)
        resultSizes.push_back(sizes[reorder.getDimPosition(r)]);
      output = tensor::EmptyOp::create(rewriter, loc, resultSizes,
                                       resultType.getElementType());
      if (output.getType() != resultType)
        output = tensor::CastOp::create(rewriter, loc, resultType, output);
    }
  }

  llvm::append_range(maps, inputMaps);
  auto fused = ContractOp::create(
      rewriter, loc, resultType, op.getLhs(), op.getRhs(), start, extras,
      op.getLhsInputs(), op.getRhsInputs(), output,
      rewriter.getAffineMapArrayAttr(maps), acc, op.getUnsignedA(),
      op.getUnsignedB(), op.getPrecision(), op.getScheduleAttr());
  for (unsigned side : {0, 1})
    fused.getProducer(side).takeBody(op.getProducer(side));

  // The epilogue: the old value added, the old epilogue, then the consumer.
  Block *block = rewriter.createBlock(&fused.getEpilogue());
  Value sum = block->addArgument(acc, loc);
  for (Value extra : extras)
    block->addArgument(getElementTypeOrSelf(extra.getType()), loc);
  if (oldValue) {
    Value old = convertScalarToDtype(rewriter, loc,
                                     block->getArgument(1 + *oldValue), acc,
                                     /*isUnsignedCast=*/false);
    if (isa<FloatType>(acc))
      sum = arith::AddFOp::create(rewriter, loc, sum, old);
    else
      sum = arith::AddIOp::create(rewriter, loc, sum, old);
  }
  Block &oldBlock = op.getEpilogue().front();
  IRMapping mapping;
  mapping.map(oldBlock.getArgument(0), sum);
  for (unsigned i = 1; i < oldBlock.getNumArguments(); ++i)
    mapping.map(oldBlock.getArgument(i), block->getArgument(i));
  for (Operation &nested : oldBlock.without_terminator())
    rewriter.clone(nested, mapping);
  Value element = mapping.lookupOrDefault(
      cast<YieldOp>(oldBlock.getTerminator()).getValues()[0]);

  Block *body = consumer.getBlock();
  for (OpOperand &operand : consumer->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    if (operand.get() == product)
      mapping.map(body->getArgument(i), element);
    else if (extraOf[i])
      mapping.map(body->getArgument(i), block->getArgument(1 + *extraOf[i]));
    else if (!isa<ShapedType>(operand.get().getType()))
      mapping.map(body->getArgument(i), operand.get());
  }
  for (Operation &nested : body->without_terminator())
    rewriter.clone(nested, mapping);
  YieldOp::create(
      rewriter, loc,
      mapping.lookupOrDefault(body->getTerminator()->getOperand(0)));

  rewriter.replaceOp(consumer, fused->getResults());
  rewriter.eraseOp(op);
  return success();
}

void mlir::tessera::populateFuseEpiloguePatterns(RewritePatternSet &patterns) {
  patterns.add<FuseConsumer>(patterns.getContext());
}
