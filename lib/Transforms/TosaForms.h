//===- TosaForms.h - Forms of TOSA ops that have a lowering -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_TRANSFORMS_TOSAFORMS_H
#define LIB_TRANSFORMS_TOSAFORMS_H

#include "mlir/IR/Operation.h"

namespace mlir::tessera {

/// The operands of a TOSA op that are zero points which upstream's lowering
/// requires to be constants.
SmallVector<OpOperand *> listZeroPoints(Operation *op);

/// Reports a TOSA op that has no lowering, with the reason.
LogicalResult checkTosaForm(Operation *op);

} // namespace mlir::tessera

#endif // LIB_TRANSFORMS_TOSAFORMS_H
