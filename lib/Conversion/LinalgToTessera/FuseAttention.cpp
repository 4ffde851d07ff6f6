//===- FuseAttention.cpp - Two matmuls and a softmax to one op ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   query  key
//      \   /
//      matmul -> * scale -> select(j <= i + C, ., -inf) -> x
//                                                          |
//        max over j <------------------------------------- +
//            |                                             |
//            +------------> exp(x - max) --+--> sum over j |
//                                          |         |     v
//                     value                +-------> e / sum -> truncf
//                         \                                     /
//                          +------------> matmul  <------------+
//                                            |
//                                            +--> truncf -->
//
// Element-wise computations may be divided among ops in any way. If scores are
// changed otherwise than by a scale and a causal mask, the change becomes the
// region of the op (AttentionScores.cpp); pages of keys are looked through
// (PagedKeys.cpp).
//
//===----------------------------------------------------------------------===//

#include "Conversion/LinalgToTessera.h"

#include "AttentionScores.h"
#include "AttentionViews.h"
#include "Dialect/Tessera/IR/Tessera.h"
#include "PointReader.h"
#include "Source.h"

#include "Scheduling/AttentionSchedule.h"
#include "Scheduling/Schedule.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#define DEBUG_TYPE "convert-linalg-to-tessera"

STATISTIC(numFusedAttentions, "Number of attentions fused");

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// x and its largest value along a dimension, of exp(x - max).
struct ShiftedPower {
  Point x;
  PointReader::Reduction largest;
};

/// The scores: the result of a matmul, a scale, and visibility up to j = i +
/// causal.
struct Scores {
  Point contraction;
  double factor = 1;
  std::optional<int64_t> causal;
};

/// Matches one attention, starting from its second matmul.
class AttentionMatcher {
public:
  AttentionMatcher(linalg::LinalgOp second,
                   const LinalgContraction &contraction, const Chip &chip)
      : second(second), matmul2(contraction), chip(chip) {}

  /// The op that replaces the matmuls, or null; `why` then receives the reason
  /// if there is a softmax between two matmuls.
  AttentionOp run(RewriterBase &rewriter);
  /// Lets `op` have the uses of the result.
  void replace(AttentionOp op, RewriterBase &rewriter);
  std::string why;

private:
  bool fail(const Twine &reason) {
    why = reason.str();
    return false;
  }
  /// The value that `point` is, except that it is another constant where the
  /// value is `empty`, as it is for a query that sees no key.
  Point lookThroughGuard(Point point, double empty);
  std::optional<ShiftedPower> matchPower(Point point);
  /// Matches the weights, operand `side` of the second matmul.
  bool matchSoftmax(unsigned side);
  bool matchScores();
  /// Matches scores that are changed in any element-wise way.
  bool matchAnyScores(const Point &x);
  bool addMask(Point condition, bool isSeen, double hidden, Type type);
  bool isUsedElsewhere();
  bool findDims();
  bool findOutput(RewriterBase &rewriter);
  void lookThroughCopies(RewriterBase &rewriter);
  AttentionOp create(RewriterBase &rewriter);
  void buildRegions(AttentionOp op);
  /// Builds the region `page`; false if keys and values have different pages.
  bool buildPage(AttentionOp op);

  linalg::LinalgOp second, first;
  LinalgContraction matmul2, matmul1;
  const Chip &chip;
  PointReader reader;
  Scores scores;
  /// The change of scores that is a region; null without one.
  std::unique_ptr<AttentionScores> changed;
  /// The space of the weights: its rank, and the dimensions of queries and
  /// keys.
  unsigned rank = 0, queries = 0, keys = 0;
  /// Its rank before dimensions of the batch are divided.
  unsigned spaceRank = 0;
  /// The number of values for which a query without keys has a case of its own.
  unsigned numGuards = 0;
  unsigned weightSide = 0;
  std::array<Value, 4> operands;
  std::array<AffineMap, 4> maps;
  /// The operands where they are before copies; absent if none are looked
  /// through.
  std::optional<AttentionViews> sources;
  /// The op that the result replaces, and a reshape before it.
  Operation *last = nullptr;
  tensor::ExpandShapeOp reshape;
  /// A reshape of the result, and the op that rounds and transposes it.
  std::pair<tensor::ExpandShapeOp, linalg::LinalgOp> transposing;
  /// The groups of dimensions of the output that are one of the result, if
  /// dimensions of the batch were divided.
  SmallVector<ReassociationIndices> outputGroups;
};
} // namespace

