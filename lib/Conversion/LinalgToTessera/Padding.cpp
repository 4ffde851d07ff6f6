//===- Padding.cpp - Zeros around an operand ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   pad x, low 1, high 1     read at h * 2 + r
//          |
//          v
//   x                        read at h * 2 + r - 1, and zero outside
//
// Only a window can read outside: the extent of a dimension that indexes an
// operand alone is that of the operand.
//
//===----------------------------------------------------------------------===//

#include "ContractionMaps.h"
#include "Source.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {
/// A tensor in a larger one of zeros.
struct Padding {
  Value source;
  /// The start, and whether it fills the dimension.
  SmallVector<int64_t> low;
  SmallVector<bool> fills;
};
} // namespace

static bool isZero(Value value) {
  return value && (matchPattern(value, m_Zero()) ||
                   matchPattern(value, m_AnyZeroFloat()));
}

/// Whether every element of tensor `value` is zero.
static bool holdsZeros(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return isZero(fill.getInputs()[0]);
  return isZero(value);
}

/// Sets `padding.low`, which must be constant.
static LogicalResult setLow(Padding &padding, ArrayRef<OpFoldResult> low) {
  for (OpFoldResult size : low) {
    std::optional<int64_t> value = getConstantIntValue(size);
    if (!value || *value < 0)
      return failure();
    padding.low.push_back(*value);
  }
  return success();
}

/// Matches the padding of the source of `value`. `why` is set if it cannot be
/// fused.
static std::optional<Padding> matchPadding(Value value, std::string &why) {
  Padding padding;
  if (auto pad = value.getDefiningOp<tensor::PadOp>()) {
    padding.source = pad.getSource();
    if (!isZero(pad.getConstantPaddingValue())) {
      why = "it pads with values other than zero";
      return {};
    }
    if (failed(setLow(padding, pad.getMixedLowPad()))) {
      why = "its low padding is not constant";
      return {};
    }
    for (auto [low, high] : llvm::zip(padding.low, pad.getMixedHighPad()))
      padding.fills.push_back(low == 0 && isConstantIntValue(high, 0));
    return padding;
  }
  if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!holdsZeros(insert.getDest()))
      return {};
    padding.source = insert.getSource();
    RankedTensorType from = insert.getSourceType(), to = insert.getType();
    if (from.getRank() != to.getRank() || !insert.hasUnitStride()) {
      why = "its slice drops dimensions or has strides";
      return {};
    }
    if (failed(setLow(padding, insert.getMixedOffsets()))) {
      why = "its offsets are not constant";
      return {};
    }
    for (auto [low, inner, outer] :
         llvm::zip(padding.low, from.getShape(), to.getShape()))
      padding.fills.push_back(low == 0 && ShapedType::isStatic(inner) &&
                              inner == outer);
    return padding;
  }
  return {};
}

std::optional<Source> mlir::tessera::lookThroughPadding(const Source &use,
                                                        std::string *why) {
  std::string reason;
  std::optional<Padding> padding = matchPadding(use.value, reason);
  if (padding && !feedsContractionsOnly(use.value)) {
    reason = "it has users that are not matmuls";
    padding.reset();
  }
  SmallVector<AffineExpr> results;
  if (padding) {
    for (auto [expr, low, fills] :
         llvm::zip(use.map.getResults(), padding->low, padding->fills)) {
      bool isWindow = !isa<AffineDimExpr, AffineConstantExpr>(expr);
      if (!fills && !isWindow) {
        reason = "it pads a dimension that is not indexed by a window";
        padding.reset();
        break;
      }
      results.push_back(expr - low);
    }
  }
  if (!padding) {
    if (why)
      *why = reason;
    return {};
  }
  Source source = use;
  source.value = padding->source;
  source.map =
      AffineMap::get(use.map.getNumDims(), 0, results, use.map.getContext());
  source.isPadded = true;
  return source;
}
