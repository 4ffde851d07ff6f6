//===- AttentionViews.cpp - Sources of attention's operands ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionViews.h"

#include "Source.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tessera;

AttentionViews::AttentionViews(ArrayRef<Value> operands,
                               ArrayRef<AffineMap> maps)
    : sizes(maps[0].getNumDims(), ShapedType::kDynamic) {
  for (auto [value, map] : llvm::zip_equal(operands, maps)) {
    View &view = views.emplace_back();
    view.value = value;
    auto type = cast<RankedTensorType>(value.getType());
    for (auto [r, expr] : llvm::enumerate(map.getResults())) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      view.dims.push_back({dim});
      if (!type.isDynamicDim(r))
        sizes[dim] = type.getDimSize(r);
    }
  }
  for (unsigned dim = 0; dim < getNumBatch(); ++dim)
    origins.push_back({dim});
}

void AttentionViews::run() {
  bool progress = true;
  while (progress) {
    progress = false;
    for (View &view : MutableArrayRef(views).drop_back())
      progress |= lookThrough(view);
  }
}

bool AttentionViews::moveResult(tensor::ExpandShapeOp reshape,
                                linalg::LinalgOp transpose) {
  View &view = views.back();
  RankedTensorType type = reshape.getResultType();
  SmallVector<ReassociationIndices> groups = reshape.getReassociationIndices();
  for (auto [r, group] : llvm::enumerate(groups)) {
    ArrayRef<int64_t> extents =
        type.getShape().slice(group.front(), group.size());
    if (group.size() > 1 && !canDivide(view.dims[r], extents))
      return false;
    if (group.size() > 1 && view.dims[r].size() == 1)
      divide(view.dims[r][0], extents);
  }
  SmallVector<unsigned> expanded;
  for (ArrayRef<unsigned> list : view.dims)
    llvm::append_range(expanded, list);
  OpOperand *init = transpose.getDpsInitOperand(0);
  AffineMap in = transpose.getMatchingIndexingMap(
                transpose.getDpsInputOperand(0)),
            out = transpose.getMatchingIndexingMap(init);
  view.value = init->get();
  view.dims.assign(out.getNumResults(), {});
  for (auto [r, expr] : llvm::enumerate(out.getResults()))
    view.dims[r] = {expanded[*in.getResultPosition(expr)]};
  return true;
}

bool AttentionViews::canDivide(ArrayRef<unsigned> dims,
                               ArrayRef<int64_t> extents) const {
  if (ShapedType::isDynamicShape(extents))
    return false;
  bool fits = dims.size() == extents.size();
  for (size_t i = 0; fits && i < extents.size(); ++i)
    fits = sizes[dims[i]] == extents[i];
  return fits || (dims.size() == 1 && dims[0] < getNumBatch());
}

bool AttentionViews::lookThroughMove(View &view) const {
  auto type = cast<RankedTensorType>(view.value.getType());
  std::optional<Source> source = lookThroughProducer(
      {view.value,
       AffineMap::getMultiDimIdentityMap(type.getRank(), type.getContext())},
      /*mayWiden=*/false, /*widened=*/false, /*mayIndexZero=*/true);
  if (!source)
    return false;
  SmallVector<SmallVector<unsigned>> dims;
  for (AffineExpr expr : source->map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    dims.push_back(dim ? view.dims[dim.getPosition()]
                       : SmallVector<unsigned>());
  }
  view.value = source->value;
  view.dims = std::move(dims);
  return true;
}

bool AttentionViews::lookThroughPages(View &view) {
  // Keys and values only.
  if (&view != &views[1] && &view != &views[2])
    return false;
  View inner = view;
  // The dimension of keys may be pages and keys of a page.
  if (auto op = inner.value.getDefiningOp<tensor::CollapseShapeOp>()) {
    SmallVector<SmallVector<unsigned>> dims;
    for (auto [r, group] : llvm::enumerate(op.getReassociationIndices())) {
      if (group.size() == 1) {
        dims.push_back(view.dims[r]);
        continue;
      }
      if (group.size() != 2 ||
          view.dims[r] != SmallVector<unsigned>{getKeyDim()} ||
          op.getSrcType().isDynamicDim(group[1]))
        return false;
      dims.push_back({pageDim});
      dims.push_back({keyInPageDim});
    }
    inner.value = op.getSrc();
    inner.dims = std::move(dims);
  }
  while (lookThroughMove(inner))
    ;
  Value source;
  SmallVector<SmallVector<unsigned>> dims;
  std::optional<PagedKeys> pages =
      matchPagedKeys(inner.value, inner.dims, getKeyDim(), source, dims);
  if (!pages ||
      llvm::any_of(dims, [](ArrayRef<unsigned> list) { return list.empty(); }))
    return false;
  view.value = source;
  view.dims = std::move(dims);
  view.pages = *pages;
  foundCopies = true;
  return true;
}

