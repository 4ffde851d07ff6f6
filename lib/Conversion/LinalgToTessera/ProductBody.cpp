//===- ProductBody.cpp - The body of a sum of products --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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

std::optional<ProductBody>
mlir::tessera::matchProductBody(linalg::LinalgOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op->getNumRegions() != 1)
    return {};
  Block *block = op.getBlock();
  if (!block || block->getNumArguments() != 3 ||
      block->getTerminator()->getNumOperands() != 1)
    return {};
  Value lhs = block->getArgument(0), rhs = block->getArgument(1),
        out = block->getArgument(2);

  Operation *add = lookThroughFloatCasts(block->getTerminator()->getOperand(0))
                       .getDefiningOp();
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add))
    return {};
  Operation *mul = nullptr;
  for (unsigned i : {0, 1})
    if (lookThroughFloatCasts(add->getOperand(1 - i)) == out)
      mul = lookThroughFloatCasts(add->getOperand(i)).getDefiningOp();
  if (!mul || mul->getBlock() != block ||
      !(isa<arith::AddFOp>(add) ? isa<arith::MulFOp>(mul)
                                : isa<arith::MulIOp>(mul)))
    return {};

  ProductBody body;
  body.sumType = add->getResult(0).getType();
  for (unsigned i : {0, 1}) {
    Widened operand = lookThroughWidening(mul->getOperand(i));
    if (operand.source == lhs)
      body.operands[0] = operand;
    else if (operand.source == rhs)
      body.operands[1] = operand;
  }
  if (!body.operands[0].source || !body.operands[1].source)
    return {};
  return body;
}
