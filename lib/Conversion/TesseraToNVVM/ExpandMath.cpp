//===- ExpandMath.cpp - Functions without an instruction ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expands functions that PTX lacks and for which MLIR has no polynomials to
// other functions. Others become approximate instructions, where the result is
// rounded so that these suffice, or where the reference permits it always: LLVM
// expands them to many instructions. From sm_89 on, pairs of 8-bit floats are
// widened by an instruction.
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"

#include "NvidiaTarget.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

#include <cmath>

using namespace mlir;

/// Whether `op` computes f32 or a vector of it.
static bool isOfF32(Operation *op) {
  Type type = op->getResult(0).getType();
  auto vector = dyn_cast<VectorType>(type);
  return getElementTypeOrSelf(type).isF32() &&
         (!vector || (vector.getRank() == 1 && !vector.isScalable()));
}

/// Replaces `op`, of f32 or a vector of it, by what `emit` makes of its
/// operands, for each element.
static void replaceByElements(
    RewriterBase &rewriter, Operation *op,
    function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> emit) {
  ImplicitLocOpBuilder builder(op->getLoc(), rewriter);
  auto vector = dyn_cast<VectorType>(op->getResult(0).getType());
  if (!vector)
    return rewriter.replaceOp(op, emit(builder, op->getOperands()));
  SmallVector<Value> elements;
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(vector::ExtractOp::create(builder, operand, i));
    elements.push_back(emit(builder, operands));
  }
  rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, elements);
}

/// A call of an intrinsic of LLVM for NVPTX, of f32.
static Value emitIntrinsic(ImplicitLocOpBuilder &builder, StringRef name,
                           ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(
             builder, builder.getF32Type(),
             builder.getStringAttr("llvm.nvvm." + name), operands)
      .getResult(0);
}

/// Replaces `op` by such an intrinsic of its operands, for each element.
static void replaceByIntrinsic(RewriterBase &rewriter, Operation *op,
                               StringRef name) {
  replaceByElements(rewriter, op, [&](auto &builder, ValueRange operands) {
    return emitIntrinsic(builder, name, operands);
  });
}

/// Whether `op` rounds to a float of at most 16 bits.
static bool isRounding(Operation *op) {
  return isa<arith::TruncFOp>(op) &&
         getElementTypeOrSelf(op->getResult(0).getType())
                 .getIntOrFloatBitWidth() <= 16;
}

static bool isRoundingToF16(Operation *op) {
  return isa<arith::TruncFOp>(op) &&
         getElementTypeOrSelf(op->getResult(0).getType()).isF16();
}

/// Whether `is` holds for all users of `op`, and there are some.
static bool hasOnlyUsers(Operation *op, function_ref<bool(Operation *)> is) {
  return !op->use_empty() && llvm::all_of(op->getUsers(), is);
}

/// The number that `value` is, if it is a constant or a splat of one.
static std::optional<double> getNumber(Value value) {
  if (auto broadcast = value.getDefiningOp<vector::BroadcastOp>())
    value = broadcast.getSource();
  APFloat number(0.0f);
  return matchPattern(value, m_ConstantFloat(&number))
             ? std::optional<double>(number.convertToDouble())
             : std::nullopt;
}

/// Whether `number` is far from the limits of f32.
static bool isModerate(double number) {
  return std::fabs(number) >= 0x1p-64 && std::fabs(number) <= 0x1p64;
}

static constexpr float log2e = 1.44269502f;

namespace {
/// trunc(x) = floor(|x|), with the sign of x.
struct ExpandTrunc : OpRewritePattern<math::TruncOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::TruncOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value magnitude = math::AbsFOp::create(rewriter, loc, op.getOperand());
    rewriter.replaceOpWithNewOp<math::CopySignOp>(
        op, math::FloorOp::create(rewriter, loc, magnitude), op.getOperand());
    return success();
  }
};

/// log10(x) = log2(x) / log2(10).
struct ExpandLog10 : OpRewritePattern<math::Log10Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Log10Op op,
                                PatternRewriter &rewriter) const override {
    constexpr double factor = 0.30102999566398119521;
    Location loc = op.getLoc();
    Type type = op.getType();
    TypedAttr value = rewriter.getFloatAttr(getElementTypeOrSelf(type), factor);
    if (auto vector = dyn_cast<VectorType>(type))
      value = SplatElementsAttr::get(vector, value);
    rewriter.replaceOpWithNewOp<arith::MulFOp>(
        op, math::Log2Op::create(rewriter, loc, op.getOperand()),
        arith::ConstantOp::create(rewriter, loc, value));
    return success();
  }
};

