//===- ExpandScalars.cpp - Arithmetic that LLVM's back ends lack ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ExpandPower.h"

#include "Dialect/Tessera/Utils/FixedPoint.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAEXPANDSCALARS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-expand-scalars"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// An 8-bit float: sign, exponent, mantissa (OCP 8-bit Floating Point
/// Specification; the FNUZ forms as in "8-bit Numerical Formats for Deep Neural
/// Networks", Noune et al.).
struct Format {
  int mantissaBits;
  int bias;
  /// Has infinities, and NaNs above them; otherwise one NaN.
  bool hasInfinity;
  /// NaN is 0x80, and negative zero does not exist.
  bool isFnuz;

  /// The largest magnitude that is a number, as bits.
  int getMaxBits() const { return isFnuz ? 0x7f : hasInfinity ? 0x7b : 0x7e; }
};

} // namespace

static std::optional<Format> getFormat(Type type) {
  if (isa<Float8E4M3FNType>(type))
    return Format{3, 7, false, false};
  if (isa<Float8E5M2Type>(type))
    return Format{2, 15, true, false};
  if (isa<Float8E4M3FNUZType>(type))
    return Format{3, 8, false, true};
  if (isa<Float8E5M2FNUZType>(type))
    return Format{2, 16, false, true};
  return std::nullopt;
}

/// Whether upstream's patterns convert this type of floats from and to f32.
static bool isExpandedUpstream(Type type) {
  return isa<Float4E2M1FNType, Float8E8M0FNUType>(type);
}

/// `type` with another element type: scalar or vector.
static Type withElement(Type type, Type element) {
  if (auto vector = dyn_cast<VectorType>(type))
    return vector.clone(element);
  return element;
}

namespace {

/// Builds arithmetic on i32 and f32, scalar or vector like `shape`.
struct NarrowEmitter {
  NarrowEmitter(OpBuilder &builder, Location loc, Type shape)
      : b(loc, builder), i32(withElement(shape, b.getI32Type())),
        f32(withElement(shape, b.getF32Type())),
        i8(withElement(shape, b.getI8Type())) {}

