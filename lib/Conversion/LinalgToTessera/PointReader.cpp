//===- PointReader.cpp - Scalar evaluation of a tensor --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PointReader.h"
#include "Elementwise.h"
#include "FuseConsumers.h"
#include "Reshapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera;

double mlir::tessera::getNearlyLowest(Type type) {
  return getElementTypeOrSelf(type).isF16() ? -65000.0 : -3.0e38;
}

/// An element-wise op, whose body may use the element's coordinates and read
/// elements of other tensors.
static bool isPointwise(linalg::LinalgOp op) {
  if (!op || !op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      op->getNumRegions() != 1 || op->getNumResults() != 1)
    return false;
  Block *block = op.getBlock();
  return block && block->getNumArguments() == op->getNumOperands() &&
         block->getTerminator()->getNumOperands() == 1 &&
         op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isPermutation() &&
         llvm::all_of(block->without_terminator(), [](Operation &nested) {
           return isa<linalg::IndexOp, tensor::ExtractOp>(nested) ||
                  isScalarArithmetic(nested);
         });
}

Point PointReader::look(Point point) {
  while (true) {
    if (!point.op) {
      Operation *made = point.value.getDefiningOp();
      if (isa_and_nonnull<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(made))
        if (std::optional<Source> source =
                lookThroughReshape({point.value, point.at})) {
          ops.insert(made);
          point.value = source->value;
          point.at = source->map;
          continue;
        }
      auto op = dyn_cast_or_null<linalg::LinalgOp>(made);
      if (!isPointwise(op))
        return point;
      ops.insert(op);
      AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
      point = {op.getBlock()->getTerminator()->getOperand(0),
               inversePermutation(out).compose(point.at), op};
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(point.value);
    if (!argument || argument.getOwner() != point.op.getBlock())
      return point;
    OpOperand &operand = point.op->getOpOperand(argument.getArgNumber());
    if (!isa<RankedTensorType>(operand.get().getType()))
      return {operand.get(), point.at, point.op};
    point = {operand.get(),
             point.op.getMatchingIndexingMap(&operand).compose(point.at),
             linalg::LinalgOp()};
  }
}

Point PointReader::lookThroughCasts(Point point) {
  point = look(point);
  while (point.as<arith::TruncFOp>() || point.as<arith::ExtFOp>())
    point = look(point.operand(0));
  return point;
}

std::optional<double> PointReader::getConstant(Point point) {
  point = lookThroughCasts(point);
  FloatAttr number;
  DenseElementsAttr splat;
  if (matchPattern(point.value, m_Constant(&splat)) && splat.isSplat())
    number = dyn_cast<FloatAttr>(splat.getSplatValue<Attribute>());
  else if (!matchPattern(point.value, m_Constant(&number)))
    return std::nullopt;
  if (!number)
    return std::nullopt;
  return number.getValueAsDouble();
}

AffineExpr PointReader::getAffine(Point point) {
  point = look(point);
  MLIRContext *context = point.value.getContext();
  IntegerAttr constant;
  if (matchPattern(point.value, m_Constant(&constant)))
    return getAffineConstantExpr(constant.getValue().getSExtValue(), context);
  if (auto index = point.as<linalg::IndexOp>())
    return point.at.getResult(index.getDim());
  if (point.as<arith::IndexCastOp>() || point.as<arith::ExtSIOp>())
    return getAffine(point.operand(0));
  bool isSum = static_cast<bool>(point.as<arith::AddIOp>());
  if (!isSum && !point.as<arith::SubIOp>())
    return {};
  AffineExpr a = getAffine(point.operand(0)), b = getAffine(point.operand(1));
  if (!a || !b)
    return {};
  return isSum ? a + b : a - b;
}

std::optional<PointReader::Reduction>
PointReader::getReduction(Point point, bool isMaximum) {
  point = lookThroughCasts(point);
  auto op = point.op ? linalg::LinalgOp()
                     : point.value.getDefiningOp<linalg::LinalgOp>();
  std::optional<RowReduction> reduction;
  if (op)
    reduction = matchRowReduction(op);
  if (!reduction || op.getNumReductionLoops() != 1)
    return std::nullopt;
  if (isMaximum ? reduction->kind != ReductionKind::Max &&
                      reduction->kind != ReductionKind::MaxNum
                : reduction->kind != ReductionKind::Add)
    return std::nullopt;
  // The initial value must be the neutral element.
  Value init = op.getDpsInits()[0];
  unsigned rank = point.at.getNumDims();
  std::optional<double> start = getConstant(
      {init,
       AffineMap::getMultiDimIdentityMap(
           cast<ShapedType>(init.getType()).getRank(), op.getContext()),
       linalg::LinalgOp()});
  bool isNeutral =
      start && (isMaximum ? *start <= getNearlyLowest(init.getType()) ||
                                (reduction->kind == ReductionKind::MaxNum &&
                                 std::isnan(*start))
                          : *start == 0);
  if (!isNeutral)
    return std::nullopt;

  // Its loops, in terms of the dimensions of the space: the one along which the
  // result does not vary is the reduced one.
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<AffineExpr> loops(op.getNumLoops());
  SmallVector<bool> used(rank, false);
  for (auto [expr, at] : llvm::zip(out.getResults(), point.at.getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop) // A dimension of extent 1, as where sizes are kept.
      continue;
    loops[loop.getPosition()] = at;
    for (unsigned dim = 0; dim < rank; ++dim)
      if (at.isFunctionOfDim(dim))
        used[dim] = true;
  }
  if (llvm::count(used, false) != 1)
    return std::nullopt;
  unsigned dim = std::distance(used.begin(), llvm::find(used, false));
  for (auto [loop, kind] : llvm::zip(loops, op.getIteratorTypesArray())) {
    if (kind == utils::IteratorType::reduction)
      loop = getAffineDimExpr(dim, op.getContext());
    else if (!loop)
      return std::nullopt;
  }
  ops.insert(op);
  AffineMap at = AffineMap::get(rank, 0, loops, op.getContext());
  return Reduction{op, dim, lookThroughCasts({reduction->element, at, op})};
}
