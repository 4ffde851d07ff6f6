//===- NarrowIntegers.cpp - Arithmetic of i4 in i8 ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// SPIR-V has no integers of 4 bits. A value of i4 is represented as an i8 whose
// upper half is zero (ScalarizeVectors.cpp). This file converts operands to i8,
// with the signedness of the op, and results back to i4, so that only
// extensions and truncations of i4 remain.
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/ElementTypes.h"
#include "Spirv.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::tessera;

static bool isNibble(Type type) { return isPacked(getElementTypeOrSelf(type)); }

/// Whether an op's operands are signed. Empty for ops whose result's low bits
/// depend on the width, and for unknown ops.
static std::optional<bool> hasSigns(Operation *op) {
  using P = arith::CmpIPredicate;
  return llvm::TypeSwitch<Operation *, std::optional<bool>>(op)
      .Case<arith::SIToFPOp, arith::DivSIOp, arith::RemSIOp, arith::ShRSIOp,
            arith::MaxSIOp, arith::MinSIOp, arith::IndexCastOp,
            arith::CeilDivSIOp, arith::FloorDivSIOp, math::AbsIOp>(
          [](auto) { return true; })
      .Case<arith::UIToFPOp, arith::DivUIOp, arith::RemUIOp, arith::ShRUIOp,
            arith::MaxUIOp, arith::MinUIOp, arith::IndexCastUIOp,
            arith::CeilDivUIOp, arith::AddIOp, arith::SubIOp, arith::MulIOp,
            arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::ShLIOp,
            arith::FPToSIOp, arith::FPToUIOp, math::CtPopOp>(
          [](auto) { return false; })
      .Case<arith::CmpIOp>([](arith::CmpIOp compare) {
        return llvm::is_contained({P::slt, P::sle, P::sgt, P::sge},
                                  compare.getPredicate());
      })
      .Default([](Operation *) { return std::nullopt; });
}

LogicalResult
mlir::tessera::widenNarrowIntegers(Operation *root,
                                   const SpirvEnvironment &environment) {
  SmallVector<Operation *> operations;
  root->walk([&](Operation *op) {
    // Ops that forward values, and ops that change the width.
    if (!(OpTrait::hasElementwiseMappableTraits(op) ||
          isa<vector::BitCastOp, vector::ReductionOp>(op)) ||
        isa<arith::ExtUIOp, arith::ExtSIOp, arith::TruncIOp, arith::SelectOp>(
            op))
      return;
    if (llvm::any_of(op->getOperandTypes(), isNibble) ||
        llvm::any_of(op->getResultTypes(), isNibble))
      operations.push_back(op);
  });
  for (Operation *op : operations) {
    std::optional<bool> isSigned = hasSigns(op);
    if (!isSigned)
      return op->emitError()
             << "target " << environment.target << " does not support "
             << op->getName() << " of i4: extend its operands to i8";
    OpBuilder b(op);
    Location loc = op->getLoc();
    auto widen = [&](Type type) -> Type {
      if (auto vector = dyn_cast<VectorType>(type))
        return vector.clone(b.getI8Type());
      return b.getI8Type();
    };
    for (OpOperand &operand : op->getOpOperands()) {
      Value value = operand.get();
      if (!isNibble(value.getType()))
        continue;
      Type wide = widen(value.getType());
      operand.set(
          *isSigned ? arith::ExtSIOp::create(b, loc, wide, value).getResult()
                    : arith::ExtUIOp::create(b, loc, wide, value).getResult());
    }
    Value result = op->getResult(0);
    Type type = result.getType();
    if (!isNibble(type))
      continue;
    result.setType(widen(type));
    // Its overflow flags do not hold for more bits.
    if (auto flags = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
      op->removeAttr(flags.getIntegerOverflowAttrName());
    b.setInsertionPointAfter(op);
    auto narrow = arith::TruncIOp::create(b, loc, type, result);
    result.replaceAllUsesExcept(narrow, narrow);
  }
  return success();
}
