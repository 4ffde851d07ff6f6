//===- ContractOperands.cpp - The memory of a contraction's operands ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An operand of four dimensions, for example (b, h, w, c) with M = (h, w) and K
// = c, is a matrix for each batch: h and w are collapsed, and b is indexed. If
// this is not possible, as for the image of a convolution,
//
//   (b, y + r, x + s, c)   M = (b, y, x)   K = (r, s, c)
//
// its tiles are gathered: the linear indices of row and column are
// delinearized, the map is applied, and elements out of bounds are zero.
//
//===----------------------------------------------------------------------===//

#include "ContractOperands.h"

#include "Dialect/Tessera/Utils/Alignment.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/Window.h"

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/SmallBitVector.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

ContractOperands::ContractOperands(ContractOp op, const MatrixForm &form,
                                   ImplicitLocOpBuilder &builder)
    : op(op), form(form), builder(builder), math(builder),
      operands(op.getMappedOperands()) {
  for (OpFoldResult size : op.getExtents(builder))
    sizes.push_back(
        getValueOrCreateConstantIndexOp(builder, op.getLoc(), size));
  index.resize(sizes.size());
  divisors = sizes;
  if (form.k.size() > 1)
    for (unsigned d : form.k)
      if (getConstantIntValue(sizes[d]).value_or(0) == 0)
        divisors[d] = math.max(sizes[d], math.constant(1));
  m = math.product(sizes, form.m);
  n = math.product(sizes, form.n);
  k = math.product(sizes, form.k);
  numBatches = math.product(sizes, form.batch);
}

void ContractOperands::setBatch(Value linear) {
  math.delinearize(linear, sizes, form.batch, index);
}

Value ContractOperands::getOperand(unsigned operand) const {
  return operand == 2 && workspace ? workspace : operands[operand];
}

