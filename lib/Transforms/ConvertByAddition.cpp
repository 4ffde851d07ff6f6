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
// The same holds for 2^10 of f16 and 2^7 of bf16, two of which are a word: a
// permutation of bytes makes two f16 of two bytes, and, of a word and the same
// one shifted by 4, two floats of two neighbors of 4 bits:
//
//   word of i4          7 6 5 4 3 2 1 0
//   the same >> 4       . 7 6 5 4 3 2 1
//   bytes 0, 0, 0, 0    2 1 2 1 1 0 1 0    & 0x000f000f | 0x64006400  ->  1, 0
//   bytes 1, 1, 1, 1    4 3 4 3 3 2 3 2    & 0x000f000f | 0x64006400  ->  3, 2
//
// (Pairs that are four elements apart would take shifts alone, but would have
// to be sorted, here or in the other operand of a matmul.) The 7 bits below
// 2^7 of bf16 do not hold a byte. With a sign, it is the difference of 2^7 with
// the low 7 bits, and of 2^7 with the sign's bit, which makes it 2^8. All
// results are exact.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/FixedPoint.h"
#include "Dialect/Tessera/Utils/RoundedNumber.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
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

/// 2^10 in f16 and 2^7 in bf16, and their bits.
static constexpr double unitOfF16 = 1024, unitOfBF16 = 128;
static constexpr int64_t unitBitsOfF16 = 0x6400, unitBitsOfBF16 = 0x4300;

/// `value`, which the type represents.
static Value makeFloat(PatternRewriter &rewriter, Location loc, Type type,
                       double value) {
  APFloat number(value);
  bool isInexact = false;
  number.convert(
      cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics(),
      APFloat::rmNearestTiesToEven, &isInexact);
  assert(!isInexact && "the type does not represent the number");
  return createScalarOrSplatConstant(rewriter, loc, type, number);
}

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
template <typename Op> struct RoundByAddition : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
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

/// `integer`, of 8 or 4 bits, as a float, minus `less`, an integer of few bits.
static Value widenByAddition(PatternRewriter &rewriter, Location loc, Type type,
                             Value integer, bool isSigned, double less) {
  // An integer that was rounded is not needed.
  bool isByte = getElementTypeOrSelf(integer.getType()).isInteger(8);
  double low = isSigned ? -128 : 0, high = isSigned ? 127 : 255;
  if (std::optional<RoundedNumber> rounded = matchRoundedInteger(integer);
      rounded && isByte && rounded->low >= low && rounded->high <= high)
    return arith::AddFOp::create(
        rewriter, loc, emitSum(rewriter, loc, *rounded),
        createF32(rewriter, loc, type,
                  rounded->offset - roundingAddend - less));
  int64_t half = isSigned ? isByte ? 0x80 : 0x8 : 0;
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
/// An integer of 8 or 4 bits to a float of 32.
template <typename Op> struct WidenByAddition : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  static constexpr bool isSigned = std::is_same_v<Op, arith::SIToFPOp>;

  static bool isWidened(Op op) {
    if (!op || !getElementTypeOrSelf(op.getType()).isF32())
      return false;
    Type from = getElementTypeOrSelf(op.getIn().getType());
    return from.isInteger(8) || from.isInteger(4);
  }

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!isWidened(op))
      return rewriter.notifyMatchFailure(op, "not from i8 or i4 to f32");
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
      return rewriter.notifyMatchFailure(op,
                                         "not of an i8 or i4 and a constant");
    rewriter.replaceOp(op,
                       widenByAddition(rewriter, op.getLoc(), op.getType(),
                                       widened.getIn(),
                                       WidenByAddition<Op>::isSigned, *less));
    return success();
  }
};

/// An integer that was extended to a float: the extension has no effect.
template <typename Op> struct SkipExtension : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  static constexpr bool isSigned = std::is_same_v<Op, arith::SIToFPOp>;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Operation *extension = op.getIn().getDefiningOp();
    if (isa_and_present<arith::ExtUIOp>(extension))
      rewriter.replaceOpWithNewOp<arith::UIToFPOp>(op, op.getType(),
                                                   extension->getOperand(0));
    else if (isSigned && isa_and_present<arith::ExtSIOp>(extension))
      rewriter.replaceOpWithNewOp<arith::SIToFPOp>(op, op.getType(),
                                                   extension->getOperand(0));
    else
      return rewriter.notifyMatchFailure(op, "not of an extended integer");
    return success();
  }
};

