//===- AttentionOp.cpp - Verifier and queries of tessera.attention --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeadEndRegions.h"
#include "Dialect/Tessera/IR/Tessera.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera;

/// The largest distance between a query and the bounds of its keys.
static constexpr int64_t farthest = int64_t(1) << 30;

static constexpr const char *operandNames[] = {"query", "key", "value",
                                               "output"};

int64_t AttentionOp::getStaticExtent(unsigned position) {
  if (hasPages() && position == getPosition(N))
    return getConstantIntValue(getNumKeys()).value_or(ShapedType::kDynamic);
  for (unsigned i = 0; i < 4; ++i) {
    auto type = cast<ShapedType>(getOperand(i).getType());
    unsigned first = getNumPageDims(i);
    for (auto [r, expr] : llvm::enumerate(getMap(i).getResults()))
      if (cast<AffineDimExpr>(expr).getPosition() == position &&
          !type.isDynamicDim(first + r))
        return type.getDimSize(first + r);
  }
  return ShapedType::kDynamic;
}

int64_t AttentionOp::getPageSize() {
  auto type = cast<ShapedType>(getKey().getType());
  AffineExpr row = getAffineDimExpr(getPosition(N), getContext());
  return type.getDimSize(getNumPageDims(Key) +
                         *getMap(Key).getResultPosition(row));
}

/// The bound that a result of a map states; absent for other expressions.
static std::optional<AttentionOp::Bound> getBound(AffineExpr expr) {
  AttentionOp::Bound bound{};
  SmallVector<AffineExpr> pending{expr};
  while (!pending.empty()) {
    AffineExpr next = pending.pop_back_val();
    if (auto constant = dyn_cast<AffineConstantExpr>(next)) {
      bound.constant += constant.getValue();
    } else if (auto dim = dyn_cast<AffineDimExpr>(next)) {
      bool &used = dim.getPosition() == 0 ? bound.row : bound.length;
      if (used)
        return std::nullopt;
      used = true;
    } else if (auto sum = dyn_cast<AffineBinaryOpExpr>(next);
               sum && sum.getKind() == AffineExprKind::Add) {
      pending.append({sum.getLHS(), sum.getRHS()});
    } else {
      return std::nullopt;
    }
  }
  return bound;
}

static SmallVector<AttentionOp::Bound> getBounds(std::optional<AffineMap> map) {
  SmallVector<AttentionOp::Bound> bounds;
  if (map)
    for (AffineExpr expr : map->getResults())
      bounds.push_back(*getBound(expr));
  return bounds;
}

SmallVector<AttentionOp::Bound> AttentionOp::getFirstKeys() {
  return getBounds(getFirst());
}

SmallVector<AttentionOp::Bound> AttentionOp::getLastKeys() {
  SmallVector<Bound> bounds = getBounds(getLast());
  if (getCausal())
    bounds.push_back(
        {/*row=*/true, /*length=*/false, static_cast<int64_t>(*getCausal())});
  return bounds;
}

std::optional<int64_t> AttentionOp::getWindow() {
  std::optional<int64_t> window;
  for (const Bound &first : getFirstKeys())
    for (const Bound &last : getLastKeys())
      if (first.row == last.row && first.length == last.length) {
        int64_t own = std::max<int64_t>(last.constant - first.constant + 1, 0);
        window = std::min(window.value_or(own), own);
      }
  return window;
}

void AttentionOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  // Reads of the regions come with the trait.
  for (OpOperand &operand : (*this)->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand,
                           SideEffects::DefaultResource::get());
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand,
                           SideEffects::DefaultResource::get());
  }
}

void AttentionOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &regions) {
  getDeadEndRegions(getOperation(), point, regions);
}

/// attention_c1: the maps.
static LogicalResult verifyMaps(AttentionOp op) {
  if (op.getMaps().size() != 4)
    return op.emitOpError()
           << "attention_c1: expected one map for each of the 4 operands, not "
           << op.getMaps().size();
  unsigned numDims = op.getMap(0).getNumDims();
  if (numDims < 4)
    return op.emitOpError()
           << "attention_c1: the iteration space has " << numDims
           << " dimensions, but M, N, D and E require at least 4";
  SmallVector<int64_t> sizes(numDims, ShapedType::kDynamic);
  for (unsigned i = 0; i < 4; ++i) {
    AffineMap map = op.getMap(i);
    auto type = cast<ShapedType>(op->getOperand(i).getType());
    unsigned rows = op.getPosition(AttentionOp::getRows(i)),
             cols = op.getPosition(AttentionOp::getCols(i));
    unsigned first = op.getNumPageDims(i);
    bool good =
        type.hasRank() && map.getNumDims() == numDims &&
        map.getNumSymbols() == 0 && map.isProjectedPermutation() &&
        first + map.getNumResults() == static_cast<size_t>(type.getRank()) &&
        map.isFunctionOfDim(rows) && map.isFunctionOfDim(cols);
    for (unsigned d = 0; good && d < numDims; ++d)
      if (d < op.getNumBatchDims())
        good =
            AttentionOp::getRows(i) == AttentionOp::N || map.isFunctionOfDim(d);
      else
        good = d == rows || d == cols || !map.isFunctionOfDim(d);
    if (!good)
      return op.emitOpError()
             << "attention_c1: map " << i << ", " << AffineMapAttr::get(map)
             << ", does not map the batch and the dimensions of "
             << operandNames[i] << " to " << type;
    for (auto [r, expr] : llvm::enumerate(map.getResults())) {
      int64_t size = type.getDimSize(first + r),
              &known = sizes[cast<AffineDimExpr>(expr).getPosition()];
      if (ShapedType::isStatic(size) && ShapedType::isStatic(known) &&
          size != known)
        return op.emitOpError()
               << "attention_c1: " << operandNames[i] << " has size " << size
               << " where another operand has " << known;
      if (ShapedType::isStatic(size))
        known = size;
    }
  }
  return success();
}