/// An exp2 of f32 that may be approximate becomes the instruction, which
/// flushes denormals to zero. LLVM's own lowering scales them up and down.
struct ApproximateExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    if (!arith::bitEnumContainsAll(op.getFastmath(),
                                   arith::FastMathFlags::afn) ||
        !isOfF32(op))
      return rewriter.notifyMatchFailure(
          op, "not an approximate exp2 of f32 or a vector of it");
    replaceByIntrinsic(rewriter, op, "ex2.approx.ftz");
    return success();
  }
};

/// e^x of f32 by the approximate power of 2 of PTX, in the way of CUDA's expf:
/// e^x = 2^n * 2^f, with n the integer below x * log2(e), and f = x *
/// log2(e) - n by two multiply-adds. MLIR's polynomial has 24 instructions.
struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOfF32(op))
      return rewriter.notifyMatchFailure(op, "not of f32 or a vector of it");
    replaceByElements(rewriter, op, emit);
    return success();
  }

private:
  static Value emit(ImplicitLocOpBuilder &builder, ValueRange operands) {
    Value x = operands.front();
    Type f32 = builder.getF32Type();
    auto number = [&](float value) -> Value {
      return arith::ConstantOp::create(builder, builder.getF32FloatAttr(value));
    };
    // 252 * ((x * log2(e) + 126) / 252), clamped to 0 and 252, is added to a
    // number whose unit in the last place is 1, rounding down: its lowest bits
    // are floor(x * log2(e)) + 127. The clamp takes NaN for 0.
    constexpr float rest = 1.925963033e-8f, range = 252;
    Value share = emitIntrinsic(builder, "fma.rn.sat.f",
                                {x, number(log2e / range), number(0.5f)}),
          biased = emitIntrinsic(builder, "fma.rm.f",
                                 {share, number(range), number(0x1.8p23f + 1)}),
          n = arith::SubFOp::create(builder, biased, number(0x1.8p23f + 127));
    // Infinities and NaN, and all that is beyond the clamp, go through f.
    Value f = math::FmaOp::create(builder, x, number(log2e),
                                  arith::NegFOp::create(builder, n));
    f = math::FmaOp::create(builder, x, number(rest), f);
    Type i32 = builder.getI32Type();
    Value bits = arith::ShLIOp::create(
        builder, arith::BitcastOp::create(builder, i32, biased),
        arith::ConstantOp::create(builder, builder.getI32IntegerAttr(23)));
    return arith::MulFOp::create(builder,
                                 arith::BitcastOp::create(builder, f32, bits),
                                 emitIntrinsic(builder, "ex2.approx.ftz", f));
  }
};

/// 1 / sqrt(x) of f32 by the instruction, within two units in the last place.
/// LLVM's own lowering is a correctly rounded root and quotient, which both
/// have a branch.
struct ExpandRsqrt : OpRewritePattern<math::RsqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::RsqrtOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOfF32(op))
      return rewriter.notifyMatchFailure(op, "not of f32 or a vector of it");
    replaceByIntrinsic(rewriter, op, "rsqrt.approx.f");
    return success();
  }
};

/// Whether `op` only matters to numbers of at most 16 bits: it is rounded to
/// them, or what it is multiplied with and divided by is.
static bool isOfNarrow(Operation *op, unsigned depth = 0) {
  constexpr unsigned mostDepth = 4;
  return depth < mostDepth &&
         hasOnlyUsers(
             op,
             [&](Operation *user) {
               return isRounding(user) ||
                      (isa<arith::MulFOp, arith::DivFOp>(user) &&
                       isOfNarrow(user, depth + 1));
             });
}

/// A root that is rounded to at most 16 bits later need not be rounded
/// correctly before.
struct ApproximateRoot : OpRewritePattern<math::SqrtOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::SqrtOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOfF32(op) || !isOfNarrow(op))
      return rewriter.notifyMatchFailure(op, "not of f32, or not rounded");
    replaceByIntrinsic(rewriter, op, "sqrt.approx.f");
    return success();
  }
};

