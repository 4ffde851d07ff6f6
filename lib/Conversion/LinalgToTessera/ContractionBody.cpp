//===- ContractionBody.cpp - The body of a contraction --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ContractionBody.h"

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::tessera;

Widened mlir::tessera::lookThroughWidening(Value value) {
  Widened result{value};
  bool isSigned = false;
  while (Operation *op = result.source.getDefiningOp()) {
    if (isa<arith::ExtSIOp>(op) && !result.isUnsigned)
      isSigned = true;
    else if (isa<arith::ExtUIOp>(op) && !isSigned)
      result.isUnsigned = true;
    else if (!isa<arith::ExtFOp>(op))
      break;
    result.source = op->getOperand(0);
  }
  return result;
}

/// Looks through casts between floating-point types: the sum is computed in the
/// accumulator's type in any case, and rounded once at the end.
static Value lookThroughFloatCasts(Value value) {
  while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

/// The same for summands, which may be rounded to the type of the sum. A value
/// that is rounded and widened again is a different value.
static Value lookThroughSummandCasts(Value value) {
  while (isa_and_nonnull<arith::TruncFOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  while (isa_and_nonnull<arith::ExtFOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Operation *mlir::tessera::findMultiplication(Block *body, Value accumulator,
                                             Type *sumType) {
  if (body->getTerminator()->getNumOperands() != 1)
    return nullptr;
  Operation *add = lookThroughFloatCasts(body->getTerminator()->getOperand(0))
                       .getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) ||
      add->getBlock() != body)
    return nullptr;
  for (unsigned i : {0, 1}) {
    if (lookThroughFloatCasts(add->getOperand(1 - i)) != accumulator)
      continue;
    Operation *mul =
        lookThroughSummandCasts(add->getOperand(i)).getDefiningOp();
    if (mul && mul->getBlock() == body &&
        (isa<arith::AddFOp>(add) ? isa<arith::MulFOp>(mul)
                                 : isa<arith::MulIOp>(mul))) {
      if (sumType)
        *sumType = add->getResult(0).getType();
      return mul;
    }
  }
  return nullptr;
}

std::optional<ContractionBody>
mlir::tessera::matchContractionBody(linalg::LinalgOp op) {
  // The others can only be zero points, where these are zero.
  for (int64_t i = 2; i < op.getNumDpsInputs(); ++i)
    if (!matchPattern(op.getDpsInputOperand(i)->get(), m_Zero()))
      return {};
  return matchShiftedContractionBody(op);
}

std::optional<ContractionBody>
mlir::tessera::matchShiftedContractionBody(linalg::LinalgOp op) {
  unsigned numInputs = op.getNumDpsInputs();
  if (numInputs < 2 || op.getNumDpsInits() != 1 || op->getNumRegions() != 1)
    return {};
  Block *block = op.getBlock();
  if (!block || block->getNumArguments() != numInputs + 1)
    return {};
  ContractionBody body;
  Operation *mul =
      findMultiplication(block, block->getArgument(numInputs), &body.sumType);
  if (!mul)
    return {};
  // An operand, and the value subtracted from it, unless that is a constant
  // zero.
  auto lookThroughZeroPoint = [&](Value value) -> std::pair<Value, Widened> {
    auto sub = value.getDefiningOp<arith::SubIOp>();
    if (!sub)
      return {value, {}};
    Widened zeroPoint = lookThroughWidening(sub.getRhs());
    auto argument = dyn_cast<BlockArgument>(zeroPoint.source);
    if (!argument || argument.getOwner() != block ||
        argument.getArgNumber() < 2 || argument.getArgNumber() >= numInputs)
      return {value, {}};
    OpOperand *input = op.getDpsInputOperand(argument.getArgNumber());
    if (matchPattern(input->get(), m_Zero()))
      zeroPoint = {};
    return {sub.getLhs(), zeroPoint};
  };

  for (unsigned i : {0, 1}) {
    auto [value, zeroPoint] = lookThroughZeroPoint(mul->getOperand(i));
    Widened operand = lookThroughWidening(value);
    for (unsigned side : {0, 1})
      if (operand.source == block->getArgument(side)) {
        body.operands[side] = operand;
        body.zeroPoints[side] = zeroPoint;
      }
  }
  if (!body.operands[0].source || !body.operands[1].source)
    return {};
  return body;
}

Type mlir::tessera::getAccumulatorType(Type element) {
  Builder builder(element.getContext());
  if (element.isF64())
    return element;
  if (isa<FloatType>(element))
    return builder.getF32Type();
  return builder.getI32Type();
}

bool mlir::tessera::canBeOutput(Type type) {
  return FragmentType::isValidElementType(type) && !type.isSignlessInteger(4);
}
