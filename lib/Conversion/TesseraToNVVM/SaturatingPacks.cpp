//===- SaturatingPacks.cpp - Floats to bytes by cvt.pack ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From sm_86 on, one instruction rounds two floats, limits them to bytes, and
// shifts them into a register (F2IP). PTX has it in parts:
//
//   cvt.rni.s32.f32             t0, x0;
//   cvt.rni.s32.f32             t1, x1;
//   cvt.pack.sat.u8.s32.b32     y, t1, t0, c;       y = c << 16 | t1 << 8 | t0
//
// ("PTX ISA", Data Movement and Conversion Instructions: cvt.pack.) A zero
// point is added to the rounded number, as a float: the sum with 1.5 * 2^23 is
// rounded, and the difference is exact. Larger numbers than the sum rounds to
// integers are out of the range of a byte before and after.
//
//===----------------------------------------------------------------------===//

#include "NvidiaTarget.h"
#include "PtxRegisters.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/FixedPoint.h"
#include "Dialect/Tessera/Utils/RoundedNumber.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_USESATURATINGPACKS
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-use-saturating-packs"

using namespace mlir;
using namespace mlir::tessera;

/// The first chips with the instruction for floats; others would convert each
/// number by itself.
static constexpr int64_t firstCapability = 86;

/// Packs two or four floats into the low bits of an i32.
static Value emitPack(OpBuilder &builder, Location loc, ValueRange numbers,
                      bool isUnsigned) {
  std::string pack =
      isUnsigned ? "cvt.pack.sat.u8.s32.b32 " : "cvt.pack.sat.s8.s32.b32 ";
  std::string text = "{\n.reg .b32 t<4>;\n";
  for (size_t i = 0; i < numbers.size(); ++i)
    text += "cvt.rni.s32.f32 t" + std::to_string(i) + ", $" +
            std::to_string(i + 1) + ";\n";
  if (numbers.size() == 4)
    text += pack + "t2, t3, t2, 0;\n" + pack + "$0, t1, t0, t2;\n}";
  else
    text += pack + "$0, t1, t0, 0;\n}";
  Value word = LLVM::UndefOp::create(builder, loc, builder.getI32Type());
  return emitAssembly(builder, loc, text, numbers, word,
                      /*touchesMemory=*/false, /*overwrites=*/true);
}

/// Whether `bytes` are used one by one, or in pairs.
static bool isUsedInParts(Value bytes) {
  return llvm::all_of(bytes.getUsers(), [](Operation *user) {
    auto part = dyn_cast<vector::ShuffleOp>(user);
    return isa<vector::ExtractOp>(user) ||
           (part && part.getResultVectorType().getNumElements() <= 2);
  });
}

namespace {
template <typename Op> struct PackBytes : public OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isInteger(8))
      return rewriter.notifyMatchFailure(op, "not to bytes");
    auto type = dyn_cast<VectorType>(op.getType());
    if (type && (type.getRank() != 1 || type.isScalable() ||
                 (type.getNumElements() != 1 && type.getNumElements() % 2)))
      return rewriter.notifyMatchFailure(op, "not pairs of bytes");
    std::optional<RoundedNumber> rounded = matchRoundedInteger(op.getResult());
    if (!rounded)
      return rewriter.notifyMatchFailure(op, "not of a limited rounded float");
    bool isUnsigned = rounded->low == 0 && rounded->high == 255;
    if (!isUnsigned && (rounded->low != -128 || rounded->high != 127))
      return rewriter.notifyMatchFailure(op, "not limited to a byte's range");
    // Numbers that are only rounded need not become bytes.
    if (llvm::any_of(op->getUsers(), [](Operation *user) {
          return isa<arith::SIToFPOp, arith::UIToFPOp>(user);
        }))
      return rewriter.notifyMatchFailure(op, "converted back");

    Location loc = op.getLoc();
    Value number = rounded->number;
    if (rounded->offset != 0) {
      number = arith::AddFOp::create(
          rewriter, loc, number,
          createF32(rewriter, loc, number.getType(), roundingAddend));
      number =
          arith::AddFOp::create(rewriter, loc, number,
                                createF32(rewriter, loc, number.getType(),
                                          rounded->offset - roundingAddend));
    }
    if (!type || type.getNumElements() == 1) {
      Value one =
          type ? vector::ExtractOp::create(rewriter, loc, number, 0) : number;
      Value word = emitPack(rewriter, loc, {one, one}, isUnsigned);
      Value byte =
          arith::TruncIOp::create(rewriter, loc, rewriter.getI8Type(), word);
      if (type)
        byte = vector::BroadcastOp::create(rewriter, loc, type, byte);
      rewriter.replaceOp(op, byte);
      return success();
    }
    // A register of four bytes would be split again for stores of two.
    int64_t count = type.getNumElements(),
            each = count % 4 || isUsedInParts(op.getResult()) ? 2 : 4;
    SmallVector<Value> words;
    for (int64_t i = 0; i < count; i += each) {
      SmallVector<Value> numbers;
      for (int64_t k = i; k < i + each; ++k)
        numbers.push_back(vector::ExtractOp::create(rewriter, loc, number, k));
      Value word = emitPack(rewriter, loc, numbers, isUnsigned);
      if (each == 2)
        word =
            arith::TruncIOp::create(rewriter, loc, rewriter.getI16Type(), word);
      words.push_back(word);
    }
    Value all = vector::FromElementsOp::create(
        rewriter, loc, VectorType::get(count / each, words[0].getType()),
        words);
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, type, all);
    return success();
  }
};

struct UseSaturatingPacksPass
    : public mlir::tessera::impl::UseSaturatingPacksBase<
          UseSaturatingPacksPass> {
  void runOnOperation() override {
    FailureOr<const Chip *> chip = getChip(getOperation(), "cuda");
    if (failed(chip))
      return signalPassFailure();
    if (getComputeCapability(**chip) < firstCapability)
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<PackBytes<arith::TruncIOp>, PackBytes<arith::FPToSIOp>,
                 PackBytes<arith::FPToUIOp>>(&getContext());
    if (failed(applyToFixedPoint(getOperation(), std::move(patterns),
                                 "saturating packs")))
      signalPassFailure();
  }
};
} // namespace
