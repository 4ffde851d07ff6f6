//===- Poison.cpp - Values that may be anything ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `ub.poison` is a number like that of unwritten memory. A second evaluation
// with another number shows what depends on it (`findUnspecified`). Control
// flow must not depend on it: which iterations and branches are evaluated would
// be arbitrary.
//
//===----------------------------------------------------------------------===//

#include "../PreparedCode.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::tessera::reference;

/// Whether the op that has this operand decides by it what is executed.
static bool decidesControlFlow(OpOperand &operand) {
  Operation *op = operand.getOwner();
  if (isa<scf::ConditionOp>(op))
    return operand.getOperandNumber() == 0;
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return operand.getOperandNumber() < loop.getNumControlOperands();
  return isa<scf::IfOp, scf::IndexSwitchOp, scf::ParallelOp, scf::ForallOp,
             cf::AssertOp>(op) &&
         !isa<ShapedType>(operand.get().getType());
}

/// The first op whose control flow depends on `value` by arithmetic alone; null
/// if there is none.
static Operation *findDecision(Value value) {
  SmallVector<Value> open = {value};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (OpOperand &use : next.getUses()) {
      if (decidesControlFlow(use))
        return use.getOwner();
      // A selection may drop the value.
      if (use.getOwner()->getNumRegions() == 0 &&
          use.getOwner()->getName().getStringRef() != "arith.select")
        llvm::append_range(open, use.getOwner()->getResults());
    }
  }
  return nullptr;
}

static InstrPtr compilePoison(ub::PoisonOp op, Scope &scope) {
  Slot result = scope.define(op.getResult());
  Operation *operation = op;
  if (Operation *decision = findDecision(op.getResult())) {
    std::string message = "'ub.poison', which may be any value, decides the "
                          "control flow of '" +
                          decision->getName().getStringRef().str() + "'";
    return makeInstr(
        [=](Frame &frame) { return frame.run->error(operation, message); });
  }
  const Format *format = getFormat(op.getType());
  if (!format)
    return nullptr;
  if (!result.isView)
    return makeInstr([=](Frame &frame) {
      frame.number(result) =
          getUnspecified(*format, frame.run->noteUnspecified(operation));
      return true;
    });
  auto type = dyn_cast<ShapedType>(op.getType());
  if (!type || !type.hasStaticShape() || isa<BaseMemRefType>(type))
    return nullptr;
  SmallVector<int64_t> shape(type.getShape());
  return makeInstr([=](Frame &frame) {
    frame.view(result) =
        View::makePoison(*format, shape, frame.run->noteUnspecified(operation));
    return true;
  });
}

void tessera::reference::addPoisonHandlers(Registry &registry) {
  registry.add<ub::PoisonOp>(compilePoison);
}
