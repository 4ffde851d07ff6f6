//===- KernelMath.cpp - Functions that OpenCL.std has and upstream lacks --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Spirv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// 2^x. An approximation is e^(x ln 2), whose error grows with x; else 2^x is
/// 2^n e^(f ln 2), for x = n + f with an integer n.
struct Exp2Pattern : OpConversionPattern<math::Exp2Op> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(math::Exp2Op op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value x = adaptor.getOperand();
    Type type = x.getType();
    auto real = [&](double value) -> Value {
      return arith::ConstantOp::create(b, b.getFloatAttr(type, value));
    };
    auto power = [&](Value of) -> Value {
      return spirv::CLExpOp::create(
          b, arith::MulFOp::create(b, of, real(llvm::numbers::ln2)));
    };
    if (!type.isF32() ||
        bitEnumContainsAny(op.getFastmath(), arith::FastMathFlags::afn)) {
      rewriter.replaceOp(op, power(x));
      return success();
    }
    // Beyond, the result is infinite or zero.
    constexpr double most = 252;
    Value bounded = spirv::CLFMinOp::create(
        b, spirv::CLFMaxOp::create(b, x, real(-most)), real(most));
    Value whole = spirv::CLRintOp::create(b, bounded);
    Value result = power(arith::SubFOp::create(b, bounded, whole));
    // 2^n may not be representable in f32 although the result is: scale in two
    // steps.
    auto integer = [&](int64_t value) -> Value {
      return arith::ConstantIntOp::create(b, value, 32);
    };
    Value n = arith::FPToSIOp::create(b, b.getI32Type(), whole);
    Value first = arith::ShRSIOp::create(b, n, integer(1));
    for (Value part : {first, arith::SubIOp::create(b, n, first).getResult()}) {
      Value bits = arith::ShLIOp::create(
          b, arith::AddIOp::create(b, part, integer(127)), integer(23));
      result = arith::MulFOp::create(b, result,
                                     arith::BitcastOp::create(b, type, bits));
    }
    Value isNan = arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(op, isNan, x, result);
    return success();
  }
};

/// The logarithm for base 2, which is the natural one's multiple.
struct Log2Pattern : OpConversionPattern<math::Log2Op> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(math::Log2Op op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = adaptor.getOperand();
    Value natural = spirv::CLLogOp::create(rewriter, loc, x);
    Value factor = arith::ConstantOp::create(
        rewriter, loc,
        rewriter.getFloatAttr(x.getType(), llvm::numbers::log2e));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, natural, factor);
    return success();
  }
};

} // namespace

void mlir::tessera::populateKernelMath(TypeConverter &converter,
                                       RewritePatternSet &patterns) {
  patterns.add<Exp2Pattern, Log2Pattern>(converter, patterns.getContext());
}