/// Whether the sum of `op` starts from zeros.
static bool startsFromZero(linalg::LinalgOp op) {
  Value init = op.getDpsInits()[0];
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getInputs()[0];
  return matchPattern(init, m_AnyZeroFloat());
}

Point AttentionMatcher::lookThroughGuard(Point point, double empty) {
  point = reader.lookThroughCasts(point);
  if (!point.as<arith::SelectOp>())
    return point;
  Point value = reader.lookThroughCasts(point.operand(2)),
        condition = reader.look(point.operand(0));
  std::optional<double> replacement = reader.getConstant(point.operand(1));
  auto compare = condition.as<arith::CmpFOp>();
  // The replacement of a divisor or of a maximum must not make a NaN of zeros.
  if (!compare || !replacement || !std::isfinite(*replacement) ||
      (empty == 0 && *replacement == 0) ||
      (compare.getPredicate() != arith::CmpFPredicate::OEQ &&
       compare.getPredicate() != arith::CmpFPredicate::UEQ))
    return point;
  for (unsigned i : {0, 1})
    if (reader.getConstant(condition.operand(i)) == empty &&
        reader.lookThroughCasts(condition.operand(1 - i)) == value) {
      ++numGuards;
      return value;
    }
  return point;
}

std::optional<ShiftedPower> AttentionMatcher::matchPower(Point point) {
  point = reader.lookThroughCasts(point);
  if (!point.as<math::ExpOp>())
    return std::nullopt;
  point = reader.lookThroughCasts(point.operand(0));
  if (!point.as<arith::SubFOp>())
    return std::nullopt;
  Point x = reader.lookThroughCasts(point.operand(0));
  auto largest = reader.getReduction(
      lookThroughGuard(point.operand(1),
                       -std::numeric_limits<double>::infinity()),
      /*isMaximum=*/true);
  if (!largest || !(largest->element == x))
    return std::nullopt;
  return ShiftedPower{x, *largest};
}

bool AttentionMatcher::matchSoftmax(unsigned side) {
  Value weights = side ? matmul2.rhs : matmul2.lhs;
  auto type = dyn_cast<RankedTensorType>(weights.getType());
  if (!type)
    return false;
  rank = type.getRank();
  reader.ops.clear();
  numGuards = 0;
  Point point = reader.lookThroughCasts(
      {weights, AffineMap::getMultiDimIdentityMap(rank, weights.getContext()),
       linalg::LinalgOp()});
  if (!point.as<arith::DivFOp>())
    return false;
  std::optional<ShiftedPower> power = matchPower(point.operand(0));
  auto sum = reader.getReduction(lookThroughGuard(point.operand(1), 0),
                                 /*isMaximum=*/false);
  if (!power || !sum || sum->dim != power->largest.dim)
    return false;
  std::optional<ShiftedPower> summand = matchPower(sum->element);
  if (!summand || !(summand->x == power->x))
    return false;
  scores.contraction = power->x;
  keys = sum->dim;
  weightSide = side;
  return rank >= 2;
}