bool ContractOperands::reads(unsigned operand, ArrayRef<unsigned> dims) {
  return llvm::any_of(
      dims, [&](unsigned d) { return op.getMap(operand).isFunctionOfDim(d); });
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

void ContractOperands::leaveKernel() {
  Operation *parent = builder.getInsertionBlock()->getParentOp();
  auto launch = dyn_cast<gpu::LaunchOp>(parent);
  if (!launch)
    launch = parent->getParentOfType<gpu::LaunchOp>();
  if (launch)
    builder.setInsertionPoint(launch);
}

ContractOperands::Collapsed ContractOperands::collapse(unsigned operand) {
  AffineMap map = op.getMap(operand);
  Collapsed result{getOperand(operand), {}};
  SmallVector<ReassociationIndices> groups;
  bool isWorkspace = operand == 2 && workspace;
  if (isWorkspace)
    groups.push_back({0});
  for (unsigned r = 0; r < map.getNumResults();) {
    unsigned dim = cast<AffineDimExpr>(map.getResult(r)).getPosition();
    size_t length = 1;
    for (ArrayRef<unsigned> dims :
         {ArrayRef<unsigned>(form.m), ArrayRef<unsigned>(form.n),
          ArrayRef<unsigned>(form.k)})
      if (!dims.empty() && dims.front() == dim)
        length = dims.size();
    ReassociationIndices group;
    for (size_t i = 0; i < length; ++i)
      group.push_back(r + i + isWorkspace);
    groups.push_back(group);
    r += length;
    result.dims.push_back(
        cast<AffineDimExpr>(map.getResult(r - 1)).getPosition());
  }
  auto type = cast<MemRefType>(result.memory.getType());
  if (static_cast<int64_t>(groups.size()) < type.getRank()) {
    OpBuilder::InsertionGuard guard(builder);
    leaveKernel();
    result.memory =
        memref::CollapseShapeOp::create(builder, result.memory, groups);
  }
  return result;
}

/// Creates a view of `memory` without the dimensions that are `dropped`. MLIR
/// infers the dropped dimensions of a subview from its sizes and strides. Where
/// kept dimensions of size 1 make this ambiguous, the subview drops them too,
/// and an expansion adds them again.
static Value createReducedView(ImplicitLocOpBuilder &builder, Value memory,
                               ArrayRef<OpFoldResult> offsets,
                               ArrayRef<OpFoldResult> sizes,
                               const llvm::SmallBitVector &dropped) {
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  auto create = [&](ArrayRef<int64_t> shape) {
    MemRefType reduced = memref::SubViewOp::inferRankReducedResultType(
        shape, type, offsets, sizes, strides);
    return memref::SubViewOp::create(builder, reduced, memory, offsets, sizes,
                                     strides);
  };
  SmallVector<int64_t> shape, withoutUnits;
  SmallVector<OpFoldResult> outputSizes;
  SmallVector<ReassociationIndices> groups;
  for (int64_t r = 0; r < type.getRank(); ++r) {
    if (dropped[r])
      continue;
    auto at = static_cast<int64_t>(shape.size());
    // Dimensions of size 1 join the group before them, or the first one.
    bool isUnit = type.getDimSize(r) == 1;
    if (groups.empty() || (!isUnit && !withoutUnits.empty()))
      groups.emplace_back();
    groups.back().push_back(at);
    if (!isUnit)
      withoutUnits.push_back(type.getDimSize(r));
    shape.push_back(type.getDimSize(r));
    outputSizes.push_back(sizes[r]);
  }
  memref::SubViewOp view = create(shape);
  if (withoutUnits.size() == shape.size() || view.getDroppedDims() == dropped)
    return view;
  view.erase();
  view = create(withoutUnits);
  if (withoutUnits.empty())
    groups.clear();
  return memref::ExpandShapeOp::create(builder, shape, view, groups,
                                       outputSizes);
}

Value ContractOperands::viewAtBatch(unsigned operand, ArrayRef<unsigned> keep) {
  return viewAtBatch(operand, keep, collapse(operand));
}

Value ContractOperands::viewAtBatch(unsigned operand, ArrayRef<unsigned> keep,
                                    const Collapsed &collapsed) {
  Value memory = collapsed.memory;
  bool isWorkspace = operand == 2 && workspace;
  if (collapsed.dims.size() == keep.size() && !isWorkspace)
    return memory;
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<OpFoldResult> offsets, sizes;
  llvm::SmallBitVector dropped(type.getRank(), true);
  if (isWorkspace) {
    offsets.push_back(getAsOpFoldResult(slice));
    sizes.push_back(builder.getIndexAttr(1));
  }
  for (auto [position, dim] : llvm::enumerate(collapsed.dims)) {
    int64_t r = position + isWorkspace;
    if (llvm::is_contained(keep, dim)) {
      offsets.push_back(builder.getIndexAttr(0));
      sizes.push_back(
          memref::getMixedSize(builder, builder.getLoc(), memory, r));
      dropped.reset(r);
    } else {
      offsets.push_back(getAsOpFoldResult(index[dim]));
      sizes.push_back(builder.getIndexAttr(1));
    }
  }
  return createReducedView(builder, memory, offsets, sizes, dropped);
}

MatrixView ContractOperands::viewMatrix(unsigned operand) {
  // The inputs of the producers are shaped as their operand is.
  unsigned firstLhs = 3 + op.getExtras().size(),
           firstRhs = firstLhs + op.getLhsInputs().size();
  unsigned like = operand < firstLhs ? operand : operand < firstRhs ? 0 : 1;
  ArrayRef<unsigned> rows = form.getRows(like), cols = form.getCols(like);
  MatrixView view;
  SmallVector<unsigned> keep;
  for (ArrayRef<unsigned> dims : {rows, cols})
    if (!dims.empty() && op.getMap(operand).isFunctionOfDim(dims.back()))
      keep.push_back(dims.back());
  Collapsed collapsed = collapse(operand);
  ArrayRef<unsigned> dims = collapsed.dims;
  if (keep.size() == 2 && llvm::all_of(dims.take_back(2), [&](unsigned dim) {
        return llvm::is_contained(keep, dim);
      })) {
    view.memory = collapsed.memory;
    if (operand == 2 && workspace)
      view.leading.push_back(slice);
    for (unsigned dim : dims.drop_back(2))
      view.leading.push_back(index[dim]);
  } else {
    view.memory = viewAtBatch(operand, keep, collapsed);
  }
  auto type = cast<MemRefType>(view.memory.getType());
  if (keep.size() == 2) {
    // Whether the rows are last, and whether they run fastest.
    bool rowsLast = false;
    for (AffineExpr expr : op.getMap(operand).getResults()) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      if (dim == rows.back())
        rowsLast = true;
      else if (dim == cols.back())
        rowsLast = false;
    }
    view.transposed = rowsLast;
    SmallVector<int64_t> strides;
    int64_t offset;
    if (succeeded(type.getStridesAndOffset(strides, offset)) &&
        strides.end()[-2] == 1 && strides.end()[-1] != 1) {
      view.transposed = !rowsLast;
      OpBuilder::InsertionGuard guard(builder);
      if (view.memory == collapsed.memory)
        leaveKernel();
      auto order = llvm::to_vector(
          llvm::seq<unsigned>(0, static_cast<unsigned>(type.getRank())));
      std::swap(order.end()[-2], order.end()[-1]);
      view.memory = memref::TransposeOp::create(
          builder, view.memory,
          AffineMapAttr::get(
              AffineMap::getPermutationMap(order, builder.getContext())));
    }
    return view;
  }
  // A vector is a matrix of one row; it runs along the columns.
  view.transposed =
      type.getRank() == 1 && !rows.empty() && keep.front() == rows.back();
  SmallVector<ReassociationIndices> reassociation;
  SmallVector<int64_t> shape{1, 1};
  if (type.getRank() == 1) {
    reassociation.push_back({0, 1});
    shape[1] = type.getDimSize(0);
  }
  view.memory =
      memref::ExpandShapeOp::create(builder, shape, view.memory, reassociation);
  return view;
}

