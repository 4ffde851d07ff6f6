//===- OperandOrder.h - Storage orders of operands a ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An instruction that reads a from workgroup memory may demand K along the rows
// (tf32 by wgmma). Another one of the same types may read a from registers, to
// which lanes load it in either order.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_OPERANDORDER_H
#define DIALECT_TESSERA_UTILS_OPERANDORDER_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "Dialect/Tessera/Utils/MatrixForm.h"

namespace mlir::tessera {

struct Chip;

/// Whether operand a of `op` is loaded from swizzled workgroup memory in an
/// order in which instructions of `chip` read it there.
bool hasMemoryOperandA(MmaOp op, const Chip &chip);

/// Whether instructions of `group` subgroups for the types of `op` read an lhs
/// with M along the rows from registers only.
bool loadsColumnsToRegisters(ContractOp op, const Chip &chip, int64_t group);

/// Whether `op`, computed by groups of `group` subgroups, has an lhs with M
/// along the rows that the instructions of its types read from registers only.
bool loadsLhsToRegisters(ContractOp op, const MatrixForm &form,
                         const Chip &chip, int64_t group);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_OPERANDORDER_H
