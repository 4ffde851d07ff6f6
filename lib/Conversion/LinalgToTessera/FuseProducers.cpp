//===- FuseProducers.cpp - Element-wise producers into tessera.contract ---===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   weights (i8)    scales
//        \          /
//      sitofp, mulf                          weights    scales
//           |                                    \      /
//     collapse_shape                ->      tessera.contract rhs_producer {
//           |                                 sitofp, mulf
//    tessera.contract                       }
//
//===----------------------------------------------------------------------===//

#include "ContractionMaps.h"
#include "Conversion/LinalgToTessera.h"
#include "Elementwise.h"
#include "Reshapes.h"
#include "Source.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

#define DEBUG_TYPE "convert-linalg-to-tessera"

STATISTIC(numFusedProducers, "Number of element-wise ops fused into operands");

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// A tensor to be read through `map` once dimensions `groups` of it have been
/// collapsed.
struct Collapsed {
  Value value;
  AffineMap map;
  SmallVector<ReassociationIndices> groups;
};

/// An element-wise op, as a producer of an operand.
struct Producer {
  linalg::LinalgOp op;
  /// Which operand of `op` becomes that of the contraction.
  unsigned mainOperand = 0;
  Collapsed main;
  /// For each operand of `op` that is an input: where it is read.
  SmallVector<std::optional<Collapsed>> inputs;
};
} // namespace

