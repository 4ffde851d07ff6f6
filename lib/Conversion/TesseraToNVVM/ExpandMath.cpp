//===- ExpandMath.cpp - Functions without an instruction ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that neither PTX has nor MLIR has polynomials for, made of those
// that there are.
//
//===----------------------------------------------------------------------===//

#include "ExpandMath.h"
#include "PtxRegisters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::tessera;

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
/// exp2(x) where it may be approximate: results below the least normal number
/// are flushed to zero. Without that, ptxas scales what it hands the instruction
/// and what it gets.
struct ExpandFastExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    auto vector = dyn_cast<VectorType>(type);
    if (!getElementTypeOrSelf(type).isF32() || (vector && vector.isScalable()) ||
        !bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
      return failure();
    Location loc = op.getLoc();
    auto emit = [&](Value value) {
      return emitAssembly(rewriter, loc, "ex2.approx.ftz.f32 $0, $1;", {value},
                          {value}, /*touchesMemory=*/false,
                          /*overwrites=*/true);
    };
    if (!vector) {
      rewriter.replaceOp(op, emit(op.getOperand()));
      return success();
    }
    SmallVector<Value> elements = llvm::to_vector(ValueRange(
        vector::ToElementsOp::create(rewriter, loc, op.getOperand())
            .getElements()));
    for (Value &element : elements)
      element = emit(element);
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, vector, elements);
    return success();
  }
};
} // namespace

/// Whether PTX, or what LLVM makes of it, has the function for f64.
static bool existsForF64(Operation *op) {
  return isa<math::AbsFOp, math::CeilOp, math::CopySignOp, math::FloorOp,
             math::FmaOp, math::IsFiniteOp, math::IsInfOp, math::IsNaNOp,
             math::IsNormalOp, math::RoundOp, math::RoundEvenOp, math::RsqrtOp,
             math::SqrtOp>(op);
}

LogicalResult mlir::tessera::expandMath(Operation *root) {
  // The user's own functions first: what they expand to would only puzzle.
  WalkResult result = root->walk([](Operation *op) {
    if (!isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
        !getElementTypeOrSelf(op->getOperand(0).getType()).isF64() ||
        existsForF64(op) || isa<math::TruncOp>(op))
      return WalkResult::advance();
    op->emitError() << "the target cuda has no " << op->getName()
                    << " of f64; compute it in f32";
    return WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return failure();
  RewritePatternSet patterns(root->getContext());
  patterns.add<ExpandTrunc, ExpandLog10, ExpandFastExp2>(root->getContext());
  math::populateExpansionPatterns(
      patterns, {"sinh", "cosh", "tan", "asinh", "acosh", "atanh"});
  walkAndApplyPatterns(root, std::move(patterns));
  return success();
}
