//===- ExpandBF16.cpp - bf16 by integers ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For a CPU without instructions for bf16, LLVM converts f32 to bf16 by a call
// of a library function for each element, and shuffles vectors of bf16 element
// by element through memory. On integers of the same bits it has instructions
// for both.
//
//===----------------------------------------------------------------------===//

#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERAEXPANDBF16
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-expand-bf16"

using namespace mlir;

namespace {

struct ShuffleIntegers : OpRewritePattern<vector::ShuffleOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::ShuffleOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().getElementType().isBF16())
      return failure();
    auto cast = [&](Value value, Type element) -> Value {
      auto type = mlir::cast<VectorType>(value.getType());
      return arith::BitcastOp::create(rewriter, op.getLoc(),
                                      type.clone(element), value);
    };
    Type i16 = rewriter.getI16Type();
    Value shuffle =
        vector::ShuffleOp::create(rewriter, op.getLoc(), cast(op.getV1(), i16),
                                  cast(op.getV2(), i16), op.getMask());
    rewriter.replaceOp(op, cast(shuffle, op.getType().getElementType()));
    return success();
  }
};

struct ExpandBF16Pass
    : public tessera::impl::TesseraExpandBF16Base<ExpandBF16Pass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ShuffleIntegers>(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

} // namespace