bool AttentionMatcher::addMask(Point condition, bool isSeen, double hidden,
                               Type type) {
  // f16 has no lower number.
  if (hidden * scores.factor > lowestVisibleScore &&
      (!type.isF16() || hidden > getNearlyLowest(type)))
    return fail("the value of masked scores is not a large negative number");
  if (scores.causal)
    return fail("there are two masks");
  condition = reader.look(condition);
  auto compare = condition.as<arith::CmpIOp>();
  if (!compare)
    return fail("the mask is not a comparison of indices");
  AffineExpr a = reader.getAffine(condition.operand(0)),
             b = reader.getAffine(condition.operand(1));
  if (!a || !b)
    return fail("the mask compares values that are not indices");
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (!isSeen)
    predicate = arith::invertPredicate(predicate);
  MLIRContext *context = condition.value.getContext();
  AffineExpr ahead =
      getAffineDimExpr(keys, context) - getAffineDimExpr(queries, context);
  // j - i + k <= 0, or with the sides exchanged.
  for (bool exchanged : {false, true}) {
    AffineExpr difference = exchanged ? b - a : a - b;
    auto k = dyn_cast<AffineConstantExpr>(
        simplifyAffineExpr(difference - ahead, rank, 0));
    if (!k)
      continue;
    if (predicate ==
        (exchanged ? arith::CmpIPredicate::sge : arith::CmpIPredicate::sle))
      scores.causal = -k.getValue();
    else if (predicate == (exchanged ? arith::CmpIPredicate::sgt
                                     : arith::CmpIPredicate::slt))
      scores.causal = -k.getValue() - 1;
    else
      continue;
    // The maxima of numerator and denominator, and the sum, give zero for
    // queries that see no key.
    if (*scores.causal < 0 && numGuards < 3)
      return fail("the mask hides all keys from the first queries");
    if (std::abs(*scores.causal) > int64_t(1) << 30)
      return fail("the offset of the mask from the queries is too large");
    return true;
  }
  return fail("the mask is not causal (keys up to the query)");
}

bool AttentionMatcher::matchAnyScores(const Point &x) {
  auto type = cast<RankedTensorType>(
      (weightSide ? matmul2.rhs : matmul2.lhs).getType());
  AttentionScores::Space space = {rank, queries, keys, type.getDimSize(queries),
                                  type.getDimSize(keys)};
  changed = std::make_unique<AttentionScores>(reader, space, second.getLoc());
  if (!changed->read(x)) {
    why = changed->why;
    changed.reset();
    first = nullptr;
    return false;
  }
  scores.contraction = *changed->contraction;
  scores.factor = changed->factor;
  scores.causal.reset();
  why.clear();
  first = scores.contraction.value.getDefiningOp<linalg::LinalgOp>();
  matmul1 = *matchLinalgContraction(first);
  return true;
}

bool AttentionMatcher::matchScores() {
  Point point = scores.contraction;
  while (true) {
    point = reader.lookThroughCasts(point);
    if (!point.op)
      break;
    // A factor.
    if (point.as<arith::MulFOp>()) {
      std::optional<double> right = reader.getConstant(point.operand(1)),
                            left = reader.getConstant(point.operand(0));
      if (!left && !right)
        return fail(
            "the scores are multiplied by a value that is not constant");
      scores.factor *= right ? *right : *left;
      point = point.operand(right ? 0 : 1);
      continue;
    }
    if (point.as<arith::DivFOp>()) {
      std::optional<double> divisor = reader.getConstant(point.operand(1));
      if (!divisor)
        return fail("the scores are divided by a value that is not constant");
      scores.factor /= *divisor;
      point = point.operand(0);
      continue;
    }
    // A mask: instead of scores, or added to them.
    auto matchSelect = [&](Point select, unsigned hidden, double &value) {
      std::optional<double> number = reader.getConstant(select.operand(hidden));
      if (!number)
        return false;
      value = *number;
      return true;
    };
    double hidden = 0;
    if (point.as<arith::SelectOp>()) {
      bool isSeen = matchSelect(point, 2, hidden);
      if (!isSeen && !matchSelect(point, 1, hidden))
        return fail("a select between two values is not a mask of the scores");
      if (!addMask(point.operand(0), isSeen, hidden, point.value.getType()))
        return false;
      point = point.operand(isSeen ? 1 : 2);
      continue;
    }
    if (point.as<arith::AddFOp>()) {
      bool found = false;
      for (unsigned i : {1, 0}) {
        Point select = reader.lookThroughCasts(point.operand(i));
        double seen = 0;
        if (!select.as<arith::SelectOp>() || !matchSelect(select, 1, seen) ||
            !matchSelect(select, 2, hidden))
          continue;
        bool isSeen = seen == 0;
        if (!isSeen)
          std::swap(seen, hidden);
        if (seen != 0 ||
            !addMask(select.operand(0), isSeen, hidden, select.value.getType()))
          return why.empty()
                     ? fail("more than one constant is added to the scores")
                     : false;
        point = point.operand(1 - i);
        found = true;
        break;
      }
      if (!found)
        return fail("a value that is not a mask is added to the scores");
      continue;
    }
    return fail("'" +
                (point.value.getDefiningOp()
                     ? point.value.getDefiningOp()->getName().getStringRef()
                     : StringRef("an argument")) +
                "' between the matmul and its softmax is not supported");
  }
  if (!std::isfinite(scores.factor) || scores.factor <= 0)
    return fail("the scale of the scores is not positive");
  scores.contraction = point;
  first = point.value.getDefiningOp<linalg::LinalgOp>();
  FailureOr<LinalgContraction> contraction = failure();
  if (first)
    contraction = matchLinalgContraction(first);
  if (failed(contraction)) {
    // A softmax of a value that is not a matmul is not matched.
    first = nullptr;
    why.clear();
    return false;
  }
  matmul1 = *contraction;
  return true;
}