  Value integer(int64_t value) {
    return constant(i32, b.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  Value real(float value) { return constant(f32, b.getF32FloatAttr(value)); }
  Value constant(Type type, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(type))
      return arith::ConstantOp::create(b,
                                       SplatElementsAttr::get(vector, value));
    return arith::ConstantOp::create(b, value);
  }
  Value compare(arith::CmpIPredicate predicate, Value l, int64_t r) {
    return arith::CmpIOp::create(b, predicate, l, integer(r));
  }
  Value select(Value condition, Value t, Value f) {
    return arith::SelectOp::create(b, condition, t, f);
  }
  Value shiftLeft(Value value, int64_t by) {
    return arith::ShLIOp::create(b, value, integer(by));
  }
  Value shiftRight(Value value, int64_t by) {
    return arith::ShRUIOp::create(b, value, integer(by));
  }
  Value bitAnd(Value value, int64_t mask) {
    return arith::AndIOp::create(b, value, integer(mask));
  }
  Value bitOr(Value l, Value r) { return arith::OrIOp::create(b, l, r); }
  Value toReal(Value bits) { return arith::BitcastOp::create(b, f32, bits); }
  Value toBits(Value real) { return arith::BitcastOp::create(b, i32, real); }

  ImplicitLocOpBuilder b;
  Type i32, f32, i8;
};

struct ExpandExtF : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  /// Converts a float with f16's exponent bits, whose subnormals are subnormal
  /// in f16 as well, to f16 by integer operations only.
  static Value extendToHalf(NarrowEmitter &e, const Format &format, Value bits,
                            Type type) {
    assert(format.mantissaBits == 2 && format.bias >= 15 && format.bias <= 16);
    Value magnitude = e.bitAnd(bits, 0x7f);
    Value result = e.shiftLeft(magnitude, 8);
    // With a bias larger by one, the value is half of that of the fields.
    if (format.bias == 16)
      result = e.select(e.compare(arith::CmpIPredicate::slt, magnitude, 8),
                        e.shiftRight(result, 1),
                        arith::SubIOp::create(e.b, result, e.integer(1 << 10)));
    if (format.hasInfinity)
      result = e.select(e.compare(arith::CmpIPredicate::sgt, magnitude, 0x7c),
                        e.integer(0x7e00), result);
    result = e.bitOr(result, e.shiftLeft(e.bitAnd(bits, 0x80), 8));
    if (format.isFnuz)
      result = e.select(e.compare(arith::CmpIPredicate::eq, bits, 0x80),
                        e.integer(0x7e00), result);
    Value half = arith::TruncIOp::create(
        e.b, withElement(type, e.b.getI16Type()), result);
    return arith::BitcastOp::create(e.b, type, half);
  }

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Format> format =
        getFormat(getElementTypeOrSelf(op.getIn().getType()));
    if (!format)
      return rewriter.notifyMatchFailure(op, "not of an 8-bit float");
    NarrowEmitter e(rewriter, op.getLoc(), op.getType());
    Value bits = arith::ExtUIOp::create(
        e.b, e.i32, arith::BitcastOp::create(e.b, e.i8, op.getIn()));
    Type to = getElementTypeOrSelf(op.getType());
    if (to.isF16() && format->mantissaBits == 2) {
      rewriter.replaceOp(op, extendToHalf(e, *format, bits, op.getType()));
      return success();
    }
    // Moves the fields to their position in f32, and adds the difference of the
    // biases. Devices may flush subnormal operands to zero, so a subnormal gets
    // an implicit one, which is subtracted again: both numbers are normal in
    // f32, and so is the exact result.
    Value magnitude = e.bitAnd(bits, 0x7f);
    Value fields = e.shiftLeft(magnitude, 23 - format->mantissaBits);
    Value normal = arith::AddIOp::create(e.b, fields,
                                         e.integer((127 - format->bias) << 23));
    Value one = e.real(std::ldexp(1.0f, 1 - format->bias));
    Value withOne = arith::AddIOp::create(
        e.b, fields, e.integer((128 - format->bias) << 23));
    Value subnormal =
        e.toBits(arith::SubFOp::create(e.b, e.toReal(withOne), one));
    Value result = e.select(e.compare(arith::CmpIPredicate::slt, magnitude,
                                      1 << format->mantissaBits),
                            subnormal, normal);
    Value sign = e.shiftLeft(e.bitAnd(bits, 0x80), 24);
    if (format->hasInfinity)
      result = e.select(
          e.compare(arith::CmpIPredicate::eq, magnitude, 0x7c),
          e.integer(0x7f800000),
          e.select(e.compare(arith::CmpIPredicate::sgt, magnitude, 0x7c),
                   e.integer(0x7fc00000), result));
    else if (!format->isFnuz)
      result = e.select(e.compare(arith::CmpIPredicate::eq, magnitude, 0x7f),
                        e.integer(0x7fc00000), result);
    result = e.bitOr(result, sign);
    if (format->isFnuz)
      result = e.select(e.compare(arith::CmpIPredicate::eq, bits, 0x80),
                        e.integer(0x7fc00000), result);
    Value value = e.toReal(result);
    if (to.isF16() || to.isBF16())
      value = arith::TruncFOp::create(e.b, op.getType(), value);
    else if (!to.isF32())
      value = arith::ExtFOp::create(e.b, op.getType(), value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

/// f8E8M0FNU is the exponent of a power of two, from 2^-127. Upstream's
/// expansion makes zero of 2^-127, which is subnormal in f32.
struct ExtendExponent : OpRewritePattern<arith::ExtFOp> {
  explicit ExtendExponent(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type from = getElementTypeOrSelf(op.getIn().getType()),
         to = getElementTypeOrSelf(op.getType());
    if (!isa<Float8E8M0FNUType>(from))
      return rewriter.notifyMatchFailure(op, "not of an exponent");
    NarrowEmitter e(rewriter, op.getLoc(), op.getType());
    Value bits = arith::ExtUIOp::create(
        e.b, e.i32, arith::BitcastOp::create(e.b, e.i8, op.getIn()));
    Value result = e.select(e.compare(arith::CmpIPredicate::eq, bits, 0),
                            e.integer(1 << 22), e.shiftLeft(bits, 23));
    result = e.select(e.compare(arith::CmpIPredicate::eq, bits, 0xff),
                      e.integer(0x7fc00000), result);
    Value value = e.toReal(result);
    if (to.getIntOrFloatBitWidth() < 32)
      value = arith::TruncFOp::create(e.b, op.getType(), value);
    else if (!to.isF32())
      value = arith::ExtFOp::create(e.b, op.getType(), value);
    rewriter.replaceOp(op, value);
    return success();
  }
};

struct ExpandTruncF : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Format> format =
        getFormat(getElementTypeOrSelf(op.getType()));
    if (!format)
      return rewriter.notifyMatchFailure(op, "not of an 8-bit float");
    NarrowEmitter e(rewriter, op.getLoc(), op.getType());
    Type from = getElementTypeOrSelf(op.getIn().getType());
    Value in = op.getIn();
    if (from.isF64())
      in = arith::TruncFOp::create(e.b, e.f32, in);
    else if (!from.isF32())
      in = arith::ExtFOp::create(e.b, e.f32, in);

    int shift = 23 - format->mantissaBits;
    Value bits = e.toBits(in);
    Value sign = e.shiftRight(e.bitAnd(bits, 0x80000000), 24);
    Value magnitude = e.bitAnd(bits, 0x7fffffff);
    // Normal: add half of the last kept bit, less one if that bit is even.
    Value odd = e.bitAnd(e.shiftRight(magnitude, shift), 1);
    Value rounded = arith::AddIOp::create(
        e.b, magnitude,
        arith::AddIOp::create(e.b, odd, e.integer((1 << (shift - 1)) - 1)));
    Value normal = arith::SubIOp::create(
        e.b, e.shiftRight(rounded, shift),
        e.integer((127 - format->bias) << format->mantissaBits));
    // Subnormal: an addition aligns the last kept bit with f32's last.
    Value magic =
        e.real(std::ldexp(1.0f, 24 - format->bias - format->mantissaBits));
    Value aligned = arith::AddFOp::create(e.b, e.toReal(magnitude), magic);
    Value subnormal =
        arith::SubIOp::create(e.b, e.toBits(aligned), e.toBits(magic));
    Value result = e.select(e.compare(arith::CmpIPredicate::slt, magnitude,
                                      (128 - format->bias) << 23),
                            subnormal, normal);
    // Beyond the largest number: infinity if the type has one, otherwise NaN.
    int64_t nan = format->isFnuz ? 0x80 : 0x7f;
    Value isNan = e.compare(arith::CmpIPredicate::sgt, magnitude, 0x7f800000);
    Value isBeyond = arith::OrIOp::create(
        e.b, e.compare(arith::CmpIPredicate::sgt, result, format->getMaxBits()),
        e.compare(arith::CmpIPredicate::sge, magnitude, 0x7f800000));
    Value signedResult = e.bitOr(result, sign);
    if (format->isFnuz)
      signedResult = e.select(e.compare(arith::CmpIPredicate::eq, result, 0),
                              e.integer(0), signedResult);
    Value beyond = format->isFnuz        ? e.integer(nan)
                   : format->hasInfinity ? e.bitOr(e.integer(0x7c), sign)
                                         : e.bitOr(e.integer(nan), sign);
    signedResult = e.select(isBeyond, beyond, signedResult);
    signedResult = e.select(isNan, e.integer(nan), signedResult);
    Value byte = arith::TruncIOp::create(e.b, e.i8, signedResult);
    rewriter.replaceOp(op, arith::BitcastOp::create(e.b, op.getType(), byte));
    return success();
  }
};

/// Arithmetic of floats of 8 or 4 bits, conversions between them and integers,
/// and math functions of f16 or bf16: through f32, where instructions and
/// polynomials are. One operation in f32, rounded again, has the result of one
/// that rounds once: f32 has more than twice the digits of an 8-bit float (S.
/// A. Figueroa, "When is double rounding innocuous?", 1995); `math.fma` of
/// 8-bit floats may differ from it.
struct WidenFloats : RewritePattern {
  explicit WidenFloats(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  /// Whether a value of this type is computed in f32.
  static bool isNarrow(Operation *op, Type type) {
    Type element = getElementTypeOrSelf(type);
    if (getFormat(element) || isExpandedUpstream(element))
      return true;
    return (element.isF16() || element.isBF16()) &&
           isa<math::MathDialect>(op->getDialect()) &&
           !isa<math::FmaOp, math::AbsFOp, math::CopySignOp>(op);
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) &&
        !isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp,
             arith::RemFOp, arith::NegFOp, arith::MaximumFOp, arith::MinimumFOp,
             arith::MaxNumFOp, arith::MinNumFOp, arith::CmpFOp, arith::SIToFPOp,
             arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp>(op))
      return rewriter.notifyMatchFailure(op, "not arithmetic of floats");
    auto isNarrowType = [&](Type type) { return isNarrow(op, type); };
    if (llvm::none_of(op->getOperandTypes(), isNarrowType) &&
        llvm::none_of(op->getResultTypes(), isNarrowType))
      return rewriter.notifyMatchFailure(op, "not of floats that need f32");
    Location loc = op->getLoc();
    LDBG() << loc << ": " << op->getName() << " is computed in f32";
    auto widen = [&](Type type) {
      return isNarrow(op, type) ? withElement(type, rewriter.getF32Type())
                                : type;
    };
    OperationState state(loc, op->getName());
    for (Value operand : op->getOperands()) {
      Type type = operand.getType(), wide = widen(type);
      state.addOperands(wide == type ? operand
                                     : Value(arith::ExtFOp::create(
                                           rewriter, loc, wide, operand)));
    }
    for (Type type : op->getResultTypes())
      state.addTypes(widen(type));
    state.addAttributes(op->getAttrs());
    Operation *widened = rewriter.create(state);
    SmallVector<Value> results;
    for (auto [result, old] :
         llvm::zip_equal(widened->getResults(), op->getResultTypes()))
      results.push_back(
          result.getType() == old
              ? Value(result)
              : Value(arith::TruncFOp::create(rewriter, loc, old, result)));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// A conversion of a float of 8 or 4 bits to an integer below 8 bits saturates,
/// as upstream's emulation by APFloat does. It is through 32 bits, which hold
/// each finite value of these types.
struct SaturateToInt : RewritePattern {
  explicit SaturateToInt(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/3, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!isa<arith::FPToSIOp, arith::FPToUIOp>(op))
      return rewriter.notifyMatchFailure(op, "not a conversion to integers");
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    unsigned bits = getElementTypeOrSelf(to).getIntOrFloatBitWidth();
    // f8E8M0FNU has values beyond 32 bits.
    if (!(getFormat(getElementTypeOrSelf(from)) ||
          isa<Float4E2M1FNType>(getElementTypeOrSelf(from))) ||
        bits >= 8)
      return rewriter.notifyMatchFailure(op, "does not saturate");
    bool isSigned = isa<arith::FPToSIOp>(op);
    NarrowEmitter e(rewriter, op->getLoc(), to);
    Value wide = arith::ExtFOp::create(e.b, e.f32, op->getOperand(0));
    Value value = arith::FPToSIOp::create(e.b, e.i32, wide);
    int64_t most = (int64_t(1) << (isSigned ? bits - 1 : bits)) - 1;
    value = arith::MinSIOp::create(e.b, value, e.integer(most));
    value =
        arith::MaxSIOp::create(e.b, value, e.integer(isSigned ? -most - 1 : 0));
    rewriter.replaceOp(op, arith::TruncIOp::create(e.b, to, value));
    return success();
  }
};

/// A power with an integer exponent, of which LLVM has no form for vectors and
/// GPUs have none: the magnitude's power, negated for an odd exponent and a
/// negative base. The exponent as a float may be rounded.
struct ExpandIntegerPower : OpRewritePattern<math::FPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Type type = op.getType(), integer = op.getRhs().getType();
    auto constant = [&](Type shape, TypedAttr value) -> Value {
      if (auto shaped = dyn_cast<ShapedType>(shape))
        value = DenseElementsAttr::get(shaped, value);
      return arith::ConstantOp::create(b, value);
    };
    auto getInteger = [&](int64_t value) {
      return constant(integer,
                      b.getIntegerAttr(getElementTypeOrSelf(integer), value));
    };
    auto getReal = [&](double value) {
      return constant(type, b.getFloatAttr(getElementTypeOrSelf(type), value));
    };
    Value power =
        math::PowFOp::create(b, math::AbsFOp::create(b, op.getLhs()),
                             arith::SIToFPOp::create(b, type, op.getRhs()));
    Value isOdd = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(b, op.getRhs(), getInteger(1)), getInteger(0));
    Value isNegative = arith::CmpFOp::create(
        b, arith::CmpFPredicate::OLT,
        math::CopySignOp::create(b, getReal(1), op.getLhs()), getReal(0));
    rewriter.replaceOpWithNewOp<arith::SelectOp>(
        op, arith::AndIOp::create(b, isOdd, isNegative),
        arith::NegFOp::create(b, power), power);
    return success();
  }
};

