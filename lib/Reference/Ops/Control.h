//===- Control.h - Functions and structured control flow --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_OPS_CONTROL_H
#define LIB_REFERENCE_OPS_CONTROL_H

#include "../PreparedCode.h"

namespace mlir::tessera::reference {

/// All at once, so that values can be exchanged.
void assignAll(Frame &to, ArrayRef<Slot> targets, Frame &from,
               ArrayRef<Code::Use> sources);

/// `op` calls `callee` with these operands.
InstrPtr compileCall(Operation *op, Operation *callee,
                     MutableArrayRef<OpOperand> operands, Scope &scope);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_OPS_CONTROL_H