/// The difference of two extended integers of at most 8 bits, as that of two
/// floats: all three are exact.
struct SubtractFloats : public OpRewritePattern<arith::SIToFPOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::SIToFPOp op,
                                PatternRewriter &rewriter) const override {
    auto difference = op.getIn().getDefiningOp<arith::SubIOp>();
    auto element = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    if (!difference || !difference->hasOneUse() ||
        element.getFPMantissaWidth() < 8)
      return rewriter.notifyMatchFailure(op, "not of a difference");
    unsigned width =
        getElementTypeOrSelf(difference.getType()).getIntOrFloatBitWidth();
    auto isNarrow = [&](Value value) {
      Operation *extension = value.getDefiningOp();
      if (!isa_and_present<arith::ExtSIOp, arith::ExtUIOp>(extension))
        return false;
      unsigned narrow = getElementTypeOrSelf(extension->getOperand(0).getType())
                            .getIntOrFloatBitWidth();
      return narrow <= 8 && narrow < width;
    };
    if (!isNarrow(difference.getLhs()) || !isNarrow(difference.getRhs()))
      return rewriter.notifyMatchFailure(op, "not of extended bytes");
    Value terms[2];
    for (unsigned i : {0, 1})
      terms[i] = arith::SIToFPOp::create(rewriter, op.getLoc(), op.getType(),
                                         difference->getOperand(i));
    rewriter.replaceOpWithNewOp<arith::SubFOp>(op, terms[0], terms[1]);
    return success();
  }
};

/// Vectors of integers of 8 or 4 bits to floats of 16.
template <typename Op> struct WidenToHalf : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  static constexpr bool isSigned = std::is_same_v<Op, arith::SIToFPOp>;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.isScalable() ||
        type.getNumElements() % 4)
      return rewriter.notifyMatchFailure(op, "not a vector of whole words");
    Type to = type.getElementType(),
         from = getElementTypeOrSelf(op.getIn().getType());
    if (!to.isF16() && !to.isBF16())
      return rewriter.notifyMatchFailure(op, "not to a float of 16 bits");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    if (from.isInteger(4) && type.getNumElements() % 8 == 0) {
      rewriter.replaceOp(op, widenNibbles(b, rewriter, op.getIn(), type));
      return success();
    }
    if (from.isInteger(4)) {
      Type bytes = type.clone(b.getI8Type());
      Value wide =
          isSigned ? arith::ExtSIOp::create(b, bytes, op.getIn()).getResult()
                   : arith::ExtUIOp::create(b, bytes, op.getIn());
      rewriter.replaceOp(op, widenBytes(b, rewriter, wide, type));
      return success();
    }
    if (!from.isInteger(8))
      return rewriter.notifyMatchFailure(op, "not of i8 or i4");
    rewriter.replaceOp(op, widenBytes(b, rewriter, op.getIn(), type));
    return success();
  }

private:
  static Value makeWords(ImplicitLocOpBuilder &b, VectorType type,
                         uint32_t word) {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(type, APInt(32, word)));
  }
  static Value widenBytes(ImplicitLocOpBuilder &b, PatternRewriter &rewriter,
                          Value bytes, VectorType type);
  static Value widenNibbles(ImplicitLocOpBuilder &b, PatternRewriter &rewriter,
                            Value nibbles, VectorType type);
};