/// An infinity has a magnitude that no finite number has.
struct ExpandIsInf : OpRewritePattern<math::IsInfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::IsInfOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getOperand().getType();
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    TypedAttr value = rewriter.getFloatAttr(
        element, APFloat::getInf(element.getFloatSemantics()));
    if (auto shaped = dyn_cast<ShapedType>(type))
      value = DenseElementsAttr::get(shaped, value);
    Value infinity = arith::ConstantOp::create(rewriter, op.getLoc(), value);
    Value magnitude =
        math::AbsFOp::create(rewriter, op.getLoc(), op.getOperand());
    rewriter.replaceOpWithNewOp<arith::CmpFOp>(op, arith::CmpFPredicate::OEQ,
                                               magnitude, infinity);
    return success();
  }
};

/// Prints a float of 8 or 4 bits as f32, which has its value.
struct PrintAsF32 : OpRewritePattern<vector::PrintOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::PrintOp op,
                                PatternRewriter &rewriter) const override {
    Value source = op.getSource();
    if (!source ||
        !(getFormat(source.getType()) || isExpandedUpstream(source.getType())))
      return rewriter.notifyMatchFailure(op, "prints no float below 16 bits");
    Value wide = arith::ExtFOp::create(rewriter, op.getLoc(),
                                       rewriter.getF32Type(), source);
    rewriter.modifyOpInPlace(op, [&] { op.getSourceMutable().assign(wide); });
    return success();
  }
};

