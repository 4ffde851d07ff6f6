//===- SplitProducers.cpp - Split element-wise producers ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A generic op that computes its factors itself,
//
//   acc + a[m, k] * (sitofp(w[k, n]) * scale[n])
//
// becomes an element-wise op and a matmul:
//
//   x[k, n] = sitofp(w[k, n]) * scale[n]          acc + a[m, k] * x[k, n]
//
// FuseProducers.cpp fuses the former as a producer. The same holds for the cast
// of an operand of i4 to i8, unless the chip supports both operand types
// directly:
//
//   acc + extsi(a[m, k]) * extsi(w[k, n])
//
//   x[k, n] = extsi(w[k, n])             acc + extsi(a[m, k]) * extsi(x[k, n])
//
//===----------------------------------------------------------------------===//

#include "ContractionBody.h"
#include "ContractionMaps.h"
#include "Conversion/LinalgToTessera.h"
#include "Elementwise.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// One of the two factors of a multiplication.
struct Factor {
  /// The factor within the body, and without the casts that widen it.
  Value value, narrow;
  /// The inputs that it is computed from.
  llvm::SetVector<unsigned> inputs;
  /// The input that has all of its dimensions.
  OpOperand *main = nullptr;

  bool isPlain() const { return isa<BlockArgument>(narrow); }
};

struct SplitProducers : public OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override;
};
} // namespace

namespace {
struct WidenPacked : public OpInterfaceRewritePattern<linalg::LinalgOp> {
  /// Must run before the conversion of the matmul itself.
  WidenPacked(MLIRContext *context, const Chip &chip)
      : OpInterfaceRewritePattern(context, /*benefit=*/2), chip(chip) {}

  const Chip &chip;
  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override;
};
} // namespace

/// `value`, of i4, as i8.
static Value widen(RewriterBase &rewriter, Location loc, Value value,
                   bool isUnsigned) {
  auto type = cast<RankedTensorType>(value.getType());
  Type i8 = rewriter.getI8Type();
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, value), i8);
  AffineMap map = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(),
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             rewriter, loc, empty.getType(), value, empty,
             ArrayRef<AffineMap>{map, map}, iterators,
             [&](OpBuilder &builder, Location loc, ValueRange arguments) {
               Value wide =
                   isUnsigned
                       ? arith::ExtUIOp::create(builder, loc, i8, arguments[0])
                             .getResult()
                       : arith::ExtSIOp::create(builder, loc, i8, arguments[0]);
               linalg::YieldOp::create(builder, loc, wide);
             })
      .getResult(0);
}

LogicalResult WidenPacked::matchAndRewrite(linalg::LinalgOp op,
                                           PatternRewriter &rewriter) const {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0)
    return rewriter.notifyMatchFailure(op, "is not a reduction of tensors");
  std::optional<ContractionBody> body = matchContractionBody(op);
  if (!body)
    return rewriter.notifyMatchFailure(op, "is not a contraction");
  SmallVector<Value> inputs = op.getDpsInputs();
  Type i32 = rewriter.getI32Type();
  if (hasMatrixMultiply(chip, body->operands[0].source.getType(),
                        body->operands[1].source.getType(), i32))
    return rewriter.notifyMatchFailure(
        op, "the chip has a matrix instruction for packed operands");
  bool found = false;
  for (unsigned i : {0, 1}) {
    Value argument = body->operands[i].source;
    if (!argument.getType().isSignlessInteger(4) ||
        !isa<RankedTensorType>(inputs[i].getType()))
      continue;
    // The body continues with the extended value.
    if (!llvm::all_of(argument.getUsers(), [](Operation *user) {
          return isa<arith::ExtSIOp, arith::ExtUIOp>(user) &&
                 user->getResult(0).getType().getIntOrFloatBitWidth() > 8;
        }))
      return rewriter.notifyMatchFailure(
          op, "uses a packed element other than extended to more than 8 bits");
    inputs[i] =
        widen(rewriter, op.getLoc(), inputs[i], body->operands[i].isUnsigned);
    found = true;
  }
  if (!found)
    return rewriter.notifyMatchFailure(op, "has no packed operand");
  auto build = [&](OpBuilder &builder, Location, ValueRange arguments) {
    IRMapping mapping;
    mapping.map(op.getBlock()->getArguments(), arguments);
    for (Operation &inner : *op.getBlock())
      builder.clone(inner, mapping);
  };
  SmallVector<NamedAttribute> attributes;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getNameDialect() != op->getDialect())
      attributes.push_back(attribute);
  auto contraction = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), inputs, op.getDpsInits(),
      op.getIndexingMapsArray(), op.getIteratorTypesArray(), build, attributes);
  rewriter.replaceOp(op, contraction);
  return success();
}

