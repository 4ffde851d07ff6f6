//===- MatrixForm.cpp - Contractions as batched matmuls -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/MatrixForm.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

LogicalResult mlir::tessera::getStrides(MemRefType type,
                                        SmallVectorImpl<int64_t> &strides) {
  int64_t offset;
  // A strided layout knows its strides, and would make a map to compare.
  auto map = dyn_cast<AffineMapAttr>(type.getLayout());
  if (!map || !map.getValue().isIdentity())
    return type.getStridesAndOffset(strides, offset);
  // The same, faster: schedules ask for it thousands of times.
  bool isEmpty = llvm::is_contained(type.getShape(), 0);
  strides.assign(static_cast<size_t>(type.getRank()), isEmpty ? 0 : 1);
  for (size_t dim = strides.size(); dim-- > 1;) {
    int64_t size = type.getDimSize(static_cast<unsigned>(dim));
    bool isKnown =
        ShapedType::isStatic(strides[dim]) && ShapedType::isStatic(size);
    strides[dim - 1] =
        isKnown ? strides[dim] * size : int64_t(ShapedType::kDynamic);
  }
  return success();
}

static Value getOperand(ContractOp op, unsigned operand) {
  return op.getMappedOperands()[operand];
}

/// Whether the dimensions at `position` and the one after it are one dimension
/// in memory.
static bool isDense(ShapedType type, unsigned position) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || memref.getLayout().isIdentity())
    return true;
  SmallVector<int64_t> strides;
  if (failed(getStrides(memref, strides)))
    return false;
  int64_t size = memref.getDimSize(position + 1),
          stride = strides[position + 1];
  return ShapedType::isStatic(size) && ShapedType::isStatic(stride) &&
         strides[position] == size * stride;
}

bool mlir::tessera::isOneDimension(ContractOp op, unsigned operand,
                                   ArrayRef<unsigned> dims) {
  AffineMap map = op.getMap(operand);
  auto uses = [&](unsigned d) { return map.isFunctionOfDim(d); };
  if (llvm::none_of(dims, uses))
    return true;
  auto type = cast<ShapedType>(getOperand(op, operand).getType());
  std::optional<unsigned> first;
  for (unsigned r = 0; r < map.getNumResults(); ++r) {
    AffineExpr expr = map.getResult(r);
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && dim.getPosition() == dims.front())
      first = r;
    else if (!dim && llvm::any_of(dims, [&](unsigned d) {
               return expr.isFunctionOfDim(d);
             }))
      return false;
  }
  if (!first || *first + dims.size() > map.getNumResults())
    return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(*first + i));
    if (!dim || dim.getPosition() != dims[i] ||
        (i > 0 && !isDense(type, *first + i - 1)))
      return false;
  }
  return true;
}

/// Whether lhs (0) or rhs (1) is a matrix in memory, at each batch.
static bool isMatrix(ContractOp op, unsigned side, ArrayRef<unsigned> rows,
                     ArrayRef<unsigned> cols) {
  return llvm::all_of(op.getMap(side).getResults(),
                      [](AffineExpr e) { return isa<AffineDimExpr>(e); }) &&
         isOneDimension(op, side, rows) && isOneDimension(op, side, cols);
}

/// The dimensions `k`, in the order in which `map` has them first.
static SmallVector<unsigned> orderBy(AffineMap map, ArrayRef<unsigned> k) {
  SmallVector<unsigned> order;
  for (AffineExpr expr : map.getResults())
    for (unsigned d : k)
      if (expr.isFunctionOfDim(d) && !llvm::is_contained(order, d))
        order.push_back(d);
  return order;
}

MatrixForm mlir::tessera::getMatrixForm(ContractOp op) {
  ContractOp::Dims dims = op.getDims();
  MatrixForm form;
  form.batch = dims.batch;
  // A dimension of extent 1 next to others is part of the batch.
  for (SmallVector<unsigned> *part : {&dims.m, &dims.n, &dims.k})
    for (unsigned d : llvm::to_vector(*part))
      if (part->size() > 1 && getStaticExtent(op, d) == 1) {
        llvm::erase(*part, d);
        form.batch.push_back(d);
      }

  // K: the order in which more of the operands are matrices.
  auto last = [](ArrayRef<unsigned> dims) {
    return dims.take_back(std::min<size_t>(dims.size(), 1));
  };
  int best = -1;
  for (unsigned side : {1, 0}) {
    SmallVector<unsigned> order = orderBy(op.getMap(side), dims.k);
    int score = isMatrix(op, 0, last(dims.m), order) +
                isMatrix(op, 1, order, last(dims.n));
    if (score > best) {
      best = score;
      form.k = order;
    }
  }

  auto choose = [&](unsigned side, ArrayRef<unsigned> all) {
    auto isMatrixWith = [&](ArrayRef<unsigned> part) {
      return side == 0 ? isMatrix(op, 0, part, form.k)
                       : isMatrix(op, 1, form.k, part);
    };
    size_t numMaps = op.getMaps().size(), count = all.size();
    for (; count > 1; --count) {
      ArrayRef<unsigned> part = all.take_back(count);
      bool good = isMatrixWith(part) || !isMatrixWith(last(all));
      for (unsigned i = 2; good && i < numMaps; ++i)
        good = isOneDimension(op, i, part);
      if (good)
        break;
    }
    form.gather[side] = !isMatrixWith(all.take_back(count));
    llvm::append_range(form.batch, all.drop_back(count));
    return SmallVector<unsigned>(all.take_back(count));
  };
  form.m = choose(0, dims.m);
  form.n = choose(1, dims.n);
  llvm::sort(form.batch);
  return form;
}