/// Poison, such as a vector before its elements are inserted, becomes zeros,
/// which every target has.
struct ZeroPoison : OpRewritePattern<ub::PoisonOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ub::PoisonOp op,
                                PatternRewriter &rewriter) const override {
    TypedAttr zero = rewriter.getZeroAttr(op.getType());
    if (!zero)
      return rewriter.notifyMatchFailure(op, "of a type without zero");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, zero);
    return success();
  }
};

/// Inserts a vector into another of rank 1, as shuffles: the widened source's
/// elements replace those of the target.
struct InsertSliceToShuffle
    : public OpRewritePattern<vector::InsertStridedSliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::InsertStridedSliceOp op,
                                PatternRewriter &rewriter) const override {
    VectorType source = op.getSourceVectorType(),
               target = op.getDestVectorType();
    if (source.getRank() != 1 || target.getRank() != 1 || source.isScalable() ||
        target.isScalable() || op.hasNonUnitStrides())
      return rewriter.notifyMatchFailure(
          op, "not an insertion of contiguous elements of fixed vectors");
    int64_t offset = cast<IntegerAttr>(op.getOffsets()[0]).getInt();
    int64_t width = source.getDimSize(0), size = target.getDimSize(0);
    SmallVector<int64_t> widen(size, 0), position;
    for (int64_t i = 0; i < size; ++i) {
      widen[i] = i < width ? i : 0;
      bool isNew = i >= offset && i < offset + width;
      position.push_back(isNew ? size + i - offset : i);
    }
    Value wide =
        vector::ShuffleOp::create(rewriter, op.getLoc(), op.getValueToStore(),
                                  op.getValueToStore(), widen);
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, op.getDest(), wide,
                                                   position);
    return success();
  }
};