/// Adds to `inputs` those from which `value` is computed by scalar arithmetic.
static LogicalResult findInputs(Value value, Block *body, unsigned numInputs,
                                llvm::SetVector<unsigned> &inputs) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != body)
      return success();
    inputs.insert(argument.getArgNumber());
    return success(argument.getArgNumber() < numInputs);
  }
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != body)
    return success();
  if (!isScalarArithmetic(*op))
    return failure();
  return success(llvm::all_of(op->getOperands(), [&](Value operand) {
    return succeeded(findInputs(operand, body, numInputs, inputs));
  }));
}

/// The input of `factor` that has all of its dimensions, or null.
static OpOperand *findMain(linalg::GenericOp op, const Factor &factor) {
  SmallVector<OpOperand *> tensors;
  for (unsigned i : factor.inputs) {
    OpOperand *input = op.getDpsInputOperand(i);
    if (!isa<RankedTensorType>(input->get().getType())) {
      if (isa<ShapedType>(input->get().getType()))
        return nullptr;
      continue;
    }
    if (!op.getMatchingIndexingMap(input).isProjectedPermutation())
      return nullptr;
    tensors.push_back(input);
  }
  for (OpOperand *main : tensors) {
    AffineMap mainMap = op.getMatchingIndexingMap(main);
    if (llvm::all_of(tensors, [&](OpOperand *other) {
          AffineMap map = op.getMatchingIndexingMap(other);
          return llvm::all_of(map.getResults(), [&](AffineExpr expr) {
            return llvm::is_contained(mainMap.getResults(), expr);
          });
        }))
      return main;
  }
  return nullptr;
}

/// Clones `value` of the old body into the new one; values that are not mapped
/// yet are cloned recursively.
static Value cloneInto(OpBuilder &builder, Value value, Block *from,
                       IRMapping &mapping) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != from)
    return value;
  for (Value operand : op->getOperands())
    cloneInto(builder, operand, from, mapping);
  builder.clone(*op, mapping);
  return mapping.lookup(value);
}

/// The tensor of `factor`, computed by an op of its own.
static Value materialize(RewriterBase &rewriter, linalg::GenericOp op,
                         const Factor &factor) {
  Location loc = op.getLoc();
  Value main = factor.main->get();
  ArrayRef<AffineExpr> loops =
      op.getMatchingIndexingMap(factor.main).getResults();
  auto overLoops = [&](AffineMap map) {
    SmallVector<AffineExpr> results;
    for (AffineExpr expr : map.getResults())
      results.push_back(
          rewriter.getAffineDimExpr(llvm::find(loops, expr) - loops.begin()));
    return AffineMap::get(loops.size(), 0, results, rewriter.getContext());
  };
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (unsigned i : factor.inputs) {
    OpOperand *input = op.getDpsInputOperand(i);
    inputs.push_back(input->get());
    maps.push_back(overLoops(op.getMatchingIndexingMap(input)));
  }
  maps.push_back(rewriter.getMultiDimIdentityMap(loops.size()));
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, main),
      factor.narrow.getType());
  SmallVector<utils::IteratorType> iterators(loops.size(),
                                             utils::IteratorType::parallel);
  auto build = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
    IRMapping mapping;
    for (auto [i, argument] : llvm::zip(factor.inputs, arguments))
      mapping.map(op.getBody()->getArgument(i), argument);
    linalg::YieldOp::create(
        builder, loc, cloneInto(builder, factor.narrow, op.getBody(), mapping));
  };
  return linalg::GenericOp::create(rewriter, loc, empty.getType(), inputs,
                                   empty, maps, iterators, build)
      .getResult(0);
}