int64_t mlir::tessera::getStaticExtent(ContractOp op, unsigned dim) {
  for (auto [i, operand] : llvm::enumerate(op.getMappedOperands())) {
    auto type = cast<ShapedType>(operand.getType());
    for (auto [r, expr] : llvm::enumerate(op.getMap(i).getResults())) {
      auto plain = dyn_cast<AffineDimExpr>(expr);
      if (plain && plain.getPosition() == dim && !type.isDynamicDim(r))
        return type.getDimSize(r);
    }
  }
  return ShapedType::kDynamic;
}

int64_t mlir::tessera::getLinearExtent(ContractOp op, ArrayRef<unsigned> dims) {
  int64_t product = 1;
  for (unsigned dim : dims) {
    int64_t extent = getStaticExtent(op, dim);
    if (ShapedType::isDynamic(extent))
      return ShapedType::kDynamic;
    product *= extent;
  }
  return product;
}

std::array<int64_t, 3> mlir::tessera::getStaticExtents(ContractOp op,
                                                       const MatrixForm &form) {
  return {getLinearExtent(op, form.m), getLinearExtent(op, form.n),
          getLinearExtent(op, form.k)};
}

bool mlir::tessera::isStoredTransposed(ContractOp op, const MatrixForm &form,
                                       unsigned operand) {
  ArrayRef<unsigned> rows = form.getRows(operand), cols = form.getCols(operand);
  AffineMap map = op.getMap(operand);
  auto positionOf = [&](ArrayRef<unsigned> dims) -> std::optional<unsigned> {
    if (dims.empty())
      return std::nullopt;
    for (auto [r, expr] : llvm::enumerate(map.getResults())) {
      // For a dimension, MLIR would make another expression to compare with.
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim ? dim.getPosition() == dims.back()
              : expr.isFunctionOfDim(dims.back()))
        return r;
    }
    return std::nullopt;
  };
  if (operand < 2 && form.gather[operand]) {
    // The dimensions that alone index the last dimension, first of all K.
    AffineExpr last = map.getResult(map.getNumResults() - 1);
    auto isLast = [&](ArrayRef<unsigned> dims) {
      return !dims.empty() &&
             last == getAffineDimExpr(dims.back(), op.getContext());
    };
    bool kIsRows = operand == 1;
    if (isLast(kIsRows ? rows : cols))
      return kIsRows;
    ArrayRef<unsigned> other = kIsRows ? cols : rows;
    bool otherRuns = !other.empty() && last.isFunctionOfDim(other.back());
    return otherRuns != kIsRows;
  }
  std::optional<unsigned> rowAt = positionOf(rows), colAt = positionOf(cols);
  if (!rowAt || !colAt)
    return rowAt.has_value();
  // A view may let another dimension than the last run fastest.
  auto type = dyn_cast<MemRefType>(getOperand(op, operand).getType());
  SmallVector<int64_t> strides;
  if (type && succeeded(getStrides(type, strides)) &&
      (strides[*rowAt] == 1) != (strides[*colAt] == 1))
    return strides[*rowAt] == 1;
  return *rowAt > *colAt;
}

int64_t mlir::tessera::getLargestStep(ContractOp op, const MatrixForm &form) {
  int64_t step = 0;
  unsigned first = 3 + op.getExtras().size();
  for (unsigned i = first; i < op.getMaps().size(); ++i) {
    // Where an input moves with the slow ones of several K dimensions, a step
    // stays within the others.
    AffineMap map = op.getMap(i);
    if (!isOneDimension(op, i, form.k)) {
      int64_t within = 1;
      for (unsigned d : llvm::reverse(form.k)) {
        int64_t extent = getStaticExtent(op, d);
        if (map.isFunctionOfDim(d) || ShapedType::isDynamic(extent))
          break;
        within *= std::max<int64_t>(extent, 1);
      }
      if (form.k.size() > 1)
        step = std::gcd(step, within);
    }
    for (AffineExpr expr : op.getMap(i).getResults())
      if (auto quotient = dyn_cast<AffineBinaryOpExpr>(expr))
        if (expr.getKind() == AffineExprKind::FloorDiv)
          step = std::gcd(
              step, cast<AffineConstantExpr>(quotient.getRHS()).getValue());
  }
  return step;
}