struct ExpandScalarsPass
    : public tessera::impl::TesseraExpandScalarsBase<ExpandScalarsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExtF, ExtendExponent, ExpandTruncF, ExpandIsInf,
                 ExpandIntegerPower, SaturateToInt, WidenFloats,
                 InsertSliceToShuffle, PrintAsF32, ZeroPoison>(&getContext());
    arith::populateExpandF4E2M1Patterns(patterns);
    arith::populateExpandF8E8M0Patterns(patterns);
    populateExpandPowerPatterns(patterns);
    math::populateExpansionPatterns(patterns, {"clampf", "sincos"});
    populateMathPolynomialApproximationPatterns(patterns);
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    vector::populateVectorShapeCastLoweringPatterns(patterns);
    vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
    if (failed(applyToFixedPoint(getOperation(), std::move(patterns),
                                 "scalar expansion")) ||
        failed(checkFloats()))
      signalPassFailure();
  }

private:
  /// Rejects arithmetic of floats that have neither instructions nor an
  /// expansion here.
  LogicalResult checkFloats() {
    auto isUnknown = [](Type type) {
      auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
      return element && element.getWidth() < 16 && !getFormat(element) &&
             !isExpandedUpstream(element);
    };
    WalkResult result = getOperation()->walk([&](Operation *op) {
      // Those that could not be folded to pairs. Copies need no arithmetic.
      if (isa_and_nonnull<complex::ComplexDialect>(op->getDialect()) &&
          op->getParentOfType<gpu::GPUModuleOp>()) {
        op->emitOpError()
            << "is not supported for complex numbers in the memory of a "
               "kernel: keep the real and the imaginary parts in two arrays";
        return WalkResult::interrupt();
      }
      // An element of 4 bits has no address.
      if (isa<memref::LoadOp, memref::StoreOp, vector::LoadOp, vector::StoreOp,
              vector::TransferReadOp, vector::TransferWriteOp>(op))
        for (Type type : op->getOperandTypes())
          if (auto memref = dyn_cast<MemRefType>(type);
              memref && isa<Float4E2M1FNType>(memref.getElementType())) {
            op->emitOpError()
                << "is not supported for memory of " << memref.getElementType()
                << "; keep pairs of elements in bytes";
            return WalkResult::interrupt();
          }
      if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
              op->getDialect()) ||
          op->hasTrait<OpTrait::ConstantLike>())
        return WalkResult::advance();
      for (Type type :
           llvm::concat<const Type>(SmallVector<Type>(op->getOperandTypes()),
                                    SmallVector<Type>(op->getResultTypes())))
        if (isUnknown(type)) {
          op->emitOpError()
              << "is not supported for " << getElementTypeOrSelf(type)
              << "; use f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ, f8E8M0FNU, "
                 "f4E2M1FN or a wider float";
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace
