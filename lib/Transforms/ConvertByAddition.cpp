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
#include "Dialect/Tessera/Utils/RoundedNumber.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/PatternMatch.h"

#include <optional>

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERACONVERTBYADDITION
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-convert-by-addition"

using namespace mlir;
using namespace mlir::tessera;

/// The bits of 1.5 * 2^23.
static constexpr int64_t magicBits = 0x4b400000;
/// 2^23, and its bits.
static constexpr float unit = 8388608.0f;
static constexpr int64_t unitBits = 0x4b000000;

/// `type` with 32-bit integers as elements.
static Type getBitsType(PatternRewriter &rewriter, Type type) {
  Type bits = rewriter.getI32Type();
  if (auto shaped = dyn_cast<ShapedType>(type))
    return shaped.clone(bits);
  return bits;
}

/// The rounded number without its offset, plus 1.5 * 2^23.
static Value emitSum(PatternRewriter &rewriter, Location loc,
                     const RoundedNumber &rounded) {
  Type type = rounded.number.getType();
  Value limited = arith::MaximumFOp::create(
      rewriter, loc, rounded.number,
      createF32(rewriter, loc, type, rounded.low - rounded.offset));
  limited = arith::MinimumFOp::create(
      rewriter, loc, limited,
      createF32(rewriter, loc, type, rounded.high - rounded.offset));
  return arith::AddFOp::create(rewriter, loc, limited,
                               createF32(rewriter, loc, type, roundingAddend));
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
    std::optional<RoundedNumber> rounded = matchRoundedInteger(op.getResult());
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

} // namespace

/// `integer`, of 8 bits, as a float, minus `less`, an integer of few bits.
static Value widenByAddition(PatternRewriter &rewriter, Location loc, Type type,
                             Value integer, bool isSigned, double less) {
  // An integer that was rounded is not needed.
  double low = isSigned ? -128 : 0, high = isSigned ? 127 : 255;
  if (std::optional<RoundedNumber> rounded = matchRoundedInteger(integer);
      rounded && rounded->low >= low && rounded->high <= high)
    return arith::AddFOp::create(
        rewriter, loc, emitSum(rewriter, loc, *rounded),
        createF32(rewriter, loc, type,
                  rounded->offset - roundingAddend - less));
  int64_t half = isSigned ? 0x80 : 0;
  Type bits = getBitsType(rewriter, type);
  Value wide = arith::ExtUIOp::create(rewriter, loc, bits, integer);
  wide = arith::XOrIOp::create(
      rewriter, loc, wide,
      createScalarOrSplatConstant(rewriter, loc, bits, unitBits | half));
  return arith::SubFOp::create(
      rewriter, loc, arith::BitcastOp::create(rewriter, loc, type, wide),
      createF32(rewriter, loc, type, unit + static_cast<double>(half) + less));
}

namespace {
/// An integer of 8 bits to a float.
template <typename Op> struct WidenByAddition : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  static constexpr bool isSigned = std::is_same_v<Op, arith::SIToFPOp>;

  static bool isWidened(Op op) {
    return op && getElementTypeOrSelf(op.getType()).isF32() &&
           getElementTypeOrSelf(op.getIn().getType()).isInteger(8);
  }

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isWidened(op))
      return rewriter.notifyMatchFailure(op, "not from i8 to f32");
    rewriter.replaceOp(op, widenByAddition(rewriter, op.getLoc(), op.getType(),
                                           op.getIn(), isSigned, /*less=*/0));
    return success();
  }
};

/// The difference of such a float and an integer, as a zero point is.
template <typename Op>
struct ShiftByAddition : public OpRewritePattern<arith::SubFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SubFOp op,
                                PatternRewriter &rewriter) const override {
    auto widened = op.getLhs().getDefiningOp<Op>();
    std::optional<double> less = matchFewBits(op.getRhs());
    if (!WidenByAddition<Op>::isWidened(widened) || !less)
      return rewriter.notifyMatchFailure(op, "not of an i8 and a constant");
    rewriter.replaceOp(op,
                       widenByAddition(rewriter, op.getLoc(), op.getType(),
                                       widened.getIn(),
                                       WidenByAddition<Op>::isSigned, *less));
    return success();
  }
};

struct ConvertByAdditionPass
    : public tessera::impl::TesseraConvertByAdditionBase<
          ConvertByAdditionPass> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    // First the conversions back, which see where their integer is from, and of
    // these the ones of which something is subtracted.
    RewritePatternSet shift(context), widen(context), round(context);
    shift.add<ShiftByAddition<arith::SIToFPOp>,
              ShiftByAddition<arith::UIToFPOp>>(context);
    widen.add<WidenByAddition<arith::SIToFPOp>,
              WidenByAddition<arith::UIToFPOp>>(context);
    round.add<RoundByAddition>(context);
    for (RewritePatternSet *patterns : {&shift, &widen, &round})
      if (failed(applyToFixedPoint(getOperation(), std::move(*patterns),
                                   "conversions of bytes")))
        return signalPassFailure();
  }
};
} // namespace
