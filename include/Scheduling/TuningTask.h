//===- TuningTask.h - An op as a task of tuning -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The unit of tuning, which is recognized in other programs: a
// `tessera.contract`, a `tessera.attention` or a window that threads compute
// (WindowTask.h), on memrefs, with its shapes, types, maps, producers and
// epilogue, independent of the program around it.
//
//===----------------------------------------------------------------------===//

#ifndef SCHEDULING_TUNINGTASK_H
#define SCHEDULING_TUNINGTASK_H

#include "Dialect/Tessera/IR/Tessera.h"
#include "Flags/CompileFlags.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace mlir::tessera {

/// Whether a schedule can be tuned for `op`.
bool isTuningTask(Operation *op);

/// The values from outside that such an op and its regions use, its operands
/// first, each once.
SmallVector<Value> collectTaskInputs(Operation *op);

/// The schedule of such an op: a ScheduleAttr, or a WindowScheduleAttr of a
/// window; null if it has none.
Attribute getTaskSchedule(Operation *op);

/// Whether `schedule` is one of this kind of op.
bool isTaskSchedule(Operation *op, Attribute schedule);

/// Sets the schedule of such an op, or removes it if `schedule` is null.
/// Returns false, and changes nothing, if it is one of another kind of op.
bool setTaskSchedule(Operation *op, Attribute schedule);

/// Creates a program of `op` alone: a function `main` of its arrays, each once,
/// in the order of its operands and then of what its body uses, and of its
/// scalars that are not constants, without its schedule. `op` is not changed.
OwningOpRef<ModuleOp> makeTaskProgram(Operation *op);

/// The text of that program: the same for all ops that compute the same,
/// whatever their context and origin.
std::string getTaskText(Operation *op);

/// The key of a task: 16 hexadecimal digits of a hash of its text and of the
/// flags that change its code (`listCodeFlags`). Without such flags the key is
/// that of the text alone, which records of earlier versions have.
std::string getTaskKey(llvm::StringRef text, llvm::StringRef codeFlags);
inline std::string getTaskKey(Operation *op, const CompileFlags &flags = {}) {
  return getTaskKey(getTaskText(op), listCodeFlags(flags));
}

/// A short description for people: "4096x4096x4096 bf16 x bf16 -> bf16", with
/// the batch in front ("16x ..."), "?" for unknown extents, and "attention ..."
/// or "window ..." (a convolution) if the op is one; "depthwise 3x3 of ..."
/// (`describeWindow`). The flags that change its code follow.
std::string describeTask(Operation *op, const CompileFlags &flags = {});

/// The reason why `op` cannot be run in isolation; empty if it can, in which
/// case its arrays are dense and of static extents.
std::string explainUntunable(Operation *op);

} // namespace mlir::tessera

#endif // SCHEDULING_TUNINGTASK_H
