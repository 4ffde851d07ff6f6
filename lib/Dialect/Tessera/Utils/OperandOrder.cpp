//===- OperandOrder.cpp - Storage orders of operands a --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Dialect/Tessera/Utils/OperandOrder.h"

#include "Dialect/Tessera/Utils/Fragments.h"
#include "TargetInfo/Chip.h"

#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace mlir::tessera;

/// Whether the instructions of so many subgroups for these types read a with M
/// along the rows from registers only.
static bool needsRegisters(const Chip &chip, Type a, Type b, Type acc,
                           int64_t subgroups) {
  std::string aName = debugString(a), bName = debugString(b),
              accName = debugString(acc);
  return llvm::any_of(chip.instructions, [&](const MatrixInstruction &row) {
    return row.subgroups == subgroups && row.bInMemory && !row.aInMemory &&
           !row.anyOrder && row.aType == aName && row.bType == bName &&
           row.accType == accName;
  });
}

bool mlir::tessera::hasMemoryOperandA(MmaOp op, const Chip &chip) {
  if (!isSwizzledTile(op.getA()))
    return false;
  return !op.getA().getDefiningOp<LoadOp>().getTranspose() ||
         !needsRegisters(chip, op.getA().getType().getElementType(),
                         op.getB().getType().getElementType(),
                         op.getAcc().getType().getElementType(),
                         getFragmentGroup(op));
}

bool mlir::tessera::loadsColumnsToRegisters(ContractOp op, const Chip &chip,
                                            int64_t group) {
  return op.getPrecision() == Precision::Tf32 &&
         needsRegisters(chip, op.getFactorType(0), op.getFactorType(1),
                        op.getAccumulatorType(), group);
}

bool mlir::tessera::loadsLhsToRegisters(ContractOp op, const MatrixForm &form,
                                        const Chip &chip, int64_t group) {
  return group > 1 && op.getProducer(0).empty() && !form.gather[0] &&
         isStoredTransposed(op, form, 0) &&
         loadsColumnsToRegisters(op, chip, group);
}
