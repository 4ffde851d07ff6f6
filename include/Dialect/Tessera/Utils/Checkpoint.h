//===- Checkpoint.h - Calls that show where a program is --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DIALECT_TESSERA_UTILS_CHECKPOINT_H
#define DIALECT_TESSERA_UTILS_CHECKPOINT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::tessera {

/// Functions of the runtime that host code calls in a program with checkpoints:
/// one passes a value, the other reaches the begin or the end of a step.
inline constexpr llvm::StringLiteral checkpointValueName =
    "tessera_rt_checkpoint_value";
inline constexpr llvm::StringLiteral checkpointName = "tessera_rt_checkpoint";

/// Whether `op` is such a call. It neither reads nor writes memory of the
/// program.
inline bool isCheckpoint(Operation *op) {
  auto call = dyn_cast<func::CallOp>(op);
  return call && (call.getCallee() == checkpointValueName ||
                  call.getCallee() == checkpointName);
}

} // namespace mlir::tessera

#endif // DIALECT_TESSERA_UTILS_CHECKPOINT_H