/// A quotient of f32 that is rounded to at most 16 bits at once need not be
/// rounded correctly before: 2 units in the last place of f32 are 2^-12 or less
/// of one of the result. The full-range quotient of PTX has no branch; that by
/// a constant is a multiplication, which is within 1.5 units.
struct ApproximateQuotient : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isOfF32(op))
      return rewriter.notifyMatchFailure(op, "not of f32 or a vector of it");
    if (!hasOnlyUsers(op, isRounding))
      return rewriter.notifyMatchFailure(op, "not rounded to 16 bits at once");
    std::optional<double> divisor = getNumber(op.getRhs());
    if (!divisor || !isModerate(*divisor)) {
      replaceByIntrinsic(rewriter, op, "div.full");
      return success();
    }
    TypedAttr inverse =
        rewriter.getF32FloatAttr(static_cast<float>(1 / *divisor));
    if (auto vector = dyn_cast<VectorType>(op.getType()))
      inverse = SplatElementsAttr::get(vector, inverse);
    rewriter.replaceOpWithNewOp<arith::MulFOp>(
        op, op.getLhs(),
        arith::ConstantOp::create(rewriter, op.getLoc(), inverse));
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Logistic functions
//===----------------------------------------------------------------------===//

/// The number x of which `power` is e^(c * x), with a constant c, moderate.
static Value getExponent(math::ExpOp power) {
  Value exponent = power.getOperand();
  if (auto negated = exponent.getDefiningOp<arith::NegFOp>())
    return negated.getOperand();
  if (auto product = exponent.getDefiningOp<arith::MulFOp>())
    for (unsigned i : {0, 1})
      if (std::optional<double> factor = getNumber(product->getOperand(i));
          factor && isModerate(*factor))
        return product->getOperand(1 - i);
  return exponent;
}

static bool isWidenedF16(Value value) {
  auto widened = value.getDefiningOp<arith::ExtFOp>();
  return widened && getElementTypeOrSelf(widened.getIn().getType()).isF16();
}

/// Whether `op` is a quotient by the sum of a power of e and a positive
/// constant, as in the logistic function, that is rounded to f16: the divisor
/// is at least the constant, and where it exceeds 2^126, the result is zero in
/// f16. The dividend is a constant, a number of f16, or the x of the power
/// e^(c * x), which is small unless the power is zero or infinite. A constant
/// by the sum may be multiplied by such a number before it is rounded (swish).
static bool isLogistic(arith::DivFOp op) {
  auto sum = op.getRhs().getDefiningOp<arith::AddFOp>();
  if (!sum || !isOfF32(op))
    return false;
  Value power = sum.getLhs(), constant = sum.getRhs();
  if (!power.getDefiningOp<math::ExpOp>())
    std::swap(power, constant);
  auto exp = power.getDefiningOp<math::ExpOp>();
  std::optional<double> number = getNumber(constant);
  if (!exp || !number || *number <= 0 || !isModerate(*number))
    return false;
  Value exponent = getExponent(exp);
  auto isSmall = [&](Value value) {
    return value == exponent || isWidenedF16(value);
  };
  std::optional<double> dividend = getNumber(op.getLhs());
  bool isConstant = dividend && isModerate(*dividend);
  auto isScaled = [&](Operation *user) {
    return isConstant && isa<arith::MulFOp>(user) &&
           llvm::any_of(user->getOperands(), isSmall) &&
           hasOnlyUsers(user, isRoundingToF16);
  };
  return (isConstant || isSmall(op.getLhs())) &&
         hasOnlyUsers(op, [&](Operation *user) {
           return isRoundingToF16(user) || isScaled(user);
         });
}

/// Whether the results of `op` matter to f16 alone, where it is itself rounded
/// or a part of logistic functions: only e^x with |x| < 18 do, or 21 where x
/// multiplies the function.
static bool isOfF16(math::ExpOp op) {
  auto isOfLogistic = [](Operation *sum) {
    return isa<arith::AddFOp>(sum) && hasOnlyUsers(sum, [&](Operation *user) {
             auto quotient = dyn_cast<arith::DivFOp>(user);
             return quotient && quotient.getRhs().getDefiningOp() == sum &&
                    isLogistic(quotient);
           });
  };
  return isOfF32(op) &&
         (hasOnlyUsers(op, isRoundingToF16) || hasOnlyUsers(op, isOfLogistic));
}

/// Replaces quotients of logistic functions by reciprocals, and e^x that only
/// matters to f16 by a power of 2. The rounding of x * log2(e) changes e^x by
/// |x| units of 2^-24: at most 12 units in the last place.
static void approximateLogistic(Operation *root) {
  SmallVector<arith::DivFOp> quotients;
  SmallVector<math::ExpOp> powers;
  root->walk([&](Operation *op) {
    if (auto quotient = dyn_cast<arith::DivFOp>(op);
        quotient && isLogistic(quotient))
      quotients.push_back(quotient);
    if (auto power = dyn_cast<math::ExpOp>(op); power && isOfF16(power))
      powers.push_back(power);
  });
  IRRewriter rewriter(root->getContext());
  for (arith::DivFOp op : quotients) {
    rewriter.setInsertionPoint(op);
    replaceByElements(rewriter, op, [](auto &builder, ValueRange operands) {
      Value inverse = emitIntrinsic(builder, "rcp.approx.ftz.f", operands[1]);
      return arith::MulFOp::create(builder, operands[0], inverse).getResult();
    });
  }
  for (math::ExpOp op : powers) {
    rewriter.setInsertionPoint(op);
    replaceByElements(rewriter, op, [](auto &builder, ValueRange operands) {
      Value factor =
          arith::ConstantOp::create(builder, builder.getF32FloatAttr(log2e));
      return emitIntrinsic(
          builder, "ex2.approx.ftz",
          arith::MulFOp::create(builder, operands[0], factor).getResult());
    });
  }
}

