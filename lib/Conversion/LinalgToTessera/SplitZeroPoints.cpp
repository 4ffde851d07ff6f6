//===- SplitZeroPoints.cpp - Split zero points off matmuls ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The difference of a byte and its zero point has nine bits, which matrix units
// do not support. But
//
//   sum (a - za) (b - zb) = sum a b - zb sum a - za sum b + K za zb
//
// so that the matmul is one of bytes, and the rest an element-wise consumer of
// it, with a sum of the rows of a and of the columns of b. The result is exact,
// since integers wrap. A sum is omitted if its factor is a constant zero.
//
//===----------------------------------------------------------------------===//

#include "ContractionBody.h"
#include "ContractionMaps.h"
#include "Conversion/LinalgToTessera.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {
struct SplitZeroPoints : public OpInterfaceRewritePattern<linalg::LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override;
};

/// Builds the parts of `op`.
class Splitter {
public:
  Splitter(linalg::LinalgOp op, const ContractionBody &body,
           PatternRewriter &rewriter)
      : op(op), body(body), b(op.getLoc(), rewriter),
        out(op.getMatchingIndexingMap(op.getDpsInitOperand(0))) {}

  /// The plain matmul.
  Value createContraction();
  /// The result without the contribution of the zero points.
  Value createCorrection(Value product);

private:
  /// Dimension `dim` of the loops among those of the output.
  std::optional<unsigned> findInOutput(unsigned dim) const {
    for (auto [r, expr] : llvm::enumerate(out.getResults()))
      if (cast<AffineDimExpr>(expr).getPosition() == dim)
        return r;
    return std::nullopt;
  }
  /// `map`, of the loops, over the dimensions of the output.
  AffineMap overOutput(AffineMap map);
  /// The sum of input `side` over the dimensions that the output lacks, and its
  /// map.
  std::pair<Value, AffineMap> createSum(unsigned side);
  /// The number of terms in a sum, as an i32.
  Value createCount();

  linalg::LinalgOp op;
  const ContractionBody &body;
  ImplicitLocOpBuilder b;
  AffineMap out;
};
} // namespace

static Value extend(OpBuilder &builder, Location loc, Value value,
                    bool isUnsigned) {
  return convertScalarToDtype(builder, loc, value, builder.getI32Type(),
                              isUnsigned);
}

AffineMap Splitter::overOutput(AffineMap map) {
  SmallVector<AffineExpr> results;
  for (AffineExpr expr : map.getResults())
    results.push_back(b.getAffineDimExpr(
        *findInOutput(cast<AffineDimExpr>(expr).getPosition())));
  return AffineMap::get(out.getNumResults(), 0, results, b.getContext());
}

Value Splitter::createContraction() {
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getNameDialect() != op->getDialect())
      attributes.push_back(attribute);
  SmallVector<AffineMap> maps{
      op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
      op.getMatchingIndexingMap(op.getDpsInputOperand(1)), out};
  auto build = [&](OpBuilder &builder, Location loc, ValueRange x) {
    Value product = arith::MulIOp::create(
        builder, loc, extend(builder, loc, x[0], body.operands[0].isUnsigned),
        extend(builder, loc, x[1], body.operands[1].isUnsigned));
    linalg::YieldOp::create(
        builder, loc,
        arith::AddIOp::create(builder, loc, x[2], product).getResult());
  };
  Value init = op.getDpsInits()[0];
  return linalg::GenericOp::create(
             b, init.getType(),
             ValueRange{op.getDpsInputs()[0], op.getDpsInputs()[1]}, init, maps,
             op.getIteratorTypesArray(), build, attributes)
      .getResult(0);
}