/// attention_c5: the bounds of keys.
static LogicalResult verifyBounds(AttentionOp op) {
  auto verify = [&](std::optional<AffineMap> map,
                    StringRef name) -> LogicalResult {
    if (!map)
      return success();
    if (map->getNumDims() != 2 || map->getNumSymbols() != 0)
      return op.emitOpError()
             << "attention_c5: " << name << " must be a map of (i, l), not "
             << AffineMapAttr::get(*map);
    for (AffineExpr expr : map->getResults()) {
      std::optional<AttentionOp::Bound> bound = getBound(expr);
      if (!bound || std::abs(bound->constant) > farthest)
        return op.emitOpError()
               << "attention_c5: each result of " << name
               << " must be a sum of i, l and a constant of a magnitude of at "
                  "most 2^30, each at most once";
      if (bound->length && !op.hasLength())
        return op.emitOpError() << "attention_c5: " << name
                                << " uses l, which requires the region "
                                   "'length'";
    }
    return success();
  };
  return success(succeeded(verify(op.getFirst(), "first")) &&
                 succeeded(verify(op.getLast(), "last")));
}

/// attention_c6: a region whose arguments are an f32, if `isScore`, and
/// `numIndices` indices; and whose result has the type `result`.
static LogicalResult verifyRegion(AttentionOp op, Region &region,
                                  StringRef name, bool isScore,
                                  unsigned numIndices, Type result) {
  if (region.empty())
    return success();
  Block &block = region.front();
  TypeRange types = block.getArgumentTypes();
  auto yield = !block.empty() ? dyn_cast<YieldOp>(block.back()) : YieldOp();
  bool good = region.hasOneBlock() && yield &&
              types.size() == numIndices + (isScore ? 1 : 0) &&
              (!isScore || types[0].isF32()) &&
              llvm::all_of(types.drop_front(isScore ? 1 : 0),
                           [](Type type) { return type.isIndex(); }) &&
              yield.getValues().size() == 1 &&
              yield.getValues()[0].getType() == result;
  if (!good)
    return op.emitOpError() << "attention_c6: " << name << " must take "
                            << (isScore ? "an f32 and " : "") << numIndices
                            << " index values, and yield one " << result;
  for (Operation &inner : block.without_terminator())
    if (!hasNoEffectsButReads(&inner))
      return inner.emitError() << "attention_c6: " << name
                               << " must not have side effects other than "
                                  "reading memory";
  return success();
}

static LogicalResult verifyAllRegions(AttentionOp op) {
  unsigned batch = op.getNumBatchDims();
  Builder builder(op.getContext());
  return success(
      succeeded(verifyRegion(op, op.getLength(), "length", /*isScore=*/false,
                             batch, builder.getIndexType())) &&
      succeeded(verifyRegion(op, op.getPage(), "page", /*isScore=*/false,
                             batch + 1, builder.getIndexType())) &&
      succeeded(verifyRegion(op, op.getScore(), "score", /*isScore=*/true,
                             batch + 2, builder.getF32Type())));
}

/// attention_c7: the pages.
static LogicalResult verifyPages(AttentionOp op) {
  if (op.hasPages() != static_cast<bool>(op.getNumKeys()))
    return op.emitOpError()
           << "attention_c7: a page requires keys, and keys a page";
  if (!op.hasPages())
    return success();
  for (unsigned i : {AttentionOp::Key, AttentionOp::Value}) {
    auto type = cast<ShapedType>(op->getOperand(i).getType());
    AffineExpr row =
        getAffineDimExpr(op.getPosition(AttentionOp::N), op.getContext());
    int64_t size = type.getDimSize(1 + *op.getMap(i).getResultPosition(row));
    if (ShapedType::isDynamic(size) || size == 0)
      return op.emitOpError() << "attention_c7: the number of keys of a page "
                                 "must be static and not zero, but "
                              << operandNames[i] << " is " << type;
  }
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyMaps(*this)) || failed(verifyPages(*this)) ||
      failed(verifyBounds(*this)) || failed(verifyAllRegions(*this)))
    return failure();
  Type element = getOperandType();
  if (!element.isF16() && !element.isBF16())
    return emitOpError() << "attention_c2: query has element type " << element
                         << ", expected f16 or bf16";
  for (unsigned i : {Key, Value})
    if (Type other = getElementTypeOrSelf(getOperand(i)); other != element)
      return emitOpError() << "attention_c2: query has element type " << element
                           << ", but " << operandNames[i] << " has " << other;
  if (Type out = getElementTypeOrSelf(getOutput());
      out != element && !out.isF32())
    return emitOpError() << "attention_c2: the output has element type " << out
                         << ", expected f32 or " << element;
  double scale = getScale().convertToDouble();
  if (!std::isfinite(scale) || scale <= 0)
    return emitOpError()
           << "attention_c3: scale must be positive and finite, not "
           << getScaleAttr();
  auto causal = static_cast<int64_t>(getCausal().value_or(0));
  if (causal > farthest || causal < -farthest)
    return emitOpError()
           << "attention_c3: the magnitude of causal must be at most 2^30, not "
           << causal;
  bool tensors = isa<TensorType>(getOutput().getType());
  for (unsigned i : {Query, Key, Value})
    if (isa<TensorType>(getOperand(i).getType()) != tensors)
      return emitOpError()
             << "attention_c4: operands must be all tensors or all "
                "memrefs";
  if (static_cast<bool>(getResult()) != tensors)
    return emitOpError() << "attention_c4: a result requires a tensor output, "
                            "and a tensor output a result";
  return success();
}
