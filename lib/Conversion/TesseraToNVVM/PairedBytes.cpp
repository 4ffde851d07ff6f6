//===- PairedBytes.cpp - Limits of bytes by pairs of 16 bits --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chips from sm_90 on have the larger and the smaller of two pairs of 16 bits
// as one instruction, and nothing for bytes: LLVM moves each byte to a register
// of its own, and back. As numbers of 16 bits,
//
//   b3 b2 | b1 b0      the upper bytes decide, whatever the lower ones are, and
//    0 b2 |  0 b0      the lower bytes decide where the upper ones are zero.
//
// So a register of four bytes takes two instructions, and three that select
// bytes. The lower bytes have no sign there; signed ones change their first bit
// before and after, which is part of the selection.
//
//===----------------------------------------------------------------------===//

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/FixedPoint.h"
#include "NvidiaTarget.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_USEPAIREDBYTES
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-use-paired-bytes"

using namespace mlir;
using namespace mlir::tessera;

/// The first chips with the instructions for two numbers of 16 bits.
static constexpr int64_t firstPairedChip = 90;

namespace {
/// `OpTy`, the larger or smaller of bytes; `LowTy`, the same without a sign.
template <typename OpTy, typename LowTy>
struct PairBytes : public OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || type.isScalable() ||
        !type.getElementType().isInteger(8) || type.getNumElements() % 4)
      return rewriter.notifyMatchFailure(op, "not whole registers of bytes");
    Location loc = op.getLoc();
    auto pairs =
        VectorType::get(type.getNumElements() / 2, rewriter.getI16Type());
    auto number = [&](uint64_t bits) -> Value {
      return arith::ConstantOp::create(
          rewriter, loc,
          DenseElementsAttr::get(
              pairs,
              rewriter.getIntegerAttr(rewriter.getI16Type(), APInt(16, bits))));
    };
    constexpr bool hasSign = !std::is_same_v<OpTy, LowTy>;
    auto selectLow = [&](Value all) -> Value {
      Value low = arith::AndIOp::create(rewriter, loc, all, number(0xff));
      return hasSign ? arith::XOrIOp::create(rewriter, loc, low, number(0x80))
                           .getResult()
                     : low;
    };
    Value lhs = vector::BitCastOp::create(rewriter, loc, pairs, op.getLhs()),
          rhs = vector::BitCastOp::create(rewriter, loc, pairs, op.getRhs());
    Value high = OpTy::create(rewriter, loc, lhs, rhs),
          low = LowTy::create(rewriter, loc, selectLow(lhs), selectLow(rhs));
    high = arith::AndIOp::create(rewriter, loc, high, number(0xff00));
    if (hasSign)
      low = arith::XOrIOp::create(rewriter, loc, low, number(0x80));
    Value both = arith::OrIOp::create(rewriter, loc, high, low);
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, type, both);
    return success();
  }
};

struct UsePairedBytesPass
    : public mlir::tessera::impl::UsePairedBytesBase<UsePairedBytesPass> {
  void runOnOperation() override {
    FailureOr<const Chip *> chip = getChip(getOperation(), "cuda");
    if (failed(chip))
      return signalPassFailure();
    if (getComputeCapability(**chip) < firstPairedChip)
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<PairBytes<arith::MaxUIOp, arith::MaxUIOp>,
                 PairBytes<arith::MinUIOp, arith::MinUIOp>,
                 PairBytes<arith::MaxSIOp, arith::MaxUIOp>,
                 PairBytes<arith::MinSIOp, arith::MinUIOp>>(&getContext());
    if (failed(applyToFixedPoint(getOperation(), std::move(patterns),
                                 "pairs of bytes")))
      signalPassFailure();
  }
};
} // namespace