Value ContractOperands::viewVector(unsigned operand, ArrayRef<unsigned> dims) {
  return viewAtBatch(operand, dims.back());
}

bool ContractOperands::isQuotient(unsigned operand) {
  return !isOneDimension(op, operand, form.k) ||
         !llvm::all_of(op.getMap(operand).getResults(), [](AffineExpr expr) {
           return isa<AffineDimExpr>(expr);
         });
}

Value ContractOperands::viewQuotient(unsigned operand, ArrayRef<unsigned> dims,
                                     Value k) {
  Value memory = getOperand(operand);
  auto type = cast<MemRefType>(memory.getType());
  SmallVector<OpFoldResult> offsets, sizes;
  llvm::SmallBitVector dropped(type.getRank(), true);
  SmallVector<Value> at(index);
  math.delinearize(k, divisors, form.k, at);
  for (auto [r, expr] : llvm::enumerate(op.getMap(operand).getResults())) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (dim && llvm::is_contained(dims, dim.getPosition())) {
      offsets.push_back(builder.getIndexAttr(0));
      sizes.push_back(
          memref::getMixedSize(builder, builder.getLoc(), memory, r));
      dropped.reset(r);
      continue;
    }
    // Unsigned: no index is negative.
    Value position;
    if (dim) {
      position = at[dim.getPosition()];
    } else {
      auto quotient = cast<AffineBinaryOpExpr>(expr);
      position =
          math.div(at[cast<AffineDimExpr>(quotient.getLHS()).getPosition()],
                   math.constant(
                       cast<AffineConstantExpr>(quotient.getRHS()).getValue()));
    }
    offsets.push_back(getAsOpFoldResult(position));
    sizes.push_back(builder.getIndexAttr(1));
  }
  return createReducedView(builder, memory, offsets, sizes, dropped);
}