/// All uses of the first matmul's scores must lead to the second one.
bool AttentionMatcher::isUsedElsewhere() {
  SmallVector<Operation *> pending{first};
  DenseSet<Operation *> seen;
  while (!pending.empty())
    for (Operation *user : pending.pop_back_val()->getUsers()) {
      if (user == second || !seen.insert(user).second)
        continue;
      if (!reader.ops.contains(user))
        return true;
      pending.push_back(user);
    }
  return false;
}

/// The positions of a map's dimensions; empty if it has other results.
static SmallVector<unsigned> getPositions(AffineMap map) {
  SmallVector<unsigned> positions;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim)
      return {};
    positions.push_back(dim.getPosition());
  }
  return positions;
}

bool AttentionMatcher::findDims() {
  // The iteration dimension of each dimension of the space.
  unsigned numBatch = rank - 2, m = numBatch, n = m + 1, d = m + 2, e = m + 3;
  SmallVector<unsigned> position(rank);
  for (unsigned i = 0, next = 0; i < rank; ++i)
    position[i] = i == keys ? n : i == queries ? m : next++;
  constexpr unsigned none = ~0u;
  MLIRContext *context = second.getContext();
  // Expresses a map in the dimensions of a matmul; a dimension that the space
  // lacks is `other`.
  auto rename = [&](AffineMap map, ArrayRef<unsigned> dims, unsigned other) {
    SmallVector<AffineExpr> results;
    for (unsigned position : getPositions(map))
      results.push_back(getAffineDimExpr(
          dims[position] == none ? other : dims[position], context));
    return AffineMap::get(numBatch + 4, 0, results, context);
  };

  SmallVector<unsigned> at = getPositions(scores.contraction.at),
                        out1 = getPositions(matmul1.outMap),
                        weights = getPositions(weightSide ? matmul2.rhsMap
                                                          : matmul2.lhsMap);
  if (at.size() != rank || out1.size() != rank || weights.size() != rank)
    return fail(
        "the dimensions of the matmuls do not match those of the scores");
  SmallVector<unsigned> dims1(matmul1.outMap.getNumDims(), none),
      dims2(matmul2.outMap.getNumDims(), none);
  for (auto [dim, to] : llvm::zip(out1, at))
    dims1[dim] = position[to];
  for (auto [r, dim] : llvm::enumerate(weights))
    dims2[dim] = position[r];
  if (llvm::count(dims1, none) != 1 || llvm::count(dims2, none) != 1)
    return fail("a matmul has several dimensions of one kind");

  // The keys' operand is the one that moves with them.
  unsigned keyDim = llvm::find(dims1, n) - dims1.begin();
  bool keyIsLhs = matmul1.lhsMap.isFunctionOfDim(keyDim);
  operands = {keyIsLhs ? matmul1.rhs : matmul1.lhs,
              keyIsLhs ? matmul1.lhs : matmul1.rhs,
              weightSide ? matmul2.lhs : matmul2.rhs, Value()};
  maps = {rename(keyIsLhs ? matmul1.rhsMap : matmul1.lhsMap, dims1, d),
          rename(keyIsLhs ? matmul1.lhsMap : matmul1.rhsMap, dims1, d),
          rename(weightSide ? matmul2.lhsMap : matmul2.rhsMap, dims2, e),
          rename(matmul2.outMap, dims2, e)};
  for (auto [i, operand] : llvm::enumerate(ArrayRef(operands).drop_back()))
    if (static_cast<int64_t>(maps[i].getNumResults()) !=
        cast<ShapedType>(operand.getType()).getRank())
      return fail("an operand is read at a constant index");
  return true;
}

