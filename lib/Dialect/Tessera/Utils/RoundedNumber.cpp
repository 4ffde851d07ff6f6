//===- RoundedNumber.cpp - Floats rounded to few integers -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/RoundedNumber.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tessera;

static std::optional<double> getNumber(Value value) {
  APFloat number(0.0f);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  return number.convertToDouble();
}

/// Whether `x` is an integer whose sums with bytes and 1.5 * 2^23 are exact.
static bool hasFewBits(double x) {
  constexpr double largest = 1 << 20;
  return std::abs(x) <= largest && x == std::floor(x);
}

std::optional<double> mlir::tessera::matchFewBits(Value value) {
  std::optional<double> number = getNumber(value);
  return number && hasFewBits(*number) ? number : std::nullopt;
}

/// The operand of a minimum or maximum that is not constant; sets the constant
/// one.
template <typename Op> static Value matchLimit(Value value, double &limit) {
  auto op = value.getDefiningOp<Op>();
  if (!op)
    return {};
  std::optional<double> number = getNumber(op.getRhs());
  if (!number)
    return {};
  limit = *number;
  return op.getLhs();
}

/// The number that `value` limits to a range, in either order; sets the range.
static Value matchLimits(Value value, RoundedNumber &rounded) {
  if (Value inner = matchLimit<arith::MinimumFOp>(value, rounded.high))
    return matchLimit<arith::MaximumFOp>(inner, rounded.low);
  Value inner = matchLimit<arith::MaximumFOp>(value, rounded.low);
  return inner ? matchLimit<arith::MinimumFOp>(inner, rounded.high) : Value();
}

static std::optional<RoundedNumber> matchRounded(Value value) {
  if (!getElementTypeOrSelf(value.getType()).isF32())
    return std::nullopt;
  RoundedNumber rounded;
  // Integers limit a number before it is rounded as they do after.
  auto last = value.getDefiningOp<math::RoundEvenOp>();
  Value inner = matchLimits(last ? last.getOperand() : value, rounded);
  if (!inner)
    return std::nullopt;
  if (last) {
    rounded.number = inner;
  } else {
    if (auto add = inner.getDefiningOp<arith::AddFOp>()) {
      std::optional<double> offset = getNumber(add.getRhs());
      if (!offset)
        return std::nullopt;
      rounded.offset = *offset;
      inner = add.getLhs();
    }
    auto round = inner.getDefiningOp<math::RoundEvenOp>();
    if (!round)
      return std::nullopt;
    rounded.number = round.getOperand();
  }
  if (!hasFewBits(rounded.offset) || !hasFewBits(rounded.low) ||
      !hasFewBits(rounded.high))
    return std::nullopt;
  if (rounded.low > rounded.high)
    return std::nullopt;
  return rounded;
}

std::optional<RoundedNumber> mlir::tessera::matchRoundedInteger(Value value) {
  // Numbers beyond the range of the type have no defined result.
  unsigned width =
      getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
  constexpr unsigned most = 16;
  if (Operation *op = value.getDefiningOp();
      isa_and_present<arith::FPToSIOp, arith::FPToUIOp>(op))
    return width <= most ? matchRounded(op->getOperand(0)) : std::nullopt;
  auto trunc = value.getDefiningOp<arith::TruncIOp>();
  if (!trunc)
    return std::nullopt;
  auto convert = trunc.getIn().getDefiningOp<arith::FPToSIOp>();
  if (!convert || !getElementTypeOrSelf(convert.getType()).isInteger(32))
    return std::nullopt;
  return matchRounded(convert.getIn());
}

Value mlir::tessera::createF32(OpBuilder &builder, Location loc, Type type,
                               double value) {
  return createScalarOrSplatConstant(builder, loc, type,
                                     APFloat(static_cast<float>(value)));
}
