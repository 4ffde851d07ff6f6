//===- ThreeInputLogic.cpp - Masked and changed bits by lop3 --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `lop3` computes any logical function of three words. ptxas does not combine
// two ops with a constant each, since an instruction has room for only one of
// them; given `lop3`, it keeps the other one in a register:
//
//   and.b32  t, x, c0;
//   xor.b32  y, t, c1;        ->        lop3.b32  y, x, c0, c1, 0x6a;
//
// The last operand is the function's table, which is the value of the function
// for x = 0xf0, c0 = 0xcc and c1 = 0xaa ("PTX ISA", Logic and Shift
// Instructions: lop3).
//
//===----------------------------------------------------------------------===//

#include "PtxRegisters.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/FixedPoint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_USETHREEINPUTLOGIC
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-use-three-input-logic"

STATISTIC(numCombined, "Number of pairs of logical ops combined");

using namespace mlir;
using namespace mlir::tessera;

/// The table of (x & c0) ^ c1.
static constexpr unsigned tableOfMaskedChange = (0xf0 & 0xcc) ^ 0xaa;

namespace {
/// A mask by a constant, and a change of bits by another one.
struct CombineMaskAndChange : public OpRewritePattern<arith::XOrIOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::XOrIOp op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    auto masked = op.getLhs().getDefiningOp<arith::AndIOp>();
    APInt mask, change;
    if (!getElementTypeOrSelf(op.getType()).isInteger(32) ||
        (type && (type.getRank() != 1 || type.isScalable())))
      return rewriter.notifyMatchFailure(op, "not of words");
    if (!masked || !masked->hasOneUse() ||
        !matchPattern(masked.getRhs(), m_ConstantInt(&mask)) ||
        !matchPattern(op.getRhs(), m_ConstantInt(&change)))
      return rewriter.notifyMatchFailure(op, "not a mask and a change of bits");
    Location loc = op.getLoc();
    std::string text = llvm::formatv("lop3.b32 $0, $1, {0:x8}, {1:x8}, {2:x2};",
                                     mask.getZExtValue(), change.getZExtValue(),
                                     tableOfMaskedChange);
    auto combine = [&](Value word) {
      Value result =
          LLVM::UndefOp::create(rewriter, loc, rewriter.getI32Type());
      return emitAssembly(rewriter, loc, text, word, result,
                          /*touchesMemory=*/false, /*overwrites=*/true);
    };
    LDBG() << loc << ": " << text;
    ++numCombined;
    if (!type) {
      rewriter.replaceOp(op, combine(masked.getLhs()));
      return success();
    }
    SmallVector<Value> words;
    for (int64_t i = 0; i < type.getNumElements(); ++i)
      words.push_back(combine(
          vector::ExtractOp::create(rewriter, loc, masked.getLhs(), i)));
    rewriter.replaceOpWithNewOp<vector::FromElementsOp>(op, type, words);
    return success();
  }
};

struct UseThreeInputLogicPass
    : public mlir::tessera::impl::UseThreeInputLogicBase<
          UseThreeInputLogicPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<CombineMaskAndChange>(&getContext());
    if (failed(applyToFixedPoint(getOperation(), std::move(patterns),
                                 "masks and changes of bits")))
      signalPassFailure();
  }
};
} // namespace
