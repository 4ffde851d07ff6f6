//===- FuseConsumers.cpp - linalg consumers into an epilogue --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseConsumers.h"

#include "Elementwise.h"
#include "Source.h"

#include "Dialect/Tessera/IR/Reductions.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tessera;

/// Renames the dimensions of `map` to those of `dims`, out of `numDims`; 0 for
/// a dimension without a counterpart.
static AffineMap renameDims(AffineMap map, ArrayRef<unsigned> dims,
                            unsigned numDims) {
  SmallVector<AffineExpr> results;
  for (AffineExpr result : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    unsigned to = dim ? dims[dim.getPosition()] : Consumer::noDim;
    results.push_back(to == Consumer::noDim
                          ? getAffineConstantExpr(0, map.getContext())
                          : getAffineDimExpr(to, map.getContext()));
  }
  return AffineMap::get(numDims, 0, results, map.getContext());
}

AffineMap Consumer::getMap(OpOperand &operand, unsigned numDims) {
  return renameDims(op.getMatchingIndexingMap(&operand), dims, numDims);
}

std::optional<RowReduction>
mlir::tessera::matchRowReduction(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumReductionLoops() == 0 || op->getNumRegions() != 1 ||
      op->getNumResults() != 1 ||
      op.getNumParallelLoops() + op.getNumReductionLoops() != op.getNumLoops())
    return std::nullopt;
  Block *block = op.getBlock();
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!block || block->getNumArguments() != op->getNumOperands() ||
      block->getTerminator()->getNumOperands() != 1 ||
      !out.isProjectedPermutation(/*allowZeroInResults=*/true) ||
      !llvm::all_of(block->without_terminator(), isScalarArithmetic))
    return std::nullopt;
  for (auto [d, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if ((kind == utils::IteratorType::reduction) == out.isFunctionOfDim(d))
      return std::nullopt;
  BlockArgument old = block->getArguments().back();
  Operation *combiner = block->getTerminator()->getOperand(0).getDefiningOp();
  if (!combiner || combiner->getBlock() != block || !old.hasOneUse() ||
      *old.user_begin() != combiner || !combiner->getResult(0).hasOneUse())
    return std::nullopt;
  std::optional<ReductionKind> kind = matchReduction(combiner);
  if (!kind || combiner->getNumOperands() != 2)
    return std::nullopt;
  Value element = combiner->getOperand(combiner->getOperand(0) == old ? 1 : 0);
  return RowReduction{*kind, combiner, element};
}

bool mlir::tessera::canBeExtra(linalg::LinalgOp op, OpOperand &operand) {
  auto shaped = dyn_cast<ShapedType>(operand.get().getType());
  if (!shaped || !op.payloadUsesValueFromOperand(&operand))
    return true;
  // The elements must be those of a fragment, unless all of them are the same.
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!isa<RankedTensorType>(shaped) ||
      (map.getNumResults() > 0 &&
       !FragmentType::isValidElementType(shaped.getElementType())) ||
      !map.isProjectedPermutation(/*allowZeroInResults=*/true))
    return false;
  for (auto [r, result] : llvm::enumerate(map.getResults()))
    if (!isa<AffineDimExpr>(result) && shaped.getDimSize(r) != 1)
      return false;
  return true;
}

/// The initial value of a reduction of `consumer`, if it is the same for all
/// elements.
static Value getFilledWith(linalg::LinalgOp consumer) {
  auto fill =
      consumer.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  return fill ? fill.getInputs()[0] : Value();
}

namespace {
/// Lengthens the epilogue of one contraction.
class Fusion {
public:
  Fusion(ContractOp op, ArrayRef<Consumer> consumers, RewriterBase &rewriter)
      : op(op), consumers(consumers), rewriter(rewriter), outMap(op.getMap(2)),
        numDims(outMap.getNumDims()), extras(op.getExtras()) {
    SmallVector<Location> locs{op.getLoc()};
    for (const Consumer &consumer : consumers) {
      Operation *consumed = consumer.op;
      locs.push_back(consumed->getLoc());
      inside.insert(consumer.getResult());
    }
    loc = rewriter.getFusedLoc(locs);
    inside.insert(op.getResult());
    for (unsigned i = 0; i < extras.size(); ++i)
      extraMaps.push_back(op.getMap(3 + i));
  }

