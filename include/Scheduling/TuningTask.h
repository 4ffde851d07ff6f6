//===- TuningTask.h - A matmul or attention as a task -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The unit of tuning, which is recognized in other programs: a
// `tessera.contract` or a `tessera.attention` on memrefs, with its shapes,
// types, maps, producers and epilogue, independent of the program around it.
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

/// Creates a program of `op` alone: a function `main` of its arrays, each once,
/// in the order of its operands, and of its scalars that are not constants,
/// without its schedule. `op` is not changed.
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
/// or "window ..." (a convolution) if the op is one. The flags that change its
/// code follow.
std::string describeTask(Operation *op, const CompileFlags &flags = {});

/// The reason why `op` cannot be run in isolation; empty if it can, in which
/// case its arrays are dense and of static extents.
std::string explainUntunable(Operation *op);

} // namespace mlir::tessera

#endif // SCHEDULING_TUNINGTASK_H
