//===- AttentionScores.cpp - The scores of an attention -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The computation is copied to a block, however it is divided among ops, and
// in f32. Masks are then taken out of it where they are bounds of keys:
//
//   s = x * 0.125 + bias[h, j]                    s = x * 0.125 + bias[h, j]
//   y = select(j < length[b], s, -inf)      ->    last key: l - 1
//                                                 l = length[b]
//
//===----------------------------------------------------------------------===//

#include "AttentionScores.h"

#include "Conversion/LinalgToTessera.h"
#include "Elementwise.h"
#include "Scheduling/Schedule.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera;

/// The largest magnitude of the constant of a bound.
static constexpr int64_t farthest = int64_t(1) << 30;

void mlir::tessera::cloneSlice(OpBuilder &builder, Block &block,
                               ValueRange roots, IRMapping &mapping) {
  llvm::SmallPtrSet<Operation *, 16> needed;
  SmallVector<Value> pending(roots);
  while (!pending.empty()) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (op && op->getBlock() == &block && needed.insert(op).second)
      llvm::append_range(pending, op->getOperands());
  }
  for (Operation &op : block)
    if (needed.contains(&op) && !mapping.contains(op.getResult(0)))
      builder.clone(op, mapping);
}

void AttentionScores::Linear::add(const Linear &other, int64_t factor) {
  query += factor * other.query;
  key += factor * other.key;
  constant += factor * other.constant;
  for (auto [value, times] : other.others) {
    auto *found = llvm::find_if(
        others, [&, v = value](const auto &own) { return own.first == v; });
    if (found == others.end())
      others.push_back({value, factor * times});
    else
      found->second += factor * times;
  }
  llvm::erase_if(others, [](const auto &own) { return own.second == 0; });
}

//===----------------------------------------------------------------------===//
// The computation
//===----------------------------------------------------------------------===//

bool AttentionScores::read(Point scores) {
  block = &scratch.emplaceBlock();
  builder.setInsertionPointToStart(block);
  block->addArgument(builder.getF32Type(), builder.getLoc());
  for (unsigned dim = 0; dim < space.rank; ++dim)
    block->addArgument(builder.getIndexType(), builder.getLoc());
  result = emit(scores);
  if (!result || !contraction)
    return false;
  result = takeMasks(result, 1);
  // Factors at the end are part of the scale.
  while (Operation *op = result.getDefiningOp()) {
    FloatAttr constant;
    if (!isa<arith::MulFOp, arith::DivFOp>(op) ||
        !matchPattern(op->getOperand(1), m_Constant(&constant)))
      break;
    double value = constant.getValueAsDouble();
    if (!std::isfinite(value) || value <= 0)
      break;
    factor = isa<arith::MulFOp>(op) ? factor * value : factor / value;
    result = op->getOperand(0);
  }
  return true;
}

Value AttentionScores::emit(Point point) {
  point = reader.lookThroughCasts(point);
  std::pair<Value, std::pair<const void *, Operation *>> key = {
      point.value, {point.at.getAsOpaquePointer(), point.op}};
  if (Value value = known.lookup(key))
    return value;
  Value value = emitNew(point);
  if (value)
    known[key] = value;
  return value;
}

Value AttentionScores::emitNew(const Point &point) {
  Attribute constant;
  if (matchPattern(point.value, m_Constant(&constant))) {
    if (auto elements = dyn_cast<DenseElementsAttr>(constant))
      constant = elements.isSplat() ? elements.getSplatValue<Attribute>()
                                    : Attribute();
    if (auto value = dyn_cast_or_null<FloatAttr>(constant))
      return number(value.getValueAsDouble());
    if (auto value = dyn_cast_or_null<IntegerAttr>(constant))
      return arith::ConstantOp::create(builder, value);
  }
  if (!point.op)
    return isa<RankedTensorType>(point.value.getType()) ? emitTensor(point)
                                                        : Value();
  Operation *op = point.value.getDefiningOp();
  Type type = point.value.getType();
  if (type.isF64())
    return fail("a value between the matmul and its softmax is f64");
  if (!op || op->getParentOp() != point.op) {
    // A scalar from outside.
    if (isa<FloatType>(type) && !type.isF32())
      return arith::ExtFOp::create(builder, builder.getF32Type(), point.value);
    return point.value;
  }
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return affine::expandAffineExpr(
        builder, builder.getLoc(), point.at.getResult(index.getDim()),
        block->getArguments().drop_front(), /*symbolValues=*/{});
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Value> indices;
    for (unsigned i = 1; i < op->getNumOperands(); ++i) {
      indices.push_back(emit(point.operand(i)));
      if (!indices.back())
        return {};
    }
    return emitElement(extract.getTensor(), indices);
  }
  if (!isScalarArithmetic(*op) || isa<arith::BitcastOp>(op))
    return fail("'" + op->getName().getStringRef() +
                "' between the matmul and its softmax is not supported");
  OperationState state(builder.getLoc(), op->getName());
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    Value operand = emit(point.operand(i));
    if (!operand)
      return {};
    state.operands.push_back(operand);
  }
  state.addTypes(isa<FloatType>(type) ? Type(builder.getF32Type()) : type);
  state.addAttributes(op->getAttrs());
  return builder.create(state)->getResult(0);
}