  ContractOp run();

private:
  unsigned addExtra(Value value, AffineMap map);
  void addExtras(Consumer consumer);
  Value createOutput(Consumer last);
  Value addOldValue(Block *block, Value sum);
  Value emitReduction(const Consumer &consumer, Value element, Value start);
  void emitConsumer(Consumer consumer, Block *block);

  ContractOp op;
  ArrayRef<Consumer> consumers;
  RewriterBase &rewriter;
  Location loc = rewriter.getUnknownLoc();
  AffineMap outMap;
  unsigned numDims;
  SmallVector<Value> extras;
  SmallVector<AffineMap> extraMaps;
  /// The result of the contraction and the consumers' results.
  DenseSet<Value> inside;
  /// The extra of an operand of a consumer.
  DenseMap<OpOperand *, unsigned> extraOf;
  /// The old value that the sum started from.
  std::optional<unsigned> oldValue;
  /// The elements of values inside.
  DenseMap<Value, Value> elements;
};
} // namespace

unsigned Fusion::addExtra(Value value, AffineMap map) {
  for (unsigned i = 0; i < extras.size(); ++i)
    if (extras[i] == value && extraMaps[i] == map)
      return i;
  extras.push_back(value);
  extraMaps.push_back(map);
  return extras.size() - 1;
}

void Fusion::addExtras(Consumer consumer) {
  bool isFilled = consumer.reduction && getFilledWith(consumer.op);
  for (OpOperand &operand : consumer.op->getOpOperands()) {
    Value value = operand.get();
    if (inside.contains(value) || !isa<ShapedType>(value.getType()) ||
        !consumer.op.payloadUsesValueFromOperand(&operand) ||
        (isFilled && consumer.op.isDpsInit(&operand)))
      continue;
    AffineMap map = consumer.getMap(operand, numDims);
    value = sliceAtConstants(rewriter, loc, value, map);
    Source source = lookThroughMoves({value, map});
    extraOf[&operand] = addExtra(source.value, source.map);
  }
}

/// The output: the last consumer's own, unless that is inside.
Value Fusion::createOutput(Consumer last) {
  OpOperand *init = last.op.getDpsInitOperand(0);
  Value output = init->get();
  if (last.reduction && getFilledWith(last.op))
    return output.getDefiningOp<linalg::FillOp>().getOutputs()[0];
  if (!inside.contains(output))
    return output;
  auto type = cast<RankedTensorType>(last.getResult().getType());
  AffineMap map = last.getMap(*init, numDims);
  if (output == op.getResult() && !oldValue && map == outMap &&
      op.getOutput().getType() == type)
    return op.getOutput();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getOutput());
  SmallVector<OpFoldResult> resultSizes;
  for (AffineExpr dim : map.getResults())
    resultSizes.push_back(sizes[*outMap.getResultPosition(dim)]);
  output = tensor::EmptyOp::create(rewriter, loc, resultSizes,
                                   type.getElementType());
  if (output.getType() != type)
    output = tensor::CastOp::create(rewriter, loc, type, output);
  return output;
}

Value Fusion::addOldValue(Block *block, Value sum) {
  Type acc = sum.getType();
  Value old =
      convertScalarToDtype(rewriter, loc, block->getArgument(1 + *oldValue),
                           acc, /*isUnsignedCast=*/false);
  if (isa<FloatType>(acc))
    return arith::AddFOp::create(rewriter, loc, sum, old);
  return arith::AddIOp::create(rewriter, loc, sum, old);
}

Value Fusion::emitReduction(const Consumer &consumer, Value element,
                            Value start) {
  ReductionKind kind = consumer.reduction->kind;
  Value reduced = RowReduceOp::create(rewriter, loc, kind, element);
  Attribute constant;
  if (matchPattern(start, m_Constant(&constant)) &&
      isNeutralElement(kind, constant))
    return reduced;
  return createReduction(rewriter, loc, kind, reduced, start);
}

