//===- ConvertByAddition.cpp - Conversions of bytes as additions ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The last bit of a float between 2^23 and 2^24 is worth 1. An addition of
// 1.5 * 2^23 therefore rounds a number of less than 2^22 to an integer, ties to
// even, and leaves the integer in the low bits. Bits of a byte in those of 2^23
// are a float that is larger than 2^23 by the byte.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/FixedPoint.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>
#include <optional>

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERACONVERTBYADDITION
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-convert-by-addition"

using namespace mlir;
using namespace mlir::tessera;

/// 1.5 * 2^23, and its bits.
static constexpr float magic = 12582912.0f;
static constexpr int64_t magicBits = 0x4b400000;
/// 2^23, and its bits.
static constexpr float unit = 8388608.0f;
static constexpr int64_t unitBits = 0x4b000000;

/// `value`, which f32 represents.
static Value makeFloat(PatternRewriter &rewriter, Location loc, Type type,
                       double value) {
  return createScalarOrSplatConstant(rewriter, loc, type,
                                     APFloat(static_cast<float>(value)));
}

/// `type` with 32-bit integers as elements.
static Type getBitsType(PatternRewriter &rewriter, Type type) {
  Type bits = rewriter.getI32Type();
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(bits);
  return bits;
}

static std::optional<double> getNumber(Value value) {
  APFloat number(0.0f);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  return number.convertToDouble();
}

namespace {
/// min(max(roundeven(number) + offset, low), high), all but the number
/// constant integers.
struct Rounded {
  Value number;
  double offset = 0, low = 0, high = 0;
};
} // namespace

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

static std::optional<Rounded> matchRounded(Value value) {
  if (!getElementTypeOrSelf(value.getType()).isF32())
    return std::nullopt;
  Rounded rounded;
  Value inner = matchLimit<arith::MinimumFOp>(value, rounded.high);
  if (inner) {
    inner = matchLimit<arith::MaximumFOp>(inner, rounded.low);
  } else {
    inner = matchLimit<arith::MaximumFOp>(value, rounded.low);
    if (inner)
      inner = matchLimit<arith::MinimumFOp>(inner, rounded.high);
  }
  if (!inner)
    return std::nullopt;
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
  // All sums with these are exact.
  constexpr double largest = 1 << 20;
  for (double x : {rounded.offset, rounded.low, rounded.high})
    if (!(std::abs(x) <= largest) || x != std::floor(x))
      return std::nullopt;
  if (rounded.low > rounded.high)
    return std::nullopt;
  return rounded;
}

/// The rounded number without its offset, plus 1.5 * 2^23.
static Value emitSum(PatternRewriter &rewriter, Location loc,
                     const Rounded &rounded) {
  Type type = rounded.number.getType();
  Value limited = arith::MaximumFOp::create(
      rewriter, loc, rounded.number,
      makeFloat(rewriter, loc, type, rounded.low - rounded.offset));
  limited = arith::MinimumFOp::create(
      rewriter, loc, limited,
      makeFloat(rewriter, loc, type, rounded.high - rounded.offset));
  return arith::AddFOp::create(rewriter, loc, limited,
                               makeFloat(rewriter, loc, type, magic));
}

/// The number that `value`, an integer of `width` bits, was converted from.
static std::optional<Rounded> matchInteger(Value value) {
  auto trunc = value.getDefiningOp<arith::TruncIOp>();
  if (!trunc)
    return std::nullopt;
  auto convert = trunc.getIn().getDefiningOp<arith::FPToSIOp>();
  if (!convert || !getElementTypeOrSelf(convert.getType()).isInteger(32))
    return std::nullopt;
  return matchRounded(convert.getIn());
}

namespace {
/// A rounded float to an integer of at most 16 bits.
struct RoundByAddition : public OpRewritePattern<arith::TruncIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncIOp op,
                                PatternRewriter &rewriter) const override {
    unsigned width = getElementTypeOrSelf(op.getType()).getIntOrFloatBitWidth();
    if (width > 16)
      return rewriter.notifyMatchFailure(op, "more than 16 bits");
    std::optional<Rounded> rounded = matchInteger(op.getResult());
    if (!rounded)
      return rewriter.notifyMatchFailure(op, "not of a limited rounded float");
    Location loc = op.getLoc();
    Value sum = emitSum(rewriter, loc, *rounded);
    Type bits = getBitsType(rewriter, sum.getType());
    Value integer = arith::AddIOp::create(
        rewriter, loc, arith::BitcastOp::create(rewriter, loc, bits, sum),
        createScalarOrSplatConstant(rewriter, loc, bits,
                                    static_cast<int64_t>(rounded->offset) -
                                        magicBits));
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), integer);
    return success();
  }
};

/// An integer of 8 bits to a float.
template <typename Op> struct WidenByAddition : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  static constexpr bool isSigned = std::is_same_v<Op, arith::SIToFPOp>;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32() ||
        !getElementTypeOrSelf(op.getIn().getType()).isInteger(8))
      return rewriter.notifyMatchFailure(op, "not from i8 to f32");
    Location loc = op.getLoc();
    // An integer that was rounded is not needed.
    constexpr double low = isSigned ? -128 : 0, high = isSigned ? 127 : 255;
    if (std::optional<Rounded> rounded = matchInteger(op.getIn());
        rounded && rounded->low >= low && rounded->high <= high) {
      rewriter.replaceOpWithNewOp<arith::AddFOp>(
          op, emitSum(rewriter, loc, *rounded),
          makeFloat(rewriter, loc, type, rounded->offset - magic));
      return success();
    }
    constexpr int64_t half = isSigned ? 0x80 : 0;
    Type bits = getBitsType(rewriter, type);
    Value wide = arith::ExtUIOp::create(rewriter, loc, bits, op.getIn());
    wide = arith::XOrIOp::create(
        rewriter, loc, wide,
        createScalarOrSplatConstant(rewriter, loc, bits, unitBits | half));
    rewriter.replaceOpWithNewOp<arith::SubFOp>(
        op, arith::BitcastOp::create(rewriter, loc, type, wide),
        makeFloat(rewriter, loc, type, unit + half));
    return success();
  }
};

struct ConvertByAdditionPass
    : public tessera::impl::TesseraConvertByAdditionBase<
          ConvertByAdditionPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    // First the conversions back, which see where their integer is from.
    RewritePatternSet widen(context), round(context);
    widen.add<WidenByAddition<arith::SIToFPOp>,
              WidenByAddition<arith::UIToFPOp>>(context);
    round.add<RoundByAddition>(context);
    for (RewritePatternSet *patterns : {&widen, &round})
      if (failed(applyToFixedPoint(getOperation(), std::move(*patterns),
                                   "conversions of bytes")))
        return signalPassFailure();
  }
};
} // namespace