Value AttentionScores::emitTensor(const Point &point) {
  auto made = point.value.getDefiningOp<linalg::LinalgOp>();
  if (made && point.at.isPermutation() && point.at.getNumDims() == space.rank &&
      (!contraction || *contraction == point) &&
      succeeded(matchLinalgContraction(made))) {
    contraction = point;
    return block->getArgument(0);
  }
  SmallVector<Value> indices;
  for (AffineExpr expr : point.at.getResults())
    indices.push_back(affine::expandAffineExpr(
        builder, builder.getLoc(), expr, block->getArguments().drop_front(),
        /*symbolValues=*/{}));
  return emitElement(point.value, indices);
}

Value AttentionScores::emitElement(Value tensor, ValueRange indices) {
  Type element = getElementTypeOrSelf(tensor.getType());
  if (!element.isIntOrIndex() && !element.isF16() && !element.isBF16() &&
      !element.isF32())
    return fail("a tensor that the scores depend on has an element type that "
                "is not supported");
  Value value = tensor::ExtractOp::create(builder, tensor, indices);
  if (element.isF16() || element.isBF16())
    value = arith::ExtFOp::create(builder, builder.getF32Type(), value);
  return value;
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

bool AttentionScores::varies(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == block) {
    unsigned number = argument.getArgNumber();
    return number == 0 || number == 1 + space.queries ||
           number == 1 + space.keys;
  }
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == block &&
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return varies(operand); });
}

std::optional<AttentionScores::Linear> AttentionScores::getLinear(Value value) {
  Linear linear;
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant))) {
    linear.constant = constant.getValue().getSExtValue();
    return linear;
  }
  if (value == block->getArgument(1 + space.keys)) {
    linear.key = 1;
    return linear;
  }
  if (value == block->getArgument(1 + space.queries)) {
    linear.query = 1;
    return linear;
  }
  Operation *op = value.getDefiningOp();
  if (isa_and_nonnull<arith::IndexCastOp, arith::ExtSIOp>(op))
    return getLinear(op->getOperand(0));
  if (isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op)) {
    std::optional<Linear> a = getLinear(op->getOperand(0)),
                          b = getLinear(op->getOperand(1));
    if (!a || !b)
      return std::nullopt;
    a->add(*b, isa<arith::AddIOp>(op) ? 1 : -1);
    return a;
  }
  if (varies(value))
    return std::nullopt;
  linear.others.push_back({value, 1});
  return linear;
}

bool AttentionScores::addBound(arith::CmpIOp compare, bool isSeen,
                               bool isFinite) {
  arith::CmpIPredicate predicate = compare.getPredicate();
  if (!isSeen)
    predicate = arith::invertPredicate(predicate);
  std::optional<Linear> a = getLinear(compare.getLhs()),
                        b = getLinear(compare.getRhs());
  if (!a || !b)
    return false;
  // The condition as `difference` <= 0.
  Linear difference;
  switch (predicate) {
  case arith::CmpIPredicate::slt:
  case arith::CmpIPredicate::sle:
    difference.add(*a, 1);
    difference.add(*b, -1);
    break;
  case arith::CmpIPredicate::sgt:
  case arith::CmpIPredicate::sge:
    difference.add(*b, 1);
    difference.add(*a, -1);
    break;
  default:
    return false;
  }
  if (predicate == arith::CmpIPredicate::slt ||
      predicate == arith::CmpIPredicate::sgt)
    ++difference.constant;
  // j <= last, or first <= j.
  bool isLast = difference.key == 1;
  if (!isLast && difference.key != -1)
    return false;
  Linear bound;
  bound.add(difference, isLast ? -1 : 1);
  if (space.numQueries == 1)
    bound.query = 0;
  if ((bound.query != 0 && bound.query != 1) ||
      std::abs(bound.constant) > farthest)
    return false;
  if (!bound.others.empty()) {
    // All bounds share one value.
    if (!length.empty() && length != bound.others)
      return false;
    if (isFinite || hasFiniteFirst)
      return false;
  }
  // A hidden key has a weight if all keys are hidden by a finite number.
  if (isFinite && isLast && bound.constant < 0)
    return false;
  if (isFinite && !isLast) {
    if (ShapedType::isDynamic(space.numQueries) ||
        ShapedType::isDynamic(space.numKeys) || !length.empty() ||
        bound.constant + (bound.query ? space.numQueries - 1 : 0) >=
            space.numKeys)
      return false;
    hasFiniteFirst = true;
  }
  MLIRContext *context = builder.getContext();
  AffineExpr expr = getAffineConstantExpr(bound.constant, context);
  if (!bound.others.empty()) {
    length = bound.others;
    expr = getAffineDimExpr(1, context) + expr;
  }
  if (bound.query)
    expr = getAffineDimExpr(0, context) + expr;
  SmallVectorImpl<AffineExpr> &list = isLast ? lasts : firsts;
  if (!llvm::is_contained(list, expr))
    list.push_back(expr);
  return true;
}