void Fusion::emitConsumer(Consumer consumer, Block *block) {
  Block *body = consumer.op.getBlock();
  IRMapping mapping;
  for (OpOperand &operand : consumer.op->getOpOperands()) {
    BlockArgument argument = body->getArgument(operand.getOperandNumber());
    auto extra = extraOf.find(&operand);
    if (inside.contains(operand.get()))
      mapping.map(argument, elements.lookup(operand.get()));
    else if (extra != extraOf.end())
      mapping.map(argument, block->getArgument(1 + extra->second));
    else if (!isa<ShapedType>(operand.get().getType()))
      mapping.map(argument, operand.get());
    else if (consumer.reduction && consumer.op.isDpsInit(&operand))
      mapping.map(argument, getFilledWith(consumer.op));
  }
  for (Operation &nested : body->without_terminator())
    if (!consumer.reduction || &nested != consumer.reduction->combiner)
      rewriter.clone(nested, mapping);
  elements[consumer.getResult()] =
      consumer.reduction
          ? emitReduction(consumer,
                          mapping.lookupOrDefault(consumer.reduction->element),
                          mapping.lookup(body->getArguments().back()))
          : mapping.lookupOrDefault(body->getTerminator()->getOperand(0));
}

ContractOp Fusion::run() {
  Consumer last = consumers.back();
  rewriter.setInsertionPoint(last.op);

  // Where the sum started from an old value, it starts from zero, and the old
  // value is an operand of the epilogue: the output is another tensor now.
  Type acc = op.getAccumulatorType();
  Value start = op.getInit();
  if (!start) {
    start = arith::ConstantOp::create(rewriter, loc, rewriter.getZeroAttr(acc));
    oldValue = addExtra(op.getOutput(), outMap);
  }
  for (const Consumer &consumer : consumers)
    addExtras(consumer);
  Value output = createOutput(last);

  SmallVector<AffineMap> maps{
      op.getMap(0), op.getMap(1),
      last.getMap(*last.op.getDpsInitOperand(0), numDims)};
  llvm::append_range(maps, extraMaps);
  for (unsigned i = 3 + op.getExtras().size(); i < op.getMaps().size(); ++i)
    maps.push_back(op.getMap(i));
  auto fused = ContractOp::create(
      rewriter, loc, last.getResult().getType(), op.getLhs(), op.getRhs(),
      start, extras, op.getLhsInputs(), op.getRhsInputs(), output,
      rewriter.getAffineMapArrayAttr(maps), acc, op.getUnsignedA(),
      op.getUnsignedB(), op.getPrecision(), op.getScheduleAttr());
  for (unsigned side : {0, 1})
    fused.getProducer(side).takeBody(op.getProducer(side));

  // The epilogue: the old value added, the old epilogue, then the consumers.
  Block *block = rewriter.createBlock(&fused.getEpilogue());
  Value sum = block->addArgument(acc, loc);
  for (Value extra : extras)
    block->addArgument(getElementTypeOrSelf(extra.getType()), loc);
  if (oldValue)
    sum = addOldValue(block, sum);
  Block &oldBlock = op.getEpilogue().front();
  IRMapping mapping;
  mapping.map(oldBlock.getArgument(0), sum);
  for (unsigned i = 1; i < oldBlock.getNumArguments(); ++i)
    mapping.map(oldBlock.getArgument(i), block->getArgument(i));
  for (Operation &nested : oldBlock.without_terminator())
    rewriter.clone(nested, mapping);
  elements[op.getResult()] = mapping.lookupOrDefault(
      cast<YieldOp>(oldBlock.getTerminator()).getValues()[0]);
  for (const Consumer &consumer : consumers)
    emitConsumer(consumer, block);
  YieldOp::create(rewriter, loc, elements.lookup(last.getResult()));

  rewriter.replaceOp(last.op, fused->getResults());
  for (const Consumer &consumer : llvm::reverse(consumers.drop_back()))
    rewriter.eraseOp(consumer.op);
  rewriter.eraseOp(op);
  return fused;
}

ContractOp mlir::tessera::fuseConsumers(ContractOp op,
                                        ArrayRef<Consumer> consumers,
                                        RewriterBase &rewriter) {
  return Fusion(op, consumers, rewriter).run();
}
