//===- NormalizeTosa.cpp - TOSA as upstream's lowering accepts it ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TosaForms.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace mlir::tessera {
#define GEN_PASS_DEF_TESSERANORMALIZETOSA
#include "Transforms/Passes.h.inc"
} // namespace mlir::tessera

#define DEBUG_TYPE "tessera-normalize-tosa"

STATISTIC(numZeroOperands,
          "Number of zero points and shifts that must be zero");

using namespace mlir;
using namespace mlir::tessera;

SmallVector<OpOperand *> mlir::tessera::listZeroPoints(Operation *op) {
  return llvm::TypeSwitch<Operation *, SmallVector<OpOperand *>>(op)
      .Case<tosa::Conv2DOp, tosa::Conv3DOp, tosa::DepthwiseConv2DOp,
            tosa::TransposeConv2DOp>([](auto conv) {
        return SmallVector<OpOperand *>{&conv.getInputZpMutable(),
                                        &conv.getWeightZpMutable()};
      })
      .Case([](tosa::AvgPool2dOp pool) {
        return SmallVector<OpOperand *>{&pool.getInputZpMutable(),
                                        &pool.getOutputZpMutable()};
      })
      .Case([](tosa::MatMulOp matmul) {
        return SmallVector<OpOperand *>{&matmul.getAZpMutable(),
                                        &matmul.getBZpMutable()};
      })
      .Case([](tosa::NegateOp negate) {
        return SmallVector<OpOperand *>{&negate.getInput1ZpMutable(),
                                        &negate.getOutputZpMutable()};
      })
      .Default([](Operation *) { return SmallVector<OpOperand *>(); });
}

/// Replaces an operand by the constant zero of its type, and erases what only
/// computed it.
static void setToZero(OpOperand &operand) {
  Operation *op = operand.getOwner();
  LDBG() << op->getLoc() << ": operand " << operand.getOperandNumber() << " of "
         << op->getName() << " must be zero";
  ++numZeroOperands;
  OpBuilder builder(op);
  auto type =
      RankedTensorType::get(1, getElementTypeOrSelf(operand.get().getType()));
  auto zeros = cast<DenseElementsAttr>(builder.getZeroAttr(type));
  Operation *old = operand.get().getDefiningOp();
  operand.set(tosa::ConstOp::create(builder, op->getLoc(), type, zeros));
  while (old && isOpTriviallyDead(old)) {
    Operation *next = old->getNumOperands() == 1
                          ? old->getOperand(0).getDefiningOp()
                          : nullptr;
    old->erase();
    old = next;
  }
}

static bool isConstant(Value value) {
  return matchPattern(value, m_Constant());
}

LogicalResult mlir::tessera::checkTosaForm(Operation *op) {
  if (isa<tosa::CastFromBlockScaledOp, tosa::CastToBlockScaledOp,
          tosa::MatmulTBlockScaledOp>(op))
    return op->emitOpError()
           << "is not supported: block-scaled types have no lowering";
  if (isa<tosa::ArithmeticRightShiftOp, tosa::LogicalLeftShiftOp,
          tosa::LogicalRightShiftOp, tosa::BitwiseAndOp, tosa::BitwiseOrOp,
          tosa::BitwiseXorOp, tosa::BitwiseNotOp>(op)) {
    Type element = getElementTypeOrSelf(op->getOperand(0).getType());
    if (!isa<FloatType>(element))
      return success();
    return op->emitOpError()
           << "is not supported for " << element
           << ": it is defined for integers; cast the operands";
  }
  for (OpOperand *point : listZeroPoints(op))
    if (!isConstant(point->get()))
      return op->emitOpError()
             << "is not supported with a zero point (operand "
             << point->getOperandNumber()
             << ") that is not a constant: subtract it from the operand, or "
                "make it a tosa.const";
  auto rescale = dyn_cast<tosa::RescaleOp>(op);
  if (!rescale)
    return success();
  for (OpOperand *operand :
       {&rescale.getMultiplierMutable(), &rescale.getShiftMutable(),
        &rescale.getInputZpMutable(), &rescale.getOutputZpMutable()})
    if (!isConstant(operand->get()))
      return op->emitOpError()
             << "is not supported with an operand ("
             << operand->getOperandNumber()
             << ") that is not a constant: make it a tosa.const, or use "
                "tosa.apply_scale";
  return success();
}

/// Replaces the types that quantization gives integers by those that store
/// them.
static void useStorageTypes(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [](quant::QuantizedType type) -> Type { return type.getStorageType(); });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
}

/// Whether ops of the dialect `quant` need the scales of types.
static bool hasQuantOps(ModuleOp module) {
  return module
      .walk([](Operation *op) {
        return op->getName().getDialectNamespace() == "quant"
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

namespace {
struct NormalizeTosaPass
    : public tessera::impl::TesseraNormalizeTosaBase<NormalizeTosaPass> {
  void runOnOperation() override {
    if (getContext().getLoadedDialect("quant") && !hasQuantOps(getOperation()))
      useStorageTypes(getOperation());
    SmallVector<OpOperand *> zeros;
    getOperation()->walk([&](Operation *op) {
      for (OpOperand *point : listZeroPoints(op))
        if (isa<FloatType>(getElementTypeOrSelf(point->get().getType())) &&
            !isConstant(point->get()))
          zeros.push_back(point);
      auto mul = dyn_cast<tosa::MulOp>(op);
      if (mul && !getElementTypeOrSelf(mul.getInput1()).isInteger(32) &&
          !isConstant(mul.getShift()))
        zeros.push_back(&mul.getShiftMutable());
    });
    for (OpOperand *operand : zeros)
      setToZero(*operand);
  }
};
} // namespace