Value AttentionScores::takeBounds(Value condition, bool isSeen, bool isFinite) {
  Operation *op = condition.getDefiningOp();
  if (!op || op->getBlock() != block)
    return condition;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return addBound(compare, isSeen, isFinite) ? Value() : condition;
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()) &&
      condition.getType().isInteger(1)) {
    Value rest = takeBounds(op->getOperand(0), !isSeen, isFinite);
    if (!rest || rest == op->getOperand(0))
      return rest ? condition : Value();
    return arith::XOrIOp::create(builder, rest, op->getOperand(1));
  }
  // Keys are seen where both hold, or hidden where one of both holds.
  bool divides = isSeen ? isa<arith::AndIOp>(op) : isa<arith::OrIOp>(op);
  if (!divides)
    return condition;
  Value a = takeBounds(op->getOperand(0), isSeen, isFinite),
        b = takeBounds(op->getOperand(1), isSeen, isFinite);
  if (!a || !b)
    return a ? a : b;
  if (a == op->getOperand(0) && b == op->getOperand(1))
    return condition;
  return isSeen ? arith::AndIOp::create(builder, a, b).getResult()
                : arith::OrIOp::create(builder, a, b).getResult();
}

Value AttentionScores::takeMasks(Value value, double scale) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block)
    return value;
  auto getNumber = [](Value operand) -> std::optional<double> {
    FloatAttr constant;
    if (!matchPattern(operand, m_Constant(&constant)))
      return std::nullopt;
    return constant.getValueAsDouble();
  };
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    for (unsigned hidden : {2, 1}) {
      std::optional<double> low = getNumber(op->getOperand(hidden));
      if (!low || *low * scale > lowestVisibleScore)
        continue;
      bool isSeen = hidden == 2;
      Value rest = takeBounds(select.getCondition(), isSeen,
                              /*isFinite=*/std::isfinite(*low)),
            kept = takeMasks(op->getOperand(3 - hidden), scale);
      if (!rest)
        return kept;
      if (rest == select.getCondition() && kept == op->getOperand(3 - hidden))
        return value;
      Value other = op->getOperand(hidden);
      return isSeen ? arith::SelectOp::create(builder, rest, kept, other)
                    : arith::SelectOp::create(builder, rest, other, kept);
    }
    return value;
  }
  if (isa<arith::AddFOp>(op)) {
    Value a = takeMasks(op->getOperand(0), scale),
          b = takeMasks(op->getOperand(1), scale);
    if (a == op->getOperand(0) && b == op->getOperand(1))
      return value;
    if (getNumber(a) == 0)
      return b;
    if (getNumber(b) == 0)
      return a;
    return arith::AddFOp::create(builder, a, b);
  }
  if (isa<arith::MulFOp, arith::DivFOp>(op)) {
    std::optional<double> times = getNumber(op->getOperand(1));
    if (!times || !std::isfinite(*times) || *times <= 0)
      return value;
    bool isProduct = isa<arith::MulFOp>(op);
    Value inner = takeMasks(op->getOperand(0),
                            isProduct ? scale * *times : scale / *times);
    if (inner == op->getOperand(0))
      return value;
    return isProduct ? arith::MulFOp::create(builder, inner, op->getOperand(1))
                           .getResult()
                     : arith::DivFOp::create(builder, inner, op->getOperand(1))
                           .getResult();
  }
  return value;
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

AffineMap AttentionScores::makeMap(ArrayRef<AffineExpr> results) const {
  return results.empty() ? AffineMap()
                         : AffineMap::get(2, 0, results, builder.getContext());
}

Value AttentionScores::emitLength(OpBuilder &at, ValueRange dims) {
  IRMapping mapping;
  mapping.map(block->getArguments().drop_front(), dims);
  SmallVector<Value> roots;
  for (auto [value, times] : length)
    roots.push_back(value);
  cloneSlice(at, *block, roots, mapping);
  Location loc = builder.getLoc();
  Value sum;
  for (auto [value, times] : length) {
    Value term = mapping.lookupOrDefault(value);
    if (!term.getType().isIndex())
      term = arith::IndexCastOp::create(at, loc, at.getIndexType(), term);
    if (times != 1)
      term = arith::MulIOp::create(
          at, loc, term, arith::ConstantIndexOp::create(at, loc, times));
    sum = sum ? arith::AddIOp::create(at, loc, sum, term).getResult() : term;
  }
  return sum;
}

Value AttentionScores::emitScore(OpBuilder &at, Value sum, ValueRange dims) {
  IRMapping mapping;
  mapping.map(block->getArgument(0), sum);
  mapping.map(block->getArguments().drop_front(), dims);
  cloneSlice(at, *block, result, mapping);
  return mapping.lookupOrDefault(result);
}