bool AttentionViews::lookThrough(View &view) {
  if (view.pages.op)
    return false;
  if (lookThroughPages(view))
    return true;
  auto type = cast<RankedTensorType>(view.value.getType());
  SmallVector<SmallVector<unsigned>> dims;
  if (auto op = view.value.getDefiningOp<tensor::CollapseShapeOp>())
    return lookThroughCollapse(view, op);
  if (auto op = view.value.getDefiningOp<tensor::ExpandShapeOp>()) {
    for (const ReassociationIndices &group : op.getReassociationIndices()) {
      SmallVector<unsigned> &merged = dims.emplace_back();
      for (int64_t r : group) {
        // An index of zero must be that of the only element.
        if (view.dims[r].empty() && type.getDimSize(r) != 1)
          return false;
        llvm::append_range(merged, view.dims[r]);
      }
      auto isUnknown = [&](unsigned dim) {
        return ShapedType::isDynamic(sizes[dim]);
      };
      if (merged.size() > 1 && llvm::any_of(merged, isUnknown))
        return false;
    }
    view = {op.getSrc(), std::move(dims), {}};
    return true;
  }
  if (!lookThroughMove(view))
    return false;
  foundCopies = true;
  return true;
}

bool AttentionViews::lookThroughCollapse(View &view,
                                         tensor::CollapseShapeOp op) {
  RankedTensorType from = op.getSrcType();
  SmallVector<ReassociationIndices> groups = op.getReassociationIndices();
  auto getSizes = [&](const ReassociationIndices &group) {
    SmallVector<int64_t> extents;
    for (int64_t r : group)
      extents.push_back(from.getDimSize(r));
    return extents;
  };
  // All dimensions besides those of one element are one.
  auto isOne = [&](const ReassociationIndices &group) {
    return group.size() - llvm::count(getSizes(group), 1) <= 1;
  };
  // First decide, then divide.
  for (auto [r, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> extents = getSizes(group);
    ArrayRef<unsigned> own = view.dims[r];
    if (own.empty() || isOne(group))
      continue;
    if (!canDivide(own, extents))
      return false;
  }
  SmallVector<SmallVector<unsigned>> dims;
  for (auto [r, group] : llvm::enumerate(groups)) {
    SmallVector<int64_t> extents = getSizes(group);
    if (view.dims[r].empty()) {
      dims.resize(dims.size() + group.size());
      continue;
    }
    if (isOne(group)) {
      bool isFound = false;
      for (auto [i, extent] : llvm::enumerate(extents)) {
        bool holds = !isFound && (extent != 1 || i + 1 == extents.size());
        isFound |= holds;
        dims.push_back(holds ? view.dims[r] : SmallVector<unsigned>());
      }
      continue;
    }
    if (view.dims[r].size() == 1) {
      unsigned dim = view.dims[r][0];
      divide(dim, extents);
      // The lists that were found already are not in a view yet.
      for (SmallVector<unsigned> &other : dims)
        for (unsigned &number : other)
          number += number > dim ? extents.size() - 1 : 0;
    }
    for (unsigned dim : view.dims[r])
      dims.push_back({dim});
  }
  view = {op.getSrc(), std::move(dims), {}};
  return true;
}

void AttentionViews::divide(unsigned dim, ArrayRef<int64_t> parts) {
  auto more = static_cast<unsigned>(parts.size()) - 1;
  auto divideIn = [&](MutableArrayRef<SmallVector<unsigned>> lists) {
    for (SmallVector<unsigned> &list : lists) {
      SmallVector<unsigned> next;
      for (unsigned old : list) {
        bool isLater = old > dim && old != pageDim && old != keyInPageDim;
        next.push_back(isLater ? old + more : old);
        for (unsigned i = 1; old == dim && i <= more; ++i)
          next.push_back(dim + i);
      }
      list = std::move(next);
    }
  };
  for (View &view : views) {
    divideIn(view.dims);
    divideIn(view.pages.loops);
  }
  divideIn(origins);
  sizes[dim] = parts[0];
  sizes.insert(sizes.begin() + dim + 1, parts.begin() + 1, parts.end());
}

AffineMap AttentionViews::getMap(unsigned operand) const {
  MLIRContext *context = views[operand].value.getContext();
  SmallVector<AffineExpr> results;
  for (ArrayRef<unsigned> list : views[operand].dims) {
    if (list.empty())
      results.push_back(getAffineConstantExpr(0, context));
    for (unsigned dim : list)
      if (dim != pageDim)
        results.push_back(
            getAffineDimExpr(dim == keyInPageDim ? getKeyDim() : dim, context));
  }
  return AffineMap::get(static_cast<unsigned>(sizes.size()), 0, results,
                        context);
}

SmallVector<ReassociationIndices>
AttentionViews::getGroups(unsigned operand) const {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (ArrayRef<unsigned> list : views[operand].dims) {
    ReassociationIndices &group = groups.emplace_back();
    for (size_t i = 0, count = std::max<size_t>(list.size(), 1); i < count; ++i)
      group.push_back(next++);
  }
  return groups;
}

Value AttentionViews::linearize(OpBuilder &builder, Location loc,
                                ArrayRef<unsigned> list, ValueRange batch,
                                Value key, int64_t pageSize) const {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, value);
  };
  Value result;
  for (unsigned dim : list) {
    Value index = dim == pageDim ? arith::DivUIOp::create(builder, loc, key,
                                                          constant(pageSize))
                                       .getResult()
                  : dim == getKeyDim() ? key
                                       : Value(batch[dim]);
    if (result)
      index = arith::AddIOp::create(
          builder, loc,
          arith::MulIOp::create(builder, loc, result, constant(sizes[dim])),
          index);
    result = index;
  }
  return result ? result : constant(0);
}