std::pair<Value, AffineMap> Splitter::createSum(unsigned side) {
  OpOperand *input = op.getDpsInputOperand(side);
  AffineMap map = op.getMatchingIndexingMap(input);
  // The loops that index the input, those of the output first.
  SmallVector<unsigned> loops;
  for (AffineExpr expr : out.getResults())
    if (unsigned d = cast<AffineDimExpr>(expr).getPosition();
        map.isFunctionOfDim(d))
      loops.push_back(d);
  unsigned numKept = loops.size();
  for (unsigned d = 0; d < map.getNumDims(); ++d)
    if (map.isFunctionOfDim(d) && !findInOutput(d))
      loops.push_back(d);

  SmallVector<AffineExpr> positions(map.getNumDims(),
                                    b.getAffineConstantExpr(0));
  for (auto [i, d] : llvm::enumerate(loops))
    positions[d] = b.getAffineDimExpr(i);
  AffineMap inner = map.replaceDimsAndSymbols(positions, {}, loops.size(), 0);
  SmallVector<Range> ranges = op.createLoopRanges(b, b.getLoc());
  SmallVector<OpFoldResult> kept;
  for (unsigned d : ArrayRef(loops).take_front(numKept))
    kept.push_back(ranges[d].size);
  SmallVector<utils::IteratorType> iterators(loops.size(),
                                             utils::IteratorType::parallel);
  std::fill(iterators.begin() + numKept, iterators.end(),
            utils::IteratorType::reduction);

  Type i32 = b.getI32Type();
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  Value start = linalg::FillOp::create(
                    b, zero, tensor::EmptyOp::create(b, kept, i32).getResult())
                    .getResult(0);
  SmallVector<Value> inputs{input->get()};
  SmallVector<AffineMap> maps{inner};
  // The sums over a window do not determine its extents: an operand of its
  // shape, which is not read, does.
  SmallVector<OpFoldResult> window;
  SmallVector<AffineExpr> windowDims;
  for (unsigned i = numKept; i < loops.size(); ++i)
    if (!llvm::is_contained(inner.getResults(), b.getAffineDimExpr(i))) {
      window.push_back(ranges[loops[i]].size);
      windowDims.push_back(b.getAffineDimExpr(i));
    }
  if (!window.empty()) {
    inputs.push_back(tensor::EmptyOp::create(b, window, i32));
    maps.push_back(AffineMap::get(loops.size(), 0, windowDims, b.getContext()));
  }
  AffineMap result =
      AffineMap::getMultiDimIdentityMap(loops.size(), b.getContext())
          .getMajorSubMap(numKept);
  maps.push_back(result);
  auto build = [&](OpBuilder &builder, Location loc, ValueRange x) {
    Value next = arith::AddIOp::create(
        builder, loc, x.back(),
        extend(builder, loc, x.front(), body.operands[side].isUnsigned));
    linalg::YieldOp::create(builder, loc, next);
  };
  Value sum = linalg::GenericOp::create(b, start.getType(), inputs, start, maps,
                                        iterators, build)
                  .getResult(0);
  SmallVector<AffineExpr> results;
  for (unsigned d : ArrayRef(loops).take_front(numKept))
    results.push_back(b.getAffineDimExpr(*findInOutput(d)));
  return {sum, AffineMap::get(out.getNumResults(), 0, results, b.getContext())};
}

Value Splitter::createCount() {
  SmallVector<Range> ranges = op.createLoopRanges(b, b.getLoc());
  Value count = arith::ConstantIndexOp::create(b, 1);
  for (unsigned d = 0; d < op.getNumLoops(); ++d)
    if (!findInOutput(d))
      count = b.createOrFold<arith::MulIOp>(
          count,
          getValueOrCreateConstantIndexOp(b, b.getLoc(), ranges[d].size));
  return b.createOrFold<arith::IndexCastOp>(b.getI32Type(), count);
}