Value ContractOperands::loadScalar(unsigned operand) {
  SmallVector<Value> indices;
  for (AffineExpr expr : op.getMap(operand).getResults())
    indices.push_back(affine::expandAffineExpr(builder, op.getLoc(), expr,
                                               index, /*symbolValues=*/{}));
  return memref::LoadOp::create(builder, getOperand(operand), indices);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

Value ContractOperands::createTile(unsigned side, const MatrixView &view,
                                   Value row, Value col,
                                   std::array<int64_t, 2> shape,
                                   TileBounds beyond, int64_t accessBytes) {
  bool transposed = view.transposed;
  if (transposed)
    std::swap(shape[0], shape[1]);
  Type element = getElementTypeOrSelf(operands[side].getType());
  auto type = MemRefType::get({slots.count * shape[0], shape[1]}, element);
  if (!form.gather[side] && slots.count == 1) {
    SmallVector<Value> from = view.getIndices(row, col);
    int64_t alignment = getKnownTileAlignment(view.memory, from);
    return TileOp::create(
        builder, type, view.memory, from, !beyond.rows && !beyond.cols,
        alignment ? builder.getI64IntegerAttr(alignment) : IntegerAttr(),
        /*contiguous=*/nullptr, /*window=*/nullptr);
  }
  auto [run, alignment] = getRun(side, transposed, shape[1], accessBytes);
  WindowAttr window = getWindow(op, form, side);
  SmallVector<Value> from;
  if (window)
    from = {row, col};
  auto tile = TileOp::create(
      builder, type, operands[side], from, /*inBounds=*/false,
      isPacked(element) ? IntegerAttr() : builder.getI64IntegerAttr(alignment),
      builder.getI64IntegerAttr(run), window);
  OpBuilder::InsertionGuard guard(builder);
  buildGather(tile.getGather(), side, transposed, row, col, shape[0], beyond);
  return tile;
}

bool ContractOperands::isWithin(unsigned side, unsigned r) {
  AffineExpr expr = op.getMap(side).getResult(r);
  if (isa<AffineDimExpr>(expr))
    return true;
  auto type = cast<MemRefType>(operands[side].getType());
  // The largest and the smallest value of the sum.
  SmallVector<AffineExpr> largest, smallest;
  for (unsigned d = 0; d < sizes.size(); ++d) {
    int64_t extent = getStaticExtent(op, d);
    if (ShapedType::isDynamic(extent)) {
      if (expr.isFunctionOfDim(d))
        return false;
      extent = 1; // Does not affect the sum.
    }
    largest.push_back(builder.getAffineConstantExpr(extent - 1));
    smallest.push_back(builder.getAffineConstantExpr(0));
  }
  auto high = dyn_cast<AffineConstantExpr>(expr.replaceDims(largest)),
       low = dyn_cast<AffineConstantExpr>(expr.replaceDims(smallest));
  return high && low && low.getValue() >= 0 && !type.isDynamicDim(r) &&
         high.getValue() < type.getDimSize(r);
}

std::pair<int64_t, int64_t> ContractOperands::getRun(unsigned side,
                                                     bool transposed,
                                                     int64_t rowLength,
                                                     int64_t accessBytes) {
  auto type = cast<MemRefType>(operands[side].getType());
  int64_t bytes = getElementBytes(type.getElementType());
  std::pair<int64_t, int64_t> single{1, bytes};
  // The dimension that runs along the rows of the tile.
  ArrayRef<unsigned> fast =
      transposed ? form.getRows(side) : form.getCols(side);
  SmallVector<int64_t> strides;
  int64_t offset;
  AffineMap map = op.getMap(side);
  unsigned rank = map.getNumResults();
  if (fast.empty() || rank == 0 || isPacked(type.getElementType()) ||
      failed(type.getStridesAndOffset(strides, offset)) || strides.back() != 1)
    return single;
  AffineExpr dim = builder.getAffineDimExpr(fast.back());
  for (unsigned r = 0; r + 1 < rank; ++r)
    if (map.getResult(r).isFunctionOfDim(fast.back()))
      return single;
  // The dimension alone with the factor 1: the remainder does not contain it.
  AffineExpr last = map.getResult(rank - 1);
  AffineExpr rest = simplifyAffineExpr(last - dim, sizes.size(), 0);
  bool alone = last == dim;
  if (rest.isFunctionOfDim(fast.back()) ||
      (!alone && !isWithin(side, rank - 1)))
    return single;
  int64_t extent = getStaticExtent(op, fast.back());
  // If a whole row is one dimension of the matmul, only its end matters.
  if (ShapedType::isDynamic(extent))
    return single;
  int64_t run = std::gcd(std::gcd(extent, rowLength),
                         std::max<int64_t>(1, accessBytes / bytes));
  run &= -run;
  // Where each run starts: at multiples of the other strides.
  int64_t alignment = alone ? run * bytes : bytes;
  for (unsigned r = 0; r + 1 < rank; ++r) {
    int64_t stride = strides[r];
    if (ShapedType::isDynamic(stride))
      stride = type.getLayout().isIdentity() && !type.isDynamicDim(rank - 1)
                   ? type.getDimSize(rank - 1)
                   : 1;
    alignment = std::gcd(alignment, stride * bytes);
  }
  if (ShapedType::isDynamic(offset))
    alignment = bytes;
  else
    alignment = std::gcd(alignment, offset * bytes);
  return {run, std::max(alignment, bytes)};
}

void ContractOperands::buildGather(Region &region, unsigned side,
                                   bool transposed, Value row, Value col,
                                   int64_t slotRows, TileBounds beyond) {
  Location loc = op.getLoc();
  Type indexType = builder.getIndexType();
  Block *body = builder.createBlock(&region, region.end(),
                                    {indexType, indexType}, {loc, loc});
  Value i = body->getArgument(0), j = body->getArgument(1);
  SmallVector<Value> at(index);
  Value batch;
  if (slots.count > 1) {
    Value rows = math.constant(slotRows);
    batch = math.add(slots.first, math.div(i, rows));
    math.delinearize(batch, sizes, form.batch, at);
    i = math.rem(i, rows);
  }
  row = math.add(row, transposed ? j : i);
  col = math.add(col, transposed ? i : j);
  math.delinearize(row, divisors, form.getRows(side), at);
  math.delinearize(col, divisors, form.getCols(side), at);

  Value inside = arith::ConstantOp::create(builder, builder.getBoolAttr(true));
  auto require = [&](Value below, Value limit) {
    inside = builder.createOrFold<arith::AndIOp>(
        inside, arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, below,
                                      limit));
  };
  if (slots.count > 1 && slots.ragged)
    require(batch, numBatches);
  if (beyond.rows)
    require(row, side == 0 ? m : k);
  if (beyond.cols)
    require(col, side == 0 ? k : n);
  AffineMap map = op.getMap(side);
  SmallVector<Value> results;
  for (auto [r, expr] : llvm::enumerate(map.getResults())) {
    Value position = affine::expandAffineExpr(builder, loc, expr, at,
                                              /*symbolValues=*/{});
    // Below zero is beyond any size, as unsigned numbers.
    if (!isWithin(side, r))
      require(position,
              getValueOrCreateConstantIndexOp(
                  builder, loc,
                  memref::getMixedSize(builder, loc, operands[side], r)));
    results.push_back(position);
  }
  results.push_back(inside);
  YieldOp::create(builder, results);
}