/// Finds the ops that round or transpose the output, and no others.
bool AttentionMatcher::findOutput(RewriterBase &rewriter) {
  last = second;
  Value output = second.getDpsInits()[0];
  if (auto fill = output.getDefiningOp<linalg::FillOp>())
    output = fill.getOutputs()[0];
  Value result = second->getResult(0);
  if (result.hasOneUse())
    reshape = dyn_cast<tensor::ExpandShapeOp>(*result.user_begin());
  if (reshape)
    result = reshape.getResult();
  auto consumer = result.hasOneUse()
                      ? dyn_cast<linalg::LinalgOp>(*result.user_begin())
                      : linalg::LinalgOp();
  if (consumer && consumer.getNumDpsInputs() == 1 &&
      consumer.getNumDpsInits() == 1 && consumer.hasPureTensorSemantics() &&
      consumer.getDpsInputOperand(0)->get() == result &&
      consumer.getNumParallelLoops() == consumer.getNumLoops()) {
    OpOperand *to = consumer.getDpsInitOperand(0);
    AffineMap in = consumer.getMatchingIndexingMap(
                  consumer.getDpsInputOperand(0)),
              out = consumer.getMatchingIndexingMap(to);
    Block *block = consumer.getBlock();
    Value yielded = block->getTerminator()->getOperand(0);
    if (auto round = yielded.getDefiningOp<arith::TruncFOp>())
      yielded = round.getIn();
    if (in.isPermutation() && out.isPermutation() &&
        yielded == block->getArgument(0) && reshape) {
      // The result is reshaped once it is rounded.
      if (in == out && getElementTypeOrSelf(output.getType()) !=
                           getElementTypeOrSelf(to->get().getType()))
        last = consumer;
      else if (in != out)
        transposing = {reshape, consumer};
    } else if (in.isPermutation() && out.isPermutation() &&
               yielded == block->getArgument(0)) {
      SmallVector<AffineExpr> results(out.getNumResults());
      for (auto [r, expr] : llvm::enumerate(in.getResults()))
        results[*out.getResultPosition(expr)] =
            maps[AttentionOp::Output].getResult(r);
      maps[AttentionOp::Output] =
          AffineMap::get(maps[AttentionOp::Output].getNumDims(), 0, results,
                         rewriter.getContext());
      last = consumer;
      output = to->get();
    }
  }
  if (last == second)
    reshape = nullptr;
  operands[AttentionOp::Output] = output;
  return true;
}

/// Whether the rows and columns of an operand's matrices are its last
/// dimensions, in this order.
static bool isByRows(unsigned operand, AffineMap map, unsigned numBatch) {
  auto at = [&](AttentionOp::Dim dim) {
    return map.getResultPosition(
        getAffineDimExpr(numBatch + dim, map.getContext()));
  };
  auto row = at(AttentionOp::getRows(operand)),
       col = at(AttentionOp::getCols(operand));
  return row && col && *row < *col && *col + 1 == map.getNumResults();
}