Value Splitter::createCorrection(Value product) {
  SmallVector<Value> inputs{product};
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(out.getNumResults())};
  std::optional<unsigned> zeroPoints[2], sums[2];
  for (unsigned side : {0, 1}) {
    if (!body.zeroPoints[side].source)
      continue;
    OpOperand *operand = op.getDpsInputOperand(
        cast<BlockArgument>(body.zeroPoints[side].source).getArgNumber());
    zeroPoints[side] = inputs.size();
    inputs.push_back(operand->get());
    maps.push_back(overOutput(op.getMatchingIndexingMap(operand)));
    auto [sum, map] = createSum(1 - side);
    sums[1 - side] = inputs.size();
    inputs.push_back(sum);
    maps.push_back(map);
  }
  Value count;
  if (zeroPoints[0] && zeroPoints[1])
    count = createCount();
  Value init = op.getDpsInits()[0];
  Value empty = tensor::EmptyOp::create(
      b, tensor::getMixedSizes(b, b.getLoc(), init), b.getI32Type());
  maps.push_back(b.getMultiDimIdentityMap(out.getNumResults()));
  SmallVector<utils::IteratorType> iterators(out.getNumResults(),
                                             utils::IteratorType::parallel);
  auto build = [&](OpBuilder &builder, Location loc, ValueRange x) {
    Value result = x[0], both = count;
    for (unsigned side : {0, 1}) {
      if (!zeroPoints[side])
        continue;
      Value zeroPoint = extend(builder, loc, x[*zeroPoints[side]],
                               body.zeroPoints[side].isUnsigned);
      result = arith::SubIOp::create(
          builder, loc, result,
          arith::MulIOp::create(builder, loc, zeroPoint, x[*sums[1 - side]]));
      if (both)
        both = arith::MulIOp::create(builder, loc, both, zeroPoint);
    }
    if (both)
      result = arith::AddIOp::create(builder, loc, result, both);
    linalg::YieldOp::create(builder, loc, result);
  };
  return linalg::GenericOp::create(b, init.getType(), inputs, empty, maps,
                                   iterators, build)
      .getResult(0);
}

/// Whether `op` without its zero points is a matmul of bytes.
static bool isByteContraction(linalg::LinalgOp op,
                              const ContractionBody &body) {
  for (unsigned i : {0, 1})
    if (!body.operands[i].source.getType().isSignlessInteger(8) ||
        !isa<RankedTensorType>(op.getDpsInputs()[i].getType()))
      return false;
  auto outType = dyn_cast<RankedTensorType>(op.getDpsInits()[0].getType());
  if (!outType || !outType.getElementType().isSignlessInteger(32) ||
      !body.sumType.isSignlessInteger(32))
    return false;
  ContractionMaps maps{op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
                       op.getMatchingIndexingMap(op.getDpsInputOperand(1)),
                       op.getMatchingIndexingMap(op.getDpsInitOperand(0)),
                       op.getStaticLoopRanges()};
  if (!maps.out.isProjectedPermutation())
    return false;
  // A single row is read once by plain threads, and would be twice.
  for (unsigned side : {0, 1})
    if (llvm::none_of(
            llvm::seq<unsigned>(0, maps.extents.size()), [&](unsigned d) {
              return maps.extents[d] != 1 && maps.out.isFunctionOfDim(d) &&
                     maps.operand(side).isFunctionOfDim(d) &&
                     !maps.operand(1 - side).isFunctionOfDim(d);
            }))
      return false;
  dropUnitDims(maps);
  return succeeded(checkContractionMaps(maps));
}

LogicalResult
SplitZeroPoints::matchAndRewrite(linalg::LinalgOp op,
                                 PatternRewriter &rewriter) const {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0)
    return rewriter.notifyMatchFailure(op, "not a reduction of tensors");
  std::optional<ContractionBody> body = matchShiftedContractionBody(op);
  if (!body || (!body->zeroPoints[0].source && !body->zeroPoints[1].source) ||
      !isByteContraction(op, *body))
    return rewriter.notifyMatchFailure(
        op, "not a contraction of bytes with a zero point");
  // One for all elements, or for each element of the output.
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (const Widened &zeroPoint : body->zeroPoints) {
    if (!zeroPoint.source)
      continue;
    OpOperand *operand = op.getDpsInputOperand(
        cast<BlockArgument>(zeroPoint.source).getArgNumber());
    AffineMap map = op.getMatchingIndexingMap(operand);
    if (zeroPoint.source.getType().getIntOrFloatBitWidth() > 32 ||
        isa<MemRefType>(operand->get().getType()) ||
        !map.isProjectedPermutation() ||
        !llvm::all_of(map.getResults(), [&](AffineExpr expr) {
          return llvm::is_contained(out.getResults(), expr);
        }))
      return rewriter.notifyMatchFailure(
          op, "a zero point is not a function of the output's dimensions");
  }
  Splitter splitter(op, *body, rewriter);
  Value product = splitter.createContraction();
  rewriter.replaceOp(op, splitter.createCorrection(product));
  return success();
}

void mlir::tessera::populateSplitZeroPointPatterns(
    RewritePatternSet &patterns) {
  patterns.add<SplitZeroPoints>(patterns.getContext());
}
