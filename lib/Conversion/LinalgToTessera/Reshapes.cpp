//===- Reshapes.cpp - Reading through tensor reshapes ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Reshapes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::tessera;

/// Whether all of `sizes` but the first is static.
static bool haveStaticStrides(ArrayRef<int64_t> sizes) {
  return sizes.empty() || ShapedType::isStaticShape(sizes.drop_front());
}

/// The coordinates of element `linear` in dimensions of `sizes`.
static SmallVector<AffineExpr> delinearizeExpr(AffineExpr linear,
                                               ArrayRef<int64_t> sizes) {
  SmallVector<AffineExpr> coordinates(sizes.size());
  for (size_t i = sizes.size(); i-- > 1;) {
    coordinates[i] = linear % sizes[i];
    linear = linear.floorDiv(sizes[i]);
  }
  coordinates[0] = linear;
  return coordinates;
}

/// The `x` whose delinearization in `sizes` is `coordinates`, or null.
static AffineExpr findDelinearized(ArrayRef<AffineExpr> coordinates,
                                   ArrayRef<int64_t> sizes) {
  if (coordinates.size() == 1)
    return coordinates[0];
  auto last = dyn_cast<AffineBinaryOpExpr>(coordinates.back());
  if (!last || last.getKind() != AffineExprKind::Mod ||
      delinearizeExpr(last.getLHS(), sizes) != coordinates)
    return {};
  return last.getLHS();
}

/// The number of the element at `coordinates` in dimensions of `sizes`.
static AffineExpr linearizeExprs(ArrayRef<AffineExpr> coordinates,
                                 ArrayRef<int64_t> sizes) {
  if (AffineExpr whole = findDelinearized(coordinates, sizes))
    return whole;
  AffineExpr linear = coordinates[0];
  for (size_t i = 1; i < sizes.size(); ++i)
    linear = linear * sizes[i] + coordinates[i];
  return linear;
}

std::optional<Source> mlir::tessera::lookThroughReshape(const Source &use) {
  Operation *op = use.value.getDefiningOp();
  if (!op || use.isPadded)
    return {};
  SmallVector<AffineExpr> exprs;
  ArrayRef<AffineExpr> results = use.map.getResults();
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    ArrayRef<int64_t> shape = collapse.getSrcType().getShape();
    for (auto [group, expr] :
         llvm::zip(collapse.getReassociationIndices(), results)) {
      ArrayRef<int64_t> sizes = shape.slice(group.front(), group.size());
      if (!haveStaticStrides(sizes))
        return {};
      llvm::append_range(exprs, delinearizeExpr(expr, sizes));
    }
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      ArrayRef<int64_t> sizes = shape.slice(group.front(), group.size());
      if (!haveStaticStrides(sizes))
        return {};
      exprs.push_back(
          linearizeExprs(results.slice(group.front(), group.size()), sizes));
    }
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (!slice.hasUnitStride())
      return {};
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (unsigned r = 0, kept = 0; r < dropped.size(); ++r) {
      std::optional<int64_t> offset =
          getConstantIntValue(slice.getMixedOffsets()[r]);
      int64_t size = slice.getSourceType().getDimSize(r);
      if (!offset)
        return {};
      if (dropped.test(r)) {
        exprs.push_back(getAffineConstantExpr(*offset, use.map.getContext()));
        continue;
      }
      if (*offset != 0 || ShapedType::isDynamic(size) ||
          size != slice.getType().getDimSize(kept))
        return {};
      exprs.push_back(results[kept++]);
    }
  } else {
    return {};
  }
  Source source = use;
  source.value = op->getOperand(0);
  source.map =
      AffineMap::get(use.map.getNumDims(), 0, exprs, use.map.getContext());
  return source;
}

FailureOr<AffineMap>
mlir::tessera::collapseMap(AffineMap map, ArrayRef<int64_t> shape,
                           SmallVectorImpl<SmallVector<int64_t, 2>> &groups) {
  auto isSimple = [](AffineExpr expr) {
    WalkResult result = expr.walk([](AffineExpr part) {
      return part.getKind() == AffineExprKind::FloorDiv ||
                     part.getKind() == AffineExprKind::Mod
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    return !result.wasInterrupted();
  };
  SmallVector<AffineExpr> exprs;
  for (unsigned r = 0; r < map.getNumResults();) {
    unsigned count = 1;
    AffineExpr expr = map.getResult(r);
    if (!isSimple(expr)) {
      for (; count <= map.getNumResults() - r; ++count) {
        ArrayRef<int64_t> sizes = shape.slice(r, count);
        if (!haveStaticStrides(sizes))
          return failure();
        expr = findDelinearized(map.getResults().slice(r, count), sizes);
        if (expr && isSimple(expr))
          break;
      }
      if (count > map.getNumResults() - r)
        return failure();
    }
    exprs.push_back(expr);
    groups.push_back(llvm::to_vector<2>(llvm::seq<int64_t>(r, r + count)));
    r += count;
  }
  return AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
}