/// Finds what the operands are copies of, and divides the heads into groups if
/// keys and values are copies of those of fewer heads.
void AttentionMatcher::lookThroughCopies(RewriterBase &rewriter) {
  AttentionViews views(operands, maps);
  auto [expand, transpose] = transposing;
  bool transposes =
      transpose && views.moveResult(expand, transpose) &&
      isByRows(AttentionOp::Output, views.getMap(AttentionOp::Output),
               views.getNumBatch());
  if (transpose && !transposes)
    views = AttentionViews(operands, maps);
  views.run();
  if (!views.skipsCopies())
    return;
  for (unsigned i : {0, 1, 2})
    if (!isByRows(i, views.getMap(i), views.getNumBatch()))
      return;
  // Both keys and values have pages, or none.
  if (views.hasPages(AttentionOp::Key) != views.hasPages(AttentionOp::Value))
    return;
  if (transposes) {
    last = transpose;
    reshape = nullptr;
  }
  rewriter.setInsertionPoint(last);
  for (unsigned i = 0; i < 4; ++i) {
    if (i == AttentionOp::Output)
      outputGroups = views.getGroups(i);
    operands[i] = views.create(i, rewriter, last->getLoc());
    maps[i] = views.getMap(i);
    if (views.hasPages(i))
      continue;
    operands[i] =
        sliceAtConstants(rewriter, last->getLoc(), operands[i], maps[i]);
  }
  rank = views.getNumBatch() + 2;
  sources = std::move(views);
}

AttentionOp AttentionMatcher::create(RewriterBase &rewriter) {
  rewriter.setInsertionPoint(last);
  Location loc =
      rewriter.getFusedLoc({first->getLoc(), second->getLoc(), last->getLoc()});
  Type element = getElementTypeOrSelf(last->getResult(0).getType());
  Value output = operands[AttentionOp::Output];
  auto type = RankedTensorType::get(
      cast<RankedTensorType>(output.getType()).getShape(), element);
  // Its contents are not read.
  if (output.getType() != type || !output.getDefiningOp<tensor::EmptyOp>())
    operands[AttentionOp::Output] = tensor::EmptyOp::create(
        rewriter, loc, tensor::getMixedSizes(rewriter, loc, output), element);
  Value numKeys;
  if (sources && sources->hasPages(AttentionOp::Key))
    numKeys = sources->createNumKeys(AttentionOp::Key, rewriter, loc);
  auto getMapAttr = [](AffineMap map) {
    return map ? AffineMapAttr::get(map) : AffineMapAttr();
  };
  AffineMap firstKeys = changed ? changed->getFirst() : AffineMap(),
            lastKeys = changed ? changed->getLast() : AffineMap();
  // A softmax without a case for queries that see no key divides zero by zero.
  bool emptyIsNan = changed && changed->mayBeEmpty() && numGuards < 3;
  auto op = AttentionOp::create(
      rewriter, loc, type, operands[0], operands[1], operands[2], operands[3],
      rewriter.getAffineMapArrayAttr(maps), numKeys,
      rewriter.getF32FloatAttr(static_cast<float>(scores.factor)),
      scores.causal ? rewriter.getI64IntegerAttr(*scores.causal)
                    : IntegerAttr(),
      getMapAttr(firstKeys), getMapAttr(lastKeys),
      emptyIsNan ? rewriter.getUnitAttr() : UnitAttr(),
      second->getAttrOfType<ScheduleAttr>(
          TesseraDialect::ScheduleAttrHelper::getNameStr()));
  if (changed)
    buildRegions(op);
  return op;
}

/// Adds a block that takes `numIndices` indices, after an f32 if `isScore`.
static Block *addBlock(Region &region, unsigned numIndices, bool isScore,
                       Location loc) {
  Block *block = &region.emplaceBlock();
  Builder builder(loc.getContext());
  if (isScore)
    block->addArgument(builder.getF32Type(), loc);
  for (unsigned i = 0; i < numIndices; ++i)
    block->addArgument(builder.getIndexType(), loc);
  return block;
}