template <typename Op>
Value WidenToHalf<Op>::widenBytes(ImplicitLocOpBuilder &b,
                                  PatternRewriter &rewriter, Value bytes,
                                  VectorType type) {
  int64_t size = type.getNumElements();
  bool isF16 = type.getElementType().isF16();
  // The 8 bits of a bf16 do not hold 2^7 and a byte.
  if (!isF16 && !isSigned)
    return arith::TruncFOp::create(
        b, type, Op::create(b, type.clone(b.getF32Type()), bytes).getResult());
  auto bytesType = cast<VectorType>(bytes.getType());
  auto splat = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        b, DenseElementsAttr::get(bytesType,
                                  APInt(8, static_cast<uint64_t>(value))));
  };
  constexpr int64_t half = isSigned ? 0x80 : 0;
  if (isSigned && isF16)
    bytes = arith::XOrIOp::create(b, bytes, splat(half));
  SmallVector<int64_t> positions;
  for (int64_t i = 0; i < size; ++i)
    positions.append({i, size});
  Value words = vector::ShuffleOp::create(
      b, bytes, splat((isF16 ? unitBitsOfF16 : unitBitsOfBF16) >> 8),
      positions);
  if (isF16)
    return arith::SubFOp::create(
        b, vector::BitCastOp::create(b, type, words),
        makeFloat(rewriter, b.getLoc(), type, unitOfF16 + half));
  // 2^7 and the low bits, minus 2^7, or 2^8 where the sign's bit, which is the
  // lowest one of the exponent, is set.
  auto pairsType = VectorType::get(size / 2, b.getI32Type());
  Value pairs = vector::BitCastOp::create(b, pairsType, words);
  auto masked = [&](uint32_t mask) -> Value {
    return vector::BitCastOp::create(
        b, type,
        arith::AndIOp::create(b, pairs,
                              makeWords(b, pairsType, mask * 0x10001)));
  };
  return arith::SubFOp::create(b, masked(0xff7f), masked(0xff80));
}

template <typename Op>
Value WidenToHalf<Op>::widenNibbles(ImplicitLocOpBuilder &b,
                                    PatternRewriter &rewriter, Value nibbles,
                                    VectorType type) {
  int64_t size = type.getNumElements(), half = isSigned ? 8 : 0;
  bool isF16 = type.getElementType().isF16();
  auto wordsType = VectorType::get(size / 8, b.getI32Type()),
       bytesType = VectorType::get(size / 2, b.getI8Type()),
       pairsType = VectorType::get(size / 2, b.getI32Type());
  Value words = vector::BitCastOp::create(b, wordsType, nibbles),
        moved = arith::ShRUIOp::create(b, words, makeWords(b, wordsType, 4)),
        low = vector::BitCastOp::create(b, bytesType, words),
        high = vector::BitCastOp::create(b, bytesType, moved);
  // Byte i has the elements 2 * i and 2 * i + 1, in its lower and upper half.
  SmallVector<int64_t> positions;
  for (int64_t i = 0; i < size / 2; ++i)
    positions.append({i, i, size / 2 + i, size / 2 + i});
  Value pairs = vector::BitCastOp::create(
      b, pairsType, vector::ShuffleOp::create(b, low, high, positions));
  auto twice = [&](int64_t value) {
    return makeWords(b, pairsType, static_cast<uint32_t>(value * 0x10001));
  };
  // The sign's bit is flipped: the sum is larger by 8.
  pairs = arith::XOrIOp::create(
      b, arith::AndIOp::create(b, pairs, twice(0xf)),
      twice((isF16 ? unitBitsOfF16 : unitBitsOfBF16) | half));
  return arith::SubFOp::create(
      b, vector::BitCastOp::create(b, type, pairs),
      makeFloat(rewriter, b.getLoc(), type,
                (isF16 ? unitOfF16 : unitOfBF16) + static_cast<double>(half)));
}

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
              WidenByAddition<arith::UIToFPOp>, SubtractFloats,
              SkipExtension<arith::SIToFPOp>, SkipExtension<arith::UIToFPOp>,
              WidenToHalf<arith::SIToFPOp>, WidenToHalf<arith::UIToFPOp>>(
        context);
    round
        .add<RoundByAddition<arith::TruncIOp>, RoundByAddition<arith::FPToSIOp>,
             RoundByAddition<arith::FPToUIOp>>(context);
    for (RewritePatternSet *patterns : {&shift, &widen, &round})
      if (failed(applyToFixedPoint(getOperation(), std::move(*patterns),
                                   "conversions of bytes")))
        return signalPassFailure();
  }
};
} // namespace