static ContractionMaps getContractionMaps(ContractOp op) {
  ContractionMaps maps{op.getMap(0), op.getMap(1), op.getMap(2), {}};
  maps.extents.assign(maps.out.getNumDims(), ShapedType::kDynamic);
  for (auto [i, operand] : llvm::enumerate(op.getMappedOperands()))
    for (auto [expr, size] :
         llvm::zip(op.getMap(i).getResults(),
                   cast<ShapedType>(operand.getType()).getShape()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        if (ShapedType::isStatic(size))
          maps.extents[dim.getPosition()] = size;
  return maps;
}

/// Whether no window of `map` leaves dimensions of `shape`.
static bool staysInside(AffineMap map, ArrayRef<int64_t> extents,
                        ArrayRef<int64_t> shape) {
  SmallVector<std::optional<int64_t>> first(extents.size(), 0), last;
  for (int64_t extent : extents)
    last.push_back(ShapedType::isStatic(extent)
                       ? std::optional<int64_t>(extent - 1)
                       : std::nullopt);
  for (auto [expr, size] : llvm::zip(map.getResults(), shape)) {
    if (isa<AffineDimExpr>(expr))
      continue;
    std::optional<int64_t> low = getBoundForAffineExpr(
        expr, extents.size(), 0, first, last, /*isUpper=*/false);
    std::optional<int64_t> high = getBoundForAffineExpr(
        expr, extents.size(), 0, first, last, /*isUpper=*/true);
    if (!low || !high || *low < 0 || ShapedType::isDynamic(size) ||
        *high >= size)
      return false;
  }
  return true;
}

/// Whether `expr` can index an input: a dimension or its quotient. A constant
/// zero is sliced off.
static bool indexesInput(AffineExpr expr) {
  if (isa<AffineDimExpr>(expr))
    return true;
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() == 0;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  return binary && expr.getKind() == AffineExprKind::FloorDiv &&
         isa<AffineDimExpr>(binary.getLHS()) &&
         isa<AffineConstantExpr>(binary.getRHS());
}

/// `use` or the value before its moves and reshapes, as far back as `accept`
/// permits.
static std::optional<Collapsed>
findSource(Source use, function_ref<bool(const Collapsed &)> accept) {
  std::optional<Collapsed> best;
  for (std::optional<Source> next = use; next;) {
    use = *next;
    Collapsed candidate{use.value, use.map, {}};
    if (accept(candidate))
      best = candidate;
    next = lookThroughReshape(use);
    if (!next)
      next = lookThroughProducer(use, /*mayWiden=*/false, /*widened=*/false);
  }
  return best;
}

/// `where` with the quotients and remainders of its map collapsed.
static FailureOr<Collapsed> collapse(Collapsed where) {
  SmallVector<ReassociationIndices> groups;
  FailureOr<AffineMap> map = collapseMap(
      where.map, cast<ShapedType>(where.value.getType()).getShape(), groups);
  if (failed(map))
    return failure();
  where.map = *map;
  where.groups = groups;
  return where;
}

/// The element-wise op that produces operand `side` of `op`, if it can be
/// fused. Otherwise `rejected` receives the op and the reason.
static std::optional<Producer>
matchProducer(ContractOp op, unsigned side,
              std::pair<Operation *, StringRef> *rejected = nullptr) {
  Value operand = side ? op.getRhs() : op.getLhs();
  auto type = dyn_cast<RankedTensorType>(operand.getType());
  ContractionMaps maps = getContractionMaps(op);
  AffineMap map = maps.operand(side);
  if (!type)
    return {};

  // The element-wise op, before reshapes and moves.
  Source use{operand, map};
  while (true) {
    std::optional<Source> next = lookThroughReshape(use);
    if (!next)
      next = lookThroughProducer(use, /*mayWiden=*/false, /*widened=*/false);
    if (!next)
      break;
    use = *next;
  }
  Producer producer;
  producer.op = use.value.getDefiningOp<linalg::LinalgOp>();
  auto reject = [&](StringRef why) -> std::optional<Producer> {
    if (rejected)
      *rejected = {producer.op, why};
    return {};
  };
  if (!producer.op || !isElementwise(producer.op) ||
      producer.op.payloadUsesValueFromOperand(producer.op.getDpsInitOperand(0)))
    return {};
  if (!isCheap(producer.op))
    return reject("each tile of the matmul would recompute it");
  if (!feedsContractionsOnly(use.value))
    return reject("it has users that are not matmuls");
  if (!staysInside(map, maps.extents, type.getShape()))
    return reject("a window may read out of bounds of its result, where the "
                  "value must be zero");

  AffineMap fromLoops =
      inversePermutation(
          producer.op.getMatchingIndexingMap(producer.op.getDpsInitOperand(0)))
          .compose(use.map);
  auto acceptMain = [&](const Collapsed &where) {
    FailureOr<Collapsed> collapsed = collapse(where);
    if (failed(collapsed))
      return false;
    ContractionMaps candidate = maps;
    candidate.operand(side) = collapsed->map;
    // The operand pairing of the matmul must be preserved.
    for (unsigned d = 0; d < maps.extents.size(); ++d)
      if (collapsed->map.isFunctionOfDim(d) != map.isFunctionOfDim(d))
        return false;
    return succeeded(checkContractionMaps(candidate));
  };
  auto acceptInput = [&](const Collapsed &where) {
    return llvm::all_of(where.map.getResults(), indexesInput);
  };

  // The operand is the one of the fewest bits that has all dimensions.
  unsigned fewest = 0, bitsRead = 0;
  producer.inputs.resize(producer.op->getNumOperands());
  for (OpOperand *input : producer.op.getDpsInputOperands()) {
    auto inputType = dyn_cast<RankedTensorType>(input->get().getType());
    if (!producer.op.payloadUsesValueFromOperand(input))
      continue;
    if (!inputType) {
      if (isa<ShapedType>(input->get().getType()))
        return {};
      continue;
    }
    if (inputType.getRank() > 0 &&
        !FragmentType::isValidElementType(inputType.getElementType()))
      return reject("fragments do not support the element type it reads");
    unsigned i = input->getOperandNumber();
    Source read{input->get(),
                producer.op.getMatchingIndexingMap(input).compose(fromLoops)};
    producer.inputs[i] = findSource(read, acceptInput);
    std::optional<Collapsed> main = findSource(read, acceptMain);
    if (!main)
      continue;
    unsigned bits = inputType.getElementTypeBitWidth();
    bitsRead += bits;
    if (fewest == 0 || bits < fewest) {
      fewest = bits;
      producer.mainOperand = i;
      producer.main = *collapse(*main);
    }
  }
  // Each tile of the matmul reads the inputs again: they must not be much
  // larger than the result that is saved.
  if (fewest == 0)
    return reject("none of its operands is indexed by all dimensions");
  if (bitsRead > 2 * type.getElementTypeBitWidth())
    return reject("it reads much more than it writes, and each tile of the "
                  "matmul would read it again");
  for (OpOperand *input : producer.op.getDpsInputOperands()) {
    unsigned i = input->getOperandNumber();
    if (i == producer.mainOperand)
      producer.inputs[i].reset();
    else if (isa<RankedTensorType>(input->get().getType()) &&
             producer.op.payloadUsesValueFromOperand(input) &&
             !producer.inputs[i])
      return reject("one of its operands has an index that is neither a "
                    "dimension nor a quotient of one");
  }
  return producer;
}

/// Whether tiles would compute the producer of lhs often and slowly: a thread
/// without lanes computes it element by element for each tile of its row, where
/// an op of its own computes vectors once. A producer that widens its operand
/// reads less memory, and a single operation, or few rows, cost no more than a
/// kernel.
///
/// Where only the device knows which lane has which element of a fragment, each
/// fragment goes through workgroup memory to become vectors, and back.
static bool isSlowForTiles(ContractOp op, unsigned side,
                           const Producer &producer, const Chip &chip) {
  constexpr int64_t fewColumns = 32, fewRows = 64;
  auto input = dyn_cast<ShapedType>(
      producer.op->getOperand(producer.mainOperand).getType());
  Block &body = producer.op->getRegion(0).front();
  if (!input || input.getElementType() != op.getFactorType(side))
    return false;
  if (hasOpaqueMultiply(chip, op.getFactorType(0), op.getFactorType(1),
                        op.getAccumulatorType()))
    return true;
  if (chip.hasLanes() || side == 1 ||
      llvm::hasSingleElement(body.without_terminator()))
    return false;
  ContractionMaps maps = getContractionMaps(op);
  int64_t columns = 1, rows = 1;
  for (auto [d, extent] : llvm::enumerate(maps.extents)) {
    bool isRow = !maps.rhs.isFunctionOfDim(d);
    if (!isRow && maps.lhs.isFunctionOfDim(d))
      continue;
    if (ShapedType::isDynamic(extent))
      return false;
    (isRow ? rows : columns) *= extent;
  }
  return columns > fewColumns && rows >= fewRows;
}

namespace {
/// `contract(producer(x))` to `contract` of x with a producer.
struct FuseProducer : public OpRewritePattern<ContractOp> {
  FuseProducer(MLIRContext *context, const Chip &chip)
      : OpRewritePattern(context), chip(chip) {}

  const Chip &chip;

  LogicalResult matchAndRewrite(ContractOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned side : {0, 1}) {
      std::optional<Producer> producer = matchProducer(op, side);
      if (!producer)
        continue;
      if (isSlowForTiles(op, side, *producer, chip)) {
        LDBG() << op.getLoc() << ": producer " << producer->op.getLoc()
               << " stays an op: tiles would compute it element by element";
        continue;
      }
      LDBG() << op.getLoc() << ": producer " << producer->op.getLoc()
             << " of operand " << side;
      ++numFusedProducers;
      fuse(op, side, *producer, rewriter);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "no operand has a fusible producer");
  }

private:
  static void fuse(ContractOp op, unsigned side, const Producer &producer,
                   PatternRewriter &rewriter);
};
} // namespace

void FuseProducer::fuse(ContractOp op, unsigned side, const Producer &producer,
                        PatternRewriter &rewriter) {
  linalg::LinalgOp source = producer.op;
  Location loc = rewriter.getFusedLoc({op.getLoc(), source.getLoc()});

  Collapsed main = producer.main;
  if (static_cast<int64_t>(main.groups.size()) !=
      cast<ShapedType>(main.value.getType()).getRank())
    main.value =
        tensor::CollapseShapeOp::create(rewriter, loc, main.value, main.groups);
  main.value = sliceAtConstants(rewriter, loc, main.value, main.map);

  // The inputs of the new producer, followed by those of the old one.
  SmallVector<Value> inputs[2] = {SmallVector<Value>(op.getLhsInputs()),
                                  SmallVector<Value>(op.getRhsInputs())};
  SmallVector<AffineMap> inputMaps[2];
  for (unsigned s : {0, 1})
    for (unsigned i = 0; i < inputs[s].size(); ++i)
      inputMaps[s].push_back(op.getInputMap(s, i));
  SmallVector<Value> newInputs;
  SmallVector<AffineMap> newMaps;
  SmallVector<std::optional<unsigned>> argumentOf(source->getNumOperands());
  for (auto [i, input] : llvm::enumerate(producer.inputs)) {
    if (!input)
      continue;
    AffineMap map = input->map;
    newInputs.push_back(sliceAtConstants(rewriter, loc, input->value, map));
    newMaps.push_back(map);
    argumentOf[i] = newInputs.size();
  }
  argumentOf[producer.mainOperand] = 0;
  unsigned numNew = newInputs.size();
  inputs[side].insert(inputs[side].begin(), newInputs.begin(), newInputs.end());
  inputMaps[side].insert(inputMaps[side].begin(), newMaps.begin(),
                         newMaps.end());

  SmallVector<AffineMap> maps;
  for (unsigned i = 0; i < 3 + op.getExtras().size(); ++i)
    maps.push_back(op.getMap(i));
  maps[side] = main.map;
  for (unsigned s : {0, 1})
    llvm::append_range(maps, inputMaps[s]);
  auto fused = ContractOp::create(
      rewriter, loc, op->getResultTypes(), side ? op.getLhs() : main.value,
      side ? main.value : op.getRhs(), op.getInit(), op.getExtras(), inputs[0],
      inputs[1], op.getOutput(), rewriter.getAffineMapArrayAttr(maps),
      op.getAccumulatorType(), op.getUnsignedA(), op.getUnsignedB(),
      op.getPrecision(), op.getScheduleAttr());
  fused.getEpilogue().takeBody(op.getEpilogue());
  fused.getProducer(1 - side).takeBody(op.getProducer(1 - side));

  // The new producer's body, and the old one's on its result.
  Block *block = rewriter.createBlock(&fused.getProducer(side));
  block->addArgument(getElementTypeOrSelf(main.value.getType()), loc);
  for (Value input : inputs[side])
    block->addArgument(getElementTypeOrSelf(input.getType()), loc);
  IRMapping mapping;
  Block *body = source.getBlock();
  for (OpOperand &operand : source->getOpOperands()) {
    unsigned i = operand.getOperandNumber();
    if (argumentOf[i])
      mapping.map(body->getArgument(i), block->getArgument(*argumentOf[i]));
    else if (!isa<ShapedType>(operand.get().getType()))
      mapping.map(body->getArgument(i), operand.get());
  }
  for (Operation &nested : body->without_terminator())
    rewriter.clone(nested, mapping);
  Value element = mapping.lookupOrDefault(body->getTerminator()->getOperand(0));
  Region &old = op.getProducer(side);
  if (!old.empty()) {
    Block &oldBlock = old.front();
    mapping.map(oldBlock.getArgument(0), element);
    for (unsigned i = 1; i < oldBlock.getNumArguments(); ++i)
      mapping.map(oldBlock.getArgument(i), block->getArgument(numNew + i));
    for (Operation &nested : oldBlock.without_terminator())
      rewriter.clone(nested, mapping);
    element = mapping.lookupOrDefault(
        cast<YieldOp>(oldBlock.getTerminator()).getValues()[0]);
  }
  YieldOp::create(rewriter, loc, element);
  rewriter.replaceOp(op, fused->getResults());
}

void mlir::tessera::remarkOnProducers(ContractOp op,
                                      DenseSet<Operation *> &reported) {
  for (unsigned side : {0, 1}) {
    std::pair<Operation *, StringRef> rejected{nullptr, ""};
    matchProducer(op, side, &rejected);
    if (rejected.first && reported.insert(rejected.first).second)
      rejected.first->emitRemark("not fused into the matmul: ")
          << rejected.second;
  }
}

void mlir::tessera::populateFuseProducerPatterns(RewritePatternSet &patterns,
                                                 const Chip &chip) {
  patterns.add<FuseProducer>(patterns.getContext(), chip);
}