void AttentionMatcher::buildRegions(AttentionOp op) {
  Location loc = op.getLoc();
  unsigned numBatch = op.getNumBatchDims();
  // The values of the space's dimensions, given those of the batch, the query
  // and the key; the batch dimensions of the space may have been divided.
  auto getDims = [&](OpBuilder &builder, ValueRange batch, Value query,
                     Value key) {
    SmallVector<Value> dims(spaceRank);
    for (unsigned dim = 0, next = 0; dim < spaceRank; ++dim) {
      if (dim == keys || dim == queries) {
        dims[dim] = dim == keys ? key : query;
        continue;
      }
      SmallVector<unsigned> list{next};
      if (sources)
        list = sources->getOrigins()[next];
      ++next;
      for (unsigned part : list) {
        if (!dims[dim]) {
          dims[dim] = batch[part];
          continue;
        }
        Value extent = arith::ConstantIndexOp::create(builder, loc,
                                                      sources->getSize(part));
        dims[dim] = arith::AddIOp::create(
            builder, loc,
            arith::MulIOp::create(builder, loc, dims[dim], extent),
            batch[part]);
      }
    }
    return dims;
  };
  if (changed->hasLength()) {
    Block *block = addBlock(op.getLength(), numBatch, /*isScore=*/false, loc);
    OpBuilder builder = OpBuilder::atBlockEnd(block);
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    SmallVector<Value> dims =
        getDims(builder, block->getArguments(), zero, zero);
    YieldOp::create(builder, loc, changed->emitLength(builder, dims));
  }
  if (changed->hasRegion()) {
    Block *block = addBlock(op.getScore(), numBatch + 2, /*isScore=*/true, loc);
    OpBuilder builder = OpBuilder::atBlockEnd(block);
    ValueRange indices = block->getArguments();
    indices = indices.drop_front();
    SmallVector<Value> dims = getDims(builder, indices.take_front(numBatch),
                                      indices[numBatch], indices[numBatch + 1]);
    YieldOp::create(builder, loc,
                    changed->emitScore(builder, block->getArgument(0), dims));
  }
}

bool AttentionMatcher::buildPage(AttentionOp op) {
  if (!sources || !sources->hasPages(AttentionOp::Key))
    return true;
  Location loc = op.getLoc();
  unsigned numBatch = op.getNumBatchDims();
  auto build = [&](Region &region, unsigned operand) {
    Block *block = addBlock(region, numBatch + 1, /*isScore=*/false, loc);
    OpBuilder builder(loc.getContext());
    builder.setInsertionPointToEnd(block);
    ValueRange arguments = block->getArguments();
    YieldOp::create(builder, loc,
                    sources->emitPage(operand, builder, loc,
                                      arguments.drop_back(), arguments.back()));
  };
  Region ofValue;
  build(op.getPage(), AttentionOp::Key);
  build(ofValue, AttentionOp::Value);
  return OperationEquivalence::isRegionEquivalentTo(
      &op.getPage(), &ofValue, OperationEquivalence::IgnoreLocations);
}

void AttentionMatcher::replace(AttentionOp op, RewriterBase &rewriter) {
  Value result = op.getResult();
  if (outputGroups.size() != maps[AttentionOp::Output].getNumResults() &&
      !outputGroups.empty())
    result = tensor::CollapseShapeOp::create(rewriter, last->getLoc(), result,
                                             outputGroups);
  if (reshape)
    result = tensor::ExpandShapeOp::create(
        rewriter, reshape.getLoc(), last->getResult(0).getType(), result,
        reshape.getReassociationIndices(), reshape.getMixedOutputShape());
  rewriter.replaceAllUsesWith(last->getResult(0), result);
}