//===----------------------------------------------------------------------===//
// Floats of 8 bits
//===----------------------------------------------------------------------===//

namespace {
/// Vectors of 8-bit floats to wider ones: f16 represents all of their values.
struct WidenFloat8 : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    Type from = getElementTypeOrSelf(op.getIn().getType());
    if (!type || type.getRank() != 1 || type.isScalable() ||
        type.getNumElements() % 2 ||
        !isa<Float8E4M3FNType, Float8E5M2Type>(from))
      return rewriter.notifyMatchFailure(op, "not pairs of 8-bit floats");
    Location loc = op.getLoc();
    Type f16 = rewriter.getF16Type();
    auto pairType = VectorType::get(2, f16);
    VectorType halvesType = type.clone(f16);
    Value bytes = vector::BitCastOp::create(
              rewriter, loc, type.clone(rewriter.getI8Type()), op.getIn()),
          halves = arith::ConstantOp::create(rewriter, loc,
                                             rewriter.getZeroAttr(halvesType));
    for (int64_t i = 0; i < type.getNumElements(); i += 2) {
      Value pair = vector::ShuffleOp::create(rewriter, loc, bytes, bytes,
                                             ArrayRef<int64_t>{i, i + 1});
      Value wide = NVVM::ConvertF8x2ToF16x2Op::create(
          rewriter, loc, pairType, pair, rewriter.getBoolAttr(false),
          TypeAttr::get(from));
      halves = vector::InsertStridedSliceOp::create(rewriter, loc, wide, halves,
                                                    ArrayRef<int64_t>{i},
                                                    ArrayRef<int64_t>{1});
    }
    Type to = type.getElementType();
    // No conversion is from f16 to bf16.
    if (to.isBF16())
      halves = arith::ExtFOp::create(rewriter, loc,
                                     type.clone(rewriter.getF32Type()), halves);
    if (to.isF16())
      rewriter.replaceOp(op, halves);
    else if (to.isBF16())
      rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, halves);
    else
      rewriter.replaceOpWithNewOp<arith::ExtFOp>(op, type, halves);
    return success();
  }
};
} // namespace

/// Whether PTX, or LLVM's lowering to it, supports the function for f64.
static bool existsForF64(Operation *op) {
  return isa<math::AbsFOp, math::Atan2Op, math::CeilOp, math::CopySignOp,
             math::FloorOp, math::FmaOp, math::FPowIOp, math::IsFiniteOp,
             math::IsInfOp, math::IsNaNOp, math::IsNormalOp, math::PowFOp,
             math::RoundOp, math::RoundEvenOp, math::RsqrtOp, math::SqrtOp>(op);
}

LogicalResult mlir::tessera::expandMath(Operation *root, const Chip &chip) {
  // Check the user's own functions first: errors about their expansions would
  // be confusing.
  WalkResult result = root->walk([](Operation *op) {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
        !getElementTypeOrSelf(op->getOperand(0).getType()).isF64() ||
        existsForF64(op) || isa<math::TruncOp>(op))
      return WalkResult::advance();
    op->emitError() << "target cuda does not support " << op->getName()
                    << " of f64; compute it in f32";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  approximateLogistic(root);
  RewritePatternSet patterns(root->getContext());
  patterns.add<ApproximateExp2, ApproximateQuotient, ApproximateRoot, ExpandExp,
               ExpandLog10, ExpandRsqrt, ExpandTrunc>(root->getContext());
  // PTX ISA, "cvt": .e4m3x2 and .e5m2x2 require sm_89.
  constexpr int64_t firstWithFloat8 = 89;
  if (getComputeCapability(chip) >= firstWithFloat8)
    patterns.add<WidenFloat8>(root->getContext());
  math::populateExpansionPatterns(
      patterns, {"sinh", "cosh", "tan", "asinh", "acosh", "atanh"});
  walkAndApplyPatterns(root, std::move(patterns));
  return success();
}