LogicalResult SplitProducers::matchAndRewrite(linalg::GenericOp op,
                                              PatternRewriter &rewriter) const {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0 || op.getNumDpsInputs() < 2 ||
      matchContractionBody(op))
    return rewriter.notifyMatchFailure(
        op, "not a reduction of tensors, or a plain contraction");
  Block *body = op.getBody();
  Operation *mul =
      findMultiplication(body, body->getArgument(op.getNumDpsInputs()));
  if (!mul)
    return rewriter.notifyMatchFailure(op, "does not sum a multiplication");

  Factor factors[2];
  for (unsigned i : {0, 1}) {
    Factor &factor = factors[i];
    factor.value = mul->getOperand(i);
    factor.narrow = lookThroughWidening(factor.value).source;
    if (failed(findInputs(factor.value, body, op.getNumDpsInputs(),
                          factor.inputs)))
      return rewriter.notifyMatchFailure(
          op, "a factor is not scalar arithmetic of inputs");
    factor.main = findMain(op, factor);
    if (!factor.main)
      return rewriter.notifyMatchFailure(
          op, "no input has all dimensions of a factor");
  }
  // The first input is lhs.
  if (factors[0].inputs.front() > factors[1].inputs.front())
    std::swap(factors[0], factors[1]);
  if (llvm::any_of(factors[0].inputs,
                   [&](unsigned i) { return factors[1].inputs.contains(i); }))
    return rewriter.notifyMatchFailure(op, "both factors read an input");
  auto isContraction = [&] {
    Type a = factors[0].narrow.getType(), b = factors[1].narrow.getType();
    return isValidMatmul(a, b, getAccumulatorType(a));
  };
  if (!isContraction())
    for (Factor &factor : factors)
      factor.narrow = factor.value;
  if (!isContraction())
    return rewriter.notifyMatchFailure(
        op, "no contraction supports the types of the factors");

  OpOperand *output = op.getDpsInitOperand(0);
  ContractionMaps contractionMaps{op.getMatchingIndexingMap(factors[0].main),
                                  op.getMatchingIndexingMap(factors[1].main),
                                  op.getMatchingIndexingMap(output),
                                  op.getStaticLoopRanges()};
  dropUnitDims(contractionMaps);
  if (failed(checkContractionMaps(contractionMaps)))
    return rewriter.notifyMatchFailure(op, "its maps are not a contraction's");

  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  for (const Factor &factor : factors) {
    operands.push_back(factor.isPlain() ? factor.main->get()
                                        : materialize(rewriter, op, factor));
    maps.push_back(op.getMatchingIndexingMap(factor.main));
  }
  maps.push_back(op.getMatchingIndexingMap(output));
  auto build = [&](OpBuilder &builder, Location loc, ValueRange arguments) {
    IRMapping mapping;
    for (unsigned i : {0, 1})
      mapping.map(factors[i].narrow, arguments[i]);
    mapping.map(body->getArguments().back(), arguments[2]);
    linalg::YieldOp::create(builder, loc,
                            cloneInto(builder,
                                      body->getTerminator()->getOperand(0),
                                      body, mapping));
  };
  SmallVector<NamedAttribute> attributes = linalg::getPrunedAttributeList(op);
  auto contraction = linalg::GenericOp::create(
      rewriter, op.getLoc(), op->getResultTypes(), operands, output->get(),
      maps, op.getIteratorTypesArray(), build, attributes);
  rewriter.replaceOp(op, contraction);
  return success();
}

void mlir::tessera::populateSplitProducerPatterns(RewritePatternSet &patterns,
                                                  const Chip &chip) {
  patterns.add<SplitProducers>(patterns.getContext());
  patterns.add<WidenPacked>(patterns.getContext(), chip);
}
