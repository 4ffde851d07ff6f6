//===- ProductBody.cpp - The body of a sum of products --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductBody.h"

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

/// Looks through changes between floating-point types: the sum is taken in the
/// accumulator's type whatever the body says, and rounded once at the end.
static Value lookThroughFloatCasts(Value value) {
  while (isa_and_nonnull<arith::ExtFOp, arith::TruncFOp>(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Operation *mlir::tessera::findProduct(Block *body, Value accumulator,
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
    Operation *mul = lookThroughFloatCasts(add->getOperand(i)).getDefiningOp();
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

std::optional<ProductBody>
mlir::tessera::matchProductBody(linalg::LinalgOp op) {
  unsigned numInputs = op.getNumDpsInputs();
  if (numInputs < 2 || op.getNumDpsInits() != 1 || op->getNumRegions() != 1)
    return {};
  Block *block = op.getBlock();
  if (!block || block->getNumArguments() != numInputs + 1)
    return {};
  ProductBody body;
  Operation *mul =
      findProduct(block, block->getArgument(numInputs), &body.sumType);
  if (!mul)
    return {};
  // The others can only be zero points, where these are zero.
  for (unsigned i = 2; i < numInputs; ++i)
    if (!matchPattern(op.getDpsInputOperand(i)->get(), m_Zero()))
      return {};
  auto lookThroughZeroPoint = [&](Value value) {
    auto sub = value.getDefiningOp<arith::SubIOp>();
    auto zeroPoint =
        sub ? dyn_cast<BlockArgument>(lookThroughWidening(sub.getRhs()).source)
            : BlockArgument();
    bool isZeroPoint = zeroPoint && zeroPoint.getOwner() == block &&
                       zeroPoint.getArgNumber() >= 2 &&
                       zeroPoint.getArgNumber() < numInputs;
    return isZeroPoint ? sub.getLhs() : value;
  };

  for (unsigned i : {0, 1}) {
    Widened operand =
        lookThroughWidening(lookThroughZeroPoint(mul->getOperand(i)));
    if (operand.source == block->getArgument(0))
      body.operands[0] = operand;
    else if (operand.source == block->getArgument(1))
      body.operands[1] = operand;
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
