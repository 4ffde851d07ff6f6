//===- Alignment.cpp - Divisors and alignments of indices -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/Alignment.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include <numeric>

using namespace mlir;
using namespace mlir::tessera;

/// The divisor of 0, and the limit of all divisors: larger ones do not matter
/// for alignment.
static constexpr int64_t maxDivisor = 4096;

static int64_t clampDivisor(int64_t value) {
  value = std::abs(value);
  return value == 0 || value > maxDivisor ? std::gcd(value, maxDivisor) : value;
}

/// The elements that `op`, if it gathers, promises to be side by side.
static std::optional<int64_t> getGatherGroup(Operation *op) {
  if (auto copy = dyn_cast_or_null<CopyOp>(op))
    return copy.getContiguousElements();
  if (auto copy = dyn_cast_or_null<AsyncCopyOp>(op))
    return copy.getContiguousElements();
  if (auto tile = dyn_cast_or_null<TileOp>(op))
    return tile.getContiguous().value_or(1);
  return std::nullopt;
}

static int64_t getKnownDivisor(Value value, int depth) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return *constant == 0 ? maxDivisor : clampDivisor(*constant);
  if (depth == 0)
    return 1;
  auto recurse = [&](Value operand) {
    return getKnownDivisor(operand, depth - 1);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop =
        dyn_cast_or_null<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar())
      return std::gcd(recurse(loop.getLowerBound()), recurse(loop.getStep()));
    // The column at which a group of a gather starts.
    if (argument.getArgNumber() == 1)
      if (std::optional<int64_t> group =
              getGatherGroup(argument.getOwner()->getParentOp()))
        return clampDivisor(*group);
    return 1;
  }
  Operation *op = value.getDefiningOp();
  if (isa<arith::MulIOp>(op))
    return clampDivisor(recurse(op->getOperand(0)) *
                        recurse(op->getOperand(1)));
  if (isa<arith::AddIOp, arith::SubIOp, arith::RemUIOp, arith::RemSIOp>(op))
    return std::gcd(recurse(op->getOperand(0)), recurse(op->getOperand(1)));
  if (isa<arith::SelectOp>(op))
    return std::gcd(recurse(op->getOperand(1)), recurse(op->getOperand(2)));
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
          arith::ExtUIOp>(op))
    return recurse(op->getOperand(0));
  if (isa<arith::ShLIOp>(op))
    if (std::optional<int64_t> bits = getConstantIntValue(op->getOperand(1)))
      if (*bits >= 0 && *bits < 12)
        return clampDivisor(recurse(op->getOperand(0)) << *bits);
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    // Each operand is a multiple of its divisor.
    AffineMap map = apply.getAffineMap();
    SmallVector<AffineExpr> dims, symbols;
    for (auto [i, operand] : llvm::enumerate(apply.getMapOperands())) {
      if (i < map.getNumDims())
        dims.push_back(getAffineDimExpr(i, op->getContext()) *
                       recurse(operand));
      else
        symbols.push_back(
            getAffineSymbolExpr(i - map.getNumDims(), op->getContext()) *
            recurse(operand));
    }
    return clampDivisor(map.getResult(0)
                            .replaceDimsAndSymbols(dims, symbols)
                            .getLargestKnownDivisor());
  }
  return 1;
}

int64_t mlir::tessera::getKnownDivisor(Value value) {
  return ::getKnownDivisor(value, 16);
}

int64_t mlir::tessera::getKnownTileAlignment(Value memory, ValueRange indices) {
  auto type = cast<MemRefType>(memory.getType());
  // Steps are in bits, since packed elements are smaller than a byte.
  int64_t bits = getElementBits(type.getElementType());
  int64_t least = bits / 8;
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return least;
  auto getStep = [&](int64_t stride, int64_t divisor) {
    return ShapedType::isDynamic(stride)
               ? bits * divisor
               : std::gcd<int64_t>(8 * maxDivisor, stride * divisor * bits);
  };
  int64_t alignment = 8 * 16;
  auto meet = [&](int64_t step) {
    alignment = std::gcd(alignment, step == 0 ? 8 * maxDivisor : step);
  };
  for (auto [index, stride] : llvm::zip(indices, strides))
    meet(getStep(stride, getKnownDivisor(index)));
  // From row to row.
  if (type.getRank() >= 2)
    meet(getStep(strides[type.getRank() - 2], 1));

  // The base: follow views to where they start.
  while (Operation *op = memory.getDefiningOp()) {
    if (auto subview = dyn_cast<memref::SubViewOp>(op)) {
      SmallVector<int64_t> sourceStrides;
      if (failed(subview.getSourceType().getStridesAndOffset(sourceStrides,
                                                             offset)))
        return least;
      for (auto [position, stride] :
           llvm::zip(subview.getMixedOffsets(), sourceStrides)) {
        std::optional<int64_t> constant = getConstantIntValue(position);
        int64_t divisor = constant ? clampDivisor(*constant)
                                   : getKnownDivisor(cast<Value>(position));
        meet(constant && *constant == 0 ? 0 : getStep(stride, divisor));
      }
      memory = subview.getSource();
    } else if (isa<memref::CastOp, memref::ExpandShapeOp,
                   memref::CollapseShapeOp, memref::TransposeOp,
                   memref::MemorySpaceCastOp>(op)) {
      memory = op->getOperand(0);
    } else if (auto view = dyn_cast<memref::ViewOp>(op)) {
      meet(8 * getKnownDivisor(view.getByteShift()));
      memory = view.getSource();
    } else if (auto cast = dyn_cast<memref::ReinterpretCastOp>(op)) {
      for (OpFoldResult position : cast.getMixedOffsets()) {
        std::optional<int64_t> constant = getConstantIntValue(position);
        meet(constant ? *constant * bits
                      : getKnownDivisor(llvm::cast<Value>(position)) * bits);
      }
      memory = cast.getSource();
    } else {
      break;
    }
  }
  // The remaining value is a buffer, unless its type has an offset.
  auto base = dyn_cast<MemRefType>(memory.getType());
  if (!base || failed(base.getStridesAndOffset(strides, offset)))
    return least;
  meet(ShapedType::isDynamic(offset) ? bits : offset * bits);
  return std::max(alignment / 8, least);
}
