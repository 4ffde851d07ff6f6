//===- WindowSchedule.h - The schedule of a window --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_IR_WINDOWSCHEDULE_H
#define DIALECT_TESSERA_IR_WINDOWSCHEDULE_H

#include "Dialect/Tessera/IR/Tessera.h"

#define GET_ATTRDEF_CLASSES
#include "Dialect/Tessera/IR/WindowScheduleAttr.h.inc"

namespace mlir::tessera {

/// The discardable attribute with the schedule of a window: on a linalg op, on
/// the loops of a window's body, or on the launch of its kernel.
inline constexpr llvm::StringLiteral windowScheduleName =
    "tessera.window_schedule";

/// The schedule of `op`: its attribute, or that of a loop of its body. Null if
/// there is none.
WindowScheduleAttr getWindowSchedule(Operation *op);

/// Moves the schedule of `from`, if it has one, to the loops of the body of
/// `to`, which keep it while element-wise ops are fused with it.
void moveWindowScheduleToLoops(Operation *from, Operation *to);

/// Removes it from `op` and from its loops.
void removeWindowSchedule(Operation *op);

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_IR_WINDOWSCHEDULE_H
