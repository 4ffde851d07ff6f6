//===- Entry.h - Into the interpreter and out of it -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_REFERENCE_ENTRY_H
#define LIB_REFERENCE_ENTRY_H

#include "PreparedCode.h"
#include "Reference/Evaluation.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mlir::tessera::reference {

/// A program as it can be evaluated: as it is, or without TOSA.
struct Source {
  explicit Source(func::FuncOp original);

  OwningOpRef<ModuleOp> copy;
  /// Null when that fails; the error may have been emitted by upstream code.
  func::FuncOp entry;
};

/// `run` and `evaluate` of the entry of a `Source`. `Outcome::unspecified`
/// lists ops of the source, which must live as long.
Outcome runLowered(func::FuncOp entry, MutableArrayRef<Array> arguments,
                   const Options &options);
Evaluation evaluateLowered(func::FuncOp entry, ArrayRef<Array> arguments,
                           const Options &options);

/// The view of a whole array; shares its elements.
ViewRef makeView(const Array &array);
/// The opposite; shares the elements if the view is a whole storage.
Array makeArray(const View &view, Type elementType);

/// A failure, with an error at `op`.
Outcome failAt(Operation *op, std::string message);
/// An error, emitted already, if these cannot be the arguments of `entry`.
std::optional<Outcome> checkEntry(func::FuncOp entry,
                                  ArrayRef<Array> arguments);
/// Whether `code`, a kernel or a program, uses the number of a lane while the
/// program does not ask for the number of lanes. Kernels with fragments are
/// written for any number.
bool assumesLanes(Operation *code);
/// Whether there are operations of single lanes.
bool hasLaneOps(Operation *root);
/// Sets what depends on the program.
void prepareRun(Run &run, func::FuncOp entry);
void enterArguments(Frame &frame, const Function &function,
                    ArrayRef<Array> arguments);
/// The outcome of the run, without results; emits the error.
Outcome finishRun(const Run &run);

} // namespace mlir::tessera::reference

#endif // LIB_REFERENCE_ENTRY_H
