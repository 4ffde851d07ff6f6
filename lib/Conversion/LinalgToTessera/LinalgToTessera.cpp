//===- LinalgToTessera.cpp - linalg contractions to tessera.contract ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     transpose   extf                  matmul, batch_matmul, contract, generic
//          \       |                    whose body is  acc + ext(a) * ext(b)
//           v      v
//   fill -> contraction -> add bias -> relu -> truncf
//     |          |             \________|________/
//     v          v                      v
//   init, ins and maps           epilogue and extras      of tessera.contract
//
// This file matches the matmul and its operands; FuseEpilogue.cpp fuses the ops
// that follow.
//
//===----------------------------------------------------------------------===//

#include "Conversion/LinalgToTessera.h"

#include "Dialect/Tessera/IR/Tessera.h"
#include "InitialValue.h"
#include "Source.h"

#include "Conversion/Passes.h"
#include "Dialect/Tessera/Utils/ChipOf.h"
#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Dialect/Tessera/Utils/FixedPoint.h"
#include "TargetInfo/Chip.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_CONVERTLINALGTOTESSERA
#include "Conversion/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "convert-linalg-to-tessera"

STATISTIC(numContractions,
          "Number of linalg ops converted to tessera.contract");

using namespace mlir;
using namespace mlir::tessera;

//===----------------------------------------------------------------------===//
// The pattern
//===----------------------------------------------------------------------===//

/// Whether the matmul is one of i4 that the matrix unit does not support: on
/// tensors, producers extend its operands.
static bool lacksMatmul(const LinalgContraction &contraction,
                        const Chip &chip) {
  Type a = getElementTypeOrSelf(contraction.lhs.getType()),
       b = getElementTypeOrSelf(contraction.rhs.getType());
  return isPacked(a) &&
         !hasMatrixMultiply(chip, a, b, contraction.accumulatorType);
}

namespace {
struct ConvertContraction : public OpInterfaceRewritePattern<linalg::LinalgOp> {
  ConvertContraction(MLIRContext *context, const Chip &chip,
                     const CompileFlags &flags)
      : OpInterfaceRewritePattern(context), chip(chip), flags(flags) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    std::string why;
    FailureOr<LinalgContraction> contraction = matchLinalgContraction(op, &why);
    if (failed(contraction))
      return rewriter.notifyMatchFailure(op, why.empty() ? "not a contraction"
                                                         : why);
    if (lacksMatmul(*contraction, chip))
      return rewriter.notifyMatchFailure(
          op, chip.name + " has no matrix instruction for i4 x i4");
    Location loc = op.getLoc();
    LDBG() << loc << ": " << op->getName() << " of "
           << contraction->lhs.getType() << " and "
           << contraction->rhs.getType() << ", accumulated in "
           << contraction->accumulatorType;
    ++numContractions;
    Type acc = contraction->accumulatorType;
    InitialValue start = findInitialValue(op, *contraction, rewriter);
    contraction->lhs =
        sliceAtConstants(rewriter, loc, contraction->lhs, contraction->lhsMap);
    contraction->rhs =
        sliceAtConstants(rewriter, loc, contraction->rhs, contraction->rhsMap);

    SmallVector<AffineMap> maps{contraction->lhsMap, contraction->rhsMap,
                                contraction->outMap};
    SmallVector<Value> extras;
    if (start.addend) {
      maps.push_back(start.addend->map);
      extras.push_back(start.addend->value);
    }
    Precision precision = Precision::Ieee;
    Type lhsType = getElementTypeOrSelf(contraction->lhs.getType());
    if (lhsType.isF32() &&
        (flags.allowTf32 ||
         op->hasAttr(TesseraDialect::AllowTf32AttrHelper::getNameStr())))
      precision = Precision::Tf32;
    if (isa<FloatType>(lhsType) && lhsType.getIntOrFloatBitWidth() == 8 &&
        (flags.allowFastF8 ||
         op->hasAttr(TesseraDialect::AllowFastF8AttrHelper::getNameStr())))
      precision = Precision::FastF8;
    auto schedule = op->getAttrOfType<ScheduleAttr>(
        TesseraDialect::ScheduleAttrHelper::getNameStr());
    auto outputType = cast<ShapedType>(start.output.getType());
    auto contract = ContractOp::create(
        rewriter, loc, op->getResultTypes(), contraction->lhs, contraction->rhs,
        start.init, extras, /*lhsInputs=*/ValueRange(),
        /*rhsInputs=*/ValueRange(), start.output,
        rewriter.getAffineMapArrayAttr(maps), acc, contraction->unsignedA,
        contraction->unsignedB, precision, schedule);

