//===- TuningTask.h - A product or an attention by itself -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a schedule is tuned for, and known by again in other programs: a
// `tessera.contract` or a `tessera.attention` on memrefs, with its shapes,
// types, maps, producers and epilogue, and nothing of the program around it.
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_TRANSFORMS_TUNINGTASK_H
#define DIALECT_TESSERA_TRANSFORMS_TUNINGTASK_H

#include "Dialect/Tessera/IR/Tessera.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace mlir::tessera {

/// Whether `op` is what a schedule can be tuned for.
bool isTuningTask(Operation *op);

/// A program of `op` alone: a function `main` of its arrays, each once, in the
/// order of its operands, and of those scalars that are no constants. Without
/// its schedule. `op` stays as it is.
OwningOpRef<ModuleOp> makeTaskProgram(Operation *op);

/// That program as text: the same for all ops that compute the same, whatever
/// stands around them and wherever they come from.
std::string getTaskText(Operation *op);

/// What such an op is known by: 16 hexadecimal digits of a hash of the text.
std::string getTaskKey(llvm::StringRef text);
inline std::string getTaskKey(Operation *op) {
  return getTaskKey(getTaskText(op));
}

/// "4096x4096x4096 bf16 x bf16 -> bf16", for people; with the batch before it
/// ("16x ..."), "?" for what is unknown, "attention ..." and "window ..." (a
/// convolution) where it is one.
std::string describeTask(Operation *op);

/// Why `op` cannot be run by itself; empty if it can. Its arrays are dense and
/// of known extents then.
std::string explainUntunable(Operation *op);

/// The attribute of a module that holds schedules by the keys of their tasks: a
/// dictionary of dictionaries of `schedule` and `origin`, a text that says
/// where it is from. Without `schedule`, `origin` says why there is none.
inline llvm::StringRef getTunedAttrName() { return "tessera.tuned"; }
/// The attribute of a module that says in words where these are from.
inline llvm::StringRef getTunedSourceAttrName() {
  return "tessera.tuned_source";
}
/// The discardable attribute of an op, and of its `gpu.launch`, that says where
/// its schedule is from. The module has a dictionary of these by the kernels'
/// names, `tessera.schedule_origins`.
inline llvm::StringRef getScheduleOriginAttrName() {
  return "tessera.schedule_origin";
}

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_TRANSFORMS_TUNINGTASK_H