Value AttentionViews::emitPage(unsigned operand, OpBuilder &builder,
                               Location loc, ValueRange batch,
                               Value key) const {
  const PagedKeys &pages = views[operand].pages;
  return tessera::emitPage(pages, builder, loc, [&](unsigned loop) {
    return linearize(builder, loc, pages.loops[loop], batch, key,
                     pages.pageSize);
  });
}

Value AttentionViews::createNumKeys(unsigned operand, OpBuilder &builder,
                                    Location loc) const {
  const PagedKeys &pages = views[operand].pages;
  linalg::LinalgOp op = pages.op;
  OpOperand *init = op.getDpsInitOperand(0);
  for (auto [r, expr] :
       llvm::enumerate(op.getMatchingIndexingMap(init).getResults())) {
    ArrayRef<unsigned> list =
        pages.loops[cast<AffineDimExpr>(expr).getPosition()];
    bool isPage = list == ArrayRef<unsigned>{pageDim};
    if (!isPage && list != ArrayRef<unsigned>{getKeyDim()})
      continue;
    OpFoldResult size = tensor::getMixedSize(builder, loc, init->get(),
                                             static_cast<int64_t>(r));
    std::optional<int64_t> known = getConstantIntValue(size);
    if (known)
      return arith::ConstantIndexOp::create(
          builder, loc, isPage ? *known * pages.pageSize : *known);
    Value value = cast<Value>(size);
    return isPage ? arith::MulIOp::create(builder, loc, value,
                                          arith::ConstantIndexOp::create(
                                              builder, loc, pages.pageSize))
                        .getResult()
                  : value;
  }
  return {};
}

Value AttentionViews::create(unsigned operand, OpBuilder &builder,
                             Location loc) const {
  View view = views[operand];
  if (view.pages.isByKey) {
    // A page of one key.
    SmallVector<ReassociationIndices> groups{{0, 1}};
    auto type = cast<RankedTensorType>(view.value.getType());
    SmallVector<int64_t> shape{type.getDimSize(0), 1};
    SmallVector<OpFoldResult> extents =
        tensor::getMixedSizes(builder, loc, view.value);
    for (int64_t r = 1; r < type.getRank(); ++r) {
      groups.push_back({r + 1});
      shape.push_back(type.getDimSize(r));
    }
    extents.insert(extents.begin() + 1, builder.getIndexAttr(1));
    view.value = tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()),
        view.value, groups, extents);
  }
  if (llvm::all_of(view.dims,
                   [](ArrayRef<unsigned> list) { return list.size() <= 1; }))
    return view.value;
  SmallVector<OpFoldResult> old =
                                tensor::getMixedSizes(builder, loc, view.value),
                            extents;
  for (auto [size, list] : llvm::zip_equal(old, view.dims)) {
    if (list.size() <= 1)
      extents.push_back(size);
    else
      for (unsigned dim : list)
        extents.push_back(builder.getIndexAttr(sizes[dim]));
  }
  Type element = getElementTypeOrSelf(view.value.getType());
  if (operand + 1 == views.size())
    return tensor::EmptyOp::create(builder, loc, extents, element);
  auto [shape, dynamic] = decomposeMixedValues(extents);
  return tensor::ExpandShapeOp::create(builder, loc,
                                       RankedTensorType::get(shape, element),
                                       view.value, getGroups(operand), extents);
}