    OpBuilder::InsertionGuard guard(rewriter);
    Block *block = rewriter.createBlock(&contract.getEpilogue());
    Value result = block->addArgument(acc, loc);
    if (start.addend) {
      Value addend = block->addArgument(
          getElementTypeOrSelf(start.addend->value.getType()), loc);
      addend = convertScalarToDtype(rewriter, loc, addend, acc, false);
      result =
          isa<FloatType>(acc)
              ? arith::AddFOp::create(rewriter, loc, result, addend).getResult()
              : arith::AddIOp::create(rewriter, loc, result, addend)
                    .getResult();
    }
    result = convertScalarToDtype(rewriter, loc, result,
                                  outputType.getElementType(), false);
    YieldOp::create(rewriter, loc, result);
    rewriter.replaceOp(op, contract->getResults());
    return success();
  }

private:
  const Chip &chip;
  const CompileFlags flags;
};

/// Explains why a convolution's operand is padded by a kernel of its own.
static void remarkOnPadding(ContractOp op, DenseSet<Operation *> &reported) {
  for (unsigned side : {0, 1}) {
    Value operand = side ? op.getRhs() : op.getLhs();
    std::string why;
    if (!lookThroughPadding({operand, op.getMap(side)}, &why) && !why.empty() &&
        reported.insert(operand.getDefiningOp()).second)
      operand.getDefiningOp()->emitRemark("not fused into the matmul: ") << why;
  }
}

struct ConvertLinalgToTesseraPass
    : public tessera::impl::ConvertLinalgToTesseraBase<
          ConvertLinalgToTesseraPass> {
  using ConvertLinalgToTesseraBase::ConvertLinalgToTesseraBase;

  void runOnOperation() override {
    FailureOr<const Chip *> found = getChip(getOperation());
    if (failed(found))
      return signalPassFailure();
    if (flags.fuseAttention)
      tessera::fuseAttention(getOperation(), **found);
    RewritePatternSet patterns(&getContext());
    populateLinalgToTesseraPatterns(patterns, **found, flags);
    populateFuseEpiloguePatterns(patterns);
    populateFuseRowsPatterns(patterns, **found);
    populateMoveReshapePatterns(patterns);
    populateSplitProducerPatterns(patterns, **found);
    populateSplitZeroPointPatterns(patterns);
    // After each reshape, another consumer may become reachable.
    GreedyRewriteConfig config;
    config.setMaxIterations(GreedyRewriteConfig::kNoLimit);
    if (failed(applyToFixedPoint(getOperation(), std::move(patterns),
                                 "contractions", config)))
      return signalPassFailure();
    RewritePatternSet producerPatterns(&getContext());
    populateFuseProducerPatterns(producerPatterns, **found);
    if (failed(applyToFixedPoint(getOperation(), std::move(producerPatterns),
                                 "producers")))
      return signalPassFailure();
    getOperation()->walk([&](linalg::LinalgOp op) {
      std::string why;
      FailureOr<LinalgContraction> contraction =
          matchLinalgContraction(op, &why);
      if (succeeded(contraction) && lacksMatmul(*contraction, **found))
        why = (*found)->name + " has no matrix instruction for i4 x i4";
      // Results of constants are computed once, at load.
      auto isConstant = [](Value input) {
        auto pad = input.getDefiningOp<tensor::PadOp>();
        return matchPattern(pad ? pad.getSource() : input, m_Constant());
      };
      if (!why.empty() && !llvm::all_of(op.getDpsInputs(), isConstant))
        op->emitRemark("does not use matrix instructions: ") << why;
    });
    DenseSet<Operation *> reported;
    getOperation()->walk([&](ContractOp op) {
      remarkOnPadding(op, reported);
      remarkOnProducers(op, reported);
    });
  }
};
} // namespace

void mlir::tessera::populateLinalgToTesseraPatterns(RewritePatternSet &patterns,
                                                    const Chip &chip,
                                                    const CompileFlags &flags) {
  patterns.add<ConvertContraction>(patterns.getContext(), chip, flags);
}
