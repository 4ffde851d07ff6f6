//===- LowerIndexOps.cpp - Index arithmetic of other dialects -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of `index` have counterparts in `arith`, which the reference and each
// target have; upstream converts them to LLVM's or SPIR-V's dialect only.
// Upstream's patterns expand the ops of `affine`.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Affine/Transforms/Transforms.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/Index/IR/IndexOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERALOWERINDEXOPS
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-lower-index-ops"

using namespace mlir;
using namespace mlir::tessera;

namespace {

/// An op whose counterpart has the same operands and results.
template <typename From, typename To>
struct ReplacePattern : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<To>(op, op->getResultTypes(),
                                    op->getOperands());
    return success();
  }
};

struct ComparePattern : OpRewritePattern<index::CmpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(index::CmpOp op,
                                PatternRewriter &rewriter) const override {
    // Both dialects have predicates of these names.
    std::optional<arith::CmpIPredicate> predicate =
        arith::symbolizeCmpIPredicate(
            index::stringifyIndexCmpPredicate(op.getPred()));
    if (!predicate)
      return rewriter.notifyMatchFailure(op, "unknown predicate");
    rewriter.replaceOpWithNewOp<arith::CmpIOp>(op, *predicate, op.getLhs(),
                                               op.getRhs());
    return success();
  }
};

template <typename From> struct ConstantPattern : OpRewritePattern<From> {
  using OpRewritePattern<From>::OpRewritePattern;
  LogicalResult matchAndRewrite(From op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, op.getValueAttr());
    return success();
  }
};

/// An index has 64 bits on each target.
struct SizePattern : OpRewritePattern<index::SizeOfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(index::SizeOfOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(op, 64);
    return success();
  }
};

struct LowerIndexOpsPass
    : public tessera::impl::TesseraLowerIndexOpsBase<LowerIndexOpsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ReplacePattern<index::AddOp, arith::AddIOp>,
                 ReplacePattern<index::SubOp, arith::SubIOp>,
                 ReplacePattern<index::MulOp, arith::MulIOp>,
                 ReplacePattern<index::DivSOp, arith::DivSIOp>,
                 ReplacePattern<index::DivUOp, arith::DivUIOp>,
                 ReplacePattern<index::CeilDivSOp, arith::CeilDivSIOp>,
                 ReplacePattern<index::CeilDivUOp, arith::CeilDivUIOp>,
                 ReplacePattern<index::FloorDivSOp, arith::FloorDivSIOp>,
                 ReplacePattern<index::RemSOp, arith::RemSIOp>,
                 ReplacePattern<index::RemUOp, arith::RemUIOp>,
                 ReplacePattern<index::MaxSOp, arith::MaxSIOp>,
                 ReplacePattern<index::MaxUOp, arith::MaxUIOp>,
                 ReplacePattern<index::MinSOp, arith::MinSIOp>,
                 ReplacePattern<index::MinUOp, arith::MinUIOp>,
                 ReplacePattern<index::ShlOp, arith::ShLIOp>,
                 ReplacePattern<index::ShrSOp, arith::ShRSIOp>,
                 ReplacePattern<index::ShrUOp, arith::ShRUIOp>,
                 ReplacePattern<index::AndOp, arith::AndIOp>,
                 ReplacePattern<index::OrOp, arith::OrIOp>,
                 ReplacePattern<index::XOrOp, arith::XOrIOp>,
                 ReplacePattern<index::CastSOp, arith::IndexCastOp>,
                 ReplacePattern<index::CastUOp, arith::IndexCastUIOp>,
                 ConstantPattern<index::ConstantOp>,
                 ConstantPattern<index::BoolConstantOp>, ComparePattern,
                 SizePattern>(&getContext());
    affine::populateAffineExpandIndexOpsPatterns(patterns);
    populateAffineToVectorConversionPatterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
    LDBG() << "lowered index arithmetic";
  }
};

} // namespace