AttentionOp AttentionMatcher::run(RewriterBase &rewriter) {
  if (!matchSoftmax(0) && !matchSoftmax(1))
    return {};
  // The last dimension other than the keys'.
  queries = keys == rank - 1 ? rank - 2 : rank - 1;
  spaceRank = rank;
  Point x = scores.contraction;
  if (!matchScores() && (why.empty() || !matchAnyScores(x)))
    return {};
  if (!findDims() || !findOutput(rewriter))
    return {};
  auto reject = [&](const Twine &reason) -> AttentionOp {
    why = reason.str();
    return {};
  };
  if (isUsedElsewhere())
    return reject("the scores, or values computed from them, have other users");
  if (first->hasAttr(TesseraDialect::ScheduleAttrHelper::getNameStr()))
    return reject("the first matmul has a schedule of its own");
  if (!startsFromZero(first) || !startsFromZero(second))
    return reject("a matmul does not start from zero");
  std::string types;
  for (unsigned i : {0, 1, 2})
    llvm::raw_string_ostream(types)
        << (i ? " and " : "") << getElementTypeOrSelf(operands[i].getType());
  Type element = getElementTypeOrSelf(operands[0].getType());
  Value weights = weightSide ? matmul2.rhs : matmul2.lhs;
  if ((!element.isF16() && !element.isBF16()) ||
      getElementTypeOrSelf(operands[1].getType()) != element ||
      getElementTypeOrSelf(operands[2].getType()) != element ||
      getElementTypeOrSelf(weights.getType()) != element)
    return reject(
        "query, key, value and weights must all be f16 or all be bf16, but "
        "are " +
        types);
  if (!std::isfinite(scores.factor) || scores.factor <= 0)
    return reject("the scale of the scores is not positive");
  lookThroughCopies(rewriter);
  constexpr const char *names[] = {"query", "key", "value", "output"};
  for (unsigned i = 0; i < 4; ++i)
    if (!isByRows(i, maps[i], rank - 2))
      return reject(Twine(names[i]) + " is not row-major");
  for (unsigned i : {0, 3})
    if (maps[i].getNumResults() != rank || maps[i].isFunctionOfDim(rank - 1))
      return reject("query or output does not have all batch dimensions");
  for (unsigned i : {1, 2})
    if (maps[i].isFunctionOfDim(rank - 2))
      return reject("the keys or values differ between queries");
  Type out = getElementTypeOrSelf(last->getResult(0).getType());
  if (out != element && !out.isF32())
    return reject("the output's element type differs from the operands'");

  AttentionOp op = create(rewriter);
  if (!buildPage(op)) {
    rewriter.eraseOp(op);
    return reject("keys and values are gathered from different pages");
  }
  ScheduleAttr schedule = op.getScheduleAttr() ? op.getScheduleAttr()
                                               : getDefaultSchedule(op, chip);
  std::string problem =
      schedule ? explainSchedule(op, schedule, chip)
               : "schedule_c24: head dimensions D and E must be static";
  // A tile of one thread would compute rows that do not exist.
  if (problem.empty() && !op.getScheduleAttr() && !chip.hasLanes() &&
      op.getStaticExtent(AttentionOp::M) == 1)
    problem = "there is one query only: its matmuls are vector-matrix products";
  if (!problem.empty()) {
    rewriter.eraseOp(op);
    return reject(problem);
  }
  return op;
}

void mlir::tessera::fuseAttention(Operation *root, const Chip &chip) {
  SmallVector<linalg::LinalgOp> ops;
  root->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  IRRewriter rewriter(root->getContext());
  for (linalg::LinalgOp op : ops) {
    if (!op.hasPureTensorSemantics())
      continue;
    FailureOr<LinalgContraction> contraction = matchLinalgContraction(op);
    if (failed(contraction) || op->use_empty())
      continue;
    AttentionMatcher matcher(op, *contraction, chip);
    AttentionOp attention = matcher.run(rewriter);
    LDBG() << op.getLoc() << ": "
           << (attention             ? "the second matmul of an attention"
               : matcher.why.empty() ? "no softmax precedes it"
                                     : matcher.why);
    if (!attention) {
      if (!matcher.why.empty())
        op->emitRemark("not fused with the preceding softmax into one kernel: ")
            << matcher.why;
      continue;
    }
    ++numFusedAttentions;
    matcher.replace(attention, rewriter);
  }
}
